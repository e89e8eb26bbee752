"""POST messages: what is said in a chat, whatever it is doing."""

from uuid import UUID, uuid4

import pytest

from actors.law import requests as ask
from actors.law.chat import QUEUE_ROWS_MAX
from actors.law.parts.message import FileReferencePart
from actors.law.states import State, state_of
from tests.actors.law.chats import ANN, BOB, HOLDER, send
from tests.adapters.chats.routes.ground import ADA, MODELS, message, text
from tests.contracts.given import a_chat, applied
from tests.contracts.test_store_matrix import chats_in

MESSAGE, QUEUED, MESSAGES = "message", "queued_message", "messages"

# From each state, by what the message is to do there: the state after it, what the answer shows,
# and the roles of the messages that were added.
TABLE = {
    (State.W, "queue"): (State.R0, {MESSAGE, MESSAGES}, ["tool", "user"]),
    (State.W, "interrupt"): (State.R0, {MESSAGE, MESSAGES}, ["tool", "user"]),
    (State.W, "steer"): (State.R0, {MESSAGE, MESSAGES}, ["tool", "user"]),
    (State.E0, "queue"): (State.R0, {MESSAGE, MESSAGES}, ["tool", "user"]),
    (State.E0, "interrupt"): (State.R0, {MESSAGE, MESSAGES}, ["tool", "user"]),
    (State.E1, "queue"): (State.R1, {QUEUED, MESSAGES}, ["tool", "user"]),
    (State.E1, "interrupt"): (State.R1, {QUEUED, MESSAGES}, ["tool", "user"]),
    (State.R0, "queue"): (State.R1, {QUEUED}, []),
    (State.R0, "interrupt"): (State.I1, {QUEUED}, []),
    (State.R0, "steer"): (State.R1, {QUEUED}, []),
    (State.R1, "queue"): (State.R1, {QUEUED}, []),
    (State.R1, "interrupt"): (State.I1, {QUEUED}, []),
    (State.R1, "steer"): (State.R1, {QUEUED}, []),
    (State.I0, "queue"): (State.I1, {QUEUED}, []),
    (State.I0, "interrupt"): (State.I1, {QUEUED}, []),
    (State.I1, "queue"): (State.I1, {QUEUED}, []),
    (State.I1, "interrupt"): (State.I1, {QUEUED}, []),
    (State.A0, "queue"): (State.A1, {QUEUED}, []),
    (State.A0, "interrupt"): (State.R1, {QUEUED, MESSAGES}, ["tool"]),
    (State.A0, "steer"): (State.A1, {QUEUED}, []),
    (State.A1, "queue"): (State.A1, {QUEUED}, []),
}
REFUSED = {State.XW: 400, State.XE0: 400, State.XE1: 400, State.INVALID: 409}


@pytest.mark.parametrize(("state", "busy"), TABLE)
async def test_what_a_message_does_is_told_and_stored(ground, state, busy):
    landing, shows, roles = TABLE[state, busy]
    [chat, *_] = await chats_in(ground.store, state)
    before = await ground.store.rows(chat)

    answer = await ground.ask(ANN, "POST", f"{chat}/messages", message(" now ", busy_behavior=busy))

    assert 200 == answer.status
    said = answer.said
    after = await ground.store.rows(chat)
    assert landing is state_of(after.chat.status, queued=bool(after.queue), archived=False)
    assert shows == said.keys() - {"queued"}
    assert (QUEUED in shows) == said["queued"]
    new = after.messages[len(before.messages) :]
    assert roles == [row["role"] for row in said.get(MESSAGES, [])]
    assert [row.id for row in new] == [row["id"] for row in said.get(MESSAGES, [])]
    shown = said.get(QUEUED) or said[MESSAGE]
    assert (str(chat), "now") == (shown["chat_id"], shown["content"][0]["text"])
    if said["queued"]:
        assert shown["id"] in {row.id for row in after.queue} - {row.id for row in before.queue}
    else:
        assert said[MESSAGES][-1] == shown
        assert str(ANN) == shown["created_by"]


@pytest.mark.parametrize("state", REFUSED)
async def test_where_nothing_may_be_said_it_is_refused(ground, state):
    for chat in await chats_in(ground.store, state):
        before = await ground.store.rows(chat)

        answer = await ground.ask(ANN, "POST", f"{chat}/messages", message("hello"))

        assert REFUSED[state] == answer.status or before.chat.archived
        assert answer.status in (400, 409)
        assert before == await ground.store.rows(chat)


async def test_in_a_stopped_chat_what_steers_goes_before_what_waits(ground):
    for chat in await chats_in(ground.store, State.E1):
        waiting = (await ground.store.rows(chat)).queue

        answer = await ground.ask(
            ANN, "POST", f"{chat}/messages", message("now", busy_behavior="steer")
        )

        steered = [row for row in waiting if row.steers]
        assert bool(steered) == answer.said["queued"]
        if not steered:
            assert "now" == answer.said[MESSAGE]["content"][0]["text"]
            assert waiting == (await ground.store.rows(chat)).queue


