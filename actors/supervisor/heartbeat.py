"""The lease of the process: one beat for all its chats, and a fence that closes before it ends.

The lease counts by the database's clock from the moment a beat arrives. So by this process's clock
it holds at least from the moment the beat was sent. It is declared lost a margin before that time
is over, whatever the beats on their way may bring, so that the chats are let go before other
processes may take them. A beat that comes back as `expired` means the same: the machine was asleep,
and its clock stood still.

A process that was killed may have committed what it never told. So when the lease of another worker
is seen to have run out, that is news too: all who wait for a hint look for themselves.

A lease that was lost is not taken up again. The next one has another worker id, so whatever was
still held in the old name becomes free as soon as the old row is gone.

When a lease is lost, most often the store was away and the leases of other processes have run out
as well. They may be about to return. So for the length of one lease after the return,
`may_count_deaths` is False.
"""

import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, assert_never
from uuid import UUID

import trio

from actors.chat.turn.work import LeaseExpired
from actors.law.ids import WorkerId
from actors.law.store.ports import Beat, Leases
from runtime.backoff import delay_seconds
from runtime.children import run_child
from runtime.clock import now
from runtime.ends import Broken, Crashed, Finished, Stopped
from runtime.log import emit
from runtime.scope import CausedScope
from runtime.statistics import CounterMetric, GaugeMetric

BEATS_PER_LEASE = 6  # so four may fail in a row before the lease is lost
MARGIN = 1 / 6  # of the lease: to let go of all chats, before another process may take them
SWEEP_BEATS = 12  # beats between two looks for workers that are long gone
RETRY_FIRST_SECONDS = 0.1  # after a beat that failed; doubles
RETRY_CAP = 1 / 4  # of the time between two beats
TRIES_LOGGED = 50  # of so many in a row that failed one is logged: in a minute, with usual leases


@dataclass(frozen=True, slots=True)
class HeartbeatStatistics:
    worker: WorkerId | None  # None: there is no lease
    holds_seconds: Annotated[
        float, GaugeMetric("How long the lease holds from now on at least; below zero it is lost.")
    ]
    beats_count: Annotated[int, CounterMetric("Heartbeats that were written.")]
    failed_count: Annotated[int, CounterMetric("Heartbeats that could not be written.")]
    lost_count: Annotated[int, CounterMetric("Leases that were lost.")]


class Heartbeat:
    """Keeps the lease. `begun`, `lost` and `others_died` are called in its task, and return at
    once."""

    def __init__(
        self,
        leases: Leases,
        *,
        lease_seconds: float,
        new_id: Callable[[], UUID],
        begun: Callable[[WorkerId], object],
        lost: Callable[[WorkerId], object],
        others_died: Callable[[], object],
    ) -> None:
        self._leases = leases
        self._lease_seconds = lease_seconds
        self._pause_seconds = lease_seconds / BEATS_PER_LEASE
        self._held_seconds = lease_seconds * (1 - MARGIN)
        self._new_id = new_id
        self._begun = begun
        self._lost = lost
        self._others_died = others_died
        self._gone: frozenset[WorkerId] = frozenset()  # workers known to be gone at the last beat
        self._worker: WorkerId | None = None
        self._held_until = 0.0
        self._others_return_until = -math.inf
        self._beats_count = 0
        self._failed_count = 0
        self._lost_count = 0

    async def run(self) -> None:
        """Keep lease after lease, until cancelled."""
        former = self._worker  # of a life that crashed
        while True:
            worker = WorkerId(self._new_id())
            if former is not None:
                await self._insist("leave", partial(self._leases.leave, former))
            await self._beat(worker)
            if former is not None:
                self._others_return_until = now() + self._lease_seconds
            self._worker = worker
            self._begun(worker)
            await self._keep(worker)
            former = worker

    @property
    def may_count_deaths(self) -> bool:
        """Tell whether a process whose lease has run out counts as dead."""
        return now() >= self._others_return_until

    def statistics(self) -> HeartbeatStatistics:
        return HeartbeatStatistics(
            worker=self._worker,
            holds_seconds=self._held_until - now(),
            beats_count=self._beats_count,
            failed_count=self._failed_count,
            lost_count=self._lost_count,
        )

    async def _keep(self, worker: WorkerId) -> None:
        """Beat until the lease is lost. The fence waits for nothing: neither for the store nor for
        a beat that is stuck there."""
        fence = CausedScope(seconds=self._left_seconds())
        async with trio.open_nursery() as beating:
            beating.start_soon(self._beat_on, worker, fence)
            with fence:
                await trio.sleep_forever()
            self._worker = None
            self._lost_count += 1
            self._lost(worker)
            beating.cancel_scope.cancel()

    async def _beat_on(self, worker: WorkerId, fence: CausedScope) -> None:
        while True:
            for _ in range(SWEEP_BEATS):
                await trio.sleep(self._pause_seconds)
                beat = await self._beat(worker)
                if beat.expired:
                    emit("lease.expired", "warning", worker=worker)
                    fence.cancel(LeaseExpired())
                    return
                fence.renew(self._left_seconds(), LeaseExpired())
            await self._insist("sweep", self._leases.sweep)

    async def _beat(self, worker: WorkerId) -> Beat:
        beats: list[tuple[float, Beat]] = []

        async def beat() -> None:
            sent_at = now()
            beats.append((sent_at, await self._leases.beat(worker)))

        await self._insist("beat", beat)
        [(sent_at, answer)] = beats
        self._beats_count += 1
        self._held_until = sent_at + self._held_seconds
        known, self._gone = self._gone, answer.gone
        if answer.gone - known:
            self._others_died()
        return answer

    def _left_seconds(self) -> float:
        """Return how long the lease still holds: 0 if the machine was asleep during the last
        beat."""
        return max(0.0, self._held_until - now())

    async def _insist(self, what: str, do: Callable[[], Awaitable[object]]) -> None:
        """Repeat `do` until it succeeds. A try that takes longer than the time between two beats
        has failed."""
        attempt = 0
        while True:
            end = await run_child(CausedScope(seconds=self._pause_seconds), do)
            match end:
                case Finished():
                    return
                case Broken(error):
                    raise error
                case Stopped() | Crashed():
                    attempt += 1
                    self._failed_count += 1
                    if attempt % TRIES_LOGGED == 1:
                        why = repr(end.error) if isinstance(end, Crashed) else "it took too long"
                        emit("lease.failed", "warning", what=what, attempt=attempt, why=why)
                    await trio.sleep(self._pause(attempt))
                case _:
                    assert_never(end)

    def _pause(self, attempt: int) -> float:
        return delay_seconds(
            attempt,
            first_seconds=RETRY_FIRST_SECONDS,
            cap_seconds=self._pause_seconds * RETRY_CAP,
        )
