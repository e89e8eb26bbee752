"""The outbox on PostgreSQL: a claim belongs to one sender, and counts until another one claims."""

from uuid import UUID, uuid4

import pytest
import trio

from adapters.chats.notices.inbox import InboxStore
from adapters.chats.notices.outbox.deliveries import (
    Delivered,
    DeliveryState,
    Refused,
    settlement_of,
)
from adapters.chats.notices.outbox.sender import OF_TARGET_MAX
from adapters.chats.notices.outbox.store import FORGOTTEN_MAX, WAITING_MAX, DeliveryStore
from adapters.chats.notices.wiring import forget_old
from tests.adapters.edges import eventually

pytestmark = pytest.mark.slow

ONE, TWO = UUID(int=1), UUID(int=2)


@pytest.fixture
async def outbox(store):
    await store.run("DELETE FROM deliveries")
    return DeliveryStore(store.pool)


async def add(store, target, count=1):
    for _ in range(count):
        await store.execute(
            "INSERT INTO deliveries (id, target, target_id, event_id, kind, user_id)"
            " VALUES (%(id)s, 'webhook', %(target)s, %(id)s, 'ended', %(id)s)",
            id=uuid4(),
            target=target,
        )


async def test_a_claim_is_of_one_sender_and_comes_back_when_it_runs_out(store, outbox):
    await add(store, ONE)

    [first], _ = await outbox.claim(9, busy=())
    nothing, seconds = await outbox.claim(9, busy=())
    await store.run("UPDATE deliveries SET due_at = now()")
    [second], _ = await outbox.claim(9, busy=())

    assert [] == nothing
    assert 50 < seconds <= 60
    assert (first.id, first.event_id) == (second.id, second.event_id)
    assert (1, 2) == (first.claims_count, second.claims_count)
    assert not await outbox.settle(settlement_of(first, Delivered(200), chance=0.0))
    assert await outbox.settle(settlement_of(second, Refused("no"), chance=0.0))
    [row] = await store.run("SELECT state, last_error FROM deliveries")
    assert [(DeliveryState.WAITING.value, "no")] == row


async def test_of_each_receiver_a_few_are_claimed_and_of_busy_ones_none(store, outbox):
    await add(store, ONE, 2 * OF_TARGET_MAX)
    await add(store, TWO)

    claimed, _ = await outbox.claim(99, busy=())
    others, _ = await outbox.claim(99, busy=[ONE])

    assert OF_TARGET_MAX + 1 == len(claimed)
    assert [] == others


async def test_above_the_most_that_may_wait_the_oldest_are_given_up(store, outbox):
    await store.run(
        "INSERT INTO deliveries (id, target, target_id, event_id, kind, user_id, created_at)"
        " SELECT gen_random_uuid(), 'webhook', '00000000-0000-0000-0000-000000000001',"
        " gen_random_uuid(), 'ended', gen_random_uuid(), now() - n * interval '1 second'"
        f" FROM generate_series(1, {WAITING_MAX + 3}) AS n"
    )

    assert 3 == await outbox.forget()

    [[(count, youngest)]] = [
        await store.execute(
            "SELECT count(*), min(now() - created_at) > interval '2 hours' FROM deliveries"
            " WHERE state = 'failed'"
        )
    ]
    assert (3, True) == (count, youngest)


@pytest.mark.parametrize(
    ("how", "is_shut"),
    [
        ("status = 'active'", False),
        ("status = 'suspended'", True),
        ("deleted_at = now()", True),
    ],
)
async def test_receivers_of_users_who_are_not_let_in_are_known_by_it(store, outbox, how, is_shut):
    user, hook, device = uuid4(), uuid4(), uuid4()
    await store.execute(
        "INSERT INTO users (id, username) VALUES (%(id)s, %(name)s)", id=user, name=str(user)
    )
    await store.execute(
        "INSERT INTO webhooks (id, owner_id, url, kinds, secret, created_by)"
        " VALUES (%(id)s, %(user)s, 'https://one.example', '{}', '', %(user)s)",
        id=hook,
        user=user,
    )
    await store.execute(
        "INSERT INTO push_subscriptions (id, user_id, endpoint, keys)"
        " VALUES (%(id)s, %(user)s, 'https://two.example', '')",
        id=device,
        user=user,
    )
    await add(store, hook)
    await add(store, device)
    await store.execute("UPDATE deliveries SET target = 'push' WHERE target_id = %(id)s", id=device)
    await store.execute(f"UPDATE users SET {how} WHERE id = %(id)s", id=user)

    claimed, _ = await outbox.claim(9, busy=())

    assert {hook: is_shut, device: is_shut} == {one.target_id: one.is_shut for one in claimed}


@pytest.mark.parametrize(
    ("shared_with", "is_shut"), [(None, True), ("user", False), ("group", False), ("other", True)]
)
async def test_former_readers_of_a_chat_are_not_told_that_it_was_shared(
    store, outbox, shared_with, is_shut
):
    user, hook, of_all, chat = uuid4(), uuid4(), uuid4(), uuid4()
    await store.execute(
        "INSERT INTO users (id, username) VALUES (%(id)s, %(name)s)", id=user, name=str(user)
    )
    await store.execute(
        "INSERT INTO webhooks (id, owner_id, url, kinds, secret, created_by) VALUES"
        " (%(id)s, %(user)s, 'https://one.example', '{}', '', %(user)s),"
        " (%(all)s, NULL, 'https://two.example', '{}', '', %(user)s)",
        id=hook,
        all=of_all,
        user=user,
    )
    await store.execute(
        "INSERT INTO chats (id, owner_id, status) VALUES (%(id)s, %(user)s, 'waiting')",
        id=chat,
        user=user,
    )
    if shared_with:
        await store.execute(
            "INSERT INTO chat_readers (chat_id, subject_id, is_group)"
            " VALUES (%(chat)s, %(who)s, %(group)s)",
            chat=chat,
            who=user if shared_with == "user" else uuid4(),
            group=shared_with == "group",
        )
    await add(store, hook)
    await add(store, of_all)
    await store.execute("UPDATE deliveries SET kind = 'shared', root_id = %(c)s", c=chat)

    claimed, _ = await outbox.claim(9, busy=())

    assert {hook: is_shut, of_all: False} == {one.target_id: one.is_shut for one in claimed}


async def test_more_than_one_statement_forgets_goes_at_one_look(store, outbox):
    await store.run(
        "INSERT INTO deliveries"
        " (id, target, target_id, event_id, kind, user_id, state, finished_at)"
        " SELECT gen_random_uuid(), 'webhook', '00000000-0000-0000-0000-000000000001',"
        " gen_random_uuid(), 'ended', gen_random_uuid(), 'delivered', now() - interval '8 days'"
        f" FROM generate_series(1, {FORGOTTEN_MAX + 1}) AS n"
    )

    async def all_gone():
        return [(0,)] == await store.execute("SELECT count(*) FROM deliveries")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(forget_old, InboxStore(store.pool, tell=store.telling), outbox)
        await eventually(all_gone)
        nursery.cancel_scope.cancel()