@pytest.mark.parametrize(
    ("said", "field"),
    [
        ({}, "content"),
        ({"content": None}, "content"),
        ({"content": []}, "content"),
        ({"content": [text("  ")]}, "content[0].text"),
        ({"content": [text("a"), {"type": "text"}]}, "content[1].text"),
        ({"content": [{}]}, "content[0].type"),
        ({"content": [{"type": "image"}]}, "content[0].type"),
        ({"content": [{"type": "file"}]}, "content[0].file_id"),
        ({"content": [{"type": "file", "file_id": str(UUID(int=0))}]}, "content[0].file_id"),
        ({"content": [text("a"), {"type": "file", "file_id": str(uuid4())}]}, "content[1].file_id"),
        ({"content": [{"type": "file-reference"}]}, "content[0].file_name"),
        (message("a", mcp_server_ids=[str(UUID(int=7))]), "mcp_server_ids"),
        (message("a", plan_mode="on"), "plan_mode"),
        (message("a", busy_behavior="wait"), "busy_behavior"),
        (message("a", model_config_id=str(uuid4())), "model_config_id"),
        (message("a", reasoning_effort="enormous"), "reasoning_effort"),
        # the first fault is told, in the order of the interface
        ({"content": [], "plan_mode": "on"}, "content"),
        (message("a", mcp_server_ids=[str(UUID(int=7))], plan_mode="on"), "mcp_server_ids"),
        (message("a", plan_mode="on", busy_behavior="wait"), "plan_mode"),
        (message("a", busy_behavior="wait", model_config_id=str(uuid4())), "busy_behavior"),
        (message("a", model_config_id=str(uuid4()), reasoning_effort="x"), "model_config_id"),
    ],
)
async def test_a_fault_of_the_request_is_named(ground, said, field):
    chat = await a_chat(ground.store)
    before = await ground.store.rows(chat)

    answer = await ground.ask(ANN, "POST", f"{chat}/messages", said)

    assert (400, field) == (answer.status, answer.said["validations"][0]["field"])
    assert before == await ground.store.rows(chat)


NO_REQUESTS = (b"", b"{", b"[]", b'{"content": 1}', b'{"content": [{"type": 1}]}')


@pytest.mark.parametrize("body", NO_REQUESTS)
async def test_what_is_no_request_is_refused(ground, body):
    chat = await a_chat(ground.store)

    assert 400 == (await ground.ask(ANN, "POST", f"{chat}/messages", body=body)).status


async def test_who_may_not_is_told_before_anything_is_looked_at(ground):
    chat = await a_chat(ground.store)
    nonsense = {"content": []}

    async def status_of(who, chat, said=nonsense):
        return (await ground.ask(who, "POST", f"{chat}/messages", said)).status

    assert 400 == await status_of(ANN, "no-uuid")
    assert 404 == await status_of(ANN, uuid4())
    assert 404 == await status_of(BOB, chat)
    assert 403 == await status_of(ADA, chat)
    assert 403 == await status_of(ADA, chat, message("in another's name"))


async def test_null_is_as_good_as_nothing_said(ground):
    chat = await a_chat(ground.store, done=True)
    nil = str(UUID(int=0))
    part = {"type": " TEXT ", "text": "a", "file_id": nil, "file_name": None, "content": None}
    names = ("mcp_server_ids", "busy_behavior", "plan_mode", "reasoning_effort")

    answer = await ground.ask(
        ANN,
        "POST",
        f"{chat}/messages",
        {"content": [part], "model_config_id": nil, "more": 1, **dict.fromkeys(names)},
    )

    assert 200 == answer.status


async def test_a_chat_keeps_its_model_until_another_is_named(ground):
    chat = await a_chat(ground.store, done=True)
    first, second = MODELS[0], MODELS[-1]
    assert first != second

    async def models(**said):
        await applied(ground.store.ledger.apply(chat, [ask.FinishTurn()]))
        answer = await ground.ask(ANN, "POST", f"{chat}/messages", message("a", **said))
        kept = (await ground.store.rows(chat)).chat
        assert answer.said["message"]["model_config_id"] == str(kept.last_model_config_id)
        return kept.last_model_config_id, kept.last_reasoning_effort

    await ground.ask(ANN, "POST", f"{chat}/messages", message("a"))
    assert (second, "low") == await models(model_config_id=str(second), reasoning_effort="low")
    assert (second, "low") == await models()


