"""PATCH messages: what was said is said otherwise, and what came after it is forgotten."""

from uuid import UUID, uuid4

import pytest

from actors.law import requests as ask
from actors.law.chat import Visibility
from actors.law.states import State, state_of
from tests.actors.law.chats import ANN, BOB, FAST, LIVE, assistant, call, send, step, user
from tests.adapters.chats.routes.ground import ADA, MODELS, message
from tests.contracts.given import a_chat, applied
from tests.contracts.test_store_matrix import chats_in


@pytest.mark.parametrize("state", LIVE)
async def test_from_every_state_the_chat_is_at_work_on_the_new_history(ground, state):
    for chat in await chats_in(ground.store, state):
        before = await ground.store.rows(chat)
        shown = [m.id for m in before.messages]

        answer = await ground.ask(ANN, "PATCH", f"{chat}/messages/{shown[0]}", message(" anew "))

        assert 200 == answer.status
        said = answer.said
        after = await ground.store.rows(chat)
        assert (State.R0, None) == (state_in(after), after.chat.last_error)
        assert shown == said["deleted_message_ids"]
        [new] = [m for m in after.messages if not m.deleted]
        assert (new.id, "anew") == (said["message"]["id"], said["message"]["content"][0]["text"])
        assert [said["message"]] == said["messages"]


async def test_pages_say_what_was_edited(ground):
    chat = await a_chat(ground.store, done=True)
    await applied(ground.store.ledger.apply(chat, [send("second"), ask.Interrupt()]))
    second = (await ground.store.rows(chat)).messages[-1]
    await ground.ask(ANN, "PATCH", f"{chat}/messages/{second.id}", message("anew"))

    page = (await ground.ask(ANN, "GET", f"{chat}/messages")).said["messages"]
    one = (await ground.ask(ANN, "GET", f"{chat}/messages/{page[0]['id']}")).said

    assert [("anew", True), ("hello", None)] == [
        (each["content"][0]["text"], each.get("edited")) for each in page if each["role"] == "user"
    ]
    assert one["edited"] is True


async def test_hidden_rows_go_too_but_are_not_told_of(ground):
    chat = await a_chat(ground.store)
    hidden = user("for the model", visibility=Visibility.MODEL)
    following = [step(hidden), ask.FinishTurn(), send("second")]
    await applied(ground.store.ledger.apply(chat, following))
    first, _, second = (await ground.store.rows(chat)).messages

    answer = await ground.ask(ANN, "PATCH", f"{chat}/messages/{first.id}", message("anew"))

    assert [first.id, second.id] == answer.said["deleted_message_ids"]
    assert [True, True, True, False] == [m.deleted for m in await all_of(ground, chat)]


@pytest.mark.parametrize(
    ("what", "status"),
    [
        ("0", 400),
        ("-1", 400),
        ("one", 400),
        ("1.0", 400),
        ("99999999999999999999", 400),
        ("9223372036854775807", 404),
        ("an answer", 400),
        ("deleted", 404),
        ("of another chat", 404),
    ],
)
async def test_only_what_a_user_said_here_can_be_edited(ground, what, status):
    chat = await a_chat(ground.store)
    await applied(ground.store.ledger.apply(chat, [step(assistant("hi")), ask.FinishTurn()]))
    other = (await ground.store.rows(await a_chat(ground.store))).messages[0].id
    hello, answer_row = (await ground.store.rows(chat)).messages
    if what == "deleted":
        await ground.ask(ANN, "PATCH", f"{chat}/messages/{hello.id}", message("b"))
    ids = {"an answer": answer_row.id, "deleted": hello.id, "of another chat": other}
    before = await ground.store.rows(chat)

    answer = await ground.ask(
        ANN, "PATCH", f"{chat}/messages/{ids.get(what, what)}", message("anew")
    )

    assert status == answer.status
    assert before == await ground.store.rows(chat)


