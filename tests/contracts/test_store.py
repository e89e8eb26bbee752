"""The ledger: chats are made and changed by the law, wholly or not at all."""

import pytest

from actors.law import requests as ask
from actors.law.chat import Role
from actors.law.ids import MessageId
from actors.law.refusals import ChatNotFound, InvalidState, MessageNotFound, NotAllowed
from actors.law.states import State, Status
from actors.law.store.ports import Applied, StaleFence, fence_of
from tests.actors.law.chats import (
    ANN,
    BOB,
    BROKEN,
    DYNAMIC,
    FAST,
    HOLDER,
    OTHER_HOLDER,
    SMART,
    assistant,
    call,
    send,
    step,
    system,
    user,
)
from tests.adapters.postgres.stores import new_chat_id
from tests.contracts.given import a_chat, a_held_chat, applied, stays

ACQUIRE = ask.Acquire(HOLDER)


# creating


async def test_a_new_chat_is_at_work_with_its_messages(world):
    request = ask.CreateChat(ask.NewChat(new_chat_id(), ANN, title="t"), (system("s"), user("u")))

    made = await applied(world.ledger.create(request))

    chat = made.chat
    assert (
        chat.snapshot_version,
        chat.history_version,
        chat.queue_version,
        chat.retry_state_version,
        chat.generation_attempt,
    ) == (1, 1, 0, 0, 0)
    rows = await world.rows(chat.id)
    assert rows.chat == chat
    assert Status.RUNNING is chat.status
    assert request.chat == rows.new
    assert [(m.id, m.revision, m.body) for m in rows.messages] == [
        (id, 1, body) for id, body in zip(made.message_ids, request.messages, strict=True)
    ]


async def test_every_column_of_a_new_chat_is_kept(world):
    root = await a_chat(world)
    tools = (ask.DynamicTool(DYNAMIC, "d", '{"b":1, "a":2}'), ask.DynamicTool("x"))
    new = ask.NewChat(
        new_chat_id(),
        BOB,
        title='quo"te \\ ü',
        parent_id=root,
        root_id=root,
        client_type="web",
        plan_mode="plan",
        mode="explore",
        workspace_id=new_chat_id(),
        labels={"a": "1", "b": ""},
        mcp_server_ids=(new_chat_id(), new_chat_id()),
        dynamic_tools=tools,
    )

    await applied(world.ledger.create(ask.CreateChat(new, (user("u"),))))

    rows = await world.rows(new.id)
    assert new == rows.new
    assert frozenset({DYNAMIC, "x"}) == rows.chat.dynamic_tools


async def test_a_new_chat_can_be_taken_at_once(world):
    request = ask.CreateChat(ask.NewChat(new_chat_id(), ANN), (user("u"),))

    made = await applied(world.ledger.create(request, [ACQUIRE, ask.RecordGenerationAttempt()]))

    assert (
        made.chat.holder,
        made.chat.generation_attempt,
        made.chat.snapshot_version,
    ) == (HOLDER, 1, 1)
    assert made.chat == (await world.rows(made.chat.id)).chat


async def test_a_chat_without_a_message_is_refused(world):
    id = new_chat_id()

    refused = await world.ledger.create(ask.CreateChat(ask.NewChat(id, ANN), ()))

    assert isinstance(refused, NotAllowed)
    assert await world.rows(id) is None
    assert [] == world.told


async def test_a_refusal_of_what_follows_refuses_the_new_chat(world):
    id = new_chat_id()
    request = ask.CreateChat(ask.NewChat(id, ANN), (user("u"),))

    refused = await world.ledger.create(request, [ask.Abandon()])

    assert isinstance(refused, NotAllowed)
    assert await world.rows(id) is None
    assert [] == world.told


async def test_a_chat_is_born_without_a_queue(world):
    id = new_chat_id()
    request = ask.CreateChat(ask.NewChat(id, ANN), (user("u"),))

    refused = await world.ledger.create(request, [send("v")])

    assert isinstance(refused, NotAllowed)
    assert "a chat is born without a queue" in str(refused)
    assert await world.rows(id) is None


async def test_an_id_that_is_taken_is_refused(world):
    chat = await a_chat(world)

    async with stays(world, chat):
        refused = await world.ledger.create(ask.CreateChat(ask.NewChat(chat, ANN), (user("v"),)))

    assert NotAllowed("CreateChat", None, f"the id {chat} is taken") == refused


# applying


async def test_a_bundle_is_one_snapshot(world):
    chat = await a_chat(world)

    made = await applied(
        world.ledger.apply(chat, [ask.FinishTurn(), ask.SetArchived(True), ask.SetArchived(False)])
    )

    assert (
        made.chat.snapshot_version,
        made.chat.status,
        made.chat.archived,
    ) == (2, Status.WAITING, False)
    assert made.chat == (await world.rows(chat)).chat


async def test_the_empty_bundle_only_moves_the_snapshot(world):
    chat = await a_chat(world)
    before = await world.rows(chat)

    made = await applied(world.ledger.apply(chat, []))

    after = await world.rows(chat)
    assert made.chat == after.chat
    assert 2 == after.chat.snapshot_version
    assert (
        after.times,
        after.messages,
        after.chat.history_version,
    ) == (before.times, before.messages, 1)


async def test_one_refusal_refuses_the_bundle(world):
    chat = await a_chat(world)

    async with stays(world, chat):
        refused = await world.ledger.apply(chat, [ask.FinishTurn(), ask.FinishTurn()])

    assert isinstance(refused, NotAllowed)
    assert State.W is refused.state


