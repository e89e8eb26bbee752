"""What is done to all of a family: one waits for the other, and never both."""

from functools import partial
from uuid import uuid4

import pytest
import trio

from adapters.postgres.approvals.consent import Consents
from adapters.postgres.workspaces.owned import OwnedWorkspaces
from adapters.postgres.workspaces.registry import Registered, Registry
from tests.actors.machine.chats import ANN
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


def moves_in(store, root):
    new = Registered(uuid4(), "one", "empty", 1, 1, 1, 1)
    return partial(Registry(store.pool).add, new, ANN, root)


@pytest.mark.parametrize("moves_out", [False, True])
async def test_a_family_moves_while_its_policy_is_changed(store, migrated, moves_out):
    root, consents = await a_family(store), Consents(store.pool)
    move = moves_in(store, root)
    if moves_out:
        await move()
        move = partial(OwnedWorkspaces(store.pool, tell=store.telling).bind, root, None)

    async with a_pause(migrated, A_CHILD_MOVES) as pause, trio.open_nursery() as nursery:
        nursery.start_soon(move)
        await pause.reached()
        await pause.meanwhile(consents.set_policy, root, "ask")

    rows = (await store.all_rows()).values()
    assert ["ask", "ask"] == [row.chat.approval_policy for row in rows]
