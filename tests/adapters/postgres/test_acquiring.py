"""Acquiring on PostgreSQL: what the contract cannot arrange. Locks, plans, rows nobody can read."""

from contextlib import asynccontextmanager
from uuid import uuid4

import pytest
import trio
import trio.testing

from actors.law.chat import StoredChat
from actors.law.ids import WorkerId
from actors.law.store.hints import ChatMoved
from actors.law.store.ports import AcquireLimits, UnreadableChat
from adapters.postgres.driver.connection import DatabaseConnection
from adapters.postgres.queries import SQL
from tests.actors.law.chats import ANN, BOB, send
from tests.adapters.postgres.stores import migrated_database, open_store
from tests.contracts.given import a_chat, applied
from tests.patience import PATIENCE_SECONDS

ME, OTHER = WorkerId(uuid4()), WorkerId(uuid4())
ROOMY = AcquireLimits(at_most=100, roots=100, children=100)


@pytest.fixture
def conninfo(server):
    return migrated_database(server)


@pytest.fixture
async def store(conninfo):
    async with open_store(conninfo) as store:
        await store.add_users(ANN, BOB)
        await store.leases.beat(ME)
        await store.leases.beat(OTHER)
        yield store


@asynccontextmanager
async def another_transaction(conninfo, sql, **parameters):
    """Has run `sql`, and commits at the end of the block."""
    connection = await DatabaseConnection.open(conninfo)
    try:
        async with connection.transaction() as tx:
            await tx.run([(sql, parameters)])
            yield tx
    finally:
        connection.close()


async def taken(store, worker=ME, room=ROOMY):
    return [one.chat.id for one in await store.leases.acquire(worker, room)]


# locks


async def test_a_chat_that_is_being_written_is_passed_over_without_waiting(store, conninfo):
    written, other = await a_chat(store), await a_chat(store)
    bump = "UPDATE chats SET snapshot_version = snapshot_version + 1 WHERE id = %(id)s"

    async with another_transaction(conninfo, bump, id=written):
        with trio.fail_after(PATIENCE_SECONDS):
            assert [other] == await taken(store)

    assert [written] == await taken(store)


async def test_a_root_whose_child_is_being_made_is_not_passed_over(store, conninfo):
    root = await a_chat(store)
    child = (
        "INSERT INTO chats (id, owner_id, parent_id, root_id, status, snapshot_version)"
        " VALUES (%(id)s, %(owner)s, %(root)s, %(root)s, 'waiting', 1)"
    )

    async with another_transaction(conninfo, child, id=uuid4(), owner=ANN, root=root):
        assert [root] == await taken(store)


async def test_what_moves_while_it_is_looked_at_is_left_to_the_next_search(store, conninfo):
    """Its lock is free when it is its turn, but it is another snapshot than was looked at."""
    chats = [await a_chat(store) for _ in range(3)]
    search, looks = [], trio.Event()

    async def searches():
        looks.set()
        search.extend(await taken(store))

    slow = "LOCK TABLE messages IN ACCESS EXCLUSIVE MODE"
    async with trio.open_nursery() as nursery, another_transaction(conninfo, slow) as tx:
        nursery.start_soon(searches)
        await looks.wait()
        await store.until(
            "SELECT count(*) > 0 FROM pg_locks WHERE NOT granted AND mode = 'AccessShareLock'"
        )
        await tx.run([("UPDATE chats SET updated_at = now() WHERE id = %(id)s", {"id": chats[0]})])

    assert {*chats} == {*search, *await taken(store)}


async def test_many_searches_at_once_take_each_chat_once(conninfo):
    async with open_store(conninfo, size=16) as store:
        await store.add_users(ANN, BOB)
        workers = [WorkerId(uuid4()) for _ in range(8)]
        for worker in workers:
            await store.leases.beat(worker)
        chats = {await a_chat(store) for _ in range(40)}
        found = []

        async def search(worker):
            """One that meets the others at the same chats finds none, and looks again."""
            while len(found) < len(chats):
                found.extend(
                    await taken(store, worker, AcquireLimits(at_most=3, roots=3, children=3))
                )

        with trio.fail_after(PATIENCE_SECONDS):
            async with trio.open_nursery() as nursery:
                for worker in workers:
                    nursery.start_soon(search, worker)

        assert (len(chats), chats) == (len(found), set(found))


# rows


async def test_a_chat_that_nobody_can_read_does_not_take_the_others_with_it(store):
    chats = [await a_chat(store) for _ in range(3)]
    await applied(store.ledger.apply(chats[1], [send("queued")]))
    await store.execute("ALTER TABLE queued_messages DISABLE TRIGGER USER")
    await store.execute("UPDATE queued_messages SET content_version = 99")
    await store.execute("ALTER TABLE queued_messages ENABLE TRIGGER USER")
    store.told.clear()

    found = {
        (one.chat.id if isinstance(one, StoredChat) else one.chat): one
        for one in await store.leases.acquire(ME, ROOMY)
    }

    assert {*chats} == {*found}
    unreadable = found[chats[1]]
    assert isinstance(unreadable, UnreadableChat)
    [(runner,)] = await store.execute("SELECT runner_id FROM chats WHERE id = %(c)s", c=chats[1])
    assert runner == unreadable.runner
    assert {chats[0], chats[2]} == {h.chat for h in store.told if isinstance(h, ChatMoved)}


async def test_a_failure_to_tell_does_not_lose_what_was_taken(store):
    chat = await a_chat(store)
    store.telling.failing = lambda _: True

    assert [chat] == await taken(store)


# plans


async def test_a_search_among_many_chats_at_work_looks_at_none_of_them(store):
    await store.execute(
        "INSERT INTO chats (id, owner_id, status, worker_id, runner_id, history_version)"
        " SELECT gen_random_uuid(), %(owner)s, 'running', %(other)s, gen_random_uuid(), 1"
        "   FROM generate_series(1, 3000)",
        owner=ANN,
        other=OTHER,
    )
    await store.execute("ANALYZE chats")
    wanted = {"worker": ME, "lease_seconds": 30, "at_most": 100, "roots": 100, "children": 100}
    wanted["count_deaths"] = True

    plan = await store.execute(
        "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) " + SQL["acquire"], **wanted
    )

    lines = [line for (line,) in plan]
    read = [line for line in lines if "on chats" in line and "never executed" not in line]
    assert any("chats_free" in line for line in lines)
    assert not [line for line in read if "Seq Scan" in line]
    assert not [line for line in read if "rows=3000" in line]
