"""Stories of supervised children: restarts, escalation, stopping in order, ten thousand at once."""

import logging
from functools import partial

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from runtime.cause import Cause, Shutdown, SupervisorGone
from runtime.children import Child, open_children, run_child
from runtime.ends import Broken, Crashed, Finished, Stopped
from runtime.errors import (
    ActorGone,
    ChildBroken,
    ChildrenFull,
    MailboxFull,
    Misuse,
    RestartsUsedUp,
)
from runtime.log import LOGGER_NAME
from runtime.mailbox import open_mailbox
from runtime.restart import Restart
from runtime.scope import CausedScope

ONCE = Restart(times=1, within_seconds=60, first_seconds=1, cap_seconds=9)


class Ends(list):
    """Notes who ended how, and when; `of` is what a child needs for it."""

    def note(self, name, end):
        self.append((name, end, trio.current_time()))


class Lives:
    """A body that counts its lives, crashes when it is told to, and else goes on for ever."""

    def __init__(self, *errors, crash_after_seconds=0):
        self.errors = list(errors)
        self.began_at = []
        self.crash_after_seconds = crash_after_seconds

    async def __call__(self):
        self.began_at.append(trio.current_time())
        if self.errors:
            await trio.sleep(self.crash_after_seconds)
            raise self.errors.pop(0)
        await trio.sleep_forever()


async def test_a_loose_child_comes_and_goes(autojump_clock):
    """C2: its end is told once, by name."""
    ends = Ends()

    async def work():
        await trio.sleep(3)

    async with open_children("world", capacity=9) as children:
        running = children.start(Child(name="a", body=work, when_ended=ends.note))
        assert running is children.find("a")
        assert [running] == list(children)
        await trio.sleep(5)

        assert children.find("a") is None
        assert len(children) == 0
    assert [("a", Finished(), 3)] == ends


@pytest.mark.parametrize("error", [OSError("reset"), AssertionError("1 == 2")])
async def test_a_loose_child_harms_nobody(autojump_clock, error):
    """C3, R1, R4: it is told of, not restarted, and the others go on."""
    ends, bad, good = Ends(), Lives(error), Lives()

    async with open_children("world", capacity=9) as children:
        children.start(Child(name="good", body=good, when_ended=ends.note))
        children.start(Child(name="kept", body=good, restart=ONCE))
        children.start(Child(name="bad", body=bad, when_ended=ends.note))
        await trio.sleep(100)

        expected = Broken(error) if isinstance(error, AssertionError) else Crashed(error)
        assert [("bad", expected, 0)] == ends
        assert len(children) == 2
    assert (len(bad.began_at), len(good.began_at)) == (1, 2)


@pytest.mark.parametrize("restart", [None, ONCE])
async def test_when_ended_is_told_when_the_mailbox_is_closed(restart):
    """C2: who learns of the end can no longer cast by mistake."""
    address, mailbox = open_mailbox("a", capacity=8)
    refused = []

    def ended(name, end):
        with pytest.raises(ActorGone):
            address.cast("too late")
        refused.append((name, end))

    async with open_children("world", capacity=9) as children:
        children.start(
            Child(
                name="a", body=mailbox.receive, mailbox=mailbox, restart=restart, when_ended=ended
            )
        )
        address.cast("the only mail it reads")
        await wait_all_tasks_blocked()

        assert [("a", Finished())] == refused


async def test_a_kept_child_that_crashed_is_started_again_after_a_rest(autojump_clock):
    """R1, R3, R4, R5: under its name, with no other child touched."""
    crashing, sibling = Lives(OSError(), OSError(), OSError()), Lives()
    policy = Restart(times=3, within_seconds=60, first_seconds=1, cap_seconds=3)

    async with open_children("world", capacity=9) as children:
        children.start(Child(name="sibling", body=sibling, restart=policy))
        running = children.start(Child(name="a", body=crashing, restart=policy))
        await trio.sleep(0.5)
        assert running.statistics().resting
        await trio.sleep(100)

        assert crashing.began_at == [0, 1, 3, 6]
        assert sibling.began_at == [0]
        assert running is children.find("a")
        assert (running.statistics().restarts_count, running.resting) == (3, False)
        assert running.statistics().alive_seconds == 94.5


