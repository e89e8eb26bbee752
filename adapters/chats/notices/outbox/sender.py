"""The sender of the outbox: it claims what is due, sends it, and notes what came of it.

Every process has one. A claim belongs to one of them for CLAIM_SECONDS and is fenced by its number:
what is noted counts only as long as no other has claimed the delivery since. A process that is
killed between sending and noting leaves a claim that runs out, and then the delivery is sent again,
under the same id: receivers get each event at least once, and can tell a second time by that id.

No receiver holds up others: of each only a few deliveries are on their way at once, and those that
are slow are not claimed again meanwhile.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Annotated, Protocol
from uuid import UUID

import trio

from actors.law.store.ports import Applied
from adapters.chats.notices.outbox.deliveries import (
    Delivered,
    Delivery,
    DeliveryState,
    LeftOut,
    Outcome,
    Receiver,
    Refused,
    Settlement,
    settlement_of,
)
from runtime.log import emit
from runtime.statistics import CounterMetric, GaugeMetric

SENDS_MAX = 32  # on their way at once; what is over waits for the next claim
OF_TARGET_MAX = 4  # of one receiver
SEND_SECONDS = 20.0  # for one attempt; then it has failed
# Longer than an attempt and its note may take: a claim that is not settled by then is another's.
CLAIM_SECONDS = 60.0
NOTE_SECONDS = 20.0  # for the note, tried again and again; then the claim runs out
RETRY_SECONDS = 1.0  # when the store does not answer
POLL_SECONDS = 15.0  # between two claims for the case that a wake-up was lost
LATE_SECONDS = 300.0  # that a delivery has been due; longer: `/readyz` says so
SOON_SECONDS = 0.05  # at least between two claims: what comes meanwhile goes together

Send = Callable[[Delivery], Awaitable[Outcome]]


class Outbox(Protocol):
    """The store of deliveries."""

    async def claim(
        self, count: int, *, busy: Collection[UUID]
    ) -> tuple[Sequence[Delivery], float | None]:
        """Claim deliveries that are due, none of the `busy` receivers. Return them, and in how many
        seconds the next is due (None: none waits)."""
        ...

    async def settle(self, settlement: Settlement) -> bool:
        """Note what came of a claim. False: another has claimed it since, and nothing was noted."""
        ...


@dataclass(frozen=True, slots=True)
class SenderStatistics:
    sending: Annotated[
        int, GaugeMetric("Deliveries to webhooks and devices that are on their way.")
    ]
    woken_count: Annotated[
        int, CounterMetric("Times that a commit of this process had something to deliver.")
    ]
    claims_count: Annotated[int, CounterMetric("Times that the outbox was searched.")]
    attempts_count: Annotated[
        dict[str, int], CounterMetric("Attempts to deliver, by receiver.", label="target")
    ]
    delivered_count: Annotated[
        dict[str, int], CounterMetric("Deliveries that were answered well.", label="target")
    ]
    refused_count: Annotated[
        dict[str, int],
        CounterMetric("Attempts that were not answered well, or not at all.", label="target"),
    ]
    given_up_count: Annotated[
        dict[str, int], CounterMetric("Deliveries that were given up.", label="target")
    ]
    left_out_count: Annotated[
        int,
        CounterMetric(
            "Deliveries left out: the device showed the chat, or its user is not let in."
        ),
    ]
    stale_count: Annotated[
        int, CounterMetric("Notes of deliveries that another process had claimed since.")
    ]
    late_seconds: Annotated[
        float, GaugeMetric("Time for which the oldest unclaimed delivery has been due.")
    ]


class Sender:
    """Sends what is due. `run` it; call `wake` from anywhere."""

    def __init__(self, outbox: Outbox, send: Send, *, chance: Callable[[], float]) -> None:
        self._outbox = outbox
        self._send = send
        self._chance = chance
        self._more = trio.Event()
        self._busy: Counter[UUID] = Counter()
        self._is_leaving = False
        self._woken_count = 0
        self._claims_count = 0
        self._left_out_count = 0
        self._stale_count = 0
        self._late_seconds = 0.0
        self._attempts: Counter[str] = Counter()
        self._delivered: Counter[str] = Counter()
        self._refused: Counter[str] = Counter()
        self._given_up: Counter[str] = Counter()

    def wake(self) -> None:
        """Search the outbox soon."""
        self._woken_count += 1
        self._more.set()

    def note_commit(self, applied: Applied) -> None:
        """Search the outbox soon, if the commit has put something there."""
        if applied.deliveries_count:
            self.wake()

    def leave(self) -> None:
        """Claim no more; `run` ends when what is on its way is done."""
        self._is_leaving = True
        self._more.set()

    async def run(self) -> None:
        """Send until told to leave, or cancelled."""
        async with trio.open_nursery() as sends:
            while not self._is_leaving:
                self._more = trio.Event()
                pause = await self._claim(sends)
                await trio.sleep(SOON_SECONDS)
                with trio.move_on_after(pause):
                    await self._more.wait()

    def statistics(self) -> SenderStatistics:
        return SenderStatistics(
            self._busy.total(),
            self._woken_count,
            self._claims_count,
            dict(self._attempts),
            dict(self._delivered),
            dict(self._refused),
            dict(self._given_up),
            self._left_out_count,
            self._stale_count,
            self._late_seconds,
        )

    async def delay(self) -> str | None:
        """Return what holds up deliveries, or None: they go when they are due. A check of
        `/readyz`, which is a warning."""
        await trio.lowlevel.checkpoint()  # like other checks
        if self._late_seconds < LATE_SECONDS:
            return None
        return f"deliveries to webhooks and browsers have been due for {self._late_seconds:.0f} s"

    async def _claim(self, sends: trio.Nursery) -> float:
        """Claim what is due and begin to send it. Return how long to wait for the next claim."""
        room = SENDS_MAX - self._busy.total()
        if room <= 0:
            return POLL_SECONDS  # the end of a delivery wakes us
        self._claims_count += 1
        try:
            claimed, next_seconds = await self._outbox.claim(room, busy=list(self._busy))
        except Exception as error:  # noqa: BLE001  the edge of a unit of work: it is repeated
            emit("outbox.unread", "warning", error=error)
            return RETRY_SECONDS
        self._late_seconds = max(0.0, -(next_seconds or 0.0))
        for delivery in claimed:
            self._busy[delivery.target_id] += 1
            sends.start_soon(self._deliver, delivery)
        if len(claimed) >= room:
            return 0.0
        return POLL_SECONDS if next_seconds is None else min(POLL_SECONDS, max(0.0, next_seconds))

    async def _deliver(self, delivery: Delivery) -> None:
        try:
            outcome = await self._attempted(delivery)
            settlement = settlement_of(delivery, outcome, chance=self._chance())
            if await self._noted(settlement):
                self._count(delivery.target, outcome, settlement)
        finally:
            self._busy[delivery.target_id] -= 1
            if not self._busy[delivery.target_id]:
                del self._busy[delivery.target_id]
                self._more.set()  # what waits for this receiver can go now

    async def _attempted(self, delivery: Delivery) -> Outcome:
        if delivery.is_shut:
            return LeftOut("its user is not let in, or may not see the chat any more")
        if delivery.is_watched:
            return LeftOut("the device shows the chat")
        self._attempts[delivery.target.value] += 1
        outcome: Outcome = Refused(f"no answer within {SEND_SECONDS:g} seconds")
        with trio.move_on_after(SEND_SECONDS):
            try:
                outcome = await self._send(delivery)
            except Exception as error:  # noqa: BLE001  a bug in sending must not stop the others
                emit("delivery.crashed", "error", delivery=str(delivery.id), error=error)
                outcome = Refused("the daemon failed to send it; its log says why")
        return outcome

    async def _noted(self, settlement: Settlement) -> bool:
        with trio.move_on_after(NOTE_SECONDS):
            while True:
                try:
                    is_ours = await self._outbox.settle(settlement)
                except Exception as error:  # noqa: BLE001  the store is away: tried again
                    emit("outbox.unread", "warning", error=error)
                    await trio.sleep(RETRY_SECONDS)
                else:
                    self._stale_count += not is_ours
                    return is_ours
        return False  # the claim runs out, and the delivery is made again

    def _count(self, target: Receiver, outcome: Outcome, settlement: Settlement) -> None:
        name = target.value
        if isinstance(outcome, LeftOut):
            self._left_out_count += 1
        elif isinstance(outcome, Delivered):
            self._delivered[name] += 1
        else:
            self._refused[name] += 1
        self._given_up[name] += settlement.state is DeliveryState.FAILED
