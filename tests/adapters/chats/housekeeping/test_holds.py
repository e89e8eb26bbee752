"""Legal holds: while there is one, nothing is erased, by whomever."""

import uuid

import pytest
import trio

from actors.upkeep.housekeeping import HousekeepingLease
from adapters.chats.housekeeping.chores import Retention
from adapters.chats.housekeeping.erasing import Eraser, ErasureRefusal
from adapters.chats.housekeeping.holds import HoldStore
from adapters.chats.housekeeping.lease import PostgresHousekeeping
from tests.actors.law.chats import ANN, BOB
from tests.adapters.chats.housekeeping.stories import chat_at_rest
from tests.adapters.daemon.access_matrix import CHATS
from tests.adapters.requests_of import good
from tests.contracts.given import a_chat

WHY = {"reason": "case 7 of 2026"}


async def test_a_chat_on_hold_is_kept_from_its_owner_and_from_admins(edge):
    chat = await chat_at_rest(edge.member, edge, "hello")
    hold = await good(edge.admin.put(f"{CHATS}/{chat}/legal-hold", WHY), 200)

    for who in (edge.member, edge.admin):
        refused = await who.delete(f"{CHATS}/{chat}")
        assert 409 == refused.status
        assert "legal hold" in refused.document["message"]
    refused = await edge.admin.delete(f"/api/v2/users/{edge.member.id}/chat-data")
    assert (409, True) == (refused.status, "legal hold" in refused.document["message"])

    assert (chat, "case 7 of 2026") == (hold["chat_id"], hold["reason"])
    assert {"holds": [hold]} == await good(edge.admin.get("/api/v2/legal-holds"), 200)
    await good(edge.admin.delete(f"{CHATS}/{chat}/legal-hold"), 204)
    assert 404 == (await edge.admin.delete(f"{CHATS}/{chat}/legal-hold")).status
    await good(edge.member.delete(f"{CHATS}/{chat}"), 200)


async def test_a_user_on_hold_is_kept_with_all_chats(edge):
    chat = await chat_at_rest(edge.member, edge, "hello")
    path = f"/api/v2/users/{edge.member.username}/legal-hold"
    hold = await good(edge.admin.put(path, WHY), 200)
    again = await good(edge.admin.put(path, {"reason": "case 8"}), 200)

    assert 409 == (await edge.member.delete(f"{CHATS}/{chat}")).status
    assert 409 == (await edge.admin.delete(f"/api/v2/users/{edge.member.id}/chat-data")).status
    assert (hold["id"], "case 8") == (again["id"], again["reason"])
    assert {"holds": [again]} == await good(edge.admin.get(path), 200)
    assert {"holds": [again]} == await good(edge.admin.get(f"{CHATS}/{chat}/legal-hold"), 200)
    await good(edge.admin.delete(path), 204)
    await good(edge.member.delete(f"{CHATS}/{chat}"), 200)


async def test_admins_see_it_at_the_chat_and_others_never(edge):
    chat = await chat_at_rest(edge.member, edge, "hello")
    assert "legal_holds" not in await good(edge.admin.get(f"{CHATS}/{chat}"), 200)
    await good(edge.admin.put(f"{CHATS}/{chat}/legal-hold", WHY), 200)

    shown = await good(edge.admin.get(f"{CHATS}/{chat}"), 200)

    assert ["case 7 of 2026"] == [hold["reason"] for hold in shown["legal_holds"]]
    assert "legal_holds" not in await good(edge.member.get(f"{CHATS}/{chat}"), 200)
    assert 404 == (await edge.member.get(f"{CHATS}/{chat}/legal-hold")).status


@pytest.mark.parametrize("body", [{}, {"reason": " "}, {"reason": "x" * 501}])
async def test_a_hold_needs_a_reason_of_a_bearable_length(edge, body):
    chat = await chat_at_rest(edge.member, edge, "hello")

    refused = await edge.admin.put(f"{CHATS}/{chat}/legal-hold", body)

    assert 400 == refused.status
    assert ["reason"] == [fault["field"] for fault in refused.document["validations"]]


async def old(store, *, owner=ANN):
    """A family that was archived long ago."""
    chat = await a_chat(store, done=True)
    await store.execute("UPDATE chats SET owner_id = %(o)s WHERE id = %(c)s", o=owner, c=chat)
    await store.ledger.archive_family(chat, archived=True)
    await store.execute(
        "UPDATE chats SET updated_at = now() - interval '90 days' WHERE id = %(c)s", c=chat
    )
    return chat


def eraser_of(store):
    return Eraser(store.pool, tell=store.telling, removed=lambda workspace: None)


async def retained(store):
    """Do what retention does, and return the chats of which the erasure has begun."""
    house = PostgresHousekeeping(store.pool)
    lease = await house.take(uuid.uuid4(), rest_seconds=0)
    assert isinstance(lease, HousekeepingLease)
    chore = Retention(eraser_of(store))
    while not (await chore.batch(lease, 2)).is_last:
        pass
    await house.leave(lease, None)
    return {root for (root,) in await store.execute("SELECT root_id FROM erasures")}


async def test_retention_leaves_what_is_on_hold(store):
    free, held, of_bob = await old(store), await old(store), await old(store, owner=BOB)
    holds = HoldStore(store.pool)
    assert await holds.set_on_chat(held, "a case", by=ANN)
    assert await holds.set_on_user(BOB, "a case", by=ANN)

    assert {free} == await retained(store)

    await holds.release(user=BOB)
    assert {free, of_bob} == await retained(store)


async def test_what_is_being_erased_cannot_be_put_on_hold(store):
    chat = await old(store)
    await eraser_of(store).begin_chat(chat, ANN, owner=ANN)

    assert not await HoldStore(store.pool).set_on_chat(chat, "too late", by=ANN)


async def test_a_hold_and_an_erasure_at_the_same_moment_never_both_win(store):
    """Whichever is first: the other one is refused."""
    for _ in range(10):
        chat, won = await old(store), []

        async def hold(chat=chat, won=won):
            if await HoldStore(store.pool).set_on_chat(chat, "a case", by=ANN):
                won.append("hold")

        async def erase(chat=chat, won=won):
            if not isinstance(
                await eraser_of(store).begin_chat(chat, ANN, owner=ANN), ErasureRefusal
            ):
                won.append("erase")

        async with trio.open_nursery() as nursery:
            nursery.start_soon(hold)
            nursery.start_soon(erase)

        assert 1 == len(won), won


async def test_the_database_itself_refuses_to_delete_what_is_on_hold(store):
    chat = await old(store)
    await HoldStore(store.pool).set_on_chat(chat, "a case", by=ANN)

    with pytest.raises(Exception, match="legal_holds"):
        await store.execute("DELETE FROM chats WHERE id = %(c)s", c=chat)


async def test_a_hold_on_a_user_keeps_what_an_erasure_has_not_come_to(store):
    await store.execute(
        "INSERT INTO user_settings (user_id, name, value) VALUES (%(u)s, 'prompt', '1')", u=ANN
    )
    eraser = eraser_of(store)
    assert not isinstance(await eraser.begin_user(ANN, ANN), ErasureRefusal)
    assert await HoldStore(store.pool).set_on_user(ANN, "a case", by=ANN)

    async def go_on():
        async with store.pool.connection() as connection, connection.transaction() as tx:
            await eraser.step_user(tx, store.ledger, most=9, request=None)
        return await store.execute("SELECT name FROM user_settings WHERE user_id = %(u)s", u=ANN)

    assert [("prompt",)] == await go_on()

    await HoldStore(store.pool).release(user=ANN)
    assert [] == await go_on()
