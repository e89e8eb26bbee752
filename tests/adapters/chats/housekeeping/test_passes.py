"""Archiving by rule, retention, and passes as admins see them."""

import contextlib
import json
import uuid
from datetime import UTC, datetime, timedelta

import pytest

from actors.law import requests as ask
from actors.law.refusals import NotAllowed
from actors.upkeep.housekeeping import Housekeeper
from adapters.chats.housekeeping.chores import AutoArchive, Erasing, ErasingOfUsers, Retention
from adapters.chats.housekeeping.erasing import FAMILIES_MAX
from adapters.chats.housekeeping.lease import PostgresHousekeeping
from adapters.chats.notices.inbox import NAMED_MAX, InboxStore
from adapters.postgres.driver.faults import DatabaseGone
from tests.actors.law.chats import ANN, HOLDER, message
from tests.adapters.chats.housekeeping.stories import chat_at_rest
from tests.adapters.chats.housekeeping.test_holds import eraser_of, old
from tests.adapters.chats.housekeeping.test_lease import keep
from tests.adapters.daemon.access_matrix import CHATS
from tests.adapters.requests_of import good
from tests.contracts.given import a_chat, applied

HOUSE = "/api/v2/housekeeping"


async def ages(store, chat, days):
    """Everything in it was said so many days ago."""
    past = {"c": chat, "d": days}
    await store.execute("ALTER TABLE messages DISABLE TRIGGER messages_updated")
    for table, key in (("messages", "chat_id"), ("chats", "id")):
        await store.execute(
            f"UPDATE {table} SET created_at = now() - %(d)s * interval '1 day' WHERE {key} = %(c)s",
            **past,
        )
    await store.execute("ALTER TABLE messages ENABLE TRIGGER messages_updated")


async def archived(store):
    return {id for (id,) in await store.execute("SELECT id FROM chats WHERE archived")}


def housekeeper(store):
    eraser = eraser_of(store)
    chores = [
        AutoArchive(store.pool, store.ledger, InboxStore(store.pool, tell=store.telling)),
        Retention(eraser),
        ErasingOfUsers(eraser, store.ledger),
        Erasing(eraser),
    ]
    return Housekeeper(PostgresHousekeeping(store.pool), chores, id=uuid.uuid4())


async def a_pass(store):
    """Keep house once; by what it did."""
    keeper = housekeeper(store)
    await keeper._look(0.0)
    return {name: count for name, count in keeper.statistics().removed_count.items() if count}


async def test_a_silent_family_is_archived_together_and_its_lists_are_told(store):
    root = await a_chat(store, done=True)
    child = await a_chat(store, parent=root, done=True)
    for chat in (root, child):
        await ages(store, chat, 40)
    await keep(store, "auto_archive_days", 30)

    assert {"archive": 1} == await a_pass(store)

    assert {root, child} == await archived(store)
    told = [hint.became.value for hint in store.told if getattr(hint, "became", None)]
    assert ["deleted", "deleted"] == told[-2:]


async def test_each_owner_gets_one_digest_of_a_pass(store):
    for _ in range(NAMED_MAX + 5):
        await ages(store, await a_chat(store, done=True), 40)
    await store.execute("UPDATE chats SET title = 'a silent one'")
    await keep(store, "auto_archive_days", 30)

    assert {"archive": NAMED_MAX + 5} == await a_pass(store)

    [(user, kind, detail)] = await store.execute(
        "SELECT user_id, kind, detail::text FROM notices WHERE kind = 'archived'"
    )
    assert (ANN, "archived", NAMED_MAX + 5) == (user, kind, json.loads(detail)["count"])
    assert NAMED_MAX == detail.count("a silent one")


