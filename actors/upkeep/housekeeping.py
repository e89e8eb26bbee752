"""The housekeeper: an actor that archives, erases and forgets what the rules say is old.

Each process has one, and in a fleet one of them works at a time. It takes a lease in the store for
the length of a pass, and each batch is fenced by it: a process that was frozen removes nothing more
in its old name. A pass does all chores, one after the other, each in batches. What fails is logged,
counted and tried again in the next pass; the other chores go on.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, NoReturn, Protocol
from uuid import UUID

import trio

from actors.law.store.ports import StoreUnavailable
from actors.upkeep.age_rules import Pace, next_pace
from runtime.children import run_child
from runtime.clock import now
from runtime.ends import Broken, Crashed
from runtime.log import emit
from runtime.scope import CausedScope
from runtime.statistics import CounterMetric, GaugeMetric

PASS_SECONDS = 3_600.0  # between the end of a pass and the next one, in the whole fleet
START_SECONDS = 60.0  # after the start of a process, which has other things to do then
LOOK_SECONDS = 60.0  # between two looks whether a pass is due, and after one that left something
CHORE_SECONDS_MAX = 900.0  # of one chore in a pass; then the others have their turn
BATCH_SECONDS_MAX = 60.0  # of one batch; then it has failed
LEAVE_SECONDS = 5.0  # to let go of the lease; then others wait until it has run out


@dataclass(frozen=True, slots=True)
class HousekeepingLease:
    """The right to keep house, as long as the store knows this holder under this epoch."""

    holder: UUID
    epoch: int


@dataclass(frozen=True, slots=True)
class Batch:
    """The work of one batch. `is_last`: there was no more to do."""

    count: int = 0
    bytes: int = 0
    is_last: bool = False


@dataclass(frozen=True, slots=True)
class HousekeepingLost:
    """The lease is another process's by now: nothing was done."""


class Chore(Protocol):
    """Work of one kind, done in batches."""

    @property
    def name(self) -> str: ...

    async def batch(self, lease: HousekeepingLease, most: int) -> Batch | HousekeepingLost:
        """Do the next batch, of about `most` things, if the lease still holds."""
        ...

    async def due(self) -> int:
        """Return how many things a pass would take now, and do nothing."""
        ...


class HousekeepingStore(Protocol):
    """The lease, kept in the store."""

    async def take(self, holder: UUID, *, rest_seconds: float) -> HousekeepingLease | None:
        """Take the lease if no process has it and the last pass ended so long ago."""
        ...

    async def is_busy(self) -> bool:
        """Return whether chats are at work, in any process."""
        ...

    async def leave(self, lease: HousekeepingLease, report: "PassReport | None") -> None:
        """Let go of the lease. With a report the pass has ended; without, it was cut short."""
        ...


@dataclass(frozen=True, slots=True)
class ChoreReport:
    """The work of one chore in a pass."""

    name: str
    count: int = 0
    bytes: int = 0
    error: str = ""  # why it was cut short
    left: bool = False  # there is more to do


@dataclass(frozen=True, slots=True)
class PassReport:
    """The work of a pass."""

    chores: Sequence[ChoreReport] = ()
    seconds: float = 0.0

    @property
    def left(self) -> bool:
        return any(chore.left for chore in self.chores)


@dataclass(frozen=True, slots=True)
class HousekeepingStatistics:
    removed_count: Annotated[
        Mapping[str, int],
        CounterMetric("Things that housekeeping archived, erased or forgot here.", label="chore"),
    ]
    removed_bytes: Annotated[
        Mapping[str, int],
        CounterMetric("Bytes of what housekeeping erased or forgot here.", label="chore"),
    ]
    failed_count: Annotated[
        Mapping[str, int],
        CounterMetric("Batches of housekeeping that failed here.", label="chore"),
    ]
    passes_count: Annotated[int, CounterMetric("Passes of housekeeping that ended here.")]
    lost_count: Annotated[
        int, CounterMetric("Passes of housekeeping that another process took over.")
    ]
    running: Annotated[bool, GaugeMetric("1 while this process keeps house.")]
    behind: Annotated[bool, GaugeMetric("1 when the last pass here left something to do.")]
    quiet_seconds: Annotated[
        float, GaugeMetric("Time since a pass of housekeeping last ended here.")
    ]


@dataclass(slots=True)
class _Work:
    """The work that is done so far in a pass."""

    lease: HousekeepingLease
    pace: Pace = field(default_factory=Pace)
    count: int = 0
    bytes: int = 0
    is_lost: bool = False


