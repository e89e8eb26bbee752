"""A thread with an event loop of its own for one plugin, and calls into it from the daemon's loop.

A plugin's code runs nowhere else. While it blocks, hangs or computes, the daemon's own loop turns,
so every wait for a plugin ends in time. Python cannot end a thread from outside: what does not end
when it is cancelled goes on beside everything else until the process ends, and is counted.
"""

import sys
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from types import FrameType
from typing import Any

import outcome
import trio

from adapters.plugins.calls import (
    PluginCall,
    PluginFault,
    PluginState,
    PluginStatistics,
    PluginUnavailable,
    ResultNotNeeded,
    Work,
    words_of,
)
from adapters.settings import names
from runtime.clock import now
from runtime.log import emit
from runtime.scope import CausedScope
from runtime.threads import ThreadLimits, read

LOAD_SECONDS = 30.0  # for importing it; then it is not loaded
CALLS_MAX = 256  # of one plugin at once, those that linger included; the next one is refused
# For a cancelled call to end. After that its caller does not wait for it any more.
CANCEL_GRACE_SECONDS = 1.0
BLOCKED_SECONDS = 1.0  # without a turn of its loop; then the log says where its code is
BLOCKED_SECONDS_MAX = 10.0  # then its calls end with a fault, and no more are begun till it turns
LEAVE_SECONDS = 2.0  # for its thread to end when the daemon does; then it is left behind
TASKS_MAX = 10_000  # in its loop, left ones included; then it is asked nothing until there are less
FAILURES_LOGGED_MAX = 10  # of its calls, in FAILURES_LOGGED_SECONDS; the others are only counted
FAILURES_LOGGED_SECONDS = 10.0
ENDINGS = ThreadLimits("plugin_ends", 8)  # threads that wait for those of plugins to end


def _nothing() -> None:
    pass


