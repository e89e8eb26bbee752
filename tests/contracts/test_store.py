"""The ledger: chats are made and changed by the law, wholly or not at all."""

import pytest

from actors.ids import MessageId
from actors.machine import requests as ask
from actors.machine.chat import FILES_PER_CHAT_MAX, QUEUE_ROWS_MAX, Role
from actors.machine.fences import MovedOn, fence_of
from actors.machine.refusals import (
    ChatNotFound,
    FilesFull,
    FilesUnavailable,
    InvalidState,
    MessageNotFound,
    NotAllowed,
    NotRoot,
    QueuedNotFound,
    QueueFull,
)
from actors.machine.states import State, Status
from actors.parts.model import FilePart
from actors.store.answers import Applied
from tests.actors.machine.chats import (
    ANN,
    BOB,
    BROKEN,
    DYNAMIC,
    FAST,
    HOLDER,
    OTHER_HOLDER,
    RETRY,
    SMART,
    answer,
    assistant,
    call,
    interrupt_with,
    send,
    step,
    submit,
    system,
    user,
)
from tests.adapters.postgres.stores import new_chat_id, new_file_ids
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
    assert [(id, 1, body) for id, body in zip(made.message_ids, request.messages, strict=True)] == [
        (m.id, m.revision, m.body) for m in rows.messages
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
    assert world.told == []


async def test_a_refusal_of_what_follows_refuses_the_new_chat(world):
    id = new_chat_id()
    request = ask.CreateChat(ask.NewChat(id, ANN), (user("u"),))

    refused = await world.ledger.create(request, [ask.Abandon()])

    assert isinstance(refused, NotAllowed)
    assert await world.rows(id) is None
    assert world.told == []


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
    assert after.chat.snapshot_version == 2
    assert (before.times, before.messages, 1) == (
        after.times,
        after.messages,
        after.chat.history_version,
    )


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
    assert world.told == []


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

    assert (made.chat.last_model_config_id, made.chat.last_reasoning_effort) == (FAST, "high")
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
    assert [m.deleted for m in rows.messages] == [True, True, False, False]
    assert {made.chat.snapshot_version} == {m.revision for m in rows.messages}
    assert rows.queue == ()
    assert [user("new"), system("then")] == [m.body for m in rows.messages[2:]]
    assert [m.id for m in rows.messages[2:]] == list(made.message_ids)


async def test_an_edit_closes_the_calls_that_it_leaves_open(world):
    chat = await a_held_chat(world)
    await applied(world.ledger.apply(chat, [step(assistant(call("a"))), ask.FinishError(BROKEN)]))
    sent = await applied(world.ledger.apply(chat, [send("two")]))
    await applied(world.ledger.apply(chat, [step(assistant("later", call("z")))]))

    edit = ask.EditMessage(sent.message_ids[-1], send("other").message)
    made = await applied(world.ledger.apply(chat, [edit]))

    assert [body.role for body in made.change.said] == [Role.USER]
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


# the queue


async def test_what_waits_is_named_in_the_order_in_which_it_will_be_taken(world):
    chat = await a_chat(world)

    made = await applied(
        world.ledger.apply(chat, [send("b"), send("c"), send("a", busy=ask.Busy.STEER)])
    )

    rows = await world.rows(chat)
    assert [row.message.parts[0].text for row in rows.queue] == ["a", "b", "c"]
    assert [row.id for row in rows.queue] == list(made.queued_ids)
    assert rows.queue == made.stored.queue
    assert (rows.chat.queue_version, rows.chat.history_version) == (2, 1)


async def test_promoting_moves_one_row_and_the_queues_version(world):
    chat = await a_chat(world)
    made = await applied(world.ledger.apply(chat, [send("a"), send("b"), send("c")]))
    a, b, c = made.queued_ids

    await applied(world.ledger.apply(chat, [ask.PromoteQueued(c)]))
    moved = await world.rows(chat)
    await applied(world.ledger.apply(chat, [ask.PromoteQueued(c)]))
    same = await world.rows(chat)

    assert [c, a, b] == [row.id for row in moved.queue]
    assert (moved.chat.status, moved.chat.queue_version) == (Status.INTERRUPTING, 3)
    assert (moved.queue, 3) == (same.queue, same.chat.queue_version)


async def test_queued_rows_are_reworded_reordered_and_deleted(world):
    chat = await a_chat(world)
    made = await applied(world.ledger.apply(chat, [send("a", by=BOB), send("b"), send("c")]))
    a, b, c = made.queued_ids

    await applied(world.ledger.apply(chat, [ask.EditQueued(a, send("A", model=SMART).message)]))
    await applied(world.ledger.apply(chat, [ask.ReorderQueued((c, a, b))]))
    await applied(world.ledger.apply(chat, [ask.DeleteQueued(b)]))

    rows = await world.rows(chat)
    assert [(c, "c", ANN, None), (a, "A", BOB, SMART)] == [
        (row.id, row.message.parts[0].text, row.message.created_by, row.message.model_config_id)
        for row in rows.queue
    ]
    assert rows.chat.snapshot_version == rows.chat.queue_version


async def test_a_promoted_message_keeps_its_author_model_and_effort(world):
    chat = await a_chat(world)
    await applied(
        world.ledger.apply(chat, [send("b", by=BOB, model=SMART, effort="high"), ask.FinishTurn()])
    )

    [*_, last] = await world.reading.history(chat)

    assert user("b", by=BOB, model_config_id=SMART, reasoning_effort="high") == last.body
    assert (await world.rows(chat)).queue == ()


async def test_a_queued_message_of_another_chat_is_not_found(world):
    mine, other = await a_chat(world), await a_chat(world)
    await applied(world.ledger.apply(mine, [send("m")]))
    made = await applied(world.ledger.apply(other, [send("o")]))
    [theirs] = made.queued_ids

    for request in (ask.DeleteQueued, ask.PromoteQueued):
        async with stays(world, mine), stays(world, other):
            assert QueuedNotFound(theirs) == await world.ledger.apply(mine, [request(theirs)])


async def test_a_full_queue_refuses_one_more(world):
    chat = await a_chat(world)
    await applied(world.ledger.apply(chat, [send(f"{n}") for n in range(QUEUE_ROWS_MAX)]))

    async with stays(world, chat):
        refused = await world.ledger.apply(chat, [send("one more")])

    assert QueueFull(QUEUE_ROWS_MAX) == refused


# what a worker does


async def test_a_step_and_its_end_are_one_commit(world):
    chat = await a_held_chat(world)
    made = await applied(
        world.ledger.apply(chat, [step(assistant("done")), ask.FinishTurn(), ask.Abandon()])
    )

    assert (made.chat.status, made.chat.holder) == (Status.WAITING, None)
    assert made.chat == (await world.rows(chat)).chat


async def test_a_clients_calls_are_waited_for_and_answered(world):
    chat = await a_held_chat(world, tools=(DYNAMIC,))
    waiting = await applied(
        world.ledger.apply(chat, [step(assistant(call("a", DYNAMIC))), ask.EnterRequiresAction()])
    )
    deadline = (await world.rows(chat)).chat.requires_action_deadline_at
    queued = await applied(world.ledger.apply(chat, [send("later")]))

    answered = await applied(world.ledger.apply(chat, [submit(answer("a"), model=SMART)]))

    assert waiting.chat.requires_action_deadline_at == deadline
    assert (deadline - waiting.at).total_seconds() == 300
    assert deadline == queued.chat.requires_action_deadline_at
    assert (
        answered.chat.status,
        answered.chat.requires_action_deadline_at,
    ) == (Status.RUNNING, None)
    [*_, last] = await world.reading.history(chat)
    assert answered.change.said == (last.body,)


async def test_a_message_that_interrupts_cancels_the_clients_calls_alone(world):
    chat = await a_held_chat(world, tools=(DYNAMIC,))
    await applied(
        world.ledger.apply(
            chat, [step(assistant(call("a", DYNAMIC), call("b"))), ask.EnterRequiresAction()]
        )
    )

    made = await applied(world.ledger.apply(chat, [interrupt_with("stop")]))

    assert [part.id for body in made.change.said for part in body.parts] == ["a"]
    assert len((await world.rows(chat)).queue) == 1


async def test_a_retry_state_goes_with_its_attempt(world):
    chat = await a_held_chat(world)
    stored = await applied(world.ledger.apply(chat, [ask.RecordRetryState(RETRY)]))
    again = await applied(world.ledger.apply(chat, [ask.RecordRetryState(RETRY)]))
    kept = (await world.rows(chat)).chat

    attempt = await applied(world.ledger.apply(chat, [ask.RecordGenerationAttempt()]))

    assert stored.chat.snapshot_version == again.chat.retry_state_version
    assert (RETRY, again.chat) == (kept.retry_state, kept)
    gone = (await world.rows(chat)).chat
    assert (None, attempt.chat.snapshot_version) == (gone.retry_state, gone.retry_state_version)


async def test_a_request_for_compaction_frees_the_chat_and_survives_being_taken(world):
    chat = await a_held_chat(world)
    await applied(world.ledger.apply(chat, [ask.FinishTurn()]))

    asked = await applied(world.ledger.apply(chat, [ask.RequestCompaction()]))
    taken = await applied(world.ledger.apply(chat, [ACQUIRE]))

    assert (None, asked.at) == (asked.chat.holder, asked.chat.compaction_requested_at)
    assert asked.chat.snapshot_version == asked.chat.history_version
    assert asked.at == taken.chat.compaction_requested_at
    assert taken.chat == (await world.rows(chat)).chat


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

    assert MovedOn(fence, before.chat) == moved


async def test_a_chat_archived_meanwhile_can_only_be_given_back(world):
    chat = await a_held_chat(world)
    await applied(world.ledger.apply(chat, [ask.FinishTurn()]))
    held = await world.reading.view(chat)
    await applied(world.ledger.apply(chat, [ask.SetArchived(True)]))

    async with stays(world, chat):
        moved = await world.ledger.apply(chat, [], fence=fence_of(held.chat))
    now = (await world.reading.view(chat)).chat
    made = await world.ledger.apply(chat, [ask.Abandon()], fence=fence_of(now))

    assert isinstance(moved, MovedOn)
    assert isinstance(made, Applied)


# files


async def test_files_are_linked_with_the_message_that_refers_to_them(world):
    a, b, c = new_file_ids(3)
    await world.add_files(a, b, c)
    chat = await a_chat(world, files=(a,))

    await applied(world.ledger.apply(chat, [send(FilePart("t", file_id=b))]))
    await applied(
        world.ledger.apply(chat, [send(FilePart("t", file_id=b), FilePart("t", file_id=c))])
    )
    await applied(world.ledger.apply(chat, [ask.FinishTurn()]))

    assert frozenset({a, b, c}) == (await world.rows(chat)).files


async def test_a_file_that_is_not_there_refuses_the_message(world):
    known, lost = new_file_ids(2)
    await world.add_files(known)
    chat = await a_chat(world)
    message = send(FilePart("t", file_id=lost), FilePart("t", file_id=known))

    async with stays(world, chat):
        refused = await world.ledger.apply(chat, [message])
    new = ask.CreateChat(ask.NewChat(new_chat_id(), ANN), (user(FilePart("t", file_id=lost)),))

    assert FilesUnavailable((lost,)) == refused
    assert FilesUnavailable((lost,)) == await world.ledger.create(new)


async def test_a_chat_holds_so_many_files_and_no_more(world):
    *files, over = new_file_ids(FILES_PER_CHAT_MAX + 1)
    await world.add_files(*files, over)
    chat = await a_chat(world, files=files)

    async with stays(world, chat):
        refused = await world.ledger.apply(chat, [send(FilePart("t", file_id=over))])
    again = await world.ledger.apply(chat, [send(FilePart("t", file_id=files[0]))])

    assert FilesFull(FILES_PER_CHAT_MAX) == refused
    assert isinstance(again, Applied)


# families


async def test_a_family_is_archived_together_the_root_first(world):
    root, children = await _family(world, 3)

    made = await world.ledger.archive_family(root, archived=True)

    assert [root, *children] == [member.chat.id for member in made]
    assert all(member.chat.archived for member in made)
    assert [member.chat for member in made] == [(await world.rows(m.chat.id)).chat for m in made]
    assert [root, *children] == [hint.chat for hint in world.told[-4:]]


async def test_a_child_at_work_keeps_its_family(world):
    root, [idle, busy] = await _family(world, 2)
    await applied(world.ledger.apply(busy, [send("go on")]))

    async with stays(world, root), stays(world, idle), stays(world, busy):
        refused = await world.ledger.archive_family(root, archived=True)

    assert isinstance(refused, NotAllowed)
    assert State.R0 is refused.state


async def test_an_invalid_child_keeps_its_family(world):
    root, [child] = await _family(world, 1)
    await applied(world.ledger.apply(child, [send("go"), send("wait"), ask.FinishError(BROKEN)]))
    await world.write_past_the_law(child, status=Status.WAITING, archived=True)

    async with stays(world, root), stays(world, child):
        refused = await world.ledger.archive_family(root, archived=True)

    assert InvalidState("SetArchived") == refused


async def test_a_child_that_is_archived_already_is_only_shown_again(world):
    root, [child] = await _family(world, 1)
    await applied(world.ledger.apply(child, [ask.SetArchived(True)]))
    before = (await world.rows(child)).chat

    _, shown = await world.ledger.archive_family(root, archived=True)

    assert shown.chat.archived
    assert before.snapshot_version + 1 == shown.chat.snapshot_version


async def test_only_a_root_can_be_archived_with_its_family(world):
    root, [child] = await _family(world, 1)

    async with stays(world, root), stays(world, child):
        refused = await world.ledger.archive_family(child, archived=True)

    assert NotRoot(child) == refused


async def test_a_family_is_brought_back_together(world):
    root, children = await _family(world, 2)
    await world.ledger.archive_family(root, archived=True)

    made = await world.ledger.archive_family(root, archived=False)

    assert [member.chat.archived for member in made] == [False] * 3
    assert [root, *children] == [member.chat.id for member in made]


async def _family(world, count):
    root, children = await a_chat(world, done=True), []
    for _ in range(count):
        children.append(await a_chat(world, parent=root, done=True))
        await world.pass_time(1)
    return root, children
