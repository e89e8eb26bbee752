"""The lease on housekeeping, between processes, and rules in batches under it."""

import uuid
from functools import partial

import pytest
import trio
import trio.lowlevel

from actors.upkeep.housekeeping import Batch, Housekeeper, HousekeepingLost, PassReport
from adapters.chats.housekeeping.lease import (
    LEASE_SECONDS,
    PostgresHousekeeping,
    RuleChore,
    held,
)
from adapters.chats.housekeeping.rules import AGE_RULES, ERASURE_RULE, ORPHAN_RULE
from tests.actors.law.chats import ANN, BOB
from tests.adapters.postgres.stores import apply_rule, new_file_ids
from tests.contracts.given import a_chat
from tests.patience import PATIENCE_SECONDS

ONE, OTHER = uuid.UUID(int=1), uuid.UUID(int=2)


@pytest.fixture
def house(store):
    return PostgresHousekeeping(store.pool)


async def grows_old(store, seconds):
    await store.execute(
        "UPDATE housekeeping SET beat_at = beat_at - %(s)s * interval '1 second'", s=seconds
    )


async def old_files(store, count, *, days, owner=ANN):
    """Files that no chat has."""
    ids = new_file_ids(count)
    await store.add_files(*ids)
    await store.execute(
        "UPDATE files SET owner_id = %(owner)s, size_bytes = 10,"
        " created_at = now() - %(days)s * interval '1 day' WHERE id = ANY(%(ids)s)",
        owner=owner,
        days=days,
        ids=ids,
    )
    return ids


async def keep(store, name, days):
    await store.execute(
        "INSERT INTO settings (name, value) VALUES (%(name)s, %(days)s::text::json)"
        " ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        name=name,
        days=days,
    )


async def test_one_process_has_it_until_it_lets_go(house):
    lease = await house.take(ONE, rest_seconds=0)

    assert await house.take(OTHER, rest_seconds=0) is None
    await house.leave(lease, PassReport())
    assert await house.take(OTHER, rest_seconds=3600) is None  # the pass has just ended
    assert await house.take(OTHER, rest_seconds=0) is not None


async def test_a_pass_that_was_cut_short_is_due_at_once(house):
    await house.leave(await house.take(ONE, rest_seconds=0), None)

    assert await house.take(OTHER, rest_seconds=3600) is not None


async def test_of_many_that_try_at_once_one_has_it(house):
    taken = []

    async def take(holder):
        taken.append(await house.take(holder, rest_seconds=0))

    async with trio.open_nursery() as nursery:
        for number in range(6):
            nursery.start_soon(take, uuid.UUID(int=number))

    assert 5 == taken.count(None)


async def test_a_process_that_was_frozen_does_nothing_in_its_old_name(store, house):
    await old_files(store, 3, days=40)
    frozen = await house.take(ONE, rest_seconds=0)
    await grows_old(store, LEASE_SECONDS + 1)
    lease = await house.take(OTHER, rest_seconds=0)
    chore = RuleChore(store.pool, ORPHAN_RULE)

    assert HousekeepingLost() == await chore.batch(frozen, 10)
    await house.leave(frozen, PassReport())

    assert Batch(3, 30, is_last=True) == await chore.batch(lease, 10)


async def test_the_lease_is_not_taken_in_the_midst_of_a_batch(store, house):
    """A batch that takes longer than a lease still keeps its row until it is committed."""
    lease = await house.take(ONE, rest_seconds=0)
    await grows_old(store, LEASE_SECONDS + 1)
    taken = []

    async def take():
        taken.append(await house.take(OTHER, rest_seconds=0))

    async with trio.open_nursery() as nursery, held(store.pool, lease) as holding:
        assert holding is not None
        nursery.start_soon(take)
        await store.until(
            "EXISTS (SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
            " AND query LIKE 'INSERT INTO housekeeping%')"
        )
        assert [] == taken

    assert [None] == taken  # it has beaten


