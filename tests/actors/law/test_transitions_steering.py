"""Messages that steer: they enter the running turn at its next step boundary.

A boundary is the moment at which tool results are in, nothing is outstanding, and the model is
asked next. A turn that ends before one takes the first of them as its next message.
"""

import pytest

from actors.law import requests as ask
from actors.law.closing import NEW_USER_MESSAGE, PROMOTION, USER_MESSAGE
from actors.law.states import State
from tests.actors.law.chats import (
    ACTION,
    BOB,
    BROKEN,
    DYNAMIC,
    MODEL_ONLY,
    NOW,
    SMART,
    SNAPSHOT,
    USER_ONLY,
    a_chat,
    answer,
    assistant,
    call,
    cancelled,
    delete,
    done,
    edit,
    interrupt_with,
    interrupted,
    promote,
    queued,
    reorder,
    result,
    send,
    steer,
    steering,
    step,
    submit,
    suffix,
    system,
    tool,
    user,
    waiting_texts,
)

ANSWERED = (assistant("hello"),)
ONE_CALL = (assistant(call("x")),)
TWO_CALLS = (assistant(call("x"), call("y")),)
MIXED_QUEUE = (steering(1, "s1"), steering(2, "s2"), queued(3, "q1"), queued(4, "q2"))


@pytest.mark.parametrize("state", [State.W, State.E0])
def test_with_no_turn_to_steer_it_starts_one(state):
    made = done(a_chat(state, tail=ONE_CALL), steer("s"))

    assert (cancelled("x", NEW_USER_MESSAGE), user("s")) == made.added
    assert () == made.queue


@pytest.mark.parametrize("state", [State.R0, State.I0, State.A0])
def test_a_steering_message_to_a_busy_chat_waits_and_is_marked(state):
    chat = a_chat(state)

    made = done(chat, steer("s", by=BOB))

    assert state.value.replace("0", "1") == made.after.state.value
    assert [True] == [row.steers for row in made.queue]
    assert () == made.added
    deadline = chat.chat.requires_action_deadline_at
    assert deadline == made.chat.requires_action_deadline_at


@pytest.mark.parametrize("state", [State.R1, State.I1, State.A1])
def test_steering_messages_stand_before_the_others_in_the_order_they_came(state):
    chat = a_chat(state, queue=[queued(1, "q")])

    made = done(chat, steer("s1"), send("r"), steer("s2"))

    assert ["s1", "s2", "q", "r"] == waiting_texts(made)
    assert [True, True, False, False] == [row.steers for row in made.queue]


def test_a_steering_message_stands_behind_those_that_a_user_has_put_further_down():
    reordered = done(a_chat(State.R1, queue=MIXED_QUEUE), reorder(3, 1, 2, 4))
    promoted = done(a_chat(State.I1, queue=MIXED_QUEUE), promote(4))

    assert ["q1", "s1", "s2", "new", "q2"] == waiting_texts(done(reordered.after, steer("new")))
    assert ["q2", "s1", "s2", "new", "q1"] == waiting_texts(done(promoted.after, steer("new")))


def test_a_stopped_chat_with_a_queue_begins_with_the_steering_message():
    made = done(a_chat(State.E1, tail=ONE_CALL), steer("s"))

    assert State.R1 is made.after.state
    assert (cancelled("x", PROMOTION), user("s")) == made.added
    assert ["queued"] == waiting_texts(made)


# Boundaries


def test_they_enter_behind_the_results_of_a_step_in_the_order_of_the_queue():
    chat = a_chat(State.R1, queue=MIXED_QUEUE, tail=ONE_CALL)

    made = done(chat, step(tool(result("x"))))

    assert State.R1 is made.after.state
    assert (tool(result("x")), user("s1"), user("s2")) == made.added
    assert ["q1", "q2"] == waiting_texts(made)
    assert (SNAPSHOT, SNAPSHOT) == (made.chat.history_version, made.chat.queue_version)


def test_a_queue_of_nothing_else_is_empty_afterwards():
    chat = a_chat(State.R1, queue=MIXED_QUEUE[:2], tail=ONE_CALL)

    assert State.R0 is done(chat, step(tool(result("x")))).after.state


