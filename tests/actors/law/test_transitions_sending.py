"""Creating a chat, sending to it, editing what was sent."""

from uuid import UUID

import pytest

from actors.law import requests as ask
from actors.law.chat import Role, Status
from actors.law.closing import MESSAGE_EDITED, NEW_USER_MESSAGE, PROMOTION, USER_MESSAGE
from actors.law.ids import ChatId, MessageId
from actors.law.refusals import MessageNotFound, NotAllowed, NotAUserMessage, QueueFull
from actors.law.requests import BusyBehaviour
from actors.law.states import State
from actors.law.transitions import create
from tests.actors.law.chats import (
    ACTION,
    ANN,
    BOB,
    BOTH,
    BROKEN,
    DYNAMIC,
    FAST,
    INTERRUPTING,
    LIVE,
    MODEL_ONLY,
    NOW,
    QUEUE,
    RUNNING,
    SMART,
    USER_ONLY,
    a_chat,
    assistant,
    call,
    cancelled,
    done,
    edit,
    interrupt_with,
    message,
    queued,
    refused,
    result,
    row,
    said_texts,
    send,
    suffix,
    system,
    tool,
    user,
    waiting_texts,
)

ANSWERED = (assistant("hello"),)
OPEN_LOCAL = (assistant(call("x")),)


def new_chat(*bodies, **columns):
    request = ask.CreateChat(ask.NewChat(ChatId(UUID(int=5)), ANN, **columns), bodies)
    return create(request, now=NOW)


# Creating


def test_a_new_chat_is_running_at_its_first_versions_and_held_by_nobody():
    made = new_chat(user("hi"))

    chat = made.chat
    assert State.R0 is made.after.state
    versions = (chat.snapshot_version, chat.history_version, chat.queue_version)
    assert (1, 1, 0) == versions
    assert (0, 0) == (chat.generation_attempt, chat.retry_state_version)
    assert chat.holder is None
    assert (user("hi"),) == made.added


def test_a_chat_without_a_message_is_not_created():
    assert NotAllowed("CreateChat", None, "a chat begins with a message") == new_chat()


def test_a_chat_without_a_name_of_its_own_is_not_created():
    request = ask.CreateChat(ask.NewChat(ChatId(UUID(int=0)), ANN), (user("hi"),))

    refusal = NotAllowed("CreateChat", None, "the nil id names no chat")
    assert refusal == create(request, now=NOW)


@pytest.mark.parametrize(
    "bodies",
    [(assistant("hello"),), (user("a"), user("b")), (user("a"), system("b"), assistant("c"))],
)
def test_a_new_chat_begins_with_any_messages_in_any_order(bodies):
    assert bodies == new_chat(*bodies).added


def test_a_new_chat_takes_the_last_choices_of_its_messages():
    made = new_chat(
        user("a", model_config_id=FAST, reasoning_effort="low"),
        user("b", model_config_id=SMART),
        system("c"),
    )

    assert (SMART, "low") == (made.chat.last_model_config_id, made.chat.last_reasoning_effort)


def test_a_new_chat_knows_the_names_of_its_client_s_tools():
    tools = (ask.DynamicTool("click"), ask.DynamicTool("type"))

    made = new_chat(user("a"), dynamic_tools=tools, parent_id=ChatId(UUID(int=6)))

    assert frozenset({"click", "type"}) == made.chat.dynamic_tools
    assert not made.chat.is_root


# Sending


@pytest.mark.parametrize("busy", BusyBehaviour)
@pytest.mark.parametrize("state", [State.W, State.E0])
def test_a_message_to_an_idle_chat_starts_a_turn(state, busy):
    made = done(a_chat(state, tail=ANSWERED), send("hi", busy=busy))

    assert State.R0 is made.after.state
    assert (user("hi"),) == made.added
    assert made.chat.last_error is None
    assert QUEUE == made.chat.queue_version


@pytest.mark.parametrize("state", [State.W, State.E0])
def test_a_message_to_an_idle_chat_first_closes_its_open_calls(state):
    made = done(a_chat(state, tail=OPEN_LOCAL), send("hi"))

    assert (cancelled("x", NEW_USER_MESSAGE), user("hi")) == made.added


@pytest.mark.parametrize("busy", [BusyBehaviour.QUEUE, BusyBehaviour.INTERRUPT])
def test_a_message_to_a_stopped_chat_with_a_queue_starts_its_head(busy):
    chat = a_chat(State.E1, queue=[queued(1, "old", by=BOB)], tail=OPEN_LOCAL)

    made = done(chat, send("new", busy=busy))

    assert State.R1 is made.after.state
    assert (cancelled("x", PROMOTION), user("old", by=BOB)) == made.added
    assert ["new"] == waiting_texts(made)
    assert made.chat.last_error is None


@pytest.mark.parametrize("state", [*RUNNING, *INTERRUPTING, *ACTION])
def test_a_message_to_a_busy_chat_waits_behind_the_others(state):
    chat = a_chat(state)

    made = done(chat, send("new", by=BOB))

    assert ["queued", "new"][-len(made.queue) :] == waiting_texts(made)
    assert message("new", by=BOB) == made.queue[-1].message
    assert () == made.added
    assert chat.chat.status is made.chat.status


@pytest.mark.parametrize("state", RUNNING)
def test_an_interrupting_message_stops_the_turn_and_waits_behind_the_others(state):
    made = done(a_chat(state), interrupt_with("new"))

    assert State.I1 is made.after.state
    assert "new" == waiting_texts(made)[-1]
    assert () == made.added