async def test_owners_who_could_not_be_told_of_a_pass_are_told_by_the_next(store):
    bob = uuid.uuid4()
    await store.execute("INSERT INTO users (id, username) VALUES (%(b)s, 'bob')", b=bob)
    of_ann, of_bob = [await a_chat(store, done=True) for _ in range(2)]
    for chat in (of_ann, of_bob):
        await ages(store, chat, 40)
    await store.execute("UPDATE chats SET owner_id = %(b)s WHERE id = %(c)s", b=bob, c=of_bob)
    await keep(store, "auto_archive_days", 30)
    inbox = InboxAway(InboxStore(store.pool, tell=store.telling))
    archive = AutoArchive(store.pool, store.ledger, inbox)
    keeper = Housekeeper(PostgresHousekeeping(store.pool), [archive], id=uuid.uuid4())

    await keeper._look(0.0)
    assert {of_ann, of_bob} == await archived(store)
    inbox.is_away = False
    await keeper._look(0.0)

    told = await store.execute("SELECT user_id FROM notices WHERE kind = 'archived'")
    assert sorted([(ANN,), (bob,)]) == sorted(told)


class InboxAway:
    """An inbox whose database is away, until it is back."""

    def __init__(self, inbox):
        self.inbox, self.is_away = inbox, True

    async def file_archive_digest(self, *digest, **more):
        if self.is_away:
            raise DatabaseGone("postgres: away")
        await self.inbox.file_archive_digest(*digest, **more)


async def test_nothing_is_archived_where_no_days_are_set(store):
    await ages(store, await a_chat(store, done=True), 4000)

    assert {} == await a_pass(store)
    assert set() == await archived(store)


async def test_what_was_said_lately_in_any_of_a_family_keeps_all_of_it(store):
    root = await a_chat(store, done=True)
    await a_chat(store, parent=root, done=True)  # said something just now
    await ages(store, root, 40)
    await keep(store, "auto_archive_days", 30)

    assert {} == await a_pass(store)


async def test_pins_and_work_keep_a_chat(store):
    pinned, working = await a_chat(store, done=True), await a_chat(store)
    with_agent = await a_chat(store, done=True)
    agent = await a_chat(store, parent=with_agent, then=[ask.Acquire(HOLDER)])
    await store.execute("UPDATE chats SET pin_order = 1 WHERE id = %(c)s", c=pinned)
    for chat in (pinned, working, with_agent, agent):
        await ages(store, chat, 40)
    await keep(store, "auto_archive_days", 30)

    assert {} == await a_pass(store)
    assert set() == await archived(store)


@pytest.mark.parametrize(("days", "goes"), [(29, False), (31, True)])
async def test_the_day_counts_from_its_beginning(store, days, goes):
    """What was said on the day of the cut-off, at any hour, keeps a chat."""
    midnight = None
    while midnight != (midnight := last_midnight()):  # once more if the day ends meanwhile
        at = midnight - timedelta(days=30) + timedelta(seconds=60 if days == 29 else -60)
        chat = await a_chat(store, done=True)
        await ages(store, chat, (datetime.now(UTC) - at) / timedelta(days=1))
        await keep(store, "auto_archive_days", 30)

        await a_pass(store)

    assert goes == (chat in await archived(store))


def last_midnight():
    return datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


async def test_a_chat_that_moved_since_it_was_looked_at_is_left(store):
    chat = await a_chat(store, done=True)
    seen = (await store.reading.view(chat)).chat.snapshot_version
    said = ask.SendMessage(message("still here"))
    await applied(store.ledger.apply(chat, [said, ask.Acquire(HOLDER), ask.FinishTurn()]))

    refused = await store.ledger.archive_family(chat, archived=True, at_snapshot=seen)

    assert isinstance(refused, NotAllowed)
    assert "moved" in str(refused)


async def test_what_was_archived_long_ago_goes_and_the_rest_stays(store):
    gone = [await old(store) for _ in range(3)]
    young = await a_chat(store, done=True)
    await store.ledger.archive_family(young, archived=True)
    alive = await a_chat(store, done=True)
    await ages(store, alive, 4000)

    done = await a_pass(store)

    left = {id for (id,) in await store.execute("SELECT id FROM chats")}
    assert {young, alive} == left
    assert 3 == done["retention"]
    receipts = await store.execute(
        "SELECT root_id, why, chats, messages > 0, ended_at IS NOT NULL FROM erasures"
    )
    assert {(chat, "retention", 1, True, True) for chat in gone} == set(receipts)


