"""Delays waits at random, so that what mostly comes first sometimes comes last.

    TESTS_DELAYS=8 TESTS_DELAYS_SEED=3 pytest tests/e2e          of 100 waits, 8 are delayed

Python imports a module of this name when it starts, if its folder is on PYTHONPATH. `begin`, which
`tests/conftest.py` calls, puts it there for all processes that the tests start, and delays the
waits of the process of the tests itself. Delayed are, each by up to `DELAY_SECONDS_MAX`:

- a file descriptor that can be read or written: sockets, pipes, connections to the database,
  ends of processes, and the line by which threads reach trio,
- an operation of a socket that would not have had to wait,
- the result of a thread,
- what blocking code, of tests that know no trio, reads from a socket.

All of these are moments at which a task or thread may have to wait anyhow, so a delay breaks no
promise of trio's: what is cancelled in a delay has done nothing yet. Runs with another clock than
the system's are left alone. Without the variable nothing of trio is touched.
"""

import importlib.machinery
import os
import random
import sys
import time
from functools import wraps
from pathlib import Path

PERCENT_VARIABLE, SEED_VARIABLE = "TESTS_DELAYS", "TESTS_DELAYS_SEED"
TEST_VARIABLE = "PYTEST_CURRENT_TEST"  # pytest sets it, and what a test starts inherits it
DELAY_SECONDS_MAX = 0.150
FOLDER = Path(__file__).parent

_chance = random.Random()
_seeded_in = 0  # the process; daemons of tests are copies of one that has drawn already


def percent():
    """Return how many of 100 waits are delayed; 0 where nothing asks for delays."""
    return float(os.environ.get(PERCENT_VARIABLE) or 0)


def said():
    """Return a line for the head of a run: how to delay the same waits again."""
    seed = os.environ.get(SEED_VARIABLE, "0")
    longest = f"{DELAY_SECONDS_MAX * 1000:.0f} ms"
    return f"delays: {percent():g} of 100 waits, by up to {longest}, seed {seed}"


def path():
    """Return this folder as the beginning of a PYTHONPATH, if there are delays."""
    return (FOLDER,) if percent() else ()


def seed(test=""):
    """Begin the chance of this test anew, so that it is the same whatever ran before it."""
    global _seeded_in
    _seeded_in = os.getpid()
    test = test or os.environ.get(TEST_VARIABLE, "").rpartition(" ")[0]
    _chance.seed(f"{os.environ.get(SEED_VARIABLE, '0')} {test}")


def environment(percent, seed):
    """Return ours, with what makes Python delay so many of 100 waits; 0 makes it delay none."""
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    ours = [str(FOLDER)] if percent else []
    paths = [*ours, *(each for each in paths if each not in ("", str(FOLDER)))]
    asked = {PERCENT_VARIABLE: f"{percent:g}", SEED_VARIABLE: str(seed)}
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), **asked}


def begin():
    """Delay the waits of this process and, by its environment, of all that it starts."""
    if percent():
        os.environ.update(environment(percent(), os.environ.get(SEED_VARIABLE, "0")))
        import trio

        seed()
        _patch(trio)


def _seconds():
    """Return how long the next wait is delayed: mostly not at all."""
    if _seeded_in != os.getpid():
        seed()
    if _chance.random() * 100 >= percent():
        return 0
    return _chance.uniform(0, DELAY_SECONDS_MAX)


def _patch(trio):
    """Put delays around the waits of trio and of blocking sockets, once in a process."""
    from trio._core import _run
    from trio._socket import _SocketType

    if hasattr(_run.TheIOManager.wait_readable, "__wrapped__"):
        return

    async def delay():
        runner = _run.GLOBAL_RUN_CONTEXT.runner
        if isinstance(runner.clock, _run.SystemClock) and (seconds := _seconds()):
            await trio.sleep(seconds)

    def late_after(wait):
        @wraps(wait)
        async def late(*arguments):
            await wait(*arguments)
            await delay()

        return late

    def late_before(operation):
        @wraps(operation)
        async def late(*arguments, **named):
            await delay()
            return await operation(*arguments, **named)

        return late

    manager = _run.TheIOManager
    manager.wait_readable = late_after(manager.wait_readable)
    manager.wait_writable = late_after(manager.wait_writable)
    _SocketType._nonblocking_helper = late_before(_SocketType._nonblocking_helper)
    _patch_threads(trio, _run)
    _patch_blocking_sockets()


def _patch_threads(trio, _run):
    run_sync = trio.to_thread.run_sync

    @wraps(run_sync)
    async def late(function, *arguments, **named):
        clock = _run.GLOBAL_RUN_CONTEXT.runner.clock
        if not isinstance(clock, _run.SystemClock) or not (seconds := _seconds()):
            return await run_sync(function, *arguments, **named)

        @wraps(function)
        def work():
            try:
                return function(*arguments)
            finally:
                time.sleep(seconds)

        return await run_sync(work, **named)

    trio.to_thread.run_sync = late


def _patch_blocking_sockets():
    """Let http.client and the like hear their answers late."""
    from socket import SocketIO

    readinto = SocketIO.readinto

    @wraps(readinto)
    def late(self, buffer):
        count = readinto(self, buffer)
        time.sleep(_seconds())
        return count

    SocketIO.readinto = late


class _AfterTrio:
    """A finder of modules that patches trio when something imports it, and not before: most
    programs that a test starts know no trio, and should not pay for it."""

    def find_spec(self, name, paths=None, target=None):
        if name != "trio":
            return None
        sys.meta_path.remove(self)
        found = importlib.machinery.PathFinder.find_spec(name, paths, target)
        if found is not None:
            execute = found.loader.exec_module

            def executed(module):
                execute(module)
                _patch(module)

            found.loader.exec_module = executed
        return found


if __name__ == "sitecustomize" and percent():
    seed()
    sys.meta_path.insert(0, _AfterTrio())
