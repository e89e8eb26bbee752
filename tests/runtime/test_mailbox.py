"""Stories of one mailbox: order, bounds, hints, batches, and the end of it."""

from dataclasses import FrozenInstanceError, dataclass

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from runtime.errors import ActorGone, MailboxFull, Misuse
from runtime.mailbox import Reply, open_mailbox


@dataclass(frozen=True, slots=True)
class LookAgain:
    version: int = 0


async def test_mail_is_received_in_the_order_in_which_it_was_sent():
    """M2, M4: casts, hints and asks of several senders stand in one line."""
    address, mailbox = open_mailbox("box", capacity=8)
    async with trio.open_nursery() as nursery:

        async def ask():
            with pytest.raises(ActorGone):
                await address.ask(lambda reply: ("ask", reply.wanted), seconds=9)

        address.cast("first")
        address.hint("hint")
        nursery.start_soon(ask)
        await wait_all_tasks_blocked()
        address.cast("last")

        received = [await mailbox.receive() for _ in range(4)]
        mailbox.close()

    assert received == ["first", "hint", ("ask", False), "last"]


async def test_cast_gives_no_other_task_a_chance_to_run():
    """M3: when cast returns the mail is there, and the reader it woke has not run yet."""
    address, mailbox = open_mailbox("box", capacity=8)
    received = []

    async def read():
        while True:
            received.append(await mailbox.receive())

    async with trio.open_nursery() as nursery:
        nursery.start_soon(read)
        await wait_all_tasks_blocked()

        address.cast(1)
        address.cast(2)

        assert (mailbox.statistics().waiting, received) == (2, [])
        await wait_all_tasks_blocked()
        assert received == [1, 2]
        nursery.cancel_scope.cancel()


async def test_a_full_mailbox_refuses_and_changes_nothing():
    """B1, M3: the bound counts what waits, not what was ever sent."""
    address, mailbox = open_mailbox("chat/1", capacity=2)
    address.cast(1)
    address.cast(2)

    with pytest.raises(MailboxFull, match=r"^chat/1: 2 already wait$"):
        address.cast(3)
    with pytest.raises(MailboxFull, match=r"^chat/1: 2 already wait$"):
        await address.ask(lambda reply: 4, seconds=1)

    assert await mailbox.drain(9) == [1, 2]
    address.cast(5)
    assert await mailbox.receive() == 5
    assert mailbox.statistics().refused_count == 2
    assert mailbox.statistics().asks_open == 0


async def test_a_full_mailbox_has_room_again_for_each_mail_received():
    """B1: receiving one makes room for one."""
    address, mailbox = open_mailbox("chat/1", capacity=2)
    address.cast(1)
    address.cast(2)

    await mailbox.receive()
    address.cast(3)

    with pytest.raises(MailboxFull):
        address.cast(4)


@pytest.mark.parametrize(("at_most", "expected"), [(1, [0]), (3, [0, 1, 2]), (9, [0, 1, 2, 3])])
async def test_drain_takes_what_waits_up_to_its_limit(at_most, expected):
    """M4: the oldest first; the rest stays."""
    address, mailbox = open_mailbox("box", capacity=8)
    for mail in range(4):
        address.cast(mail)

    taken = await mailbox.drain(at_most)

    assert expected == taken
    assert 4 - len(expected) == mailbox.statistics().waiting


async def test_drain_waits_for_the_first_and_takes_all_that_came_with_it(autojump_clock):
    """M4: at least one, and whatever was sent before the reader ran."""
    address, mailbox = open_mailbox("box", capacity=8)
    taken = []

    async def read():
        taken.append(await mailbox.drain(8))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(read)
        await trio.sleep(5)
        assert taken == []

        address.cast("a")
        address.hint("b")
        address.cast("c")

    assert taken == [["a", "b", "c"]]


async def test_drain_of_nothing_is_a_misuse():
    """M4: at least one."""
    _, mailbox = open_mailbox("box", capacity=8)

    with pytest.raises(Misuse, match=r"^box: drain\(0\), must be at least 1$"):
        await mailbox.drain(0)


async def test_two_readers_are_told_so():
    """M1: the second to wait is refused, the first goes on."""
    address, mailbox = open_mailbox("box", capacity=8)
    received = []

    async def read():
        received.append(await mailbox.receive())

    async with trio.open_nursery() as nursery:
        nursery.start_soon(read)
        await wait_all_tasks_blocked()

        with pytest.raises(Misuse, match=r"^box: two tasks wait for its mail$"):
            await mailbox.receive()
        address.cast("mail")

    assert received == ["mail"]


class Turns(trio.abc.Instrument):
    """Counts how often the task that made it has given way to others."""

    def __init__(self):
        self.task = trio.lowlevel.current_task()
        self.count = 0

    def task_scheduled(self, task):
        self.count += task is self.task


async def calls_that_give_way(calls, take):
    """Which of so many calls of `take` let other tasks run."""
    turns, giving = Turns(), []
    trio.lowlevel.add_instrument(turns)
    for number in range(1, calls + 1):
        before = turns.count
        await take()
        giving += [number] * (turns.count - before)
    trio.lowlevel.remove_instrument(turns)
    return giving


async def test_a_reader_lets_others_run_however_much_mail_waits():
    """M6: before each drain, and after at most 16 receives in a row."""
    address, mailbox = open_mailbox("box", capacity=200)
    for mail in range(200):
        address.cast(mail)

    drains = await calls_that_give_way(4, lambda: mailbox.drain(1))
    receives = await calls_that_give_way(40, mailbox.receive)

    assert drains == [1, 2, 3, 4]
    assert receives == [17, 34]


