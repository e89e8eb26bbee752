"""Results made up for open calls: which calls are open, who closes which, with what words."""

from dataclasses import replace
from uuid import UUID

import pytest

from actors.law import requests as ask
from actors.law.closing import advance_tail, unanswered_calls
from actors.law.states import State
from tests.actors.law.chats import (
    BOTH,
    DYNAMIC,
    INVALID,
    MODEL_ONLY,
    SMART,
    USER_ONLY,
    a_broken_chat,
    a_chat,
    assistant,
    call,
    done,
    edit,
    interrupt_with,
    promote,
    result,
    send,
    steer,
    suffix,
    tool,
    user,
)

EVERY_KIND = (assistant("so", call("x"), call("a", DYNAMIC), call("p", provider=True), call("y")),)
TARGET = suffix(user("old"))

NEW = "interrupted by a new user message"
PROMOTED = "interrupted by the promotion of a queued message"

# what is asked, from where; which calls that closes, and the reason given to the model
CLOSED = [
    (send("m"), State.W, "x a y", NEW),
    (send("m"), State.E0, "x a y", NEW),
    (interrupt_with("m"), State.W, "x a y", NEW),
    (steer("m"), State.E0, "x a y", NEW),
    (send("m"), State.E1, "x a y", PROMOTED),
    (interrupt_with("m"), State.E1, "x a y", PROMOTED),
    (promote(1), State.E1, "x a y", PROMOTED),
    (promote(1), State.A1, "x a y", PROMOTED),
    (ask.FinishTurn(), State.R1, "x a y", PROMOTED),
    (interrupt_with("m"), State.A0, "a", "interrupted by a user message"),
    (interrupt_with("m"), State.A1, "a", "interrupted by a user message"),
    (edit("m"), State.W, "x a y", "interrupted by an edit of the conversation"),
    (edit("m"), State.R1, "x a y", "interrupted by an edit of the conversation"),
    (edit("m"), State.A1, "x a y", "interrupted by an edit of the conversation"),
    (ask.Interrupt(), State.A0, "a", "interrupted by user"),
    (ask.Interrupt('say "no"'), State.A1, "a", 'say \\"no\\"'),
    (ask.CancelRequiresAction(), State.A0, "a", "timed out"),
    (ask.CancelRequiresAction("gone"), State.A1, "a", "gone"),
    (
        ask.ReconcileInvalidState(),
        State.INVALID,
        "a",
        "cancelled because the chat was in an invalid state",
    ),
]
NOTHING_CLOSED = [
    (send("m"), State.R0),
    (send("m"), State.R1),
    (send("m"), State.I1),
    (send("m"), State.A0),
    (steer("m"), State.A1),
    (interrupt_with("m"), State.R0),
    (interrupt_with("m"), State.I0),
    (promote(1), State.R1),
    (promote(1), State.I1),
    (ask.Interrupt(), State.R0),
    (ask.FinishTurn(), State.R0),
    (ask.RequestCompaction(), State.W),
    (ask.RetryTurn(), State.E0),
    (ask.RetryTurn(), State.E1),
    (ask.EnterRequiresAction(), State.R0),
    (ask.SetArchived(True), State.W),
    (ask.Abandon(), State.A0),
]


def chat_in(state, **columns):
    if state is State.INVALID:
        return a_broken_chat(*INVALID[0], tail=EVERY_KIND, **columns)
    return a_chat(state, tail=EVERY_KIND, suffix=TARGET, **columns)


@pytest.mark.parametrize(("request_", "state", "ids", "reason"), CLOSED)
def test_whoever_ends_the_wait_answers_for_the_tools(request_, state, ids, reason):
    names = {"a": DYNAMIC}

    made = done(chat_in(state, last_model_config_id=SMART), request_)

    expected = [
        tool(result(id, names.get(id, "shell"), f'"{reason}"', error=True), model_config_id=SMART)
        for id in ids.split()
    ]
    assert expected == list(made.added[: len(expected)])
    assert not any(b.role.value == "tool" for b in made.added[len(expected) :])


@pytest.mark.parametrize(("request_", "state"), NOTHING_CLOSED)
def test_nobody_answers_for_tools_that_may_still_answer(request_, state):
    made = done(chat_in(state), request_)

    assert () == made.added


def test_a_made_up_result_is_seen_by_all_and_comes_from_nobody():
    made = done(chat_in(State.W), send("m"))

    row = made.added[0]
    assert (BOTH, False, None) == (row.visibility, row.compressed, row.created_by)


def test_a_made_up_result_names_the_server_that_was_called():
    asked = replace(call("x"), mcp_server_config_id=UUID(int=5))

    made = done(a_chat(State.W, tail=(assistant(asked),)), send("m"))

    assert UUID(int=5) == made.added[0].parts[0].mcp_server_config_id


@pytest.mark.parametrize("state", [State.A0, State.A1])
def test_without_tools_of_the_client_nothing_is_closed_for_it(state):
    made = done(chat_in(state, dynamic_tools=frozenset()), ask.Interrupt())

    assert () == made.added


# Which calls are open

X, Y, P = call("x"), call("y"), call("p", provider=True)
TAILS = [
    ("nothing was said", (), ""),
    ("no call", (assistant("hi"),), ""),
    ("no result", (assistant(X, Y),), "x y"),
    ("one of two", (assistant(X, Y), tool(result("y"))), "x"),
    ("both in one row", (assistant(X, Y), tool(result("y"), result("x"))), ""),
    ("both in two rows", (assistant(X, Y), tool(result("y")), tool(result("x"))), ""),
    ("answered in its own row", (assistant(X, result("x")),), ""),
    ("the provider's own", (assistant(P),), ""),
    ("the provider's own, answered", (assistant(P, result("p", provider=True)),), ""),
    ("partly the provider's", (assistant(P, X, result("p", provider=True)),), "x"),
    ("result hidden from the user", (assistant(X), tool(result("x"), visibility=MODEL_ONLY)), "x"),
    ("result hidden from the model", (assistant(X), tool(result("x"), visibility=USER_ONLY)), ""),
    ("hidden call", (assistant(X, visibility=MODEL_ONLY),), "x"),
    ("an error is an answer", (assistant(X), tool(result("x", error=True))), ""),
    ("another's result", (assistant(X), tool(result("z"))), "x"),
    ("a text instead of a result", (assistant(X), tool()), "x"),
    (
        "a compaction",
        (
            assistant(call("c", "chat_summarized"), visibility=USER_ONLY, compressed=True),
            tool(result("c", "chat_summarized"), compressed=True),
        ),
        "",
    ),
]


@pytest.mark.parametrize(("tail", "open_ids"), [t[1:] for t in TAILS], ids=[t[0] for t in TAILS])
def test_a_call_is_open_until_a_visible_result_names_it(tail, open_ids):
    assert open_ids.split() == [part.id for part in unanswered_calls(tail)]


def test_only_the_last_assistant_message_has_open_calls():
    tail = advance_tail((assistant(X),), (user("go on"), assistant(Y), user("and?")))

    assert (assistant(Y),) == tail
    assert ["y"] == [part.id for part in unanswered_calls(tail)]


def test_a_result_counts_however_many_messages_of_users_stand_before_it():
    tail = advance_tail((assistant(X),), (user("wait"), tool(result("x"))))

    assert () == unanswered_calls(tail)


def test_results_without_an_assistant_message_are_no_tail():
    assert () == advance_tail((), (user("hi"), tool(result("x"))))
