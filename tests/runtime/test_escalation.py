"""Stories of supervisors that cannot go on without a child."""

from functools import partial

import trio
from trio.testing import wait_all_tasks_blocked

from runtime.children import Child, open_children, run_child
from runtime.ends import Broken, Crashed, Shutdown, Stopped, SupervisorGone
from runtime.errors import (
    ChildBroken,
    MailboxFull,
    RestartsUsedUp,
)
from runtime.restart import Restart
from runtime.scope import CausedScope
from tests.runtime.lives import ONCE, Ends, Lives


async def test_a_budget_used_up_takes_the_supervisor_down(autojump_clock):
    """R2, C4: its block is cancelled, the others stop at once, the last error is the cause."""
    ends, last = Ends(), OSError("second")
    crashing = Lives(OSError("first"), last)

    async def supervisor():
        async with open_children("world", capacity=9) as children:
            children.start(
                Child(
                    name="patient",
                    body=trio.sleep_forever,
                    restart=ONCE,
                    when_ended=ends.note,
                    tell_to_stop=lambda: None,
                    grace_seconds=50,
                )
            )
            children.start(Child(name="a", body=crashing, restart=ONCE, when_ended=ends.note))
            await trio.sleep_forever()

    end = await run_child(CausedScope(), supervisor)

    assert isinstance(end, Crashed)
    assert isinstance(end.error, RestartsUsedUp)
    assert str(end.error) == "world: child a crashed again after 1 restarts within 60 s"
    assert last is end.error.__cause__
    gone = Stopped(SupervisorGone("world"))
    assert [("a", Crashed(last), 1), ("patient", gone, 1)] == ends


async def test_a_budget_is_for_crashes_close_together(autojump_clock):
    """R2: one restart in 60 s, as often as there are minutes."""
    crashing = Lives(*[OSError() for _ in range(10)], crash_after_seconds=61)

    async with open_children("world", capacity=9) as children:
        running = children.start(Child(name="a", body=crashing, restart=ONCE))
        await trio.sleep(3600)

        assert len(running.restarted_at) == 1
    assert len(crashing.began_at) == 11


async def test_a_broken_kept_child_breaks_its_supervisor(autojump_clock):
    """C4, R1, E4: no restart, and the supervisor's own end is Broken."""
    lives = Lives(AssertionError("1 == 2"))

    async def supervisor():
        async with open_children("world", capacity=9) as children:
            children.start(Child(name="a", body=lives, restart=ONCE))
            await trio.sleep_forever()

    end = await run_child(CausedScope(), supervisor)

    assert isinstance(end, Broken)
    assert isinstance(end.error, ChildBroken)
    assert str(end.error) == "world: child a is broken, AssertionError('1 == 2')"
    assert len(lives.began_at) == 1


async def test_escalation_climbs_supervisor_by_supervisor(autojump_clock):
    """C4: a supervisor that crashed is restarted by its own, within its own budget."""
    began = []

    async def fail():
        began.append(trio.current_time())
        raise OSError("reset")

    async def inner():
        async with open_children("inner", capacity=9) as children:
            children.start(Child(name="a", body=fail, restart=ONCE))
            await trio.sleep_forever()

    async def outer():
        async with open_children("outer", capacity=9) as children:
            children.start(Child(name="inner", body=inner, restart=ONCE))
            await trio.sleep_forever()

    end = await run_child(CausedScope(), outer)

    assert isinstance(end, Crashed)
    assert str(end.error).startswith("outer: child inner crashed again after 1 restarts")
    assert began == [0, 1, 2, 3]


async def test_a_block_that_fails_while_it_gives_up_hides_nothing(autojump_clock):
    """C4: both errors come out, so an assertion in either is seen."""

    async def supervisor():
        async with open_children("world", capacity=9) as children:
            children.start(Child(name="a", body=Lives(OSError()), restart=Restart(times=0)))
            try:
                await trio.sleep_forever()
            finally:
                raise AssertionError("broken on the way out")

    end = await run_child(CausedScope(), supervisor)

    assert isinstance(end, Broken)
    assert [RestartsUsedUp, AssertionError] == [type(e) for e in end.error.exceptions]


async def test_a_child_that_breaks_in_its_grace_is_not_overlooked(autojump_clock):
    """C4: an assertion counts also while everything stops."""
    lives = Lives(AssertionError("1 == 2"), crash_after_seconds=3)

    async def supervisor():
        async with open_children("world", capacity=9) as children:
            children.start(
                Child(
                    name="a",
                    body=lives,
                    restart=ONCE,
                    tell_to_stop=lambda: None,
                    grace_seconds=9,
                )
            )
            await trio.sleep(1)

    end = await run_child(CausedScope(), supervisor)

    assert isinstance(end, Broken)
    assert trio.current_time() == 3


async def test_a_child_that_breaks_while_its_supervisor_is_cancelled_is_not_overlooked():
    """C4: the assertion outranks the cancellation, as it outranks every stop."""

    async def breaks_on_the_way_out():
        try:
            await trio.sleep_forever()
        finally:
            raise AssertionError("1 == 2")

    async def supervisor():
        async with open_children("world", capacity=9) as children:
            children.start(Child(name="a", body=breaks_on_the_way_out, restart=ONCE))
            await wait_all_tasks_blocked()
            scope.cancel(Shutdown())
            await trio.sleep_forever()

    scope = CausedScope()
    end = await run_child(scope, supervisor)

    assert isinstance(end, Broken)
    assert isinstance(end.error, ChildBroken)


async def test_a_when_ended_that_raises_takes_the_supervisor_down(autojump_clock):
    """C11: an end that cannot be told is no small matter; the others still stop in order."""
    ends = Ends()

    def ended(name, end):
        raise MailboxFull("supervisor: 8 already wait")

    async def supervisor():
        async with open_children("world", capacity=9) as children:
            children.start(Child(name="kept", body=Lives(), restart=ONCE, when_ended=ends.note))
            children.start(Child(name="a", body=partial(trio.sleep, 1), when_ended=ended))
            await trio.sleep_forever()

    end = await run_child(CausedScope(), supervisor)

    assert isinstance(end, Crashed)
    assert isinstance(end.error, MailboxFull)
    assert [("kept", Stopped(SupervisorGone("world")), 1)] == ends
