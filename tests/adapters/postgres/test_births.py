"""A child that is born while something is done to its family: one waits for the other."""

from functools import partial

import trio

from actors.law import requests as ask
from actors.law.refusals import NotAllowed
from actors.law.states import State
from actors.law.store.ports import Applied
from adapters.tools.approvals.store import ConsentStore
from tests.actors.law.chats import ANN, user
from tests.adapters.postgres.stores import new_chat_id
from tests.contracts.given import a_chat
from tests.e2e.pausing import MOMENTS, a_pause


async def test_a_family_is_not_archived_over_a_child_that_is_being_born(store, migrated):
    root, made, archived = await a_chat(store, done=True), [], []
    child = ask.NewChat(new_chat_id(), ANN, parent_id=root, root_id=root)

    async def bear():
        made.append(await store.ledger.create(ask.CreateChat(child, (user("hello"),))))

    async def archive():
        archived.append(await store.ledger.archive_family(root, archived=True))

    async with (
        a_pause(migrated, MOMENTS["the agent is made"]) as pause,
        trio.open_nursery() as nursery,
    ):
        nursery.start_soon(bear)
        await pause.reached()
        await pause.meanwhile(archive)

    assert [Applied] == list(map(type, made))
    [refused] = archived
    assert isinstance(refused, NotAllowed)
    assert State.R0 is refused.state
    assert not (await store.reading.view(root)).chat.archived


async def test_a_family_s_policy_is_not_changed_past_a_child_that_is_being_born(store, migrated):
    root, consents = await a_chat(store, done=True), ConsentStore(store.pool)
    child = ask.NewChat(new_chat_id(), ANN, parent_id=root, root_id=root)
    create = partial(store.ledger.create, ask.CreateChat(child, (user("hello"),)))

    async with (
        a_pause(migrated, MOMENTS["the agent is made"]) as pause,
        trio.open_nursery() as nursery,
    ):
        nursery.start_soon(create)
        await pause.reached()
        await pause.meanwhile(consents.set_policy, root, "ask")

    rows = await store.all_rows()
    assert ["ask", "ask"] == [rows[id].chat.approval_policy for id in (root, child.id)]
