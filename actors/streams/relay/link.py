"""The link to one other process: an actor that holds a connection as long as it follows attempts.

A connection that breaks is made again, with pauses, and every attempt is followed on from the piece
that came last: no piece is lost and none comes twice. No task waits for any of this. As long as
there is no connection, watchers are told what is committed, as always.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count, islice
from typing import Annotated

import trio

from actors.law.ids import EpisodeKey, WorkerId
from actors.streams.previews import PREVIEW_BYTES_MAX, PieceListener, end_listener
from actors.streams.relay.exchange import (
    FOLLOWS_MAX,
    Follow,
    FollowEnded,
    FollowRefused,
    NotConnected,
    PeerConnection,
    PeerConnector,
    PieceCount,
    RelayAnswer,
    RelayedPieces,
    RelayRequest,
    Unfollow,
)
from runtime.backoff import delay_seconds
from runtime.clock import now
from runtime.log import emit
from runtime.statistics import CounterMetric, GaugeMetric

LINGER_SECONDS = 30.0  # without anything to follow; then the connection is closed
REQUESTS_MAX = 2 * FOLLOWS_MAX  # that wait to be sent; at more, nothing else is followed there
REQUESTS_AT_ONCE_MAX = 256  # in one message
STEADY_SECONDS = 5.0  # a connection that ends sooner has failed: the pauses go on growing
AGAIN_FIRST_SECONDS = 0.1
AGAIN_CAP_SECONDS = 5.0
AGAIN_SPREAD = 0.5
HASTY = "the connection ended as soon as it was made, or before anything came"
TRIES_LOGGED = 50  # of so many in a row that failed one is logged
MIRRORED_BYTES_MAX = 256 << 20  # of all mirrors; beyond it they grow no more


@dataclass(slots=True)
class MirrorBudget:
    """The space that all mirrors of a process share, and what they have counted together."""

    bytes_max: int = MIRRORED_BYTES_MAX
    bytes_count: int = 0
    pieces_count: int = 0  # that have come, since the start
    dropped_count: int = 0  # that found no room
    failed_count: int = 0  # listeners that failed and were ended


@dataclass(eq=False, slots=True)
class Mirror:
    """An attempt of another process, as far as it has come here: the same bytes, in the same order.

    Fulfils `actors.streams.feeds.ports.PieceLog`.
    """

    key: EpisodeKey
    budget: MirrorBudget
    encoded: list[bytes] = field(default_factory=list)
    listener: PieceListener | None = None
    bytes_count: int = 0
    is_full: bool = False
    is_forgotten: bool = False  # it is followed no more
    caught_up: trio.Event = field(default_factory=trio.Event)
    _pieces_at_begin: int = 0  # how many there were when it was followed

    def note_count(self, seq: int) -> None:
        """Note how many pieces there were when it was followed."""
        self._pieces_at_begin = seq
        self._note_if_caught_up()

    def add(self, pieces: Sequence[bytes]) -> None:
        """Keep the pieces and tell the listener; those for which there is no room are dropped."""
        alone = len(pieces) == 1
        for piece in pieces:
            if not self._has_room(len(piece)):
                self.is_full = True
                self.budget.dropped_count += 1
                continue
            self.encoded.append(piece)
            self.bytes_count += len(piece)
            self.budget.bytes_count += len(piece)
            self.budget.pieces_count += 1
            listener = self.listener
            if listener is not None:
                try:
                    listener.hear(piece, alone)
                except Exception as error:  # noqa: BLE001  it ends the listener, not the link
                    self.listener = None
                    self.budget.failed_count += 1
                    end_listener(listener.fail, error)
                    if self.is_forgotten:
                        return
        self._note_if_caught_up()

    def forget(self) -> None:
        """Give the space back: it is followed no more."""
        self.listener, self.is_forgotten = None, True
        self.budget.bytes_count -= self.bytes_count
        self.bytes_count = 0
        self.caught_up.set()

    def _has_room(self, size: int) -> bool:
        fits = self.bytes_count + size <= PREVIEW_BYTES_MAX
        return fits and not self.is_full and self.budget.bytes_count + size <= self.budget.bytes_max

    def _note_if_caught_up(self) -> None:
        if self.is_full or len(self.encoded) >= self._pieces_at_begin:
            self.caught_up.set()


@dataclass(frozen=True, slots=True)
class RelayLinkStatistics:
    connected: Annotated[bool, GaugeMetric("1 while the connection to the other process stands.")]
    follows: Annotated[int, GaugeMetric("Attempts that are followed over the connection.")]
    connected_count: Annotated[int, CounterMetric("Connections that were made.")]
    failed_count: Annotated[
        int, CounterMetric("Connections that could not be made, or ended too soon.")
    ]


class RelayLink:
    """The attempts that are followed at one other process.

    `follow` and `unfollow` never wait; `run` is its life."""

    def __init__(self, worker: WorkerId, peers: PeerConnector, chance: Callable[[], float]) -> None:
        self.worker = worker
        self._peers = peers
        self._chance = chance
        self._follows: dict[int, Mirror] = {}
        self._numbers: dict[EpisodeKey, int] = {}
        self._requests: dict[int, RelayRequest] = {}  # not sent yet; none without a connection
        self._next = count(1)
        self._changed = trio.Event()
        self._is_connected = False
        self._connected_count = self._failed_count = 0

    def follow(self, key: EpisodeKey, budget: MirrorBudget) -> Mirror | None:
        """Follow an attempt from its beginning. None if too many are followed there already."""
        if len(self._follows) >= FOLLOWS_MAX or len(self._requests) >= REQUESTS_MAX:
            return None
        mirror, number = Mirror(key, budget), next(self._next)
        self._follows[number], self._numbers[key] = mirror, number
        self._ask(Follow(number, key, 0))
        return mirror

    def unfollow(self, mirror: Mirror) -> None:
        """Stop following an attempt; nothing happens to one that has ended."""
        mirror.forget()
        number = self._numbers.get(mirror.key)
        if number is None or self._follows.get(number) is not mirror:
            return  # it has ended, or another has taken its place
        self._forget(number)
        if isinstance(self._requests.get(number), Follow):
            del self._requests[number]  # the other side never heard of it
        else:
            self._ask(Unfollow(number))

    async def run(self) -> None:
        """Keep a connection until there has been nothing to follow for LINGER_SECONDS."""
        failures = 0
        while self._follows:
            async with self._peers.connected(self.worker) as connection:
                if isinstance(connection, NotConnected):
                    self._note_failure(failures, connection)
                elif await self._use(connection):
                    failures = 0
                elif self._follows:
                    self._note_failure(failures, NotConnected(HASTY, is_fault=failures > 0))
            if self._follows:
                failures += 1
                await trio.sleep(self._pause_seconds(failures))

    def statistics(self) -> RelayLinkStatistics:
        return RelayLinkStatistics(
            self._is_connected, len(self._follows), self._connected_count, self._failed_count
        )

    def _ask(self, request: RelayRequest) -> None:
        if self._is_connected:
            self._requests[request.number] = request
        self._changed.set()

    def _forget(self, number: int) -> None:
        mirror = self._follows.pop(number, None)
        if mirror is not None:
            mirror.caught_up.set()
            self._changed.set()  # it may have been the last
            if self._numbers.get(mirror.key) == number:
                del self._numbers[mirror.key]

    async def _use(self, connection: PeerConnection) -> bool:
        """Use a connection to its end. Return whether it held for a while and brought anything."""
        self._is_connected, self._connected_count = True, self._connected_count + 1
        self._requests = {
            number: Follow(number, mirror.key, len(mirror.encoded))
            for number, mirror in self._follows.items()
        }
        was_heard, began = False, now()
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._send, connection, nursery.cancel_scope)
                while (answers := await connection.receive()) is not None and all(
                    map(self._take, answers)
                ):
                    was_heard = was_heard or bool(answers)
                nursery.cancel_scope.cancel()
        finally:
            self._is_connected = False
            self._requests = {}
        return was_heard and now() - began >= STEADY_SECONDS

    async def _send(self, connection: PeerConnection, scope: trio.CancelScope) -> None:
        """Send requests until there has been nothing to follow for a while, or it is broken."""
        while self._requests or await self._wait_for_change():
            requests = tuple(islice(self._requests.values(), REQUESTS_AT_ONCE_MAX))
            for request in requests:
                del self._requests[request.number]
            if requests and not await connection.send(requests):
                break
        scope.cancel()

    async def _wait_for_change(self) -> bool:
        """Wait for a change. Return False when nothing has been followed for LINGER_SECONDS."""
        self._changed = trio.Event()
        if self._follows:
            await self._changed.wait()
            return True
        with trio.move_on_after(LINGER_SECONDS):
            await self._changed.wait()
        return self._changed.is_set()

    def _take(self, answer: RelayAnswer) -> bool:
        """Take in an answer. Return False if the other side has lost count: it is asked anew."""
        mirror = self._follows.get(answer.number)
        if mirror is None:
            return True  # it is followed no more
        match answer:
            case PieceCount(seq=seq):
                mirror.note_count(seq)
            case RelayedPieces(seq=seq, pieces=pieces):
                if mirror.is_full:
                    return True
                if seq != len(mirror.encoded):
                    return False
                mirror.add(pieces)
            case FollowEnded() | FollowRefused():
                self._forget(answer.number)
        return True

    def _note_failure(self, failures: int, missing: NotConnected) -> None:
        self._failed_count += 1
        if missing.is_fault and failures % TRIES_LOGGED == 0:
            why, tries = missing.why, failures + 1
            emit("relay.unlinked", "warning", worker=self.worker, why=why, tries=tries)

    def _pause_seconds(self, failures: int) -> float:
        return delay_seconds(
            failures,
            first_seconds=AGAIN_FIRST_SECONDS,
            cap_seconds=AGAIN_CAP_SECONDS,
            spread=AGAIN_SPREAD,
            chance=self._chance(),
        )
