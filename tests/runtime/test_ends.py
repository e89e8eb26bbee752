"""How work ends, and what counts as which."""

import pytest
import trio
import trio.lowlevel

from runtime.children import run_child
from runtime.ends import Broken, Crashed, Deadline, Finished, Shutdown, Stopped, holds_assertion
from runtime.errors import Misuse
from runtime.scope import CausedScope


async def fails_with(error, *, after_stop=False):
    try:
        if after_stop:
            await trio.sleep_forever()
    finally:
        raise error


async def test_work_that_ends_by_itself_is_finished():
    """E1: also inside a scope with a deadline."""

    async def work():
        await trio.lowlevel.checkpoint()

    assert Finished() == await run_child(CausedScope(seconds=5), work)


async def test_work_that_ends_by_itself_after_it_was_told_to_stop_is_finished():
    """E1: what matters is what happened, not what was asked."""
    scope = CausedScope()

    async def work():
        scope.cancel(Shutdown())

    assert Finished() == await run_child(scope, work)


async def test_work_that_was_cut_short_is_stopped(autojump_clock):
    """E2: with the cause, be it a deadline."""
    assert Stopped(Deadline(3)) == await run_child(CausedScope(seconds=3), trio.sleep_forever)


async def test_our_own_stop_explains_what_broke_on_the_way_out():
    """E2: a connection that is reset by our own cancellation is nobody's fault."""
    scope = CausedScope()
    scope.cancel(Shutdown())

    end = await run_child(scope, lambda: fails_with(OSError("reset"), after_stop=True))

    assert Stopped(Shutdown()) == end


async def test_an_error_is_a_crash():
    """E3: with the very error."""
    error = OSError("reset")

    end = await run_child(CausedScope(), lambda: fails_with(error))

    assert Crashed(error) == end


async def test_an_error_in_a_nursery_is_a_crash():
    """E3: a group is an exception like others."""

    async def work():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(fails_with, OSError("reset"))

    end = await run_child(CausedScope(), work)

    assert isinstance(end, Crashed)
    assert isinstance(end.error, ExceptionGroup)


@pytest.mark.parametrize("error", [AssertionError("1 == 2"), Misuse("box: two readers")])
@pytest.mark.parametrize("told_to_stop", [False, True])
@pytest.mark.parametrize("depth", [0, 1, 3])
async def test_a_failed_assertion_is_broken(error, told_to_stop, depth):
    """E4: however deep in groups, and whether or not it was told to stop."""
    scope = CausedScope()
    if told_to_stop:
        scope.cancel(Shutdown())

    async def work(nurseries):
        if not nurseries:
            await fails_with(error, after_stop=told_to_stop)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(work, nurseries - 1)

    end = await run_child(scope, lambda: work(depth))

    assert isinstance(end, Broken)
    assert holds_assertion(end.error)


async def test_an_assertion_beside_other_errors_is_broken():
    """E4: it is not outvoted."""
    group = ExceptionGroup("", [OSError(), ExceptionGroup("", [ValueError(), AssertionError()])])

    assert Broken(group) == await run_child(CausedScope(), lambda: fails_with(group))
    assert not holds_assertion(ExceptionGroup("", [OSError(), ValueError()]))


async def test_cancellation_from_outside_passes_through():
    """E5: it is the business of whoever cancelled."""
    ends = []
    with CausedScope() as outer:
        outer.cancel(Shutdown())
        ends.append(await run_child(CausedScope(), trio.sleep_forever))

    assert ends == []
    assert Shutdown() == outer.interrupted_by


async def test_what_is_not_an_exception_passes_through():
    """E5: Ctrl-C and sys.exit() are no ends of a child."""
    with pytest.raises(SystemExit):
        await run_child(CausedScope(), lambda: fails_with(SystemExit()))