async def test_how_a_chat_is_answered_from_now_on_is_said_with_a_message(ground):
    chat = await a_chat(ground.store, done=True)
    server = UUID(int=7)
    await ground.store.execute(
        "UPDATE chats SET mcp_server_ids = %(ids)s WHERE id = %(id)s", ids=[server], id=chat
    )

    async def furnished(**said):
        answer = await ground.ask(ANN, "POST", f"{chat}/messages", message("a", **said))
        assert 200 == answer.status
        new = (await ground.store.rows(chat)).new
        return new.plan_mode, new.mcp_server_ids

    assert ("", (server,)) == await furnished()
    assert ("plan", (server,)) == await furnished(
        plan_mode="plan", mcp_server_ids=[str(server), str(server)]
    )
    assert ("plan", ()) == await furnished(mcp_server_ids=[])
    assert ("", ()) == await furnished(plan_mode="")


async def test_the_twenty_first_that_would_wait_is_refused(ground):
    waiting = [send(str(number)) for number in range(QUEUE_ROWS_MAX)]
    chat = await a_chat(ground.store)
    await applied(ground.store.ledger.apply(chat, waiting))
    before = await ground.store.rows(chat)

    said = message("one more", plan_mode="plan", mcp_server_ids=[])
    answer = await ground.ask(ANN, "POST", f"{chat}/messages", said)

    assert 429 == answer.status
    assert str(QUEUE_ROWS_MAX) in answer.said["detail"]
    assert before == await ground.store.rows(chat)


async def test_a_sender_with_room_takes_the_chat_up(ground):
    chat = await a_chat(ground.store, done=True)
    await ground.store.leases.beat(HOLDER.worker)
    ground.supervisor.slots.open(HOLDER.worker)

    await ground.ask(ANN, "POST", f"{chat}/messages", message("go"))

    [take] = await ground.supervisor.mailbox.drain(8)
    kept = (await ground.store.rows(chat)).chat
    assert take.stored.chat == kept
    assert (HOLDER.worker, 1) == (kept.holder.worker, kept.generation_attempt)
    assert 1 == ground.supervisor.slots.statistics().claimed  # until the supervisor takes it


async def test_a_place_is_free_again_where_nothing_came_of_it(ground):
    held = await a_chat(ground.store, then=[ask.Acquire(HOLDER)])
    archived = await a_chat(ground.store, done=True, then=[])
    await applied(ground.store.ledger.apply(archived, [ask.SetArchived(True)]))
    ground.supervisor.slots.open(HOLDER.worker)

    for chat in (held, archived):
        await ground.ask(ANN, "POST", f"{chat}/messages", message("go"))
        await ground.ask(ANN, "POST", f"{chat}/interrupt")

    assert 0 == ground.supervisor.slots.statistics().claimed
    assert 0 == ground.supervisor.mailbox.statistics().waiting


@pytest.mark.parametrize("done", [True, False], ids=["said", "queued"])
async def test_what_is_sent_twice_under_one_name_is_said_once(ground, done):
    chat = await a_chat(ground.store, done=done)
    named = {"idempotency-key": "mine"}

    first = await ground.ask(ANN, "POST", f"{chat}/messages", message("a"), headers=named)
    after = await ground.store.rows(chat)
    second = await ground.ask(ANN, "POST", f"{chat}/messages", message("a"), headers=named)
    other = await ground.ask(ANN, "POST", f"{chat}/messages", message("b"), headers=named)

    assert (200, first.said) == (second.status, second.said)
    assert 422 == other.status
    assert after == await ground.store.rows(chat)


@pytest.mark.parametrize("done", [True, False], ids=["said", "queued"])
async def test_an_answer_that_was_never_noted_is_made_again(ground, done):
    chat = await a_chat(ground.store, done=done)
    named = {"idempotency-key": "mine"}
    first = await ground.ask(ANN, "POST", f"{chat}/messages", message("a"), headers=named)
    await ground.store.execute("UPDATE receipts SET status = NULL, answer = NULL")

    second = await ground.ask(ANN, "POST", f"{chat}/messages", message("a"), headers=named)

    assert (200, first.said) == (second.status, second.said)


async def test_lines_that_a_user_points_at_are_a_part_of_his_message(ground):
    chat = await a_chat(ground.store, done=True)
    pointed = {"type": " File-Reference ", "file_name": "a.py", "start_line": 3, "end_line": 4}

    answer = await ground.ask(
        ANN, "POST", f"{chat}/messages", {"content": [{**pointed, "content": "x = 1"}]}
    )

    [part] = answer.said["message"]["content"]
    assert ("file-reference", "a.py", 3, 4, "x = 1") == (
        part["type"],
        part["file_name"],
        part["start_line"],
        part["end_line"],
        part["content"],
    )
    kept = await ground.store.rows(chat)
    assert (FileReferencePart("a.py", 3, 4, "x = 1"),) == kept.messages[-1].body.parts
