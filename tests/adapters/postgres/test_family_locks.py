"""What is done to all of a family: one waits for the other, and never both."""

from functools import partial
from uuid import uuid4

import pytest
import trio

from adapters.tools.approvals.store import ConsentStore
from adapters.workspaces.store import (
    CaretakerStore,
    OwnedWorkspaces,
    WorkspaceRegistry,
    WorkspaceRow,
)
from tests.actors.law.chats import ANN
from tests.contracts.given import a_chat
from tests.e2e.pausing import a_pause

A_CHILD_MOVES = (
    "chats",
    "UPDATE",
    "NEW.parent_id IS NOT NULL AND NEW.workspace_id IS DISTINCT FROM OLD.workspace_id",
)


async def a_family(store):
    """Its root was written after its child."""
    root = await a_chat(store, done=True)
    await a_chat(store, parent=root, done=True)
    await store.ledger.apply(root, [])
    return root


def moves_in(store, root, id):
    return partial(
        WorkspaceRegistry(store.pool).add, WorkspaceRow(id, "one", "empty", 1, 1, 1, 1), ANN, root
    )


def moves_out(store, root, id):
    return partial(OwnedWorkspaces(store.pool, tell=store.telling).bind, root, None)


def is_left_without(store, root, id):
    return partial(CaretakerStore(store.pool).remove, id)


@pytest.mark.parametrize("deed", [moves_in, moves_out, is_left_without])
async def test_a_family_moves_while_its_policy_is_changed(store, migrated, deed):
    root, id = await a_family(store), uuid4()
    if deed is not moves_in:
        await moves_in(store, root, id)()

    async with a_pause(migrated, A_CHILD_MOVES) as pause, trio.open_nursery() as nursery:
        nursery.start_soon(deed(store, root, id))
        await pause.reached()
        await pause.meanwhile(ConsentStore(store.pool).set_policy, root, "ask")

    rows = (await store.all_rows()).values()
    assert ["ask", "ask"] == [row.chat.approval_policy for row in rows]