@pytest.mark.parametrize("state", INTERRUPTING)
def test_an_interrupting_message_to_an_interrupted_turn_only_waits(state):
    made = done(a_chat(state), interrupt_with("new"))

    assert State.I1 is made.after.state
    assert "new" == waiting_texts(made)[-1]


@pytest.mark.parametrize("state", ACTION)
def test_an_interrupting_message_cancels_the_client_s_calls_and_still_waits(state):
    tail = (assistant(call("x"), call("a", DYNAMIC)),)

    made = done(a_chat(state, tail=tail), interrupt_with("new"))

    assert State.R1 is made.after.state
    assert (cancelled("a", USER_MESSAGE, DYNAMIC),) == made.added
    assert "new" == waiting_texts(made)[-1]
    assert made.chat.requires_action_deadline_at is None


@pytest.mark.parametrize("state", ACTION)
def test_a_waiting_message_leaves_the_client_its_deadline(state):
    made = done(a_chat(state), send("new"))

    assert NOW == made.chat.requires_action_deadline_at


@pytest.mark.parametrize("busy", BusyBehaviour)
@pytest.mark.parametrize("state", [State.E1, State.R1, State.I1, State.A1])
def test_the_21st_queued_message_is_refused(state, busy):
    full = [queued(n, f"{n}") for n in range(1, 21)]

    assert QueueFull(20) == refused(a_chat(state, queue=full), send("new", busy=busy))
    assert 20 == len(done(a_chat(State.R1, queue=full[:-1]), send("new", busy=busy)).queue)


def test_there_are_three_ways_to_come_into_a_busy_chat():
    assert ["queue", "interrupt", "steer"] == [busy.value for busy in BusyBehaviour]


# Editing


@pytest.mark.parametrize("state", LIVE)
def test_an_edit_starts_over_from_the_edited_message_in_every_live_state(state):
    chat = a_chat(state, tail=(), suffix=suffix(user("old"), BOTH, MODEL_ONLY, USER_ONLY))

    made = done(chat, edit("new"))

    assert State.R0 is made.after.state
    assert [(40, BOTH), (41, BOTH), (42, MODEL_ONLY), (43, USER_ONLY)] == [
        (gone.id, gone.visibility) for gone in made.deleted
    ]
    assert (user("new", model_config_id=None),) == made.added
    assert () == made.queue
    assert made.chat.last_error is None
    assert made.chat.requires_action_deadline_at is None


def test_an_edit_closes_every_open_call_that_it_leaves_standing():
    tail = (assistant(call("x"), call("a", DYNAMIC), call("p", provider=True)),)
    chat = a_chat(State.A0, tail=tail, suffix=suffix(user("old")))

    made = done(chat, edit("new", then=(system("one"), system("two"))))

    closed = (cancelled("x", MESSAGE_EDITED), cancelled("a", MESSAGE_EDITED, DYNAMIC))
    assert (*closed, user("new"), system("one"), system("two")) == made.added


def test_an_edit_belongs_to_its_editor_and_keeps_the_rest_of_the_message():
    old = user("old", by=ANN, visibility=MODEL_ONLY, model_config_id=SMART, reasoning_effort="high")

    made = done(a_chat(tail=(), suffix=suffix(old)), edit("new", by=BOB))

    kept = {"visibility": MODEL_ONLY, "model_config_id": SMART, "reasoning_effort": "high"}
    assert (user("new", by=BOB, **kept),) == made.added
    assert (SMART, "high") == (made.chat.last_model_config_id, made.chat.last_reasoning_effort)


def test_an_edit_may_choose_another_model_and_effort():
    old = user("old", model_config_id=SMART, reasoning_effort="high")

    made = done(a_chat(tail=(), suffix=suffix(old)), edit("new", model=FAST, effort="low"))

    assert (user("new", model_config_id=FAST, reasoning_effort="low"),) == made.added


@pytest.mark.parametrize("body", [assistant("said"), tool(result("x")), system("rules")])
def test_only_what_a_user_said_is_edited(body):
    refusal = refused(a_chat(suffix=suffix(body)), edit("new"))

    assert NotAUserMessage(MessageId(40)) == refusal.fault
    assert isinstance(refusal, NotAllowed)
    assert "EditMessage is not allowed from R0: message 40 is not a user's" == str(refusal)


def test_a_message_that_is_not_there_is_not_edited():
    assert MessageNotFound(MessageId(40)) == refused(a_chat(suffix=None), edit("new"))


def test_an_edit_of_another_message_than_the_one_that_was_read_finds_nothing():
    chat = a_chat(suffix=suffix(user("old"), BOTH, id=40))

    assert MessageNotFound(MessageId(41)) == refused(chat, edit("new", id=41))


def test_an_edit_leaves_the_answered_calls_before_it_alone():
    tail = (assistant(call("x")), tool(result("x")))

    made = done(a_chat(State.W, tail=tail, suffix=suffix(user("old"))), edit("new"))

    assert ["new"] == said_texts(made)


def test_a_message_as_stored_is_a_user_s_row_that_everybody_sees():
    body = message("hi", by=BOB, model=FAST, effort="low").as_body()

    assert user("hi", by=BOB, model_config_id=FAST, reasoning_effort="low") == body
    assert (Role.USER, BOTH) == (row(1, body).body.role, body.visibility)


def test_what_stopped_the_chat_stays_written_while_a_message_only_waits():
    chat = a_chat(State.R0, last_error=BROKEN)

    assert BROKEN == done(chat, send("new")).chat.last_error
    assert Status.RUNNING is done(chat, send("new")).chat.status
