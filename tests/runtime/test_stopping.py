"""Stories of stopping: in order, with grace or at once, by whom, and by the thousand."""

from functools import partial

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from runtime.children import Child, open_children, run_child
from runtime.ends import Cause, Crashed, Finished, Shutdown, Stopped, SupervisorGone
from runtime.errors import (
    ActorGone,
    MailboxFull,
)
from runtime.mailbox import open_mailbox
from runtime.restart import Restart
from runtime.scope import CausedScope
from tests.runtime.lives import ONCE, Ends, Lives


async def stubborn(seconds):
    """Goes on for so long after it was cancelled."""
    try:
        await trio.sleep_forever()
    finally:
        with trio.CancelScope(shield=True):
            await trio.sleep(seconds)


async def test_children_stop_in_order(autojump_clock):
    """C5, C6: the loose together, then the kept one by one, the last started first."""
    ends = Ends()

    async with open_children("world", capacity=9) as children:
        for name, restart, seconds in [
            ("first", ONCE, 1),
            ("loose 1", None, 2),
            ("second", ONCE, 3),
            ("loose 2", None, 4),
            ("third", ONCE, 5),
        ]:
            children.start(
                Child(
                    name=name,
                    body=partial(stubborn, seconds),
                    restart=restart,
                    when_ended=ends.note,
                )
            )
        await trio.sleep(10)

    assert [(name, at) for name, _, at in ends] == [
        ("loose 1", 12),
        ("loose 2", 14),
        ("third", 19),
        ("second", 22),
        ("first", 23),
    ]
    assert {Stopped(Shutdown())} == {end for _, end, _ in ends}


async def test_a_restarted_child_keeps_its_place_in_the_order(autojump_clock):
    """R5, C5: it was started first, so it stops last."""
    ends = Ends()

    async with open_children("world", capacity=9) as children:
        first = Child(name="1", body=Lives(OSError()), restart=ONCE, when_ended=ends.note)
        children.start(first)
        children.start(Child(name="2", body=Lives(), restart=ONCE, when_ended=ends.note))
        await trio.sleep(10)

    assert [name for name, _, _ in ends] == ["2", "1"]


def a_polite_child(name, ends, *, needs_seconds, grace_seconds, restart=None):
    """A child that stops by itself, so many seconds after it was told to."""
    address, mailbox = open_mailbox(name, capacity=1)

    async def body():
        await mailbox.receive()
        await trio.sleep(needs_seconds)

    return Child(
        name=name,
        body=body,
        mailbox=mailbox,
        restart=restart,
        when_ended=ends.note,
        tell_to_stop=lambda: address.cast("stop"),
        grace_seconds=grace_seconds,
    ), address


@pytest.mark.parametrize("restart", [None, ONCE])
async def test_a_child_has_its_grace(autojump_clock, restart):
    """C6: it is told, and cancelled only when its grace is over."""
    ends = Ends()

    async with open_children("world", capacity=9) as children:
        for name, needs in [("quick", 2), ("slow", 9)]:
            child, _ = a_polite_child(
                name, ends, needs_seconds=needs, grace_seconds=5, restart=restart
            )
            children.start(child)
            await wait_all_tasks_blocked()

    assert {"quick": Finished(), "slow": Stopped(Shutdown())} == {n: e for n, e, _ in ends}
    assert (5 if restart is None else 7) == trio.current_time()


async def test_a_child_that_cannot_hear_is_cancelled_at_once(autojump_clock):
    """C7: its mailbox is full, so there is no use in waiting."""
    ends = Ends()

    async with open_children("world", capacity=9) as children:
        child, address = a_polite_child("deaf", ends, needs_seconds=1, grace_seconds=50)
        children.start(child)
        await wait_all_tasks_blocked()
        address.cast("takes the only place before it can run")
        with pytest.raises(MailboxFull):
            address.cast("stop")

    assert [("deaf", Stopped(Shutdown()), 0)] == ends


async def test_a_child_that_rests_is_cancelled_at_once(autojump_clock):
    """C7, C10: there is nobody to tell, and no next life."""
    ends, lives, told = Ends(), Lives(OSError()), []

    async with open_children("world", capacity=9) as children:
        children.start(
            Child(
                name="a",
                body=lives,
                restart=Restart(first_seconds=9),
                when_ended=ends.note,
                tell_to_stop=partial(told.append, "stop"),
                grace_seconds=50,
            )
        )
        await trio.sleep(1)

    assert [("a", Stopped(Shutdown()), 1)] == ends
    assert (len(lives.began_at), told) == (1, [])


async def test_one_child_can_be_stopped_alone(autojump_clock):
    """C6, C7: with a cause of its own, with its grace or at once."""
    ends = Ends()

    class TooMany(Cause):
        pass

    async with open_children("world", capacity=9) as children:
        polite, _ = a_polite_child("polite", ends, needs_seconds=2, grace_seconds=9)
        hasty, _ = a_polite_child("hasty", ends, needs_seconds=2, grace_seconds=9)
        children.start(polite)
        children.start(hasty)
        await wait_all_tasks_blocked()

        children.find("polite").stop(TooMany())
        children.find("hasty").stop(TooMany(), at_once=True)
        await trio.sleep(5)

        assert [("hasty", Stopped(TooMany()), 0), ("polite", Finished(), 2)] == ends