def test_they_enter_wherever_a_user_has_put_them_in_the_queue():
    chat = done(a_chat(State.R1, queue=MIXED_QUEUE, tail=ONE_CALL), reorder(4, 2, 3, 1)).after

    made = done(chat, step(tool(result("x"))))

    assert (tool(result("x")), user("s2"), user("s1")) == made.added
    assert ["q2", "q1"] == waiting_texts(made)


def test_a_message_that_enters_keeps_its_sender_and_its_choices():
    mine = steering(1, "s", by=BOB, model=SMART, effort="high")

    made = done(a_chat(State.R1, queue=[mine], tail=ONE_CALL), step(tool(result("x"))))

    entered = user("s", by=BOB, model_config_id=SMART, reasoning_effort="high")
    assert entered == made.added[-1]
    assert (SMART, "high") == (made.chat.last_model_config_id, made.chat.last_reasoning_effort)


BOUNDARIES = {
    "results of all calls": (TWO_CALLS, (tool(result("x")), tool(result("y")))),
    "results in one row": (TWO_CALLS, (tool(result("x"), result("y")),)),
    "a whole step at once": (ANSWERED, (assistant(call("z")), tool(result("z")))),
    "results, and a hook's word on them": (
        ONE_CALL,
        (tool(result("x")), user("by a hook", visibility=MODEL_ONLY)),
    ),
    "a compaction": (
        ANSWERED,
        (
            user("summary", visibility=MODEL_ONLY, compressed=True),
            assistant(call("c", "chat_summarized"), visibility=USER_ONLY, compressed=True),
            tool(result("c", "chat_summarized"), compressed=True),
        ),
    ),
    "the provider's calls need no result": (
        (assistant(call("x"), call("p", provider=True)),),
        (tool(result("x")),),
    ),
}
NO_BOUNDARIES = {
    "a final answer": (ANSWERED, (assistant("that is it"),)),
    "calls still to be made": (ANSWERED, (assistant(call("z")),)),
    "one of two results": (TWO_CALLS, (tool(result("x")),)),
    "a client's call is open": (
        (assistant(call("x"), call("a", DYNAMIC)),),
        (tool(result("x")),),
    ),
    "a result that no user sees": (ONE_CALL, (tool(result("x"), visibility=MODEL_ONLY),)),
    "a result, then an answer": (ONE_CALL, (tool(result("x")), assistant("done"))),
    "only a rule": (ANSWERED, (system("be brief"),)),
    "only the provider's calls": (
        ANSWERED,
        (assistant(call("p", provider=True), result("p", provider=True), "so"),),
    ),
}


@pytest.mark.parametrize("case", BOUNDARIES)
def test_the_model_is_asked_next_so_they_enter(case):
    tail, said = BOUNDARIES[case]

    made = done(a_chat(State.R1, queue=MIXED_QUEUE, tail=tail), step(*said))

    assert (*said, user("s1"), user("s2")) == made.added


@pytest.mark.parametrize("case", NO_BOUNDARIES)
def test_the_model_may_not_be_asked_next_so_they_wait(case):
    tail, said = NO_BOUNDARIES[case]

    made = done(a_chat(State.R1, queue=MIXED_QUEUE, tail=tail), step(*said))

    assert said == made.added
    assert MIXED_QUEUE == made.queue


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        (ask.Interrupt("stop that"), "stop that"),
        (ask.CancelRequiresAction(), "timed out"),
    ],
)
def test_they_enter_behind_the_cancelled_calls_of_a_client(request_, reason):
    made = done(a_chat(State.A1, queue=MIXED_QUEUE), request_)

    assert State.R1 is made.after.state
    assert (cancelled("a", reason, DYNAMIC), user("s1"), user("s2")) == made.added
    assert ["q1", "q2"] == waiting_texts(made)


def test_they_enter_behind_the_calls_that_an_interrupting_message_cancels():
    made = done(a_chat(State.A1, queue=MIXED_QUEUE), interrupt_with("now"))

    assert State.R1 is made.after.state
    assert (cancelled("a", USER_MESSAGE, DYNAMIC), user("s1"), user("s2")) == made.added
    assert ["q1", "q2", "now"] == waiting_texts(made)


@pytest.mark.parametrize("then", [(), (system("noted"),)])
def test_they_enter_behind_the_results_of_a_client(then):
    made = done(a_chat(State.A1, queue=MIXED_QUEUE), submit(answer("a"), then=then))

    assert [user("s1"), user("s2")] == list(made.added[-2:])
    assert 1 + len(then) + 2 == len(made.added)


