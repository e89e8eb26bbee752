"""A turn that stops half-way: interruptions, and waiting for the client's answers."""

from datetime import timedelta

import pytest

from actors.law import requests as ask
from actors.law.refusals import (
    DuplicateResult,
    InvalidResult,
    MissingResult,
    NotAllowed,
    UnexpectedResult,
)
from actors.law.states import State
from tests.actors.law.chats import (
    ACTION,
    BOB,
    DYNAMIC,
    HISTORY,
    NOW,
    RUNNING,
    SMART,
    a_chat,
    answer,
    assistant,
    call,
    cancelled,
    done,
    interrupted,
    queued,
    refused,
    result,
    submit,
    system,
    tool,
    user,
)

ANSWERED = (assistant("hello"),)
MIXED = (assistant(call("x"), call("a", DYNAMIC), call("p", provider=True)),)
TWO = (queued(1, "one", by=BOB), queued(2, "two"))


# Interrupting


@pytest.mark.parametrize("state", RUNNING)
def test_an_interrupt_of_a_running_turn_only_says_so(state):
    chat = a_chat(state, tail=MIXED)

    made = done(chat, ask.Interrupt())

    assert state.value.replace("R", "I") == made.after.state.value
    assert () == made.added
    assert chat.queue == made.queue
    assert HISTORY == made.chat.history_version


@pytest.mark.parametrize("state", ACTION)
@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        (ask.Interrupt(), "interrupted by user"),
        (ask.Interrupt("enough"), "enough"),
        (ask.CancelRequiresAction(), "timed out"),
        (ask.CancelRequiresAction("too late"), "too late"),
    ],
)
def test_ending_the_wait_for_a_client_cancels_its_calls_and_lets_the_model_go_on(
    state, request_, reason
):
    chat = a_chat(state, tail=MIXED)

    made = done(chat, request_)

    assert state.value.replace("A", "R") == made.after.state.value
    assert (cancelled("a", reason, DYNAMIC),) == made.added
    assert made.chat.requires_action_deadline_at is None
    assert chat.queue == made.queue


def test_an_interrupt_with_nothing_pending_lets_the_turn_go_on_without_a_word():
    made = done(a_chat(State.A1, tail=ANSWERED), ask.Interrupt())

    assert State.R1 is made.after.state
    assert () == made.added
    assert HISTORY == made.chat.history_version


def test_a_timeout_with_nothing_pending_is_refused():
    refusal = refused(a_chat(State.A0, tail=ANSWERED), ask.CancelRequiresAction())

    assert NotAllowed("CancelRequiresAction", State.A0, "no call waits for the client") == refusal


def test_an_interruption_ends_in_waiting_and_says_nothing_by_itself():
    made = done(a_chat(State.I0, tail=ANSWERED), ask.FinishInterruption())

    assert State.W is made.after.state
    assert () == made.added
    assert HISTORY == made.chat.history_version


@pytest.mark.parametrize(("queue", "state"), [(TWO[:1], State.R0), (TWO, State.R1)])
def test_an_interruption_goes_on_with_the_head_of_the_queue(queue, state):
    made = done(a_chat(State.I1, queue=queue, tail=ANSWERED), ask.FinishInterruption())

    assert state is made.after.state
    assert (user("one", by=BOB),) == made.added
    assert queue[1:] == made.queue


def test_an_interruption_closes_every_open_call_that_is_ours_to_answer():
    made = done(a_chat(State.I0, tail=MIXED), ask.FinishInterruption())

    assert State.W is made.after.state
    assert (interrupted("x"), interrupted("a", DYNAMIC)) == made.added


def test_an_interruption_keeps_what_was_said_before_it_closes_the_rest():
    said = assistant("let me", call("y"), call("z"), call("p", provider=True))
    finished = tool(result("y"))
    chat = a_chat(State.I1, queue=TWO, tail=ANSWERED)

    made = done(chat, ask.FinishInterruption((said, finished)))

    assert (said, finished, interrupted("z"), user("one", by=BOB)) == made.added


def test_an_interruption_keeps_the_results_of_siblings_that_had_finished():
    chat = a_chat(State.I0, tail=(assistant(call("x"), call("y")),))

    made = done(chat, ask.FinishInterruption((tool(result("y")),)))

    assert (tool(result("y")), interrupted("x")) == made.added


