"""Stories of supervised children: coming and going, restarts, bounds, what is told of them."""

import logging
from functools import partial

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from runtime.children import Child, open_children
from runtime.ends import Broken, Crashed, Finished, Shutdown, Stopped
from runtime.errors import (
    ActorGone,
    ChildrenFull,
    Misuse,
)
from runtime.log import LOGGER_NAME
from runtime.mailbox import open_mailbox
from runtime.restart import Restart
from tests.runtime.lives import ONCE, Ends, Lives


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
