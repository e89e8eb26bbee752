"""Stories of asks: answered, late, given up by the asker, left behind by the actor."""

import math

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from runtime.errors import ActorGone, Misuse, NoAnswer
from runtime.mailbox import open_mailbox


def the_reply(reply):
    """Mail that is nothing but the reply."""
    return reply


async def test_an_ask_returns_what_the_actor_puts(autojump_clock):
    """A1: however long that takes within the limit."""
    address, mailbox = open_mailbox("chat/1", capacity=8)

    async def answer():
        reply = await mailbox.receive()
        await trio.sleep(9)
        assert reply.wanted
        assert reply.put("answer") is True

    async with trio.open_nursery() as nursery:
        nursery.start_soon(answer)

        assert await address.ask(the_reply, seconds=10) == "answer"

    assert trio.current_time() == 9
    assert mailbox.statistics().asks_open == 0


async def test_an_ask_raises_what_the_actor_fails_it_with():
    """A1: the very error."""
    address, mailbox = open_mailbox("chat/1", capacity=8)
    refusal = LookupError("no such thing")

    async def answer():
        assert (await mailbox.receive()).fail(refusal) is True

    async with trio.open_nursery() as nursery:
        nursery.start_soon(answer)

        with pytest.raises(LookupError) as raised:
            await address.ask(the_reply, seconds=10)

    assert refusal is raised.value


async def test_an_ask_without_an_answer_ends_with_its_limit(autojump_clock):
    """A2: exactly then, and says who was silent."""
    address, mailbox = open_mailbox("chat/1", capacity=8)

    with pytest.raises(NoAnswer, match=r"^chat/1: no answer within 2\.5 s$"):
        await address.ask(the_reply, seconds=2.5)

    assert trio.current_time() == 2.5
    assert mailbox.statistics().asks_open == 0


async def test_each_of_many_asks_ends_with_its_own_limit(autojump_clock):
    """A2: whichever was made first, and also when all had been silent for long."""
    address, _ = open_mailbox("chat/1", capacity=100)
    ended = []

    async def ask(begins, seconds):
        await trio.sleep(begins)
        with pytest.raises(NoAnswer):
            await address.ask(the_reply, seconds=seconds)
        ended.append((begins, seconds, trio.current_time()))

    asks = [(0, 50), (1, 7), (2, 7), (3, 2), (4, 46), (6, 1), (500, 3), (501, 1)]
    async with trio.open_nursery() as nursery:
        for begins, seconds in asks:
            nursery.start_soon(ask, begins, seconds)

    assert sorted((b, s, b + s) for b, s in asks) == sorted(ended)
    assert [end for _, _, end in ended] == sorted(end for _, _, end in ended)


async def test_the_clock_of_asks_sleeps_while_nobody_asks(autojump_clock):
    """A2: an answered ask leaves no deadline behind but the one already slept for."""
    address, mailbox = open_mailbox("chat/1", capacity=8)

    async def answer():
        while True:
            (await mailbox.receive()).put(None)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(answer)
        await address.ask(the_reply, seconds=5)
        await trio.sleep(3)
        await address.ask(the_reply, seconds=5)
        await trio.sleep(3)

        assert math.inf == trio.lowlevel.current_statistics().seconds_to_next_deadline
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize("seconds", [0, -1, math.inf, math.nan])
async def test_an_ask_without_a_real_limit_is_a_misuse(seconds):
    """A2: positive and finite, or it is not sent."""
    address, mailbox = open_mailbox("chat/1", capacity=8)

    with pytest.raises(Misuse, match=r"^chat/1: asked with a limit of "):
        await address.ask(the_reply, seconds=seconds)

    assert mailbox.statistics().waiting == 0


@pytest.mark.parametrize("ends_by", ["close", "abandon"])
@pytest.mark.parametrize("received", [False, True])
async def test_an_ask_ends_at_once_with_the_life_of_the_actor(autojump_clock, ends_by, received):
    """A3: whether the actor had taken the mail or not."""
    address, mailbox = open_mailbox("chat/1", capacity=8)
    ended = []

    async def ask():
        with pytest.raises(ActorGone, match=r"^chat/1: ended before it answered$"):
            await address.ask(the_reply, seconds=60)
        ended.append(trio.current_time())

    async with trio.open_nursery() as nursery:
        for _ in range(3):
            nursery.start_soon(ask)
        await trio.sleep(1)
        replies = await mailbox.drain(8) if received else []

        getattr(mailbox, ends_by)()

        assert mailbox.statistics().asks_open == 0
        assert [False] * len(replies) == [reply.put("too late") for reply in replies]
    assert ended == [1, 1, 1]


async def test_an_ask_that_timed_out_does_not_disturb_the_actor(autojump_clock):
    """A4: its mail is still there, nobody wants the answer, and giving it is no fault."""
    address, mailbox = open_mailbox("chat/1", capacity=8)
    with pytest.raises(NoAnswer):
        await address.ask(the_reply, seconds=1)
    with pytest.raises(NoAnswer):
        await address.ask(the_reply, seconds=1)

    late, later = await mailbox.drain(8)

    assert (late.wanted, later.wanted) == (False, False)
    assert (late.put("late"), later.fail(ValueError("late"))) == (False, False)


async def test_an_asker_that_was_cancelled_does_not_disturb_the_actor():
    """A4: nor its neighbours."""
    address, mailbox = open_mailbox("chat/1", capacity=8)
    answers = []

    async def ask():
        answers.append(await address.ask(the_reply, seconds=1))

    async with trio.open_nursery() as nursery:
        with trio.CancelScope() as impatient:
            async with trio.open_nursery() as cancelled:
                cancelled.start_soon(ask)
                await wait_all_tasks_blocked()
                impatient.cancel()
        nursery.start_soon(ask)
        unwanted, wanted = await mailbox.receive(), await mailbox.receive()

        assert (unwanted.wanted, wanted.wanted) == (False, True)
        assert (unwanted.put("nobody"), wanted.put("somebody")) == (False, True)

    assert answers == ["somebody"]


async def test_an_ask_is_answered_once():
    """A6: the second answer is a fault of the actor's, whoever waits."""
    address, mailbox = open_mailbox("chat/1", capacity=8)

    async def answer():
        reply = await mailbox.receive()
        reply.put("first")
        with pytest.raises(Misuse, match=r"^chat/1: an ask was answered twice$"):
            reply.put("second")
        with pytest.raises(Misuse, match=r"^chat/1: an ask was answered twice$"):
            reply.fail(ValueError("second"))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(answer)

        assert await address.ask(the_reply, seconds=1) == "first"


async def test_a_cancelled_asker_sends_nothing():
    """A7: and no reply is made for it."""
    address, mailbox = open_mailbox("chat/1", capacity=8)
    made = []

    with trio.CancelScope() as scope:
        scope.cancel()
        await address.ask(made.append, seconds=1)

    assert scope.cancelled_caught
    assert (made, mailbox.statistics().waiting) == ([], 0)
