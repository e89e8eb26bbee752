"""Cancellation at each point where the kernel waits, and in the same tick as what is waited for."""

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from runtime.ends import Shutdown
from runtime.errors import ActorGone, Misuse, NoAnswer
from runtime.mailbox import open_mailbox
from runtime.scope import CausedScope

TAKES = pytest.mark.parametrize(
    "take",
    [lambda mailbox: mailbox.receive(), lambda mailbox: mailbox.drain(8)],
    ids=["receive", "drain"],
)


def task_for(scope, work, ended):
    """A task that runs `work` in `scope` and notes what it returned or raised."""

    async def task():
        with scope:
            try:
                ended.append(await work())
            except (ActorGone, NoAnswer, Misuse) as error:
                ended.append(type(error))

    return task


@TAKES
async def test_a_reader_cancelled_while_it_waits_takes_nothing(take):
    """M5: and the mailbox can be read by the next."""
    address, mailbox = open_mailbox("box", capacity=8)
    scope, ended = CausedScope(), []
    async with trio.open_nursery() as nursery:
        nursery.start_soon(task_for(scope, lambda: take(mailbox), ended))
        await wait_all_tasks_blocked()

        scope.cancel(Shutdown())
        address.cast("after the cancel, in the same tick")

    assert ([], Shutdown()) == (ended, scope.interrupted_by)
    assert await mailbox.receive() == "after the cancel, in the same tick"


@TAKES
async def test_a_reader_woken_before_it_is_cancelled_has_its_mail(take):
    """M5, M7: it returns what it took; the cancellation comes at its next await."""
    address, mailbox = open_mailbox("box", capacity=8)
    scope, ended = CausedScope(), []
    async with trio.open_nursery() as nursery:
        nursery.start_soon(task_for(scope, lambda: take(mailbox), ended))
        await wait_all_tasks_blocked()

        address.cast("mail")
        scope.cancel(Shutdown())

    assert len(ended) == 1
    assert ended[0] in ("mail", ["mail"])
    assert mailbox.statistics().waiting == 0
    assert scope.interrupted_by is None


@TAKES
@pytest.mark.parametrize("in_a_row", [0, 16], ids=["at once", "when it lets others run"])
async def test_a_cancelled_reader_takes_nothing_of_what_waits(take, in_a_row):
    """M5, M6: it sees its cancellation at every receive."""
    address, mailbox = open_mailbox("box", capacity=32)
    for mail in range(in_a_row + 1):
        address.cast(mail)
    for _ in range(in_a_row):
        await mailbox.receive()

    with CausedScope() as scope:
        scope.cancel(Shutdown())
        await take(mailbox)

    assert Shutdown() == scope.interrupted_by
    assert in_a_row == await mailbox.receive()


@TAKES
@pytest.mark.parametrize("first", ["close", "cancel"])
async def test_a_reader_cancelled_and_closed_in_the_same_tick_ends_once(take, first):
    """B2, M5: whichever came first is what it learns."""
    _, mailbox = open_mailbox("box", capacity=8)
    scope, ended = CausedScope(), []
    async with trio.open_nursery() as nursery:
        nursery.start_soon(task_for(scope, lambda: take(mailbox), ended))
        await wait_all_tasks_blocked()

        if first == "close":
            mailbox.close()
            scope.cancel(Shutdown())
        else:
            scope.cancel(Shutdown())
            mailbox.close()

    assert ([Misuse] if first == "close" else []) == ended


async def test_a_mailbox_closed_while_its_reader_lets_others_run(autojump_clock):
    """B2: the mail it was about to take is lost, and it is told."""
    address, mailbox = open_mailbox("box", capacity=8)
    address.cast("mail")
    ended = []
    async with trio.open_nursery() as nursery:
        nursery.start_soon(task_for(CausedScope(), lambda: mailbox.drain(8), ended))
        nursery.start_soon(_close_at_once, mailbox)

    assert ended in ([Misuse], [["mail"]])
    assert mailbox.statistics().closed


async def _close_at_once(mailbox):
    mailbox.close()


async def an_ask(address):
    return await address.ask(lambda reply: reply, seconds=5)


@pytest.mark.parametrize("first", ["put", "fail", "close"])
async def test_an_asker_cancelled_after_the_answer_has_it(first):
    """A5: the answer is not lost to a cancellation in the same tick."""
    address, mailbox = open_mailbox("box", capacity=8)
    scope, ended = CausedScope(), []
    async with trio.open_nursery() as nursery:
        nursery.start_soon(task_for(scope, lambda: an_ask(address), ended))
        reply = await mailbox.receive()
        await wait_all_tasks_blocked()

        if first == "put":
            assert reply.put("answer")
        elif first == "fail":
            assert reply.fail(ActorGone("said the actor"))
        else:
            mailbox.close()
        scope.cancel(Shutdown())

    assert ["answer" if first == "put" else ActorGone] == ended
    assert scope.interrupted_by is None
    assert mailbox.statistics().asks_open == 0


@pytest.mark.parametrize("then", ["put", "fail", "close"])
async def test_an_answer_after_the_cancellation_finds_nobody(then):
    """A4: in the same tick, before the asker has run."""
    address, mailbox = open_mailbox("box", capacity=8)
    scope, ended = CausedScope(), []
    async with trio.open_nursery() as nursery:
        nursery.start_soon(task_for(scope, lambda: an_ask(address), ended))
        reply = await mailbox.receive()
        await wait_all_tasks_blocked()

        scope.cancel(Shutdown())
        if then == "put":
            assert not reply.put("answer")
        elif then == "fail":
            assert not reply.fail(ActorGone("said the actor"))
        else:
            mailbox.close()

    assert ([], Shutdown()) == (ended, scope.interrupted_by)
    assert mailbox.statistics().asks_open == 0


async def test_an_answer_at_the_moment_of_the_limit_is_one_or_the_other(autojump_clock):
    """A2, A5: the asker gets the answer if `put` said so, and `NoAnswer` if not."""
    address, mailbox = open_mailbox("box", capacity=8)
    ended, delivered = [], []

    async def answer():
        reply = await mailbox.receive()
        await trio.sleep(5)
        delivered.append(reply.put("answer"))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(answer)
        nursery.start_soon(task_for(CausedScope(), lambda: an_ask(address), ended))

    assert trio.current_time() == 5
    assert (["answer"] if delivered == [True] else [NoAnswer]) == ended


async def test_an_asker_and_the_actor_cancelled_in_the_same_tick():
    """A4, M5: nothing is left behind."""
    address, mailbox = open_mailbox("box", capacity=8)
    scope, ended = CausedScope(), []

    async def read_for_ever():
        while True:
            await mailbox.receive()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(task_for(scope, lambda: an_ask(address), ended))
        nursery.start_soon(task_for(scope_of_reader := CausedScope(), read_for_ever, ended))
        await wait_all_tasks_blocked()

        scope.cancel(Shutdown())
        scope_of_reader.cancel(Shutdown())

    mailbox.close()
    assert ended == []
    assert (mailbox.statistics().asks_open, mailbox.statistics().waiting) == (0, 0)