class Housekeeper:
    """Keeps house. It has to `run`; `ask` begins a pass that is not due."""

    def __init__(
        self,
        store: HousekeepingStore,
        chores: Sequence[Chore],
        *,
        id: UUID,
        pass_seconds: float = PASS_SECONDS,
        look_seconds: float = LOOK_SECONDS,
        start_seconds: float = START_SECONDS,
    ) -> None:
        self._store = store
        self._chores = chores
        self._id = id
        self._pass_seconds = pass_seconds
        self._look_seconds = look_seconds
        self._start_seconds = start_seconds
        self._asked, self._ended = trio.Event(), trio.Event()
        self._removed, self._bytes, self._failed = Counter[str](), Counter[str](), Counter[str]()
        self._passes_count = self._lost_count = 0
        self._running = self._behind = False
        self._last_end = now()

    async def run(self) -> NoReturn:
        """Keep house until cancelled. A process that has begun looks after a while, or when it is
        asked to."""
        rest_seconds = self._look_seconds
        with trio.move_on_after(self._start_seconds):
            await self._asked.wait()
        while True:
            asked, self._asked = self._asked.is_set(), trio.Event()
            ended, self._ended = self._ended, trio.Event()
            await self._look(0.0 if asked else rest_seconds)
            rest_seconds = self._look_seconds if self._behind else self._pass_seconds
            ended.set()
            with trio.move_on_after(self._look_seconds):
                await self._asked.wait()

    def ask(self) -> trio.Event:
        """Begin a pass soon, after the one that runs. The event is set when the new one has ended,
        or could not begin."""
        self._asked.set()
        return self._ended

    async def survey(self) -> Sequence[ChoreReport]:
        """Return what a pass would do now, and do nothing."""
        return [ChoreReport(chore.name, await chore.due()) for chore in self._chores]

    def statistics(self) -> HousekeepingStatistics:
        return HousekeepingStatistics(
            removed_count=dict(self._removed),
            removed_bytes=dict(self._bytes),
            failed_count=dict(self._failed),
            passes_count=self._passes_count,
            lost_count=self._lost_count,
            running=self._running,
            behind=self._behind,
            quiet_seconds=now() - self._last_end,
        )

    async def _look(self, rest_seconds: float) -> None:
        """Do a pass if one is due and no other process does it."""
        try:
            lease = await self._store.take(self._id, rest_seconds=rest_seconds)
        except StoreUnavailable as fault:
            emit("housekeeping.delayed", "warning", error=fault)
            return
        if lease is None:
            return
        report = None
        self._running = True
        try:
            report = await self._pass(lease)
        finally:
            self._running = False
            with trio.move_on_after(LEAVE_SECONDS, shield=True):
                await self._leave(lease, report)

    async def _leave(self, lease: HousekeepingLease, report: PassReport | None) -> None:
        try:
            await self._store.leave(lease, report)
        except StoreUnavailable as fault:  # the lease runs out by itself
            emit("housekeeping.delayed", "warning", error=fault)

    async def _pass(self, lease: HousekeepingLease) -> PassReport | None:
        """Do all chores. None: another process has taken over."""
        began = now()
        done: list[ChoreReport] = []
        for chore in self._chores:
            found = await self._work_off(chore, lease)
            if found is None:
                self._lost_count += 1
                emit("housekeeping.lost", "warning", chore=chore.name)
                return None
            done.append(found)
        report = PassReport(done, round(now() - began, 3))
        self._passes_count += 1
        self._behind = report.left
        self._last_end = now()
        emit(
            "housekeeping.done",
            "info",
            seconds=report.seconds,
            did=" ".join(f"{each.name}={each.count}" for each in done if each.count),
        )
        return report

    async def _work_off(self, chore: Chore, lease: HousekeepingLease) -> ChoreReport | None:
        work, began = _Work(lease), now()
        while now() - began < CHORE_SECONDS_MAX:
            scope = CausedScope(seconds=BATCH_SECONDS_MAX)
            batches: list[Batch] = []
            end = await run_child(scope, partial(self._batch, chore, work, batches))
            if isinstance(end, Broken):
                raise end.error
            if work.is_lost:
                return None
            if not batches:
                why = repr(end.error) if isinstance(end, Crashed) else "it took too long"
                self._failed[chore.name] += 1
                emit("housekeeping.failed", "warning", chore=chore.name, why=why)
                return ChoreReport(chore.name, work.count, work.bytes, why, left=True)
            if batches[0].is_last:
                return ChoreReport(chore.name, work.count, work.bytes)
            await trio.sleep(work.pace.rest_seconds)
        return ChoreReport(chore.name, work.count, work.bytes, left=True)

    async def _batch(self, chore: Chore, work: _Work, batches: list[Batch]) -> None:
        busy, began = await self._store.is_busy(), now()
        pace = work.pace.at_work() if busy else work.pace
        found = await chore.batch(work.lease, pace.most)
        if isinstance(found, HousekeepingLost):
            work.is_lost = True
            return
        batches.append(found)
        work.count += found.count
        work.bytes += found.bytes
        self._removed[chore.name] += found.count
        self._bytes[chore.name] += found.bytes
        work.pace = next_pace(pace, found.count, now() - began, busy=busy)
