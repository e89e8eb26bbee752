"""What was read, kept for a while: who reads, who waits, what is thrown away."""

import pytest
import trio
import trio.testing

from adapters.models.caching import Cache


class Shelf:
    """What is to be read; reading takes a second of virtual time."""

    def __init__(self, **values):
        self.values = values
        self.read = []
        self.broken = None

    async def __call__(self, key):
        self.read.append(key)
        value = self.values.get(key)
        await trio.sleep(1)
        if self.broken is not None:
            raise self.broken
        return value


def a_cache(shelf, *, keep_seconds=10.0, most=8):
    return Cache(shelf, keep_seconds=keep_seconds, most=most)


async def test_what_was_read_is_kept_for_its_time(autojump_clock):
    shelf = Shelf(a=1)
    cache = a_cache(shelf)

    first = await cache.get("a")
    shelf.values["a"] = 2
    await trio.sleep(9.9)
    second = await cache.get("a")
    await trio.sleep(0.2)
    third = await cache.get("a")

    assert (1, 1, 2) == (first, second, third)
    assert ["a", "a"] == shelf.read


async def test_one_reads_and_the_others_wait_for_it(autojump_clock):
    shelf, found = Shelf(a=1), []
    cache = a_cache(shelf)

    async def ask():
        found.append((await cache.get("a"), trio.current_time()))

    began = trio.current_time()
    async with trio.open_nursery() as nursery:
        for _ in range(20):
            nursery.start_soon(ask)

    assert [(1, began + 1)] * 20 == found
    assert ["a"] == shelf.read


async def test_what_was_begun_before_a_change_is_not_kept_after_it(autojump_clock):
    shelf, found = Shelf(a=1), {}
    cache = a_cache(shelf)

    async def ask(name):
        found[name] = await cache.get("a")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(ask, "before")
        await trio.sleep(0.5)
        nursery.start_soon(ask, "joined before")
        await trio.testing.wait_all_tasks_blocked()
        shelf.values["a"] = 2
        cache.drop("a")
        nursery.start_soon(ask, "after")

    assert {"before": 1, "joined before": 2, "after": 2} == found
    assert 2 == await cache.get("a")
    assert ["a", "a"] == shelf.read


async def test_a_reader_who_is_cancelled_is_replaced(autojump_clock):
    shelf, found = Shelf(a=1), []
    cache = a_cache(shelf)

    async def impatient():
        with trio.move_on_after(0.5):
            await cache.get("a")

    async def patient():
        found.append(await cache.get("a"))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(impatient)
        await trio.testing.wait_all_tasks_blocked()
        nursery.start_soon(patient)

    assert [1] == found
    assert ["a", "a"] == shelf.read


async def test_a_reading_that_fails_fails_for_all_and_is_not_kept(autojump_clock):
    shelf, failed = Shelf(a=1), []
    cache = a_cache(shelf)
    shelf.broken = OSError("away")

    async def ask():
        try:
            await cache.get("a")
        except OSError as error:
            failed.append(str(error))

    async with trio.open_nursery() as nursery:
        for _ in range(5):
            nursery.start_soon(ask)
    shelf.broken = None

    assert ["away"] * 5 == failed
    assert 1 == await cache.get("a")
    assert ["a", "a"] == shelf.read


async def test_beyond_the_most_the_one_not_asked_for_longest_is_forgotten(autojump_clock):
    shelf = Shelf(a=1, b=2, c=3)
    cache = a_cache(shelf, most=2)

    for key in ("a", "b", "a", "c"):
        await cache.get(key)

    assert (1, None, 3) == (cache.glance("a"), cache.glance("b"), cache.glance("c"))
    assert 2 == cache.statistics().kept


async def test_dropping_all_drops_what_is_being_read_too(autojump_clock):
    shelf = Shelf(a=1, b=2)
    cache = a_cache(shelf)
    await cache.get("a")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(cache.get, "b")
        await trio.testing.wait_all_tasks_blocked()
        cache.drop_all()

    assert (None, None) == (cache.glance("a"), cache.glance("b"))


async def test_keys_do_not_wait_for_each_other(autojump_clock):
    shelf = Shelf(a=1, b=2)
    cache = a_cache(shelf)
    began = trio.current_time()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(cache.get, "a")
        nursery.start_soon(cache.get, "b")

    assert began + 1 == pytest.approx(trio.current_time())