@pytest.mark.parametrize("body_error", [None, "stop"])
async def test_a_kept_child_that_finished_or_was_stopped_is_left(autojump_clock, body_error):
    """R1: expected ends are ends."""
    ends, lives = Ends(), Lives()

    async def finish():
        lives.began_at.append(0)

    async with open_children("world", capacity=9) as children:
        body = lives if body_error else finish
        running = children.start(Child(name="a", body=body, restart=ONCE, when_ended=ends.note))
        await wait_all_tasks_blocked()
        running.stop(Shutdown())
        await trio.sleep(100)

    assert [("a", Stopped(Shutdown()) if body_error else Finished(), 0)] == ends
    assert len(lives.began_at) == 1


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
        children.start(Child(name="a", body=crashing, restart=ONCE))
        await trio.sleep(3600)

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


async def test_while_a_supervisor_stops_nothing_starts(autojump_clock):
    """C10: neither a new child nor a crashed one."""
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
                restart=ONCE,
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


async def test_children_do_not_hear_of_cancellation_from_outside(autojump_clock):
    """C9: only of their supervisor's."""
    heard = []

    async def body():
        try:
            await trio.sleep_forever()
        except trio.Cancelled as cancelled:
            heard.append(str(cancelled))
            raise

    with CausedScope() as outside:
        async with open_children("world", capacity=9) as children:
            children.start(Child(name="a", body=body, restart=ONCE))
            await trio.sleep(1)
            outside.cancel(Shutdown())
            await trio.sleep_forever()

    assert len(heard) == 1
    assert "SupervisorGone(supervisor='world')" in heard[0]


@pytest.mark.parametrize(
    ("child", "misuse"),
    [
        (
            Child(name="a", body=trio.sleep_forever),
            r"^world: child a is loose, but nobody would be told of its end$",
        ),
        (
            Child(name="twin", body=trio.sleep_forever, restart=ONCE),
            r"^world: child twin runs already$",
        ),
    ],
)
async def test_a_child_is_started_properly_or_not_at_all(child, misuse):
    """C1: refused, and the others go on."""
    async with open_children("world", capacity=9) as children:
        twin = children.start(Child(name="twin", body=trio.sleep_forever, restart=ONCE))

        with pytest.raises(Misuse, match=misuse):
            children.start(child)

        assert [twin] == list(children)


async def test_a_name_is_free_again_after_its_end(autojump_clock):
    """C1: unique among those that run."""
    ends = Ends()

    async with open_children("world", capacity=9) as children:
        for _ in range(3):
            children.start(Child(name="a", body=partial(trio.sleep, 1), when_ended=ends.note))
            await trio.sleep(2)

    assert [("a", Finished(), at) for at in (1, 3, 5)] == ends


async def test_a_supervisor_has_a_bound(autojump_clock):
    """B3: and room again when a child has ended."""
    ends = Ends()

    def child(name):
        return Child(name=name, body=partial(trio.sleep, 1), when_ended=ends.note)

    async with open_children("world", capacity=2) as children:
        children.start(child("a"))
        children.start(child("b"))
        with pytest.raises(ChildrenFull, match=r"^world: 2 children run already$"):
            children.start(child("c"))
        await trio.sleep(2)
        children.start(child("c"))
        await trio.sleep(2)

    assert sorted(name for name, _, _ in ends) == ["a", "b", "c"]


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
    assert end.error.subgroup(MailboxFull)
    assert [("kept", Stopped(SupervisorGone("world")), 1)] == ends


