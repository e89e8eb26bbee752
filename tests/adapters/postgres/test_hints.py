"""Hints between processes: all arrive, in order, or those who miss some are told so."""

import logging
from contextlib import asynccontextmanager
from typing import get_args
from uuid import UUID, uuid4

import pytest
import trio
import trio.testing

from actors.law.ids import ChatId, RunnerId, UserId, WorkerId
from actors.law.states import Status
from actors.law.store.hints import CatalogueChanged, ChatMoved, Hint, HintsLost, WorkWaits
from adapters.postgres import hints as hints_module
from adapters.postgres.driver.pool import Pool
from adapters.postgres.hints import CHANNEL, Hints
from tests.fakes.records import full
from tests.patience import PATIENCE_SECONDS

EVERYTHING = HintsLost()


def moved(number=1, *, held=True):
    holder = (WorkerId(uuid4()), RunnerId(uuid4())) if held else (None, None)
    return ChatMoved(
        ChatId(UUID(int=number)), 2**40, 5, 4, 3, 2, Status.INTERRUPTING, False, *holder, ANN
    )


def waits(number):
    return WorkWaits(ChatId(UUID(int=number)), number)


ANN = UserId(uuid4())


class Ear:
    """What a process has heard of others."""

    def __init__(self):
        self.heard = []
        self._more = trio.Event()

    def __call__(self, news):
        self.heard.append(news)
        self._more.set()
        self._more = trio.Event()

    async def has_heard(self, count):
        with trio.fail_after(PATIENCE_SECONDS):
            while len(self.heard) < count:
                await self._more.wait()

    async def has_heard_of(self, hint):
        with trio.fail_after(PATIENCE_SECONDS):
            while hint not in self.heard:
                await self._more.wait()


@asynccontextmanager
async def a_process(conninfo, **bounds):
    """(hints, ear) of a process that is connected."""
    ear = Ear()
    own = Pool(conninfo, size=2)
    async with trio.open_nursery() as nursery:
        hints = Hints(own, conninfo, heard=ear, **bounds)
        nursery.start_soon(hints.run)
        await ear.has_heard(1)
        ear.heard.clear()
        yield hints, ear
        nursery.cancel_scope.cancel()
    await own.drain(1)


async def test_what_one_tells_the_other_hears_as_it_was(database, no_leaks):
    told = [full(kind) for kind in get_args(Hint)]
    told += [moved(), moved(3, held=False), CatalogueChanged(None)]
    async with a_process(database) as (one, own), a_process(database) as (_, other):
        for hint in told:
            one.tell(hint)
        await other.has_heard(len(told))

        assert told == other.heard
        assert [] == own.heard


async def test_everyone_is_told_to_look_when_he_begins_to_hear(database, no_leaks):
    ear, pool = Ear(), Pool(database, size=1)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(Hints(pool, database, heard=ear).run)
        await ear.has_heard(1)
        nursery.cancel_scope.cancel()
    await pool.drain(1)

    assert [EVERYTHING] == ear.heard


async def test_many_at_once_arrive_in_order_in_a_few_statements(database, no_leaks):
    told = [moved(number) for number in range(3000)]
    async with a_process(database) as (one, _), a_process(database) as (_, other):
        for hint in told:
            one.tell(hint)
        await other.has_heard(3000)
        await one.flush(PATIENCE_SECONDS)  # others hear before the server has answered

        assert told == other.heard
        assert 3 == one.statistics().statements_count


async def test_too_many_at_once_are_told_as_everything(database, no_leaks):
    async with a_process(database, waiting_max=10) as (one, _), a_process(database) as (_, other):
        for number in range(25):
            one.tell(waits(number))
        await other.has_heard(11)

        assert [EVERYTHING, *map(waits, range(15, 25))] == other.heard
        assert 15 == one.statistics().dropped_count


async def test_after_a_deaf_time_everything_is_to_be_looked_at(network, database, caplog):
    caplog.set_level(logging.CRITICAL)
    async with a_process(database) as (one, _), a_process(network.conninfo) as (deaf, other):
        network.cut()
        one.tell(waits(1))
        await other.has_heard(1)
        one.tell(waits(2))
        await other.has_heard_of(waits(2))

        assert [EVERYTHING, waits(2)] == [n for n in other.heard if n != waits(1)]
        assert 2 <= deaf.statistics().listener.connected_count


async def test_what_was_lost_on_the_way_out_is_told_as_everything(network, database, caplog):
    caplog.set_level(logging.CRITICAL)
    async with a_process(network.conninfo) as (one, _), a_process(database) as (_, other):
        one.tell(waits(0))
        await other.has_heard(1)
        await one.flush(10)
        network.refusing = True
        network.cut()
        one.tell(waits(1))
        with trio.fail_after(PATIENCE_SECONDS):
            while not one._lost:
                await trio.sleep(0.01)
        network.refusing = False
        await other.has_heard(2)
        one.tell(waits(2))
        await other.has_heard(3)

        assert [waits(0), EVERYTHING, waits(2)] == other.heard


async def test_a_notification_that_means_nothing_to_us_is_taken_for_everything(
    database, witness, no_leaks
):
    async with a_process(database) as (one, ear):
        for payload in ["", "x", "x [", 'x [["z",1]]', "x [[]]", 'x {"a":1}']:
            await witness.execute("SELECT pg_notify(%(c)s, %(p)s)", {"c": CHANNEL, "p": payload})
        await ear.has_heard(6)

        assert [EVERYTHING] * 6 == ear.heard
        assert 6 == one.statistics().unreadable_count


async def test_flush_returns_when_all_has_been_told(database, no_leaks):
    async with a_process(database) as (_, other):
        async with a_process(database) as (one, _):
            for number in range(100):
                one.tell(waits(number))
            await one.flush(10)
            assert (0, 100) == (one.statistics().waiting, one.statistics().told_count)
        await other.has_heard(100)

        assert 100 == len(other.heard)


async def test_flush_does_not_wait_for_ever(network, caplog, no_leaks):
    caplog.set_level(logging.CRITICAL)
    async with a_process(network.conninfo) as (one, _):
        network.refusing = True
        network.cut()
        one.tell(waits(1))

        with trio.fail_after(PATIENCE_SECONDS):
            await one.flush(0.1)

        assert one.statistics().waiting or one._lost or one._sending


@pytest.mark.parametrize("count", [1, 36, 37, 38, 1000])
def test_payloads_stay_below_what_the_server_takes(count):
    encoded = [hints_module._encode(hints_module._to_wire(moved(n))) for n in range(count)]

    payloads = hints_module._packed("s" * 32, encoded)

    assert max(map(len, payloads)) < 8000
    decoded = [w for p in payloads for w in hints_module._decode(p.partition(" ")[2])]
    assert count == len(decoded)
    assert len(payloads) <= -(-count // 30)
