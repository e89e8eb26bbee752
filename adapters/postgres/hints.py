"""Hints between processes, by NOTIFY and LISTEN: many in one notification, and many of these in one
statement, never inside the transaction that they tell of (there it would hold the global lock of
the commit).

Telling never waits: hints gather while a statement is on its way, and the next one takes them all.
Whatever gets lost (too many at once, a connection that broke) is told as lost: by the teller if it
lost them, by our listener if it was deaf for a while.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any
from uuid import UUID, uuid4

import msgspec
import trio

from actors.law.states import Status
from actors.law.store.hints import (
    CatalogueChanged,
    ChatMoved,
    ContextChanged,
    DiffStatusChanged,
    ForgeTokenChanged,
    Hint,
    HintsLost,
    InboxChanged,
    ListChange,
    News,
    OpenApprovalsChanged,
    PersonChanged,
    ReadersChanged,
    ReadStatusSet,
    SummaryChanged,
    TitleChanged,
    WorkspaceClosed,
    WorkWaits,
)
from adapters.postgres.driver.faults import DatabaseFault
from adapters.postgres.driver.listening import Listener, ListenerStatistics
from adapters.postgres.driver.pool import Pool
from adapters.postgres.queries import SQL
from runtime.backoff import delay_seconds
from runtime.log import emit
from runtime.statistics import CounterMetric, GaugeMetric

CHANNEL = "promptcorner_hints"
PAYLOAD_BYTES_MAX = 7_900  # the server refuses 8,000; what is over goes into the next notification
GROUP_HINTS_MAX = 1_024  # in one statement; what is over waits for the next
WAITING_HINTS_MAX = 16_384  # beyond it the oldest is dropped, and told as "look at everything"
RETRY_FIRST_SECONDS = 0.05  # after a statement that failed
RETRY_CAP_SECONDS = 5.0


class _Moved(msgspec.Struct, tag="m", array_like=True, frozen=True):
    chat: UUID
    snapshot_version: int
    history_version: int
    queue_version: int
    retry_state_version: int
    generation_attempt: int
    status: Status
    archived: bool
    worker_id: UUID | None
    runner_id: UUID | None
    owner_id: UUID
    by_holder: bool = False
    became: ListChange | None = None


class _Waits(msgspec.Struct, tag="w", array_like=True, frozen=True):
    chat: UUID
    snapshot_version: int


class _Renamed(msgspec.Struct, tag="t", array_like=True, frozen=True):
    chat: UUID
    owner_id: UUID


class _Summed(msgspec.Struct, tag="s", array_like=True, frozen=True):
    chat: UUID
    owner_id: UUID
    of_chat: bool


class _Context(msgspec.Struct, tag="x", array_like=True, frozen=True):
    chat: UUID
    owner_id: UUID


class _Diff(msgspec.Struct, tag="d", array_like=True, frozen=True):
    chat: UUID
    owner_id: UUID


class _Forge(msgspec.Struct, tag="f", array_like=True, frozen=True):
    user: UUID


class _Readers(msgspec.Struct, tag="r", array_like=True, frozen=True):
    chat: UUID
    owner_id: UUID
    user: UUID | None


class _Seen(msgspec.Struct, tag="v", array_like=True, frozen=True):
    chat: UUID
    is_seen: bool


class _Closed(msgspec.Struct, tag="k", array_like=True, frozen=True):
    workspace: UUID


class _Asks(msgspec.Struct, tag="a", array_like=True, frozen=True):
    chat: UUID
    root_id: UUID


class _Inbox(msgspec.Struct, tag="i", array_like=True, frozen=True):
    user: UUID


class _Changed(msgspec.Struct, tag="c", array_like=True, frozen=True):
    user: UUID | None


class _Person(msgspec.Struct, tag="p", array_like=True, frozen=True):
    user: UUID


class _Everything(msgspec.Struct, tag="e", array_like=True, frozen=True):
    pass


# The fields have the names of ours.
_WIRE: dict[type, type] = {
    ChatMoved: _Moved,
    WorkWaits: _Waits,
    TitleChanged: _Renamed,
    SummaryChanged: _Summed,
    ContextChanged: _Context,
    DiffStatusChanged: _Diff,
    ForgeTokenChanged: _Forge,
    ReadersChanged: _Readers,
    ReadStatusSet: _Seen,
    WorkspaceClosed: _Closed,
    OpenApprovalsChanged: _Asks,
    InboxChanged: _Inbox,
    CatalogueChanged: _Changed,
    PersonChanged: _Person,
    HintsLost: _Everything,
}
_NEWS = {wire: news for news, wire in _WIRE.items()}
_Wire = (
    _Moved
    | _Waits
    | _Renamed
    | _Summed
    | _Context
    | _Diff
    | _Forge
    | _Readers
    | _Seen
    | _Closed
    | _Asks
    | _Inbox
    | _Changed
    | _Person
    | _Everything
)
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(list[_Wire]).decode
_LOST = _encode(_Everything())


@dataclass(frozen=True, slots=True)
class HintsStatistics:
    waiting: Annotated[int, GaugeMetric("Hints that wait to be told to other processes.")]
    told_count: Annotated[int, CounterMetric("Hints that were told to other processes.")]
    statements_count: Annotated[
        int, CounterMetric("Statements that told hints to other processes.")
    ]
    dropped_count: Annotated[int, CounterMetric("Hints that were dropped because too many waited.")]
    heard_count: Annotated[int, CounterMetric("News of other processes that was heard.")]
    unreadable_count: Annotated[
        int, CounterMetric("Notifications of other processes that could not be read.")
    ]
    listener: ListenerStatistics


class Hints:
    """The hints of this process. `run` it in a nursery, and call `tell` from anywhere. `heard` is
    called with the news of others."""

    def __init__(
        self,
        pool: Pool,
        conninfo: str,
        *,
        heard: Callable[[News], None],
        waiting_max: int = WAITING_HINTS_MAX,
    ) -> None:
        self._pool = pool
        self._heard = heard
        self._waiting_max = waiting_max
        self._sender = uuid4().hex
        self._waiting: deque[Hint] = deque()
        self._lost = False
        self._sending = False
        self._more = trio.lowlevel.ParkingLot()
        self._done = trio.lowlevel.ParkingLot()
        self._told_count = self._statements_count = self._dropped_count = 0
        self._heard_count = self._unreadable_count = 0
        self._listener = Listener(
            conninfo,
            [CHANNEL],
            heard=self._hear,
            look_at_everything=lambda: heard(HintsLost()),
        )

    def tell(self, hint: Hint) -> None:
        if len(self._waiting) >= self._waiting_max:
            self._waiting.popleft()
            self._dropped_count += 1
            self._lost = True
        self._waiting.append(hint)
        self._more.unpark()

    async def run(self) -> None:
        """Send and hear hints until cancelled. No fault of the database ends it."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._listener.listen)
            nursery.start_soon(self._send)

    async def flush(self, seconds: float) -> None:
        """Wait until everything has been told, within a bound."""
        with trio.move_on_after(seconds):
            while self._waiting or self._lost or self._sending:
                await self._done.park()

    def statistics(self) -> HintsStatistics:
        return HintsStatistics(
            waiting=len(self._waiting),
            told_count=self._told_count,
            statements_count=self._statements_count,
            dropped_count=self._dropped_count,
            heard_count=self._heard_count,
            unreadable_count=self._unreadable_count,
            listener=self._listener.statistics(),
        )

    # telling

    async def _send(self) -> None:
        attempt = 0
        while True:
            while not (self._waiting or self._lost):
                self._done.unpark_all()
                await self._more.park()
            group = [
                self._waiting.popleft() for _ in range(min(len(self._waiting), GROUP_HINTS_MAX))
            ]
            try:
                await self._notify(group)
                attempt = 0
            except DatabaseFault as fault:
                self._lost = True
                attempt += 1
                emit("hints.lost", "warning", hints=len(group), attempt=attempt, error=fault)
                await trio.sleep(
                    delay_seconds(
                        attempt, first_seconds=RETRY_FIRST_SECONDS, cap_seconds=RETRY_CAP_SECONDS
                    )
                )

    async def _notify(self, group: list[Hint]) -> None:
        encoded = [_encode(_to_wire(hint)) for hint in group]
        told_of_loss, self._lost = self._lost, False
        if told_of_loss:
            encoded.insert(0, _LOST)
        parameters = {"channel": CHANNEL, "payloads": _packed(self._sender, encoded)}
        self._sending = True
        try:
            async with self._pool.connection() as connection:
                await connection.execute(SQL["tell"], parameters)
        finally:
            self._sending = False
        self._told_count += len(group)
        self._statements_count += 1

    # hearing

    def _hear(self, _channel: str, payload: str) -> None:
        sender, _, body = payload.partition(" ")
        if sender == self._sender:
            return
        try:
            news = [_from_wire(wire) for wire in _decode(body)]
        except msgspec.DecodeError:  # of another version, or sent by hand
            self._unreadable_count += 1
            news = [HintsLost()]
        self._heard_count += len(news)
        for one in news:
            self._heard(one)


def _packed(sender: str, encoded: list[bytes]) -> list[str]:
    """Return as few payloads as the hints fit in: the sender, and a JSON array."""
    payloads: list[list[bytes]] = [[]]
    room = PAYLOAD_BYTES_MAX
    for hint in encoded:
        if len(hint) + 1 > room:
            payloads.append([])
            room = PAYLOAD_BYTES_MAX
        payloads[-1].append(hint)
        room -= len(hint) + 1
    return [f"{sender} [{b','.join(hints).decode()}]" for hints in payloads]


def _to_wire(news: News) -> _Wire:
    kind: Any = _WIRE[type(news)]
    wire: _Wire = kind(*[getattr(news, name) for name in kind.__struct_fields__])
    return wire


def _from_wire(wire: _Wire) -> News:
    kind: Any = _NEWS[type(wire)]
    news: News = kind(**msgspec.structs.asdict(wire))
    return news