def test_the_results_of_an_interruption_name_the_model_that_was_speaking():
    said = assistant(call("y"), model_config_id=SMART)

    made = done(a_chat(State.I0, tail=ANSWERED), ask.FinishInterruption((said,)))

    assert interrupted("y", model=SMART) == made.added[-1]
    assert SMART == made.chat.last_model_config_id


# The client's turn


@pytest.mark.parametrize("state", RUNNING)
def test_a_chat_waits_five_minutes_for_its_client(state):
    made = done(a_chat(state), ask.EnterRequiresAction())

    assert state.value.replace("R", "A") == made.after.state.value
    assert NOW + timedelta(minutes=5) == made.chat.requires_action_deadline_at
    assert () == made.added


@pytest.mark.parametrize(
    "tail",
    [
        (),
        ANSWERED,
        (assistant(call("x")),),
        (assistant(call("a", DYNAMIC)), tool(result("a", DYNAMIC))),
        (assistant(call("a", DYNAMIC, provider=True)),),
    ],
)
def test_a_chat_does_not_wait_for_a_client_that_has_nothing_to_answer(tail):
    refusal = refused(a_chat(State.R0, tail=tail), ask.EnterRequiresAction())

    assert NotAllowed("EnterRequiresAction", State.R0, "no call waits for the client") == refusal


def test_no_client_is_waited_for_where_no_tool_is_the_client_s():
    chat = a_chat(State.R0, dynamic_tools=frozenset())

    assert isinstance(refused(chat, ask.EnterRequiresAction()), NotAllowed)


@pytest.mark.parametrize("state", ACTION)
def test_a_client_s_results_are_stored_in_the_order_submitted_and_the_turn_goes_on(state):
    tail = (assistant(call("a", DYNAMIC), call("x"), call("b", DYNAMIC)), tool(result("x")))
    given = (answer("b", "[1]"), answer("a", '"no"', error=True))
    chat = a_chat(state, tail=tail)

    made = done(chat, submit(*given, by=BOB, model=SMART, then=(system("noted"),)))

    assert state.value.replace("A", "R") == made.after.state.value
    origin = {"created_by": BOB, "model_config_id": SMART}
    assert (
        tool(result("b", DYNAMIC, "[1]", at=NOW), **origin),
        tool(result("a", DYNAMIC, '"no"', error=True, at=NOW), **origin),
        system("noted"),
    ) == made.added
    assert made.chat.requires_action_deadline_at is None
    assert chat.queue == made.queue


BAD = "{"


@pytest.mark.parametrize(
    ("submitted", "fault"),
    [
        ("a a", DuplicateResult("a")),
        ("a b a", DuplicateResult("a")),
        ("a! b", InvalidResult("a")),
        ("a b!", InvalidResult("b")),
        ("a! a!", InvalidResult("a")),
        ("a a!", DuplicateResult("a")),
        ("a b! a", InvalidResult("b")),
        ("c b!", InvalidResult("b")),
        ("c c", DuplicateResult("c")),
        ("a", MissingResult("b")),
        ("b", MissingResult("a")),
        ("", MissingResult("a")),
        ("a c", MissingResult("b")),
        ("c d", MissingResult("a")),
        ("a b c", UnexpectedResult("c")),
        ("d a c b", UnexpectedResult("d")),
        ("a b x", UnexpectedResult("x")),
    ],
)
def test_the_first_fault_of_a_submission_is_named(submitted, fault):
    tail = (assistant(call("a", DYNAMIC), call("b", DYNAMIC), call("x")),)
    given = [answer(word.strip("!"), BAD if "!" in word else "1") for word in submitted.split()]

    refusal = refused(a_chat(State.A0, tail=tail), submit(*given))

    expected = NotAllowed(
        "CompleteRequiresAction", State.A0, "the results do not fit the pending calls", fault
    )
    assert expected == refusal


@pytest.mark.parametrize("output", ["", "{", "nope", "NaN", "-Infinity", "'x'", "[1,]", "[" * 9999])
def test_an_output_that_is_not_json_is_refused(output):
    refusal = refused(a_chat(State.A0), submit(answer("a", output)))

    assert InvalidResult("a") == refusal.fault


@pytest.mark.parametrize("output", ["null", "0", '"x"', " [1, 2] ", '{"a": {"b": 1e9}}'])
def test_an_output_is_stored_byte_for_byte(output):
    made = done(a_chat(State.A0), submit(answer("a", output)))

    assert output == made.added[0].parts[0].result