async def test_a_missing_chat_is_not_found(world):
    id = new_chat_id()

    assert ChatNotFound(id) == await world.ledger.apply(id, [ask.FinishTurn()])
    assert ChatNotFound(id) == await world.ledger.archive_family(id, archived=True)
    assert [] == world.told


async def test_a_chat_in_no_state_can_only_be_reconciled(world):
    chat = await a_chat(world)
    await world.write_past_the_law(chat, archived=True)

    async with stays(world, chat):
        refused = await world.ledger.apply(chat, [send("hi")])
    reconciled = await applied(world.ledger.apply(chat, [ask.ReconcileInvalidState(BROKEN)]))

    assert InvalidState("SendMessage") == refused
    assert (
        reconciled.chat.status,
        reconciled.chat.archived,
        reconciled.chat.last_error,
    ) == (Status.ERROR, False, BROKEN)


async def test_the_kth_message_has_the_kth_smallest_id(world):
    chat = await a_held_chat(world)
    said = [assistant(f"{n}") if n % 2 else user(f"{n}") for n in range(12)]

    made = await applied(world.ledger.apply(chat, [step(*said)]))

    assert sorted(made.message_ids) == list(made.message_ids)
    history = await world.reading.history(chat)
    assert list(zip(made.message_ids, said, strict=True)) == [(m.id, m.body) for m in history[1:]]


async def test_the_last_model_and_effort_of_a_batch_become_the_chats(world):
    chat = await a_held_chat(world)
    said = (
        assistant("1", model_config_id=SMART, reasoning_effort="high"),
        assistant("2", model_config_id=FAST),
        assistant("3"),
    )

    made = await applied(world.ledger.apply(chat, [step(*said)]))

    assert (FAST, "high") == (made.chat.last_model_config_id, made.chat.last_reasoning_effort)
    assert made.chat == (await world.rows(chat)).chat


async def test_an_edit_replaces_a_message_and_all_that_came_after(world):
    chat = await a_held_chat(world)
    [first] = await world.reading.history(chat)
    await applied(
        world.ledger.apply(
            chat,
            [step(assistant(call("a"))), send("queued"), send("queued too")],
        )
    )
    edit = ask.EditMessage(first.id, send("new").message, then=(system("then"),))

    made = await applied(world.ledger.apply(chat, [edit]))

    rows = await world.rows(chat)
    assert [True, True, False, False] == [m.deleted for m in rows.messages]
    assert {made.chat.snapshot_version} == {m.revision for m in rows.messages}
    assert () == rows.queue
    assert [user("new"), system("then")] == [m.body for m in rows.messages[2:]]
    assert [m.id for m in rows.messages[2:]] == list(made.message_ids)


async def test_an_edit_closes_the_calls_that_it_leaves_open(world):
    chat = await a_held_chat(world)
    await applied(world.ledger.apply(chat, [step(assistant(call("a"))), ask.FinishError(BROKEN)]))
    sent = await applied(world.ledger.apply(chat, [send("two")]))
    await applied(world.ledger.apply(chat, [step(assistant("later", call("z")))]))

    edit = ask.EditMessage(sent.message_ids[-1], send("other").message)
    made = await applied(world.ledger.apply(chat, [edit]))

    assert [Role.USER] == [body.role for body in made.change.added]
    [*_, last] = await world.reading.history(chat)
    assert user("other") == last.body


@pytest.mark.parametrize("id", [10**9, -1])
async def test_a_message_of_another_chat_cannot_be_edited(world, id):
    mine, other = await a_chat(world), await a_chat(world)
    [theirs] = await world.reading.history(other)

    for target in (MessageId(id), theirs.id):
        async with stays(world, mine):
            refused = await world.ledger.apply(mine, [ask.EditMessage(target, send("x").message)])
        assert MessageNotFound(target) == refused


# fences


async def test_a_fence_that_stands_lets_the_write_through(world):
    chat = await a_held_chat(world)
    fence = fence_of((await world.reading.view(chat)).chat)

    made = await applied(world.ledger.apply(chat, [step(assistant("x"))], fence=fence))

    assert made.chat == (await world.rows(chat)).chat


@pytest.mark.parametrize(
    "meanwhile",
    [
        ask.Acquire(OTHER_HOLDER),
        ask.Interrupt(),
        step(assistant("another")),
        ask.RecordGenerationAttempt(),
        ask.FinishTurn(),
        ask.Abandon(),
    ],
)
async def test_a_fence_that_has_fallen_keeps_the_write_out(world, meanwhile):
    chat = await a_held_chat(world)
    fence = fence_of((await world.reading.view(chat)).chat)
    await applied(world.ledger.apply(chat, [meanwhile]))

    async with stays(world, chat) as before:
        moved = await world.ledger.apply(chat, [step(assistant("x"))], fence=fence)

    assert StaleFence(fence, before.chat) == moved


async def test_a_chat_archived_meanwhile_can_only_be_given_back(world):
    chat = await a_held_chat(world)
    await applied(world.ledger.apply(chat, [ask.FinishTurn()]))
    held = await world.reading.view(chat)
    await applied(world.ledger.apply(chat, [ask.SetArchived(True)]))

    async with stays(world, chat):
        moved = await world.ledger.apply(chat, [], fence=fence_of(held.chat))
    now = (await world.reading.view(chat)).chat
    made = await world.ledger.apply(chat, [ask.Abandon()], fence=fence_of(now))

    assert isinstance(moved, StaleFence)
    assert isinstance(made, Applied)
