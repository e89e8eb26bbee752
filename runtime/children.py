"""Supervised children: run work to its end, say how it ended, and keep a set of it running.

There are two kinds of children, told apart by `restart`:

- *kept* (with a `Restart`): the supervisor cannot do without it. A crash restarts it within its
  budget. A child that is broken, or has used up its budget, takes the supervisor down with it.
- *loose* (without): it comes and goes, by the ten thousand. Its end is told to `when_ended`.

Children are shielded: they are told to stop by their supervisor only, with a cause and in order. No
end crosses the nursery as an exception.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import trio

from runtime.clock import now
from runtime.ends import (
    Broken,
    Cause,
    ChildGaveUp,
    Crashed,
    End,
    Finished,
    Shutdown,
    Stopped,
    SupervisorGone,
    end_by_error,
    end_by_itself,
)
from runtime.errors import (
    ActorGone,
    ChildBroken,
    ChildrenFull,
    Misuse,
    RestartsUsedUp,
    RuntimeFault,
)
from runtime.log import Level, emit
from runtime.mailbox import Mailbox
from runtime.restart import GiveUp, Restart, StartAgain, what_next
from runtime.scope import CausedScope
from runtime.statistics import ChildrenStatistics, ChildStatistics

STOPS_IN_A_ROW_MAX = 32  # then these may end, and others run, before more are told (twice as fast)

Body = Callable[[], Awaitable[object]]


async def run_child(scope: CausedScope, body: Body) -> End:
    """Run `body` inside `scope` to its end and return that end.

    This is the one place where cancellation is translated into a value.
    """
    try:
        with scope:
            await body()
    except Exception as error:  # noqa: BLE001  the edge of the unit of work; Cancelled must pass
        return end_by_error(error, scope.requested)
    return end_by_itself(scope.interrupted_by)


@dataclass(frozen=True, slots=True, kw_only=True)
class Child:
    """A piece of work to run under a supervisor, and what to do when it ends."""

    name: str
    body: Body  # called anew for each life
    restart: Restart | None = None  # None: loose
    mailbox: Mailbox[Any] | None = None  # emptied after each life, closed after the last
    when_ended: Callable[[str, End], object] | None = None  # told once, after the last life
    tell_to_stop: Callable[[], object] | None = None  # a verb; without one it is cancelled at once
    grace_seconds: float = 0.0  # how long it may go on once told


class RunningChild:
    """A child that has been started: its scope and its counts."""

    __slots__ = ("child", "restarted_at", "restarts_count", "resting", "scope", "since")

    def __init__(self, child: Child) -> None:
        self.child = child
        self.scope = CausedScope(shield=True)  # of this life
        self.since = now()
        self.restarts_count = 0
        self.restarted_at: tuple[float, ...] = ()
        self.resting = False

    def stop(self, cause: Cause, *, at_once: bool = False) -> None:
        """Tell the child to stop and give it its grace; if it cannot be told, cancel it at once."""
        tell = self.child.tell_to_stop
        if at_once or tell is None or self.resting:
            self.scope.cancel(cause)
            return
        self.scope.expire_in(self.child.grace_seconds, cause)
        try:
            tell()
        except RuntimeFault:  # its mailbox is full: it cannot hear, so there is no use in waiting
            self.scope.cancel(cause)

    def statistics(self) -> ChildStatistics:
        """Return the counts of this life."""
        mailbox = self.child.mailbox
        return ChildStatistics(
            name=self.child.name,
            alive_seconds=now() - self.since,
            restarts_count=self.restarts_count,
            resting=self.resting,
            requested=self.scope.requested,
            mailbox=None if mailbox is None else mailbox.statistics(),
        )

    def __repr__(self) -> str:
        return f"<Running {self.child.name}: {'resting' if self.resting else self.scope}>"


class Children:
    """The children of one supervisor. Made by `open_children`."""

    def __init__(
        self, name: str, *, capacity: int, nursery: trio.Nursery, failures: list[Exception]
    ) -> None:
        self.name = name
        self.capacity = capacity  # at the bound, `start` raises ChildrenFull
        self._owner = CausedScope()  # the supervisor's own block: cancelled when it must give up
        self._failures = failures  # why the supervisor ends, if it does not end in good order
        self._nursery = nursery
        self._running: dict[str, RunningChild] = {}  # in the order of start
        self._loose_count = 0
        self._ended = trio.lowlevel.ParkingLot()  # where `stop` waits
        self._stopping = False
        self._running_peak = 0
        self._started_count = 0
        self._restarted_count = 0
        self._ends_count: dict[type[End], int] = {Finished: 0, Stopped: 0, Crashed: 0, Broken: 0}

    def start(self, child: Child) -> RunningChild:
        """Start a child. It runs until its own end, its stop, or the supervisor's."""
        subject = f"{self.name}: child {child.name}"
        if child.restart is None and child.when_ended is None:
            raise Misuse(f"{subject} is loose, but nobody would be told of its end")
        if child.name in self._running:
            raise Misuse(f"{subject} runs already")
        if self._stopping:
            raise ActorGone(f"{self.name}: stopping, starts no children")
        if len(self._running) >= self.capacity:
            raise ChildrenFull(f"{self.name}: {self.capacity} children run already")
        running = self._running[child.name] = RunningChild(child)
        self._loose_count += child.restart is None
        self._started_count += 1
        self._running_peak = max(self._running_peak, len(self._running))
        self._nursery.start_soon(self._run, running, name=child.name)
        return running

    def find(self, name: str) -> RunningChild | None:
        """Return the running child of that name, or None."""
        return self._running.get(name)

    def __iter__(self) -> Iterator[RunningChild]:
        return iter(tuple(self._running.values()))

    def __len__(self) -> int:
        return len(self._running)

    async def stop(self, cause: Cause, *, at_once: bool = False) -> None:
        """Stop all children: the loose ones together, then the kept ones one by one, last started
        first.

        From then on nothing is started or restarted. Each child has its grace, unless `at_once`.
        """
        self._stopping = True
        newest_first = list(reversed(self._running.values()))
        loose = [running for running in newest_first if running.child.restart is None]
        for told, running in enumerate(loose, 1):
            running.stop(cause, at_once=at_once)
            if told % STOPS_IN_A_ROW_MAX == 0:
                await trio.lowlevel.checkpoint()
        while self._loose_count:
            await self._ended.park()
        for running in newest_first:
            if running.child.name in self._running:
                running.stop(cause, at_once=at_once)
            while running.child.name in self._running:
                await self._ended.park()

    def statistics(self) -> ChildrenStatistics:
        """Return the counts since it was opened, and what runs now."""
        return ChildrenStatistics(
            name=self.name,
            capacity=self.capacity,
            stopping=self._stopping,
            running=len(self._running),
            running_peak=self._running_peak,
            started_count=self._started_count,
            restarted_count=self._restarted_count,
            finished_count=self._ends_count[Finished],
            stopped_count=self._ends_count[Stopped],
            crashed_count=self._ends_count[Crashed],
            broken_count=self._ends_count[Broken],
        )

    def __repr__(self) -> str:
        return f"<Children of {self.name}: {len(self._running)} of {self.capacity} run>"

    async def _stop_what_is_left(self) -> None:
        """Stop the children that still run, as the last task of the nursery.

        After a block that was left in good order it finds none.
        """
        with CausedScope(shield=True):
            await self.stop(SupervisorGone(self.name), at_once=True)

    async def _run(self, running: RunningChild) -> None:
        """Run one child, life after life until the last, then tell all that want to know of its
        end."""
        child = running.child
        try:
            if child.restart is None:
                end = await run_child(running.scope, child.body)
                self._ends_count[type(end)] += 1
            else:
                end = await self._keep(running, child.restart)
        finally:
            if child.mailbox is not None:
                child.mailbox.close()
            del self._running[child.name]
            self._loose_count -= child.restart is None
            self._ended.unpark_all()
        self._note("child.ended", running, end)
        if child.when_ended is not None:
            try:
                child.when_ended(child.name, end)
            except Exception as error:  # noqa: BLE001  comes out of the supervisor
                self._take_down(child, error)

    async def _keep(self, running: RunningChild, policy: Restart) -> End:
        """Run the lives of a kept child. Its rest before a life is part of that life's scope."""
        child = running.child
        body = child.body
        while True:
            end = await run_child(running.scope, body)
            self._ends_count[type(end)] += 1
            verdict = what_next(policy, end, running.restarted_at, now())
            if isinstance(verdict, GiveUp):
                self._give_up(running, policy, end)
            if self._stopping or not isinstance(verdict, StartAgain):
                return end
            self._note("child.restarted", running, end)
            if child.mailbox is not None:
                child.mailbox.abandon()
            self._restarted_count += 1
            running.restarts_count += 1
            running.restarted_at = (*running.restarted_at, now())[-policy.times :]
            running.scope = CausedScope(shield=True)
            running.resting = True
            body = partial(_rest_then_live, running, verdict.after_seconds)

    def _give_up(self, running: RunningChild, policy: Restart, end: End) -> None:
        """Take the supervisor down, unless it stops already; a broken child takes it down in any
        case."""
        assert isinstance(end, Crashed | Broken), "only what went wrong is given up"
        subject = f"{self.name}: child {running.child.name}"
        failure: Exception
        if isinstance(end, Broken):
            failure = ChildBroken(f"{subject} is broken, {end.error!r}")
        elif self._stopping:
            return
        else:
            failure = RestartsUsedUp(
                f"{subject} crashed again after {policy.times} restarts"
                f" within {policy.within_seconds:g} s"
            )
        failure.__cause__ = end.error
        self._take_down(running.child, failure)

    def _take_down(self, child: Child, failure: Exception) -> None:
        self._failures.append(failure)
        self._owner.cancel(ChildGaveUp(child.name))

    def _note(self, event: str, running: RunningChild, end: End) -> None:
        level: Level = "debug"
        if isinstance(end, Crashed | Broken):
            level = "warning" if event == "child.restarted" else "error"
        emit(
            event,
            level,
            supervisor=self.name,
            child=running.child.name,
            end=type(end).__name__,
            cause=end.cause.code if isinstance(end, Stopped) else None,
            error=end.error if isinstance(end, Crashed | Broken) else None,
            seconds=now() - running.since,
            restarts=running.restarts_count,
        )


async def _rest_then_live(running: RunningChild, seconds: float) -> None:
    await trio.sleep(seconds)
    running.resting = False
    running.since = now()
    await running.child.body()


@asynccontextmanager
async def open_children(name: str, *, capacity: int) -> AsyncIterator[Children]:
    """Open a supervised nursery, for as long as the block inside runs.

    A block that is left in good order stops the children with `Shutdown`, each with its grace. A
    block that is left by an error or a cancellation stops them at once with `SupervisorGone`, in
    the same order. A child that must be given up cancels the block, and `RestartsUsedUp` or
    `ChildBroken` comes out.
    """
    failures: list[Exception] = []
    try:
        async with trio.open_nursery() as nursery:
            children = Children(name, capacity=capacity, nursery=nursery, failures=failures)
            try:
                with children._owner:
                    yield children
                    await children.stop(Shutdown())
            except Exception as error:  # noqa: BLE001  kept from the nursery, which would wrap it
                failures.append(error)
            finally:
                nursery.start_soon(children._stop_what_is_left)
    finally:  # also when it was cancelled: what failed on the way out is not overlooked
        if len(failures) == 1:
            raise failures[0]
        if failures:
            raise ExceptionGroup(f"{name}: failed more than once", failures)