async def test_what_a_crash_loses(autojump_clock):
    """L1, L2, A3, R5: waiting mail and asks; the address stays good, and mail waits for it."""
    address, mailbox = open_mailbox("a", capacity=8)
    received, failed_at = [], []

    async def body():
        while True:
            received.append(await mailbox.receive())
            if received[-1] == "poison":
                raise OSError("reset")

    async def ask(name):
        with pytest.raises(ActorGone, match=r"^a: ended before it answered$"):
            await address.ask(lambda reply: name, seconds=60)
        failed_at.append(trio.current_time())

    async with open_children("world", capacity=9) as children, trio.open_nursery() as nursery:
        children.start(Child(name="a", body=body, restart=ONCE, mailbox=mailbox))
        nursery.start_soon(ask, "ask received before the crash")
        await wait_all_tasks_blocked()
        address.cast("poison")
        address.cast("mail that is lost")
        address.hint("hint that is lost")
        await trio.sleep(0.5)
        address.cast("mail for the next life")
        await trio.sleep(5)

        assert failed_at == [0]
        assert received == ["ask received before the crash", "poison", "mail for the next life"]
        assert mailbox.statistics().lost_count == 2


async def test_an_actor_that_crashes_with_an_ask_in_hand_fails_it_at_once(autojump_clock):
    """A3: as a loose child, whose mailbox closes with it."""
    address, mailbox = open_mailbox("a", capacity=8)
    ends = Ends()

    async def body():
        await mailbox.receive()
        await trio.sleep(2)
        raise OSError("reset")

    async with open_children("world", capacity=9) as children:
        children.start(Child(name="a", body=body, mailbox=mailbox, when_ended=ends.note))

        with pytest.raises(ActorGone, match=r"^a: ended before it answered$"):
            await address.ask(lambda reply: reply, seconds=60)

    assert trio.current_time() == 2
    assert [name for name, _, _ in ends] == ["a"]


async def test_statistics_count_ends_by_kind(autojump_clock):
    """T3: counts go on, the rest is as of now."""
    ends = Ends()
    _, mailbox = open_mailbox("stopped", capacity=8)

    async with open_children("world", capacity=9) as children:
        for name, body in [
            ("finished", partial(trio.sleep, 1)),
            ("crashed", Lives(OSError())),
            ("broken", Lives(AssertionError())),
        ]:
            children.start(Child(name=name, body=body, when_ended=ends.note))
        stopped = Child(name="stopped", body=Lives(), mailbox=mailbox, when_ended=ends.note)
        running = children.start(stopped)
        children.start(Child(name="kept", body=Lives(OSError()), restart=ONCE))
        await trio.sleep(4)
        running.stop(Shutdown())
        assert Shutdown() == running.statistics().requested
        await wait_all_tasks_blocked()

        record = children.statistics()
        kept = children.find("kept").statistics()

    assert (record.name, record.capacity, record.stopping) == ("world", 9, False)
    assert (
        record.running,
        record.running_peak,
        record.started_count,
        record.restarted_count,
    ) == (1, 5, 5, 1)
    assert (
        record.finished_count,
        record.stopped_count,
        record.crashed_count,
        record.broken_count,
    ) == (1, 1, 2, 1)
    assert (
        kept.name,
        kept.alive_seconds,
        kept.restarts_count,
        kept.mailbox,
    ) == ("kept", 3, 1, None)
    assert mailbox.statistics() == running.statistics().mailbox
    assert repr(children) == "<Children of world: 0 of 9 run>"
    assert children.statistics().stopping


async def test_each_end_is_one_entry(autojump_clock, caplog):
    """T4: as loud as it deserves."""
    caplog.set_level(logging.DEBUG, logger=LOGGER_NAME)
    ends, error = Ends(), OSError("reset")

    async with open_children("world", capacity=9) as children:
        children.start(Child(name="done", body=partial(trio.sleep, 1), when_ended=ends.note))
        await trio.sleep(2)
        children.start(Child(name="bad", body=Lives(error), when_ended=ends.note))
        await trio.sleep(1)
        children.start(Child(name="kept", body=Lives(error), restart=ONCE))
        await trio.sleep(5)

    entries = [
        (r.levelname, r.getMessage(), r.fields["child"], r.fields["end"], r.fields["cause"])
        for r in caplog.records
    ]
    assert entries == [
        ("DEBUG", "child.ended", "done", "Finished", None),
        ("ERROR", "child.ended", "bad", "Crashed", None),
        ("WARNING", "child.restarted", "kept", "Crashed", None),
        ("DEBUG", "child.ended", "kept", "Stopped", "Shutdown"),
    ]
    assert error is caplog.records[1].exc_info[1]
    assert caplog.records[0].fields["seconds"] == 1


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