async def test_a_rule_goes_by_what_is_set_when_the_batch_begins(store, house):
    await old_files(store, 4, days=20)
    lease = await house.take(ONE, rest_seconds=0)
    chore = RuleChore(store.pool, ORPHAN_RULE)

    assert 0 == await chore.due()  # thirty days, where nothing is set
    await keep(store, "retention_days", 10)
    assert 4 == await chore.due()
    assert Batch(2, 20) == await chore.batch(lease, 2)
    await keep(store, "retention_days", 0)
    assert Batch(is_last=True) == await chore.batch(lease, 2)
    assert 0 == await chore.due()


async def test_a_setting_that_cannot_be_read_keeps_everything(store, house):
    await old_files(store, 1, days=4000)
    await keep(store, "retention_days", '"soon"')

    lease = await house.take(ONE, rest_seconds=0)

    assert Batch(is_last=True) == await RuleChore(store.pool, ORPHAN_RULE).batch(lease, 2)


async def test_files_that_a_chat_has_and_files_of_users_on_hold_stay(store):
    linked, free, held_file = [await old_files(store, 1, days=40) for _ in range(3)]
    await a_chat(store, files=linked)
    await store.execute(
        "UPDATE files SET owner_id = %(b)s WHERE id = ANY(%(f)s)", b=BOB, f=held_file
    )
    await store.execute(
        "INSERT INTO legal_holds (user_id, reason, set_by) VALUES (%(b)s, 'a case', %(a)s)",
        b=BOB,
        a=ANN,
    )

    assert 1 == await apply_rule(store.pool, ORPHAN_RULE)

    left = {id for (id,) in await store.execute("SELECT id FROM files")}
    assert {*linked, *held_file} == left
    assert free[0] not in left


async def test_a_file_that_is_being_taken_by_a_chat_is_left_to_it(store):
    [file] = await old_files(store, 1, days=40)
    async with store.pool.connection() as connection, connection.transaction() as tx:
        await tx.run([("SELECT id FROM files WHERE id = %(f)s FOR KEY SHARE", {"f": file})])

        async with store.pool.connection() as other:
            [(count, _)] = await other.execute(
                ORPHAN_RULE.delete, {"seconds": ORPHAN_RULE.age_seconds(None), "most": 10}
            )

    assert 0 == count


async def test_receipts_of_erasures_are_kept_for_years(store):
    await store.execute(
        "INSERT INTO erasures (id, why, root_id, owner_id, begun_at, ended_at)"
        " SELECT gen_random_uuid(), 'chat', gen_random_uuid(), gen_random_uuid(),"
        "  now() - d * interval '1 day', CASE WHEN d <> 1097 THEN now() END"
        "  FROM unnest(ARRAY[1, 1000, 1096, 1097]) AS d"
    )

    assert 1 == await apply_rule(store.pool, ERASURE_RULE)
    assert [(3,)] == await store.execute("SELECT count(*) FROM erasures")


@pytest.mark.parametrize("rule", AGE_RULES, ids=lambda rule: rule.name)
async def test_every_rule_runs_and_counts_as_it_deletes(store, rule):
    assert 0 == await apply_rule(store.pool, rule)


async def test_two_processes_share_the_work_and_a_killed_one_is_followed(store):
    """The first is cancelled in the midst of its pass; the second does the rest, and counts it."""
    await old_files(store, 2000, days=40)
    keepers = [
        Housekeeper(
            PostgresHousekeeping(store.pool),
            [RuleChore(store.pool, ORPHAN_RULE)],
            id=id,
            look_seconds=0.05,
            start_seconds=0,
        )
        for id in (ONE, OTHER)
    ]
    with trio.fail_after(PATIENCE_SECONDS):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(keepers[0].run)
            while not keepers[0].statistics().removed_count:
                await trio.lowlevel.checkpoint()
            nursery.cancel_scope.cancel()
        async with trio.open_nursery() as nursery:
            for each in keepers:
                nursery.start_soon(partial(each.run))
            while await store.execute("SELECT FROM files LIMIT 1"):
                await trio.sleep(0.01)
            nursery.cancel_scope.cancel()

    assert [(0,)] == await store.execute("SELECT count(*) FROM files")
    counts = [each.statistics().removed_count.get("files", 0) for each in keepers]
    assert 2000 == sum(counts)
