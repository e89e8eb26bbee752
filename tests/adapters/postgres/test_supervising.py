"""Two whole supervisors on one PostgreSQL, each with a pool, a ledger and a bus of its own."""

from contextlib import asynccontextmanager
from uuid import uuid4

import pytest
import trio
import trio.testing

from actors.law import requests as ask
from actors.law.states import Status
from actors.supervisor import api
from actors.supervisor.deps import SupervisorLimits
from adapters.postgres.bus import Switchboard
from adapters.postgres.committing import Committer
from adapters.postgres.driver.pool import Pool
from adapters.postgres.hints import Hints
from adapters.postgres.leases import PostgresLeases
from adapters.postgres.ledger import PostgresLedger
from adapters.postgres.reading import Reading
from tests.actors.law.chats import ANN, BOB, user
from tests.actors.supervisor.stage import Process, supervising
from tests.adapters.postgres.stores import migrated_database, open_store
from tests.contracts.given import a_chat, applied
from tests.patience import PATIENCE_SECONDS

LEASE = 30.0  # which nobody loses who only waits for the processor


class Store:
    """Ledger, leases and reading of one process, as one, on a bus that reaches the others."""

    def __init__(self, conninfo, bus, pool):
        self.bus, self.pool = bus, pool
        self.committer = Committer(pool, tell=bus.tell)
        self.ledger = PostgresLedger(pool, self.committer, tell=bus.tell, lease_seconds=LEASE)
        self.leases = PostgresLeases(pool, tell=bus.tell, lease_seconds=LEASE)
        self.reading = Reading(pool, lease_seconds=LEASE)

    def __getattr__(self, name):
        for part in (self.ledger, self.leases, self.reading):
            if hasattr(part, name):
                return getattr(part, name)
        raise AttributeError(name)


@asynccontextmanager
async def a_process(conninfo, **limits):
    limits = {"lease_seconds": LEASE, "poll_seconds": 3600.0, **limits}
    pool = Pool(conninfo, size=4)
    bus = Switchboard(lambda hint: hints.tell(hint))
    hints = Hints(pool, conninfo, heard=bus.hear)
    store = Store(conninfo, bus, pool)
    process = Process(store, store, bus, SupervisorLimits(**limits), step_seconds=0.05)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(hints.run)
        nursery.start_soon(store.committer.run)
        async with supervising(process):
            await until(lambda: hints.statistics().listener.connected and process.worker)
            yield process
        nursery.cancel_scope.cancel()
    await pool.drain(1)


async def until(condition, seconds=PATIENCE_SECONDS):
    """For what real processes do in their own time."""
    with trio.fail_after(seconds):
        while not condition():
            await trio.sleep(0.005)


@pytest.fixture
def conninfo(server):
    return migrated_database(server)


@pytest.fixture
async def store(conninfo):
    async with open_store(conninfo) as store:
        await store.add_users(ANN, BOB)
        yield store


@pytest.fixture
async def one(conninfo, store):
    async with a_process(conninfo) as process:
        yield process


@pytest.fixture
async def other(conninfo, store):
    async with a_process(conninfo) as process:
        yield process


@pytest.mark.slow
async def test_each_chat_is_run_by_one_of_them(one, other, store):
    chats = {await a_chat(one.store) for _ in range(30)}

    await until(lambda: len(one.alive) + len(other.alive) == 30)
    assert chats == {*one.runs(), *other.runs()}
    rows = await store.all_rows()
    for process in (one, other):
        assert all(rows[life.chat].chat.holder == life.me for life in process.alive)
        assert all(life.held.stored.chat == rows[life.chat].chat for life in process.alive)


async def test_news_crosses_from_one_to_the_other(one, other, store):
    chat = await a_chat(one.store)
    await until(lambda: one.alive or other.alive)
    [life] = one.alive + other.alive
    stranger = other if life in one.alive else one

    await applied(stranger.store.ledger.apply(chat, [ask.Interrupt()]))

    await until(lambda: life.heard)


async def test_one_that_drains_hands_its_chats_over_at_once(one, other, store):
    chats = {await a_chat(one.store) for _ in range(10)}
    await until(lambda: len(one.alive) + len(other.alive) == 10)

    since = trio.current_time()
    one.drain()
    await until(lambda: len(other.alive) == 10)

    assert trio.current_time() - since < LEASE
    assert chats == set(other.runs())
    await until(lambda: one.ends)
    assert {other.worker} == await store.workers()


@pytest.mark.slow
async def test_one_that_dies_is_followed_when_its_lease_is_over_and_not_before(conninfo, store):
    async with a_process(conninfo) as one:
        chat = await a_chat(one.store)
        await until(lambda: one.alive)
        attempt = one.alive[0].held.stored.chat.generation_attempt

    async with a_process(conninfo, poll_seconds=0.05) as other:
        await until(lambda: other.supervisor.statistics().searches_count > 2)
        assert [] == other.alive
        await store.execute(
            "UPDATE workers SET heartbeat_at = heartbeat_at - %(lease)s * interval '1 second'"
            " WHERE id = %(died)s",
            lease=LEASE,
            died=one.worker,
        )
        await until(lambda: other.alive)

        [life] = other.alive
        assert (chat, attempt + 1) == (life.chat, life.held.stored.chat.generation_attempt)


async def test_a_broken_chat_is_stopped_for_good(one, store):
    chat = await a_chat(one.store)
    await until(lambda: one.alive)

    one.alive[0].crash(AssertionError("what cannot be"))

    await store.until(f"SELECT status = 'error' FROM chats WHERE id = '{chat}'")
    row = (await store.rows(chat)).chat
    assert (Status.ERROR, None) == (row.status, row.holder)


async def test_a_sender_s_own_transaction_makes_and_takes_the_chat(one, store):
    claim = one.slots.claim(is_root=True, now=trio.current_time())
    new = ask.NewChat(uuid4(), ANN)

    made = await applied(one.store.ledger.create(ask.CreateChat(new, (user("u"),)), claim.requests))
    assert api.hand_over(one.supervisor.address, made.stored)

    await until(lambda: one.alive)
    [life] = one.alive
    assert (claim.holder, made.stored) == (life.me, life.held.stored)