async def test_a_hint_waits_once_in_the_place_of_the_first():
    """H1, H2: the equal one is merged, the different one is not."""
    address, mailbox = open_mailbox("box", capacity=8)

    answers = [address.hint(LookAgain(1)), address.hint(LookAgain(2)), address.hint(LookAgain(1))]

    assert answers == [True, True, True]
    assert [LookAgain(1), LookAgain(2)] == await mailbox.drain(8)
    assert mailbox.statistics().hints_merged_count == 1


async def test_a_hint_that_comes_while_the_actor_looks_makes_it_look_again():
    """H3: merged only with one that waits."""
    address, mailbox = open_mailbox("box", capacity=8)
    address.hint(LookAgain())
    assert LookAgain() == await mailbox.receive()

    address.hint(LookAgain())

    assert [LookAgain()] == await mailbox.drain(8)
    assert mailbox.statistics().hints_merged_count == 0


async def test_hints_never_take_the_room_of_mail():
    """H4: with every hint it may hold, the mailbox takes all its capacity of mail."""
    address, mailbox = open_mailbox("box", capacity=2, hint_capacity=50)
    for version in range(50):
        address.hint(LookAgain(version))

    address.cast("own result")
    address.cast("another")

    with pytest.raises(MailboxFull):
        address.cast("one too many")
    assert (mailbox.statistics().waiting, mailbox.statistics().hints_waiting) == (2, 50)


async def test_mail_equal_to_a_hint_is_still_mail():
    """H2, H4: only hints merge, and only hints are free."""
    address, mailbox = open_mailbox("box", capacity=2)
    address.cast(LookAgain())
    address.hint(LookAgain())
    address.cast(LookAgain())

    with pytest.raises(MailboxFull):
        address.cast(LookAgain())

    assert LookAgain() == await mailbox.receive()
    assert address.hint(LookAgain())
    assert [LookAgain()] * 2 == await mailbox.drain(8)


async def test_too_many_different_hints_are_lost():
    """H1, H5: and said to be; an equal one is merged even then."""
    address, mailbox = open_mailbox("box", capacity=2, hint_capacity=2)

    answers = [address.hint(LookAgain(version)) for version in (1, 2, 3, 2)]

    assert answers == [True, True, False, True]
    assert [LookAgain(1), LookAgain(2)] == await mailbox.drain(8)
    assert mailbox.statistics().hints_dropped_count == 1


async def test_a_closed_mailbox_takes_nothing():
    """B2, H1: casts and asks raise at once, a hint is lost."""
    address, mailbox = open_mailbox("chat/1", capacity=2)
    mailbox.close()

    with pytest.raises(ActorGone, match=r"^chat/1: ended, takes no mail$"):
        address.cast(1)
    with pytest.raises(ActorGone, match=r"^chat/1: ended, takes no mail$"):
        await address.ask(lambda reply: 1, seconds=1)
    assert address.hint(LookAgain()) is False


@pytest.mark.parametrize("take", ["receive", "drain"])
async def test_a_closed_mailbox_cannot_be_read(take):
    """B2, L1: also not what waited in it."""
    address, mailbox = open_mailbox("chat/1", capacity=2)
    address.cast(1)
    mailbox.close()

    with pytest.raises(Misuse, match=r"^chat/1: closed, nothing more can be received$"):
        await (mailbox.receive() if take == "receive" else mailbox.drain(1))


async def test_closing_wakes_a_reader_that_waits():
    """B2: it is told, and does not wait for ever."""
    _, mailbox = open_mailbox("chat/1", capacity=2)

    async def read():
        with pytest.raises(Misuse, match="closed"):
            await mailbox.receive()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(read)
        await wait_all_tasks_blocked()
        mailbox.close()
        mailbox.close()


async def test_abandoning_loses_what_waits_and_stays_open():
    """L1: mail and hints are gone, silently, and counted."""
    address, mailbox = open_mailbox("chat/1", capacity=2)
    address.cast(1)
    address.hint(LookAgain())

    mailbox.abandon()

    assert mailbox.statistics().lost_count == 2
    address.cast(2)
    assert address.hint(LookAgain())
    assert [2, LookAgain()] == await mailbox.drain(8)


@pytest.mark.parametrize("bounds", [{"capacity": 0}, {"capacity": 1, "hint_capacity": 0}])
async def test_a_mailbox_without_a_bound_is_a_misuse(bounds):
    """B1, H5: bounds are positive and finite."""
    with pytest.raises(Misuse, match=r"^box: a mailbox for "):
        open_mailbox("box", **bounds)
    with pytest.raises(Misuse, match=r"^box: a mailbox for inf mail and "):
        open_mailbox("box", capacity=float("inf"))


async def test_statistics_tell_what_waits_and_what_became_of_the_rest():
    """T3: a frozen record; counts go on, the rest is as of now."""
    address, mailbox = open_mailbox("box", capacity=2)
    address.cast(1)
    address.cast(Reply("box"))
    address.hint(LookAgain())
    await mailbox.receive()

    record = mailbox.statistics()

    assert (record.name, record.capacity, record.closed) == ("box", 2, False)
    assert (record.waiting, record.hints_waiting, record.waiting_peak) == (1, 1, 3)
    assert (record.received_count, record.refused_count, record.lost_count) == (1, 0, 0)
    assert repr(mailbox) == "<Mailbox box: 2 wait>"
    assert repr(address) == "<Address of <Mailbox box: 2 wait>>"
    assert address.name == "box"
    with pytest.raises(FrozenInstanceError):
        record.waiting = 0
