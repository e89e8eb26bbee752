"""Chats that are locked together are locked in one order, whatever locks them: roots by their ids,
then the others family by family. Of two that meet one waits for the other, and never both.

One of the chats is held elsewhere. A writer that locks them all has locked those before it by the
time at which it waits, and none of those behind it.
"""

from contextlib import asynccontextmanager
from functools import partial
from uuid import UUID

import pytest
import trio

from actors.law import requests as ask
from actors.law.ids import ChatId
from adapters.chats.overviews import PinStore
from adapters.postgres.driver.connection import DatabaseConnection
from adapters.tools.approvals.store import ConsentStore
from adapters.workspaces.store import (
    CaretakerStore,
    OwnedWorkspaces,
    WorkspaceRegistry,
    WorkspaceRow,
)
from tests.actors.law.chats import ANN, user
from tests.contracts.given import applied

WORKSPACE = UUID(int=1)


def chat_id(number):
    return ChatId(UUID(int=number))


# As they are born, and lie in the table: never in the order of their ids. The parents are 500 and
# 400; the order is 400, 500, then 401 … of the one and 501 … of the other.
BORN = [(500, None), (400, None), (503, 500), (402, 400), (501, 500), (403, 400), (502, 500)]
BORN.append((401, 400))
ORDER = (400, 500, 401, 402, 403, 501, 502, 503)
FAMILY = (500, 501, 502, 503)
ROOTS = (400, 500)


def is_archived(store):
    return partial(store.ledger.archive_family, chat_id(500), archived=True)


def gets_a_policy(store):
    return partial(ConsentStore(store.pool).set_policy, chat_id(500), "ask")


def moves_in(store):
    other = WorkspaceRow(UUID(int=2), "two", "empty", 1, 1, 1, 1)
    return partial(WorkspaceRegistry(store.pool).add, other, ANN, chat_id(500))


def moves_out(store):
    return partial(OwnedWorkspaces(store.pool, tell=store.telling).bind, chat_id(500), None)


def loses_its_workspace(store):
    return partial(CaretakerStore(store.pool).remove, WORKSPACE)


def is_pinned_first(store):
    return partial(PinStore(store.pool).pin, ANN, chat_id(400), place=1)


LOCKING = {
    is_archived: FAMILY,
    gets_a_policy: FAMILY,
    moves_in: FAMILY,
    moves_out: FAMILY,
    loses_its_workspace: ORDER,
    is_pinned_first: ROOTS,
}
MEETINGS = [(locks, held) for locks, chats in LOCKING.items() for held in chats]


async def two_families(store):
    """In one workspace, the older one pinned first."""
    for number, parent in BORN:
        of = None if parent is None else chat_id(parent)
        new = ask.NewChat(chat_id(number), ANN, parent_id=of, root_id=of)
        await applied(store.ledger.create(ask.CreateChat(new, (user("u"),)), [ask.FinishTurn()]))
    registry = WorkspaceRegistry(store.pool)
    await registry.add(WorkspaceRow(WORKSPACE, "one", "empty", 1, 1, 1, 1), ANN, chat_id(500))
    await OwnedWorkspaces(store.pool, tell=store.telling).bind(chat_id(400), WORKSPACE)
    for root in (500, 400):
        await PinStore(store.pool).pin(ANN, chat_id(root), place=9)
    for number, _ in BORN:  # every row anew, as they were born
        await store.execute("UPDATE chats SET title = 't' WHERE id = %(id)s", id=chat_id(number))


@asynccontextmanager
async def held_elsewhere(store, chat):
    other = await DatabaseConnection.open(store.conninfo)
    try:
        async with other.transaction() as tx:
            await tx.run([("SELECT FROM chats WHERE id = %(id)s FOR NO KEY UPDATE", {"id": chat})])
            yield
    finally:
        other.close()


async def locked_chats(store):
    free = await store.execute("SELECT id FROM chats FOR NO KEY UPDATE SKIP LOCKED")
    return {number for number, _ in BORN} - {id.int for (id,) in free}


@pytest.mark.parametrize(("locks", "held"), MEETINGS, ids=lambda v: getattr(v, "__name__", str(v)))
async def test_chats_are_locked_in_one_order(store, locks, held):
    await two_families(store)

    async with trio.open_nursery() as nursery, held_elsewhere(store, chat_id(held)):
        nursery.start_soon(locks(store))
        await store.until("EXISTS (SELECT FROM pg_locks WHERE NOT granted)")
        locked = await locked_chats(store)

    chats = [number for number in ORDER if number in LOCKING[locks]]
    assert set(chats[: chats.index(held) + 1]) == locked
    assert await store.leaves_nothing_behind()