@pytest.mark.parametrize("state", ACTION)
def test_they_wait_while_a_local_call_of_the_same_step_is_open(state):
    tail = (assistant(call("a", DYNAMIC), call("x")),)
    chat = done(a_chat(state, queue=() if state is State.A0 else None, tail=tail), steer("s")).after

    for request in (ask.Interrupt(), ask.CancelRequiresAction(), submit(answer("a"))):
        assert "s" in waiting_texts(done(chat, request))


# A turn that ends first


def test_a_turn_that_ends_takes_the_first_and_the_next_boundary_the_others():
    ended = done(a_chat(State.R1, queue=MIXED_QUEUE, tail=ANSWERED), ask.FinishTurn())

    made = done(ended.after, step(assistant(call("z")), tool(result("z"))))

    assert (user("s1"),) == ended.added
    assert user("s2") == made.added[-1]
    assert ["q1", "q2"] == waiting_texts(made)


def test_a_step_that_ends_the_turn_leaves_them_to_its_end():
    last = ask.CommitStep((tool(result("x")),), ends_turn=True)

    made = done(a_chat(State.R1, queue=MIXED_QUEUE, tail=ONE_CALL), last, ask.FinishTurn())

    assert (tool(result("x")), user("s1")) == made.added
    assert State.R1 is made.state


def test_an_interrupted_turn_takes_the_first_as_its_next_message():
    chat = done(a_chat(State.R1, queue=MIXED_QUEUE, tail=ONE_CALL), ask.Interrupt()).after

    made = done(chat, ask.FinishInterruption())

    assert (interrupted("x"), user("s1")) == made.added
    assert ["s2", "q1", "q2"] == waiting_texts(made)


def test_a_message_sent_while_the_turn_is_stopped_is_its_next_one():
    made = done(a_chat(State.I0, tail=ANSWERED), steer("s"), ask.FinishInterruption())

    assert State.R0 is made.after.state
    assert (user("s"),) == made.added


def test_a_failed_turn_keeps_them_for_when_the_chat_goes_on():
    failed = done(a_chat(State.R1, queue=MIXED_QUEUE, tail=ANSWERED), ask.FinishError(BROKEN))

    made = done(failed.after, send("go on"))

    assert MIXED_QUEUE == failed.queue
    assert (user("s1"),) == made.added
    assert ["s2", "q1", "q2", "go on"] == waiting_texts(made)


def test_a_promoted_one_comes_next_and_stops_the_turn():
    stopped = done(a_chat(State.R1, queue=MIXED_QUEUE, tail=ANSWERED), promote(2))

    made = done(stopped.after, ask.FinishInterruption())

    assert State.I1 is stopped.after.state
    assert (user("s2"),) == made.added
    assert ["s1", "q1", "q2"] == waiting_texts(made)


def test_a_promoted_plain_message_comes_before_them():
    made = done(a_chat(State.I1, queue=MIXED_QUEUE, tail=()), promote(4), ask.FinishInterruption())

    assert (user("q2"),) == made.added


def test_a_client_s_turn_leaves_them_waiting():
    made = done(a_chat(State.R1, queue=MIXED_QUEUE), ask.EnterRequiresAction())

    assert MIXED_QUEUE == made.queue


@pytest.mark.parametrize("request_", [ask.RecordGenerationAttempt(), ask.Abandon(), delete(4)])
def test_nothing_else_lets_them_in(request_):
    made = done(a_chat(State.R1, queue=MIXED_QUEUE, tail=ANSWERED), request_)

    assert () == made.added
    assert MIXED_QUEUE[:3] == made.queue[:3]


def test_an_edit_forgets_them_with_the_rest_of_the_queue():
    chat = a_chat(State.R1, queue=MIXED_QUEUE, tail=(), suffix=suffix(user("old")))

    assert () == done(chat, edit("new")).queue


def test_a_message_that_enters_leaves_the_marker_as_the_step_does():
    kept = a_chat(State.R1, queue=MIXED_QUEUE, tail=ONE_CALL, compaction_requested_at=NOW)

    assert NOW == done(kept, step(tool(result("x")))).chat.compaction_requested_at
    assert done(kept, step(tool(result("x")), consumes=True)).chat.compaction_requested_at is None
