"""What the process that runs a chat asks: attempts, steps, ends; taking it, giving back."""

from dataclasses import replace

import pytest

from actors.law import requests as ask
from actors.law.closing import INVALID_STATE, PROMOTION
from actors.law.refusals import NotAllowed
from actors.law.states import State
from actors.law.transitions import DEFAULT_INVALID_STATE_ERROR
from tests.actors.law.chats import (
    ANN,
    BOB,
    BROKEN,
    DYNAMIC,
    FAST,
    HISTORY,
    HOLDER,
    INVALID,
    NOW,
    OTHER_HOLDER,
    QUEUE,
    RETRY,
    RUNNING,
    SNAPSHOT,
    a_broken_chat,
    a_chat,
    assistant,
    call,
    cancelled,
    done,
    queued,
    refused,
    result,
    send,
    step,
    system,
    tool,
    user,
    waiting_texts,
)

ANSWERED = (assistant("hello"),)
MIXED = (assistant(call("x"), call("a", DYNAMIC), call("p", provider=True)),)
TWO = (queued(1, "one", by=BOB), queued(2, "two"))


# Attempts, retries, steps


@pytest.mark.parametrize("state", RUNNING)
def test_an_attempt_is_counted_and_changes_nothing_else(state):
    chat = a_chat(state, generation_attempt=4)

    made = done(chat, ask.RecordGenerationAttempt())

    assert replace(chat.chat, generation_attempt=5) == made.chat
    assert made.touched


@pytest.mark.parametrize("state", RUNNING)
def test_a_retry_state_is_stored_and_counted_as_a_failure_of_the_provider(state):
    chat = a_chat(state, provider_failures_count=6)

    made = done(chat, ask.RecordRetryState(RETRY))

    stored = {"retry_state": RETRY, "retry_state_version": SNAPSHOT}
    assert replace(chat.chat, **stored, provider_failures_count=7) == made.chat


@pytest.mark.parametrize(
    "retry", [replace(RETRY, attempt=0), replace(RETRY, error=""), replace(RETRY, error=" \n")]
)
def test_a_retry_state_that_says_nothing_is_refused(retry):
    refusal = refused(a_chat(), ask.RecordRetryState(retry))

    rule = "a retry state names its attempt and its error"
    assert NotAllowed("RecordRetryState", State.R0, rule) == refusal


@pytest.mark.parametrize("state", RUNNING)
def test_a_step_is_added_and_counting_of_attempts_starts_anew(state):
    chat = a_chat(state, tail=())
    said = (assistant("one"), tool(result("x")), system("two"))

    made = done(chat, step(*said))

    assert state is made.after.state
    assert said == made.added
    assert chat.queue == made.queue
    assert (SNAPSHOT, 0) == (made.chat.history_version, made.chat.generation_attempt)


def test_an_empty_step_is_refused():
    refusal = refused(a_chat(), step())

    assert NotAllowed("CommitStep", State.R0, "a step holds at least one message") == refusal


# Ends


def test_a_turn_that_ends_waits_for_the_user():
    made = done(a_chat(State.R0, tail=ANSWERED), ask.FinishTurn())

    assert State.W is made.after.state
    assert () == made.added


@pytest.mark.parametrize(("queue", "state"), [(TWO[:1], State.R0), (TWO, State.R1)])
def test_a_turn_that_ends_with_a_queue_goes_on_with_its_head(queue, state):
    made = done(a_chat(State.R1, queue=queue, tail=MIXED), ask.FinishTurn())

    assert state is made.after.state
    closed = (cancelled("x", PROMOTION), cancelled("a", PROMOTION, DYNAMIC))
    assert (*closed, user("one", by=BOB)) == made.added
    assert queue[1:] == made.queue
    assert SNAPSHOT == made.chat.queue_version


@pytest.mark.parametrize("state", [State.W, *RUNNING])
def test_a_failure_stops_the_chat_and_keeps_history_and_queue(state):
    chat = a_chat(state, tail=MIXED, last_error=None)

    made = done(chat, ask.FinishError(BROKEN))

    assert "E" + ("1" if chat.queue else "0") == made.after.state.value
    assert BROKEN == made.chat.last_error
    assert () == made.added
    assert chat.queue == made.queue
    assert (HISTORY, QUEUE) == (made.chat.history_version, made.chat.queue_version)


def test_a_new_failure_replaces_the_old_one():
    chat = a_chat(State.R0, last_error=replace(BROKEN, message="older"))

    assert BROKEN == done(chat, ask.FinishError(BROKEN)).chat.last_error