@pytest.mark.parametrize("restart", [ONCE, Restart(times=0)], ids=["budget left", "used up"])
async def test_while_a_supervisor_stops_nothing_starts(autojump_clock, restart):
    """C10: neither a new child nor a crashed one, which takes nobody down either."""
    ends, lives, refused = Ends(), Lives(OSError(), crash_after_seconds=3), []

    async with open_children("world", capacity=9) as children:

        async def starts_another():
            try:
                await trio.sleep_forever()
            finally:
                with pytest.raises(ActorGone, match=r"^world: stopping, starts no children$"):
                    children.start(Child(name="late", body=Lives(), restart=ONCE))
                refused.append("late")

        children.start(
            Child(
                name="crashing",
                body=lives,
                restart=restart,
                when_ended=ends.note,
                tell_to_stop=lambda: None,
                grace_seconds=9,
            )
        )
        children.start(Child(name="starter", body=starts_another, when_ended=ends.note))
        await trio.sleep(1)

    assert refused == ["late"]
    assert [name for name, _, _ in ends] == ["starter", "crashing"]
    assert (Crashed, 3) == (type(ends[1][1]), ends[1][2])
    assert len(lives.began_at) == 1


@pytest.mark.parametrize("left_by", ["error", "cancellation"])
async def test_a_block_left_in_disorder_stops_its_children_at_once(autojump_clock, left_by):
    """C8, C9: in order, without grace, with SupervisorGone; the error comes out as it was."""
    ends, error = Ends(), OSError("reset")

    async def supervisor():
        async with open_children("world", capacity=9) as children:
            for name, restart in [("first", ONCE), ("loose", None), ("second", ONCE)]:
                children.start(
                    Child(
                        name=name,
                        body=partial(stubborn, 1),
                        restart=restart,
                        when_ended=ends.note,
                        tell_to_stop=lambda: None,
                        grace_seconds=50,
                    )
                )
            await trio.sleep(10)
            if left_by == "error":
                raise error
            scope.cancel(Shutdown())
            await trio.sleep_forever()

    scope = CausedScope()
    end = await run_child(scope, supervisor)

    assert (Crashed(error) if left_by == "error" else Stopped(Shutdown())) == end
    gone = Stopped(SupervisorGone("world"))
    assert [("loose", gone, 11), ("second", gone, 12), ("first", gone, 13)] == ends


async def test_a_supervisor_cancelled_while_it_stops_gives_no_more_grace(autojump_clock):
    """C8: the cancellation cuts the graces short, and nothing is left running."""
    ends = Ends()

    async def supervisor():
        async with open_children("world", capacity=9) as children:
            for name in "ab":
                child, _ = a_polite_child(
                    name, ends, needs_seconds=90, grace_seconds=60, restart=ONCE
                )
                children.start(child)
            await wait_all_tasks_blocked()

    assert Finished() != await run_child(CausedScope(seconds=5), supervisor)

    gone = Stopped(SupervisorGone("world"))
    assert [("b", gone, 5), ("a", gone, 5)] == ends


@pytest.mark.parametrize("crashes", [0, 1], ids=["first life", "second life"])
async def test_children_do_not_hear_of_cancellation_from_outside(autojump_clock, crashes):
    """C9: only of their supervisor's."""
    heard, errors = [], [OSError("reset")] * crashes

    async def body():
        if errors:
            raise errors.pop()
        try:
            await trio.sleep_forever()
        except trio.Cancelled as cancelled:
            heard.append(str(cancelled))
            raise

    with CausedScope() as outside:
        async with open_children("world", capacity=9) as children:
            children.start(Child(name="a", body=body, restart=ONCE))
            await trio.sleep(5)
            outside.cancel(Shutdown())
            await trio.sleep_forever()

    assert len(heard) == 1
    assert "SupervisorGone(supervisor='world')" in heard[0]


async def test_a_thousand_stop_together_and_let_others_run(autojump_clock):
    """C5: in one moment of the clock, and none is overlooked."""
    ends, turns = Ends(), []

    async def others():
        while True:
            turns.append(len(ends))
            await trio.lowlevel.checkpoint()

    async with trio.open_nursery() as nursery:
        async with open_children("world", capacity=1000) as children:
            for number in range(1000):
                children.start(Child(name=f"{number}", body=Lives(), when_ended=ends.note))
            await wait_all_tasks_blocked()
            nursery.start_soon(others)
        nursery.cancel_scope.cancel()

    assert len(ends) == 1000
    assert {Stopped(Shutdown())} == {end for _, end, _ in ends}
    assert len(set(turns)) > 10
