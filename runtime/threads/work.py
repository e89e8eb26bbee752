"""Work in threads: what only looks, and what changes something."""

import threading
from collections.abc import Callable, Hashable
from contextvars import copy_context
from functools import partial
from typing import Generic, TypeVar, cast

import outcome
import trio

from runtime.errors import Misuse
from runtime.threads.limits import ThreadLimits, ThreadPlace, pool_of

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
    """Run work that changes something. A caller that is cancelled waits for it so much longer, and
    gets its result if it has ended by then."""
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
    """Work that has its place. A system task of trio runs it, which is cancelled only when the run
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
        """Called by trio when the caller is cancelled. It stays for the grace, if there is one."""
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
