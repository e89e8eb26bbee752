"""Threads for work that blocks. Each kind of work has its own, so that none waits for another's.

trio has one limiter for all work that names no other: when forty threads hang on a dead disk, no
name is looked up any more. Here every kind says how many threads it may have, in all and for one
key (a host, a workspace), and how long its callers wait.

Work that only looks is *read*: a caller that is cancelled leaves at once. Work that changes
something is *written*: its caller waits a moment longer, so that mostly nothing is left behind half
done. What still runs then goes on to its end, and other work for the same key waits for it.
"""

import threading
from collections.abc import Callable, Hashable, Mapping
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import Generic, TypeVar, cast

import outcome
import trio

from runtime.errors import Misuse, RuntimeFault
from runtime.statistics import ThreadsStatistics


@dataclass(frozen=True, slots=True)
class ThreadLimits:
    """A kind of work that blocks, and its bounds."""

    name: str  # in errors, and among the statistics
    threads_max: int  # that work at once, with those that were left
    per_key_max: int | None = None  # of them for one key; None: as many as there are
    wait_seconds: float = inf  # for a free thread; then `ThreadsBlocked`
    answer_seconds: float = inf  # for the work itself; then `ThreadsBlocked`, and the work is left


class ThreadsBlocked(RuntimeFault):
    """The work did not end in time, or did not begin because other work did not end."""


def statistics() -> Mapping[str, ThreadsStatistics]:
    """Return the statistics of every kind of work that this run has used, by name."""
    return {pool.kind.name: pool.statistics() for pool in _pools().values()}


class _Key:
    """The threads that are at work for one key."""

    def __init__(self, threads_max: int) -> None:
        self.free = trio.CapacityLimiter(threads_max)
        self.users = 0
        self.left: set[trio.Event] = set()  # ends of writes whose callers have gone


class Threads:
    """The threads of one kind of work, in one run."""

    def __init__(self, kind: ThreadLimits) -> None:
        self.kind = kind
        self.free = trio.CapacityLimiter(kind.threads_max)
        self.keys: dict[Hashable, _Key] = {}
        self.waiting = self.left = 0
        self.begun_count = self.blocked_count = 0

    async def acquire(self, key: Hashable, *, keeps: bool) -> "ThreadPlace":
        """Wait for a free thread, or raise `ThreadsBlocked`.

        If the caller leaves before the work ends, and `keeps` is set, other work for the same key
        waits for that end.
        """
        if (own := self.keys.get(key)) is None:
            own = self.keys[key] = _Key(self.kind.per_key_max or self.kind.threads_max)
        place = ThreadPlace(self, key, own, keeps=keeps)
        self.waiting += 1
        try:
            with trio.move_on_after(self.kind.wait_seconds):
                await place.acquire()
        finally:
            self.waiting -= 1
            if not place.is_held:
                place.forget()
        if not place.is_held:
            raise self.blocked(key, self.kind.wait_seconds)
        self.begun_count += 1
        return place

    def blocked(self, key: Hashable, seconds: float) -> ThreadsBlocked:
        self.blocked_count += 1
        whose = f" of {key}" if isinstance(key, str) else ""  # other keys may hold secrets
        return ThreadsBlocked(f"{self.kind.name}{whose}: no answer within {seconds:g} s")

    def statistics(self) -> ThreadsStatistics:
        return ThreadsStatistics(
            running=int(self.free.borrowed_tokens),
            waiting=self.waiting,
            left=self.left,
            keys=len(self.keys),
            begun_count=self.begun_count,
            blocked_count=self.blocked_count,
        )


class ThreadPlace:
    """The right to use one thread. trio gives it back when the thread has really ended, as it does
    with its own limiters."""

    def __init__(self, pool: Threads, name: Hashable, key: _Key, *, keeps: bool) -> None:
        self._pool = pool
        self._name = name
        self._key = key
        self._keeps = keeps  # other work for the same key from beginning before this has ended
        self.is_held = self.is_left = False
        self.released = trio.Event()
        key.users += 1

    async def acquire(self) -> None:
        while not self.is_held:
            while self._key.left:
                await next(iter(self._key.left)).wait()
            await self._key.free.acquire_on_behalf_of(self)
            try:
                await self._pool.free.acquire_on_behalf_of(self)
                if self._key.left:  # a write was left while this place was waited for
                    self._pool.free.release_on_behalf_of(self)
                else:
                    self.is_held = True
            finally:
                if not self.is_held:
                    self._key.free.release_on_behalf_of(self)

    def leave(self) -> None:
        """Note that the caller has gone while the thread goes on."""
        if self.is_held and not self.is_left:
            self.is_left = True
            self._pool.left += 1
            if self._keeps:
                self._key.left.add(self.released)

    def release(self) -> None:
        self.is_held = False
        self._pool.free.release_on_behalf_of(self)
        self._key.free.release_on_behalf_of(self)
        self._pool.left -= self.is_left
        self._key.left.discard(self.released)
        self.released.set()
        self.forget()

    def forget(self) -> None:
        self._key.users -= 1
        if not self._key.users:
            del self._pool.keys[self._name]

    # As trio calls a limiter. The place was acquired before, under its own limit of time.

    async def acquire_on_behalf_of(self, borrower: object) -> None:
        pass

    def release_on_behalf_of(self, borrower: object) -> None:
        self.release()