def test_the_rest_of_the_queue_keeps_its_order_through_many_turns():
    chat = a_chat(State.R1, queue=[queued(n, f"{n}") for n in range(1, 6)], tail=ANSWERED)

    made = done(chat, ask.FinishTurn(), ask.FinishTurn())

    assert ["3", "4", "5"] == waiting_texts(made)
    assert (user("1", by=ANN), user("2", by=ANN)) == made.added
    assert FAST == made.chat.last_model_config_id


# Who holds it, and what was wrong with it


@pytest.mark.parametrize("holder", [None, HOLDER, OTHER_HOLDER])
@pytest.mark.parametrize("state", State)
def test_taking_a_chat_changes_its_holder_and_nothing_else(state, holder):
    chat = a_broken_chat(*INVALID[0]) if state is State.INVALID else a_chat(state)
    chat = replace(chat, chat=replace(chat.chat, holder=holder, compaction_requested_at=NOW))

    made = done(chat, ask.Acquire(OTHER_HOLDER))

    assert replace(chat.chat, holder=OTHER_HOLDER) == made.chat
    assert (chat.queue, ()) == (made.queue, made.added)


@pytest.mark.parametrize(
    ("state", "columns", "deaths"),
    [
        (State.R0, {}, 1),
        (State.R1, {}, 1),
        (State.R0, {"holder": None}, 0),  # it was given back
        (State.R0, {"retry_state": RETRY}, 0),  # no attempt was under way
        *[(state, {}, 0) for state in State if state not in (*RUNNING, State.INVALID)],
    ],
)
def test_taking_a_chat_after_a_death_counts_it_if_an_attempt_was_cut_short(state, columns, deaths):
    chat = a_chat(state, **columns, process_deaths_count=2)

    made = done(chat, ask.Acquire(OTHER_HOLDER, after_death=True))

    assert replace(chat.chat, holder=OTHER_HOLDER, process_deaths_count=2 + deaths) == made.chat


@pytest.mark.parametrize("state", State)
def test_giving_a_chat_back_changes_its_holder_and_nothing_else(state):
    chat = a_broken_chat(*INVALID[0]) if state is State.INVALID else a_chat(state)
    chat = replace(chat, chat=replace(chat.chat, compaction_requested_at=NOW))

    made = done(chat, ask.Abandon())

    assert replace(chat.chat, holder=None) == made.chat


def test_a_chat_that_nobody_holds_is_not_given_back():
    refusal = refused(a_chat(holder=None), ask.Abandon())

    assert NotAllowed("Abandon", State.R0, "nobody holds the chat") == refusal


@pytest.mark.parametrize("columns", INVALID)
def test_reconciling_stops_the_chat_and_cancels_the_client_s_calls(columns):
    chat = a_broken_chat(*columns, tail=MIXED)

    made = done(chat, ask.ReconcileInvalidState())

    assert DEFAULT_INVALID_STATE_ERROR == made.chat.last_error
    assert (cancelled("a", INVALID_STATE, DYNAMIC),) == made.added
    assert chat.queue == made.queue
    assert (False, None) == (made.chat.archived, made.chat.requires_action_deadline_at)
    assert HOLDER == made.chat.holder


def test_reconciling_may_say_what_was_wrong():
    made = done(a_broken_chat(*INVALID[0]), ask.ReconcileInvalidState(BROKEN))

    assert BROKEN == made.chat.last_error


# Taking up: what the sender's own process does with a chat that it puts to work


@pytest.mark.parametrize("state", [State.R0, State.R1])
def test_a_chat_that_nobody_holds_is_taken_up_and_its_attempt_begun(state):
    made = done(a_chat(state, holder=None, generation_attempt=0), ask.TakeUp(OTHER_HOLDER))

    assert OTHER_HOLDER == made.chat.holder
    assert 1 == made.chat.generation_attempt


def test_a_message_and_its_taking_up_are_one_bundle():
    made = done(a_chat(State.W, holder=None), send("go on"), ask.TakeUp(OTHER_HOLDER))

    assert State.R0 is made.state
    assert OTHER_HOLDER == made.chat.holder
    assert 1 == made.chat.generation_attempt


@pytest.mark.parametrize("state", [State.R0, State.R1])
def test_a_chat_that_somebody_holds_is_left_to_him(state):
    chat = a_chat(state, holder=HOLDER)

    made = done(chat, ask.TakeUp(OTHER_HOLDER))

    assert chat.chat == made.chat


@pytest.mark.parametrize(
    "state", [s for s in State if s not in (State.R0, State.R1, State.INVALID)]
)
def test_a_chat_without_work_to_begin_is_not_taken_up(state):
    chat = a_chat(state, holder=None)

    made = done(chat, ask.TakeUp(OTHER_HOLDER))

    assert chat.chat == made.chat
