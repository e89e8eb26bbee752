"""The shortest way: who knows how a chat was left at rest puts it to work, unless it has moved."""

from dataclasses import replace
from uuid import uuid4

import pytest

from actors.law import requests as ask
from actors.law.parts.message import FilePart
from actors.law.states import Status
from actors.law.store.hints import WorkWaits
from actors.law.store.ports import Applied
from tests.actors.law.chats import HOLDER, OTHER_HOLDER, edit, send, user
from tests.adapters.postgres.stores import new_file_ids
from tests.contracts.given import a_chat, applied, stays

WAKING = [send("go on"), ask.TakeUp(HOLDER)]


async def a_resting_chat(world):
    chat = await a_chat(world, done=True)
    return chat, await world.reading.view(chat)


async def test_a_chat_at_rest_is_put_to_work(world):
    chat, resting = await a_resting_chat(world)

    made = await applied(world.ledger.wake(resting, WAKING))

    rows = await world.rows(chat)
    assert made.chat == rows.chat
    assert (Status.RUNNING, HOLDER, 1) == (
        rows.chat.status,
        rows.chat.holder,
        rows.chat.generation_attempt,
    )
    assert user("go on").parts == rows.messages[-1].body.parts
    assert (rows.messages[-1].id,) == made.message_ids


async def test_without_a_place_for_it_it_waits_in_the_store_for_whoever_has_one(world):
    chat, resting = await a_resting_chat(world)
    world.told.clear()

    made = await applied(world.ledger.wake(resting, [send("go on")]))

    rows = await world.rows(chat)
    assert made.chat == rows.chat
    assert (Status.RUNNING, None) == (rows.chat.status, rows.chat.holder)
    assert WorkWaits(chat, rows.chat.snapshot_version) in world.told


@pytest.mark.parametrize(
    "moving",
    [[], [send("I was first")], [ask.SetArchived(True)]],
    ids=["a snapshot", "a message", "the archive"],
)
async def test_a_chat_that_has_moved_is_left_alone(world, moving):
    chat, resting = await a_resting_chat(world)
    await applied(world.ledger.apply(chat, moving))

    async with stays(world, chat):
        assert await world.ledger.wake(resting, WAKING) is None


async def test_so_is_one_that_plans_by_now(world):
    """The plan mode moves without a snapshot."""
    chat, resting = await a_resting_chat(world)
    await world.write_past_the_law(chat, plan_mode="plan")

    async with stays(world, chat):
        assert await world.ledger.wake(resting, WAKING) is None


async def test_so_is_one_that_works_elsewhere_by_now(world):
    """So does the workspace."""
    chat, resting = await a_resting_chat(world)
    elsewhere = replace(resting, chat=replace(resting.chat, workspace_id=uuid4()))

    async with stays(world, chat):
        assert await world.ledger.wake(elsewhere, WAKING) is None


async def test_of_two_who_wake_it_one_is_told_to_look_again(world):
    chat, resting = await a_resting_chat(world)

    first = await world.ledger.wake(resting, WAKING)
    second = await world.ledger.wake(resting, [send("me too"), ask.TakeUp(OTHER_HOLDER)])

    assert isinstance(first, Applied)
    assert second is None
    assert (await world.rows(chat)).chat == first.chat


async def test_what_the_law_refuses_is_left_to_the_long_way(world):
    chat, resting = await a_resting_chat(world)

    async with stays(world, chat):
        assert await world.ledger.wake(resting, [ask.FinishTurn()]) is None


async def test_what_has_to_be_read_first_is_left_to_the_long_way(world):
    chat, resting = await a_resting_chat(world)
    [message, *_] = await world.reading.history(chat)
    [file] = new_file_ids(1)
    brings_file = send(FilePart("text/plain", file_id=file))

    async with stays(world, chat):
        for request in (edit("b", id=message.id), brings_file):
            assert await world.ledger.wake(resting, [request, ask.TakeUp(HOLDER)]) is None