_of_run: trio.lowlevel.RunVar["dict[ThreadLimits, Threads]"] = trio.lowlevel.RunVar("threads")


def _pools() -> "dict[ThreadLimits, Threads]":
    try:
        return _of_run.get()
    except LookupError:
        pools: dict[ThreadLimits, Threads] = {}
        _of_run.set(pools)
        return pools


def pool_of(kind: ThreadLimits) -> Threads:
    """Return the threads of this kind of work, in this run."""
    pools = _pools()
    if (pool := pools.get(kind)) is None:
        pool = pools[kind] = Threads(kind)
    return pool


Result = TypeVar("Result")

_here = threading.local()


class Unwanted(Exception):
    """Raised in a thread: the caller of this work has been cancelled."""


async def read(kind: ThreadLimits, work: Callable[[], Result], *, key: Hashable = None) -> Result:
    """Run work that only looks. A caller that is cancelled leaves at once."""
    return await _run(kind, work, key, keeps=False, grace_seconds=0)


async def write(
    kind: ThreadLimits, work: Callable[[], Result], *, key: Hashable = None, grace_seconds: float
) -> Result:
    """Run work that changes something.

    A caller that is cancelled waits for it `grace_seconds` longer, and gets its result if it has
    ended by then.
    """
    return await _run(kind, work, key, keeps=True, grace_seconds=grace_seconds)


def check_wanted() -> None:
    """Raise `Unwanted` if the caller of this work, which runs in this thread, was cancelled."""
    job: _Job[object] | None = getattr(_here, "job", None)
    if job is None:
        raise Misuse("check_wanted: this is no thread of ours")
    if job.is_unwanted:
        raise Unwanted


async def _run(
    kind: ThreadLimits,
    work: Callable[[], Result],
    key: Hashable,
    *,
    keeps: bool,
    grace_seconds: float,
) -> Result:
    pool = pool_of(kind)
    place = await pool.acquire(key, keeps=keeps)
    job = _Job(work, place, grace_seconds)
    with trio.move_on_after(kind.answer_seconds):
        return await job.result()
    raise pool.blocked(key, kind.answer_seconds)


class _Job(Generic[Result]):
    """Work that has its thread. A system task of trio runs it, which is cancelled only when the run
    ends; the caller waits for it, and may leave."""

    def __init__(
        self, work: Callable[[], Result], place: ThreadPlace, grace_seconds: float
    ) -> None:
        self._work = work
        self._place = place
        self._grace_seconds = grace_seconds
        self._caller: trio.lowlevel.Task | None = None
        self._outcome: outcome.Outcome[Result] | None = None
        self.is_unwanted = False

    async def result(self) -> Result:
        trio.lowlevel.spawn_system_task(self._live, name=self._work, context=copy_context())
        try:
            while self._place.is_held:
                self._caller = trio.lowlevel.current_task()
                await trio.lowlevel.wait_task_rescheduled(self._abort)
                if self._place.is_held:  # after a cancellation, and the grace
                    await trio.lowlevel.checkpoint()
        finally:
            self._place.leave()
        assert self._outcome is not None, "its thread has ended"
        if isinstance(self._outcome, outcome.Error) and isinstance(self._outcome.error, Unwanted):
            await trio.lowlevel.checkpoint()  # which says that we are cancelled
        return self._outcome.unwrap()

    async def _live(self) -> None:
        try:
            await trio.to_thread.run_sync(
                self._in_thread,
                abandon_on_cancel=True,  # at the end of the run, which waits for no disk
                limiter=cast("trio.CapacityLimiter", self._place),
            )
        except RuntimeError as error:  # the system has no more threads
            self._outcome = outcome.Error(error)
        self._wake()

    def _in_thread(self) -> None:
        _here.job = self
        try:
            # Errors of every kind: they are raised before the caller, and never in trio's own task.
            self._outcome = outcome.capture(self._work)
        finally:
            del _here.job

    def _wake(self) -> None:
        caller, self._caller = self._caller, None
        if caller is not None:
            trio.lowlevel.reschedule(caller)

    def _abort(self, raise_cancel: object) -> trio.lowlevel.Abort:
        """Let the caller go, or stay for its grace if there is one. trio calls this when it is
        cancelled."""
        self.is_unwanted = True
        if not self._grace_seconds:
            self._caller = None
            return trio.lowlevel.Abort.SUCCEEDED
        trio.lowlevel.spawn_system_task(partial(self._wake_late, self._grace_seconds))
        return trio.lowlevel.Abort.FAILED

    async def _wake_late(self, seconds: float) -> None:
        with trio.move_on_after(seconds):
            await self._place.released.wait()
        self._wake()