async def test_0_days_keep_what_was_archived(store):
    chat = await old(store)
    await keep(store, "retention_days", 0)

    assert {} == await a_pass(store)
    assert {chat} == await archived(store)


async def test_a_large_family_goes_in_many_batches_and_may_be_cut_short_at_any(store):
    chat = await old(store)
    await store.execute(
        "WITH c AS (UPDATE chats SET snapshot_version = snapshot_version + 1,"
        " history_version = snapshot_version + 1 WHERE id = %(c)s RETURNING id, snapshot_version)"
        " INSERT INTO messages (chat_id, role, content, visibility, revision)"
        " SELECT id, 'user', '[]', 'both', snapshot_version FROM c, generate_series(1, 5000)",
        c=chat,
    )
    eraser = eraser_of(store)
    await eraser.begin_chat(chat, ANN, owner=ANN)
    batches, done = 0, None
    while done is None or not done.is_last:
        with contextlib.suppress(ZeroDivisionError):  # what is rolled back is done again
            async with store.pool.connection() as connection, connection.transaction() as tx:
                done = await eraser.step(tx, most=700, request=None)
                batches += 1
                assert batches != 3 or 1 / 0

    assert [] == await store.execute("SELECT FROM chats WHERE id = %(c)s", c=chat)
    [(messages, ended)] = await store.execute("SELECT messages, ended_at FROM erasures")
    assert 5001 == messages
    assert ended is not None
    assert 9 == batches  # eight of them, and one again


async def test_more_families_than_fit_into_a_batch_go_all_the_same(store):
    first = await old(store)
    await store.execute(
        "INSERT INTO chats (id, owner_id, status, archived, updated_at)"
        " SELECT gen_random_uuid(), owner_id, 'waiting', true, updated_at"
        " FROM chats, generate_series(1, %(n)s) WHERE id = %(c)s",
        c=first,
        n=FAMILIES_MAX + 50,
    )

    done = await a_pass(store)

    assert FAMILIES_MAX + 51 == done["retention"]
    assert [(0,)] == await store.execute("SELECT count(*) FROM chats")
    assert [(0,)] == await store.execute("SELECT count(*) FROM erasures WHERE ended_at IS NULL")


async def test_a_dry_run_says_what_would_go_and_nothing_goes(edge):
    chat = await chat_at_rest(edge.member, edge, "hello")
    await good(edge.member.patch(f"{CHATS}/{chat}", {"archived": True}), 204)
    await edge.execute("UPDATE chats SET updated_at = now() - interval '31 days'")

    dry = await good(edge.admin.post(HOUSE, {"dry_run": True}), 200)

    assert 1 == {each["name"]: each["count"] for each in dry["chores"]}["retention"]
    assert 200 == (await edge.member.get(f"{CHATS}/{chat}")).status


async def test_a_pass_that_is_asked_for_is_told_and_seen_afterwards(edge):
    chat = await chat_at_rest(edge.member, edge, "hello")
    await good(edge.member.patch(f"{CHATS}/{chat}", {"archived": True}), 204)
    await edge.execute("UPDATE chats SET updated_at = now() - interval '31 days'")

    run = await good(edge.admin.post(HOUSE), 200)
    status = await good(edge.admin.get(HOUSE), 200)

    assert run["ended"]
    done = {each["name"]: each["count"] for each in run["chores"]}
    assert 1 == done["retention"]
    assert done["erase"] >= 2  # its messages, and itself
    assert run["chores"] == status["last"]["chores"]
    assert (30, 0, False) == (
        status["keep"]["retention_days"],
        status["keep"]["auto_archive_days"],
        status["running"],
    )
    assert 404 == (await edge.member.get(f"{CHATS}/{chat}")).status