class PluginLoop:
    """The thread of one plugin, with its event loop.

    The daemon makes it and calls it in its own loop, except for the methods under the heading "in
    the plugin's thread".
    """

    def __init__(self, name: str, version: str) -> None:
        self.name = name
        self.version = version
        self.state = PluginState.LOADING
        self.why = ""
        self.brings = ""  # tools, providers and identity sources, in words
        self.modules: frozenset[str] = frozenset()  # by which its code is found on a stack
        self._home = trio.lowlevel.current_trio_token()
        self._there: trio.lowlevel.TrioToken | None = None
        self._nursery: trio.Nursery | None = None
        self._thread: threading.Thread | None = None
        self._loaded: outcome.Outcome[Any] | None = None
        self._has_loaded = trio.Event()
        self._calls: set[PluginCall] = set()
        self._pinged_at: float | None = None
        self._is_blocked = False
        self._clock: int | None = None  # of what its thread has computed; None: there is none
        self._cpu_seconds = 0.0
        self._tasks = self._own_tasks = self._leak_said = 0
        self._logged_at: deque[float] = deque(maxlen=FAILURES_LOGGED_MAX)
        self._calls_count = self._failed_count = self._refused_count = 0
        self._blocked_count = self._lingered_count = 0

    # beginning and ending

    async def load(self, work: Callable[[], Any]) -> Any:
        """Start the thread and run `work` in it, before anything else. PluginFault: it took too
        long. What it raises comes out of here."""
        thread = threading.Thread(
            target=self._live, args=(work,), name=f"plugin {self.name}", daemon=True
        )
        thread.start()  # RuntimeError: the system has no more threads
        self._thread = thread
        with CausedScope(seconds=LOAD_SECONDS):
            await self._has_loaded.wait()
        if self._loaded is None:
            raise PluginFault(
                f"did not load within {LOAD_SECONDS:g} s, it was {self.thread_position()}"
            )
        if isinstance(self._loaded, outcome.Error):
            error = self._loaded.error
            if not isinstance(error, Exception):
                raise PluginFault(f"raised {type(error).__name__} when it was loaded")
        return self._loaded.unwrap()

    def begin_serving(self, brings: str) -> None:
        """Let the plugin be asked from now on; `brings` says in words what it has."""
        if self.state is not PluginState.LOADING:  # its loop has ended meanwhile
            return
        self.state, self.brings = PluginState.RUNNING, brings
        emit("plugin.loaded", "info", plugin=self.name, version=self.version, brings=brings)

    def fail(self, why: str, error: Exception | None = None) -> None:
        """Say that the plugin could not be loaded, and ask nothing of it."""
        self.state, self.why = PluginState.FAILED, why
        self._tell_to_end()
        emit("plugin.failed", "error", plugin=self.name, version=self.version, why=why, error=error)

    async def end(self) -> None:
        """Tell the thread to end, and wait for that a while. One that does not is left behind: it
        does not outlive the process."""
        if self.state is not PluginState.FAILED:
            self.state, self.why = PluginState.ENDED, "the daemon stops"
        self._tell_to_end()
        if self._thread is None:
            return
        await read(ENDINGS, partial(self._thread.join, LEAVE_SECONDS))
        if self._thread.is_alive():
            emit(
                "plugin.left",
                "warning",
                plugin=self.name,
                version=self.version,
                at=self.thread_position(),
            )

    def _tell_to_end(self) -> None:
        if self._nursery is not None:
            self._post(self._nursery.cancel_scope.cancel)

    # calls

    async def call(self, work: Work) -> Any:
        """Run `work` in the plugin's loop. PluginFault: it was not run, or not to its end. What it
        raises comes out of here. A caller that is cancelled cancels it, and leaves soon after."""
        async with self.running(work) as call:
            await call.ended.wait()
            return call.result()

    @asynccontextmanager
    async def running(
        self, work: Work, when_ended: Callable[[], None] = _nothing
    ) -> AsyncIterator[PluginCall]:
        """Run `work` in the plugin's loop as long as the block is: a call that has not ended by
        then is cancelled, and has a moment to end."""
        call = self._begin(work, when_ended)
        try:
            yield call
        finally:
            if not call.ended.is_set():
                call.is_left = True
                self._post(partial(call.scope.cancel, ResultNotNeeded()))
                with trio.move_on_after(CANCEL_GRACE_SECONDS, shield=True):
                    await call.ended.wait()
                if not call.ended.is_set():
                    self._post(call.shelter.shelter)
                    self._lingered_count += 1
                    emit("plugin.lingers", "warning", plugin=self.name, at=self.thread_position())

    def _begin(self, work: Work, when_ended: Callable[[], None]) -> PluginCall:
        if self.state is not PluginState.RUNNING:
            raise PluginUnavailable(f"it is {self.state.value}: {self.why}")
        if len(self._calls) >= CALLS_MAX:
            self._refused_count += 1
            raise PluginUnavailable(f"it is busy: {CALLS_MAX} of its calls run already")
        if self._tasks > TASKS_MAX:
            self._refused_count += 1
            raise PluginUnavailable(f"it is busy: {self._tasks} tasks run in its event loop")
        call = PluginCall(work, when_ended)
        self._calls.add(call)
        self._calls_count += 1
        self._post(partial(self._start, call))
        return call

    def statistics(self) -> PluginStatistics:
        return PluginStatistics(
            version=self.version,
            state=self.state.value,
            why=self.why,
            brings=self.brings,
            running=self.state is PluginState.RUNNING,
            blocked=self._is_blocked,
            calls=len(self._calls),
            tasks=max(0, self._tasks - self._own_tasks),
            lingering=sum(call.is_left for call in self._calls),
            calls_count=self._calls_count,
            failed_count=self._failed_count,
            refused_count=self._refused_count,
            blocked_count=self._blocked_count,
            lingered_count=self._lingered_count,
        )

    def _tell_caller(self, call: PluginCall) -> None:
        if not call.ended.is_set():
            call.ended.set()
            call.when_ended()

    def _post(self, do: Callable[[], object]) -> None:
        if self._there is not None:
            with suppress(trio.RunFinishedError, OSError):  # OSError: its loop is broken
                self._there.run_sync_soon(do)

    def note_failure(self, error: Exception, **about: str) -> None:
        """Count and log a call that ended with a fault; `about` says what was called, for whom."""
        self._failed_count += 1
        is_full = len(self._logged_at) == FAILURES_LOGGED_MAX
        if is_full and now() < self._logged_at[0] + FAILURES_LOGGED_SECONDS:
            return
        self._logged_at.append(now())
        emit("plugin.call_failed", "error", plugin=self.name, **about, error=error)

    # watching

    def check(self, late_seconds: float, process_seconds: float) -> None:
        """Look whether the plugin's loop turns. To be called again and again, with the seconds by
        which this is too late, as the daemon's loop did not turn, and those that the process has
        computed since the last time."""
        if self.state not in (PluginState.RUNNING, PluginState.BLOCKED):
            return
        computed = -self._cpu_seconds
        self._cpu_seconds = self._cpu()
        computed += self._cpu_seconds
        if self._pinged_at is not None:
            self._pinged_at += late_seconds  # no time to answer: its thread may have had no turn
        if late_seconds > BLOCKED_SECONDS:
            # Something held the interpreter. The plugin's answer may be on its way, so nothing is
            # concluded from its silence; but the thread that computed all the while is to blame.
            if computed > process_seconds / 2:
                self._note_blocked(late_seconds, "in code that held the whole interpreter")
            return
        silent = 0.0 if self._pinged_at is None else now() - self._pinged_at
        if self._pinged_at is None:
            self._is_blocked = False
            self._pinged_at = now()
            self._post(self._turn)
        elif silent > BLOCKED_SECONDS and not self._is_blocked:
            self._is_blocked = True
            self._note_blocked(silent, self.thread_position())
        if silent > BLOCKED_SECONDS_MAX and self.state is PluginState.RUNNING:
            self.state = PluginState.BLOCKED
            self._give_up(
                f"it has blocked its event loop for {silent:.0f} s, {self.thread_position()}"
            )

    def _give_up(self, why: str) -> None:
        """End all calls with a fault. Those that run go on until they notice."""
        self.why = why
        for call in tuple(self._calls):
            self._post(partial(call.scope.cancel, ResultNotNeeded()))
            call.is_left, call.outcome = True, outcome.Error(PluginUnavailable(why))
            self._tell_caller(call)

    def thread_position(self) -> str:
        """Return where the plugin's thread is now, in words: its own code rather than that of a
        library that it calls."""
        ident = self._thread.ident if self._thread is not None else None
        frame = sys._current_frames().get(ident) if ident is not None else None
        found: FrameType | None = frame
        while found is not None:
            if found.f_globals.get("__name__", "").partition(".")[0] in self.modules:
                break
            found = found.f_back
        if (shown := found or frame) is None:
            return "nowhere"
        code = shown.f_code
        return f"in {code.co_name} ({code.co_filename}:{shown.f_lineno})"

    def _note_blocked(self, seconds: float, place: str) -> None:
        self._blocked_count += 1
        emit(
            "plugin.blocked",
            "warning",
            plugin=self.name,
            version=self.version,
            seconds=round(seconds, 1),
            at=place,
        )

    def _note_turn(self, tasks: int) -> None:
        self._tasks = tasks
        is_used = any(not call.is_left for call in self._calls)  # they may have tasks of their own
        left = 0 if is_used else tasks - self._own_tasks - len(self._calls)
        if left > 2 * self._leak_said:  # said again when there are twice as many
            self._leak_said = left
            emit("plugin.leaks", "warning", plugin=self.name, version=self.version, tasks=left)
        if self._is_blocked and self._pinged_at is not None:
            seconds = round(now() - self._pinged_at, 1)
            emit("plugin.unblocked", "info", plugin=self.name, seconds=seconds)
        self._pinged_at, self._is_blocked = None, False
        if self.state is PluginState.BLOCKED:
            self.state, self.why = PluginState.RUNNING, ""

    def _cpu(self) -> float:
        """Return what the plugin's thread has computed, in seconds; 0 where that is not told."""
        if self._clock is not None:
            with suppress(OSError):  # the thread has ended
                return time.clock_gettime(self._clock)
        return 0.0

    # in the plugin's thread

    def _live(self, work: Callable[[], Any]) -> None:
        # Only the thread itself may ask for its clock: it cannot have ended meanwhile.
        if (clock_of := getattr(time, "pthread_getcpuclockid", None)) is not None:
            self._clock = clock_of(threading.get_ident())
        ended = outcome.capture(names.run, self._serve, work)
        self._tell_home(partial(self._note_over, ended))

    async def _serve(self, work: Callable[[], Any]) -> None:
        loaded = outcome.capture(work)
        async with trio.open_nursery() as nursery:
            self._there, self._nursery = trio.lowlevel.current_trio_token(), nursery
            self._own_tasks = trio.lowlevel.current_statistics().tasks_living
            self._tell_home(partial(self._note_loaded, loaded))
            await trio.sleep_forever()

    def _turn(self) -> None:
        """Answer the watch: the loop turns, and so many tasks are in it."""
        tasks = trio.lowlevel.current_statistics().tasks_living
        self._tell_home(partial(self._note_turn, tasks))

    def _start(self, call: PluginCall) -> None:
        assert self._nursery is not None, "calls are begun once it is loaded"
        self._nursery.start_soon(self._run, call)

    async def _run(self, call: PluginCall) -> None:
        """Run one call. Whatever its code raises, a cancellation too, is its outcome, and so is
        what trio says of a nursery or a cancel scope that it leaves open: these are cancelled."""
        ended: outcome.Outcome[Any]
        try:
            with call.scope, call.shelter:
                ended = await outcome.acapture(call.work)
        except Exception as error:  # noqa: BLE001  of trio, about what was left open
            ended = outcome.Error(error)
        self._tell_home(partial(self._note_outcome, call, ended))
        if trio.lowlevel.current_task().child_nurseries:
            # If this task ended now, that would be an error of the loop, and end all other calls.
            # It stays among the tasks that were left, which have a bound.
            await trio.sleep_forever()

    def _tell_home(self, do: Callable[[], object]) -> None:
        with suppress(trio.RunFinishedError):
            self._home.run_sync_soon(do)

    # in the daemon's loop, told by the plugin's thread

    def _note_loaded(self, loaded: "outcome.Outcome[Any]") -> None:
        self._loaded = loaded
        self._has_loaded.set()
        if self.state is not PluginState.LOADING:  # it took too long
            self._tell_to_end()

    def _note_outcome(self, call: PluginCall, ended: "outcome.Outcome[Any]") -> None:
        self._calls.discard(call)
        if not call.ended.is_set():  # it may have been given up
            call.outcome = ended
        self._tell_caller(call)

    def _note_over(self, ended: "outcome.Outcome[Any]") -> None:
        """The thread has ended, perhaps without having been told to."""
        error = ended.error if isinstance(ended, outcome.Error) else None
        why = "its event loop has ended" + ("" if error is None else f": {words_of(error)}")
        if not self._has_loaded.is_set():
            self._loaded = outcome.Error(PluginFault(why))
            self._has_loaded.set()
        elif self.state in (PluginState.LOADING, PluginState.RUNNING, PluginState.BLOCKED):
            self.state = PluginState.ENDED
            emit("plugin.ended", "error", plugin=self.name, version=self.version, error=error)
            self._give_up(why)