async def test_the_order_of_refusals_is_that_of_the_interface(ground):
    chat = await a_chat(ground.store, done=True)
    archived = await a_chat(ground.store, done=True)
    await applied(ground.store.ledger.apply(archived, [ask.SetArchived(True)]))

    async def refusal(who, chat, id, said):
        answer = await ground.ask(who, "PATCH", f"{chat}/messages/{id}", said)
        return answer.status, answer.said["message"]

    assert 404 == (await refusal(BOB, chat, "x", {}))[0]
    assert 403 == (await refusal(ADA, chat, "x", {}))[0]
    assert (400, "chat is archived") == await refusal(ANN, archived, "x", {})
    assert (400, "invalid message id") == await refusal(ANN, chat, "x", {})
    assert (400, "Content is required.") == await refusal(ANN, chat, 2**62, {})
    wrong_model = message("a", model_config_id=str(uuid4()))
    assert (400, "Invalid model config ID.") == await refusal(ANN, chat, 2**62, wrong_model)
    assert 404 == (await refusal(ANN, chat, 2**62, message("a")))[0]


async def test_a_replacement_keeps_the_model_of_what_it_replaces_as_long_as_there_is_one(ground):
    chat = await a_chat(ground.store, done=True)
    first, last = MODELS[0], MODELS[-1]
    chosen = message("a", model_config_id=str(last), reasoning_effort="high")
    sent = (await ground.ask(ANN, "POST", f"{chat}/messages", chosen)).said["message"]

    async def models(id, **said):
        answer = await ground.ask(ANN, "PATCH", f"{chat}/messages/{id}", message("b", **said))
        kept = (await ground.store.rows(chat)).messages[-1].body
        assert str(kept.model_config_id) == answer.said["message"]["model_config_id"]
        return answer.said["message"]["id"], kept.model_config_id, kept.reasoning_effort

    id, *kept = await models(sent["id"])
    assert [last, "high"] == kept
    id, *kept = await models(id, model_config_id=str(first))
    assert [first, "high"] == kept
    # A model of which nobody knows whose it was: what it has answered is not told to another one.
    await applied(ground.store.ledger.apply(chat, [ask.FinishTurn(), send("c", model=FAST)]))
    gone = (await ground.store.rows(chat)).messages[-1]
    refused = await ground.ask(ANN, "PATCH", f"{chat}/messages/{gone.id}", message("b"))
    assert (400, "The model of this chat cannot be used.") == (
        refused.status,
        refused.said["message"],
    )
    id, *kept = await models(gone.id, model_config_id=str(first))
    assert [first, None] == kept


async def test_an_older_message_is_answered_by_its_own_model_again(ground):
    chat = await a_chat(ground.store, done=True)
    for model in (MODELS[-1], MODELS[0]):
        await ground.ask(ANN, "POST", f"{chat}/messages", message("a", model_config_id=str(model)))
        await applied(ground.store.ledger.apply(chat, [ask.FinishTurn()]))
    _, older, _ = await all_of(ground, chat)

    answer = await ground.ask(ANN, "PATCH", f"{chat}/messages/{older.id}", message("b"))

    assert str(MODELS[-1]) == answer.said["message"]["model_config_id"]


async def test_what_came_after_an_answer_with_open_calls_is_replaced_behind_their_end(ground):
    chat = await a_chat(ground.store)
    await applied(
        ground.store.ledger.apply(chat, [step(assistant(call("a"))), step(user("and this"))])
    )
    target = (await ground.store.rows(chat)).messages[-1].id

    said = (await ground.ask(ANN, "PATCH", f"{chat}/messages/{target}", message("anew"))).said

    assert ["tool", "user"] == [row["role"] for row in said["messages"]]
    assert said["messages"][-1] == said["message"]
    assert UUID(said["message"]["chat_id"]) == chat


async def all_of(ground, chat):
    return (await ground.store.rows(chat)).messages


def state_in(kept):
    chat = kept.chat
    return state_of(chat.status, queued=bool(kept.queue), archived=chat.archived)
