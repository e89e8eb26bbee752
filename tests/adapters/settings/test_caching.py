"""What is kept: read once at a time, for so long, so much of it, and never past its recall."""

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from adapters.settings.caching import Cache


class Source:
    """What is read from: it answers when the test lets it."""

    def __init__(self, **values):
        self.values = values
        self.reads = []
        self.gate = trio.Event()
        self.gate.set()
        self.fault = None

    async def read(self, key):
        self.reads.append(key)
        value, gate = self.values.get(key), self.gate
        await gate.wait()
        if self.fault is not None:
            raise self.fault
        return value

    def kept(self, keep_seconds=10.0, most=100):
        return Cache(self.read, keep_seconds=keep_seconds, max_entries=most)


async def test_what_is_kept_is_not_read_again_until_it_is_too_old(autojump_clock):
    source = Source(a=1)
    kept = source.kept(keep_seconds=10)

    assert [1, 1] == [await kept.find("a"), await kept.find("a")]
    assert ["a"] == source.reads
    await trio.sleep(10)
    assert 1 == await kept.find("a")
    assert ["a", "a"] == source.reads


async def test_what_is_not_there_is_looked_for_each_time(autojump_clock):
    source = Source()
    kept = source.kept()

    assert [None, None] == [await kept.find("a"), await kept.find("a")]
    assert ["a", "a"] == source.reads


async def ask(kept, key, answers):
    try:
        answers.append(await kept.find(key))
    except ValueError as error:
        answers.append(str(error))


async def test_of_many_who_ask_at_once_one_reads(autojump_clock):
    source, answers = Source(a=1), []
    source.gate = trio.Event()
    kept = source.kept()

    async with trio.open_nursery() as nursery:
        for _ in range(5):
            nursery.start_soon(ask, kept, "a", answers)
        await wait_all_tasks_blocked()
        source.gate.set()

    assert ([1] * 5, ["a"]) == (answers, source.reads)


async def test_a_fault_is_told_to_all_who_wait_and_kept_for_nobody(autojump_clock):
    source, answers = Source(a=1), []
    source.gate, source.fault = trio.Event(), ValueError("away")
    kept = source.kept()

    async with trio.open_nursery() as nursery:
        for _ in range(3):
            nursery.start_soon(ask, kept, "a", answers)
        await wait_all_tasks_blocked()
        source.gate.set()

    source.fault = None
    assert (["away"] * 3, 1) == (answers, await kept.find("a"))


async def test_when_who_reads_is_cancelled_another_reads(autojump_clock):
    source, answers = Source(a=1), []
    source.gate = trio.Event()
    kept = source.kept()

    async with trio.open_nursery() as nursery:
        async with trio.open_nursery() as first:
            first.start_soon(ask, kept, "a", answers)
            await wait_all_tasks_blocked()
            nursery.start_soon(ask, kept, "a", answers)
            await wait_all_tasks_blocked()
            first.cancel_scope.cancel()
        await wait_all_tasks_blocked()
        source.gate.set()

    assert ([1], ["a", "a"]) == (answers, source.reads)


def forget(kept):
    kept.drop("a")


def forget_those(kept):
    kept.drop_matching(lambda value: value == 1)


def forget_all(kept):
    kept.drop_all()


@pytest.mark.parametrize("recall", [forget, forget_those, forget_all])
async def test_what_was_recalled_is_read_anew(autojump_clock, recall):
    source = Source(a=1)
    kept = source.kept()
    await kept.find("a")

    source.values["a"] = 2
    recall(kept)

    assert 2 == await kept.find("a")


@pytest.mark.parametrize("recall", [forget, forget_those, forget_all])
async def test_what_is_recalled_while_it_is_read_is_believed_by_nobody_who_asks_later(
    autojump_clock, recall
):
    source, before, after = Source(a=1), [], []
    source.gate = slow = trio.Event()
    kept = source.kept()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(ask, kept, "a", before)
        await wait_all_tasks_blocked()
        source.values["a"], source.gate = 2, trio.Event()
        source.gate.set()
        recall(kept)
        nursery.start_soon(ask, kept, "a", after)
        await wait_all_tasks_blocked()
        slow.set()

    assert ([1], [2], 2) == (before, after, await kept.find("a"))


async def test_others_are_not_forgotten(autojump_clock):
    source = Source(a=1, b=2)
    kept = source.kept()
    for key in ("a", "b"):
        await kept.find(key)

    kept.drop("a")
    kept.drop_matching(lambda value: value == 1)

    assert (None, 2) == (kept.find_kept("a"), kept.find_kept("b"))


async def test_at_the_bound_the_one_not_asked_for_longest_goes(autojump_clock):
    source = Source(a=1, b=2, c=3)
    kept = source.kept(most=2)

    for key in ("a", "b", "a", "c"):
        await kept.find(key)

    assert [1, None, 3] == [kept.peek(key) for key in ("a", "b", "c")]
    assert (2, 3) == (kept.statistics().kept, kept.statistics().read_count)


async def test_a_glance_sees_what_is_too_old_too(autojump_clock):
    source = Source(a=1)
    kept = source.kept(keep_seconds=1)
    await kept.get("a")

    await trio.sleep(2)

    assert (None, 1) == (kept.find_kept("a"), kept.peek("a"))


async def test_keys_do_not_wait_for_each_other(autojump_clock):
    source, answers = Source(a=1, b=2), []
    source.gate = gate = trio.Event()
    kept = source.kept()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(ask, kept, "a", answers)
        await wait_all_tasks_blocked()
        source.gate = trio.Event()
        source.gate.set()
        nursery.start_soon(ask, kept, "b", answers)
        await wait_all_tasks_blocked()
        assert [2] == answers
        gate.set()
