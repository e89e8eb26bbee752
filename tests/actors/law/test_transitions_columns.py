"""The columns besides the state: marker, deadline, error, holder, counters, choices, time."""

from dataclasses import replace
from datetime import timedelta

import pytest

from actors.law import requests as ask
from actors.law.chat import SUMMARY_CALL
from actors.law.refusals import NotAllowed
from actors.law.states import State
from tests.actors.law.chats import (
    ATTEMPT,
    BROKEN,
    DEATHS,
    DYNAMIC,
    FAILURES,
    FAST,
    HISTORY,
    HOLDER,
    NOW,
    OTHER_HOLDER,
    QUEUE,
    RETRY,
    RETRY_VERSION,
    SMART,
    SNAPSHOT,
    USER_ONLY,
    a_chat,
    answer,
    assistant,
    call,
    delete,
    done,
    edit,
    interrupt_with,
    promote,
    queued,
    refused,
    reorder,
    result,
    reword,
    send,
    steer,
    step,
    submit,
    suffix,
    tool,
    user,
)

TWO = (queued(1, "one"), queued(2, "two"))
A_STEP = step(assistant("so"))

# request, state; then whether each of these holds afterwards:
#   marker: the wish for a compaction is still there   deadline: the client's time still runs
#   error: what stopped the chat is still written      history, queue: that version moved
COLUMNS = """
                                  marker deadline error history queue touched
    send                  W       no     no       no    yes     no    yes
    send                  E0      no     no       no    yes     no    yes
    send                  E1      no     no       no    yes     yes   yes
    send                  R0      yes    yes      yes   no      yes   yes
    send                  R1      yes    yes      yes   no      yes   yes
    send                  I1      yes    yes      yes   no      yes   yes
    send                  A0      yes    yes      yes   no      yes   yes
    send                  A1      yes    yes      yes   no      yes   yes
    steer                 A1      yes    yes      yes   no      yes   yes
    steer                 R0      yes    yes      yes   no      yes   yes
    interrupt_with        R0      yes    no       yes   no      yes   yes
    interrupt_with        R1      yes    no       yes   no      yes   yes
    interrupt_with        I1      yes    yes      yes   no      yes   yes
    interrupt_with        A0      yes    no       yes   yes     yes   yes
    interrupt_with        A1      yes    no       yes   yes     yes   yes
    edit                  W       no     no       no    yes     no    yes
    edit                  E1      no     no       no    yes     yes   yes
    edit                  R0      no     no       no    yes     no    yes
    edit                  A1      no     no       no    yes     yes   yes
    archive               W       yes    no       yes   no      no    yes
    archive               E1      yes    no       yes   no      no    yes
    unarchive             XE1     yes    no       yes   no      no    yes
    compact               W       yes    no       no    yes     no    yes
    compact               E1      yes    no       no    yes     no    yes
    retry_turn            E1      yes    no       no    yes     no    yes
    delete                E1      yes    yes      yes   no      yes   no
    delete                A1      yes    yes      yes   no      yes   no
    reword                R1      yes    yes      yes   no      yes   no
    reorder               I1      yes    yes      yes   no      yes   no
    promote               R1      no     no       yes   no      yes   yes
    promote               I1      no     no       yes   no      yes   yes
    promote               E1      no     no       no    yes     yes   yes
    promote               A1      no     no       no    yes     yes   yes
    interrupt             R0      no     no       yes   no      no    yes
    interrupt             A1      no     no       yes   yes     no    yes
    complete              A0      no     no       yes   yes     no    yes
    cancel                A1      no     no       yes   yes     no    yes
    acquire               A0      yes    yes      yes   no      no    yes
    acquire               XE1     yes    yes      yes   no      no    yes
    abandon               R1      yes    yes      yes   no      no    yes
    attempt               R0      yes    yes      yes   no      no    yes
    retry                 R0      yes    yes      yes   no      no    yes
    step                  R0      yes    no       yes   yes     no    yes
    consuming_step        R0      no     no       yes   yes     no    yes
    enter                 R1      no     yes      yes   no      no    yes
    finish_interruption   I0      no     no       yes   yes     no    yes
    finish_interruption   I1      no     no       yes   yes     yes   yes
    finish_turn           R0      no     no       yes   no      no    yes
    finish_turn           R1      no     no       yes   yes     yes   yes
    finish_error          R1      no     no       yes   no      no    yes
    finish_error          W       no     no       yes   no      no    yes
"""
ASKED = {
    "send": send("m"),
    "steer": steer("m"),
    "interrupt_with": interrupt_with("m"),
    "edit": edit("m"),
    "archive": ask.SetArchived(True),
    "unarchive": ask.SetArchived(False),
    "compact": ask.RequestCompaction(),
    "retry_turn": ask.RetryTurn(),
    "delete": delete(2),
    "reword": reword(2, "m"),
    "reorder": reorder(2, 1),
    "promote": promote(2),
    "interrupt": ask.Interrupt(),
    "complete": submit(answer("a")),
    "cancel": ask.CancelRequiresAction(),
    "acquire": ask.Acquire(OTHER_HOLDER),
    "abandon": ask.Abandon(),
    "attempt": ask.RecordGenerationAttempt(),
    "retry": ask.RecordRetryState(RETRY),
    "step": A_STEP,
    "consuming_step": step(assistant("so"), consumes=True),
    "enter": ask.EnterRequiresAction(),
    "finish_interruption": ask.FinishInterruption((assistant("so"),)),
    "finish_turn": ask.FinishTurn(),
    "finish_error": ask.FinishError(BROKEN),
}
LINES = [line.split() for line in COLUMNS.strip().splitlines()]
NAMES, ROWS = LINES[0], LINES[1:]


def full_chat(state, **columns):
    """Every column is set, needed in that state or not."""
    set_ = {
        "compaction_requested_at": NOW,
        "requires_action_deadline_at": NOW,
        "last_error": BROKEN,
    }
    queue = TWO if state.value.endswith("1") else ()
    return a_chat(state, queue=queue, suffix=suffix(user("old")), **(set_ | columns))


@pytest.mark.parametrize("line", ROWS, ids=lambda line: f"{line[0]}-{line[1]}")
def test_a_request_keeps_and_moves_just_these(line):
    name, state, *expected = line
    chat = full_chat(State(state))

    made = done(chat, ASKED[name])

    after = made.chat
    found = {
        "marker": after.compaction_requested_at is not None,
        "deadline": after.requires_action_deadline_at is not None,
        "error": after.last_error is not None,
        "history": after.history_version == SNAPSHOT,
        "queue": after.queue_version == SNAPSHOT,
        "touched": made.touched,
    }
    assert dict(zip(NAMES, (word == "yes" for word in expected), strict=True)) == found


@pytest.mark.parametrize("line", ROWS, ids=lambda line: f"{line[0]}-{line[1]}")
def test_a_version_stays_or_takes_the_snapshot_and_counts_follow_the_history(line):
    chat = full_chat(State(line[1]), retry_state=RETRY)

    after = done(chat, ASKED[line[0]]).chat

    assert after.snapshot_version == SNAPSHOT
    assert after.history_version in (HISTORY, SNAPSHOT)
    assert after.queue_version in (QUEUE, SNAPSHOT)
    counted = (ATTEMPT + (line[0] == "attempt"), FAILURES + (line[0] == "retry"), DEATHS)
    assert ((0, 0, 0) if after.history_version == SNAPSHOT else counted) == (
        after.generation_attempt,
        after.provider_failures_count,
        after.process_deaths_count,
    )
    dropped = after.generation_attempt != ATTEMPT
    assert (None if dropped else RETRY) == after.retry_state
    assert (SNAPSHOT if dropped else RETRY_VERSION) == after.retry_state_version


@pytest.mark.parametrize("line", ROWS, ids=lambda line: f"{line[0]}-{line[1]}")
def test_the_holder_stays_but_for_taking_giving_back_and_compacting(line):
    after = done(full_chat(State(line[1])), ASKED[line[0]]).chat

    others = {"acquire": OTHER_HOLDER, "abandon": None, "compact": None}
    assert others.get(line[0], HOLDER) == after.holder


@pytest.mark.parametrize("line", ROWS, ids=lambda line: f"{line[0]}-{line[1]}")
def test_a_chat_stays_as_pinned_as_it_was_unless_it_is_archived(line):
    chat = full_chat(State(line[1]))

    made = done(chat, ASKED[line[0]])

    assert (0 if line[0] == "archive" else 7) == made.chat.pin_order
    fixed = ("id", "owner_id", "parent_id", "dynamic_tools", "snapshot_version")
    assert [getattr(chat.chat, n) for n in fixed] == [getattr(made.chat, n) for n in fixed]


# Retry state


def test_the_same_retry_state_again_is_another_failure_and_no_news():
    chat = a_chat(retry_state=RETRY)

    after = done(chat, ask.RecordRetryState(RETRY)).chat

    assert replace(chat.chat, provider_failures_count=FAILURES + 1) == after


def test_another_retry_state_takes_the_snapshot_as_its_version():
    after = done(a_chat(retry_state=RETRY), ask.RecordRetryState(replace(RETRY, attempt=3))).chat

    assert (3, SNAPSHOT) == (after.retry_state.attempt, after.retry_state_version)


@pytest.mark.parametrize("request_", [ask.RecordGenerationAttempt(), A_STEP])
def test_an_attempt_or_a_step_drops_the_retry_state(request_):
    after = done(a_chat(retry_state=RETRY), request_).chat

    assert (None, SNAPSHOT) == (after.retry_state, after.retry_state_version)


@pytest.mark.parametrize("request_", [ask.RecordGenerationAttempt(), A_STEP])
def test_no_retry_state_is_no_news(request_):
    after = done(a_chat(), request_).chat

    assert (None, RETRY_VERSION) == (after.retry_state, after.retry_state_version)


@pytest.mark.parametrize("attempt", [0, 24, 25])
@pytest.mark.parametrize("state", [State.W, State.E0, State.E1])
def test_a_compaction_is_a_new_epoch_of_the_same_history(state, attempt):
    chat = a_chat(state, generation_attempt=attempt, retry_state=RETRY)

    made = done(chat, ask.RequestCompaction())

    after = made.chat
    assert (SNAPSHOT, 0, None) == (
        after.history_version,
        after.generation_attempt,
        after.retry_state,
    )
    assert (0, 0) == (after.provider_failures_count, after.process_deaths_count)
    assert SNAPSHOT == after.retry_state_version
    assert NOW == after.compaction_requested_at
    assert ((), chat.queue) == (made.added, made.queue)


@pytest.mark.parametrize("state", [State.R0, State.R1, State.E0, State.E1])
def test_a_turn_that_is_tried_again_is_a_new_epoch_of_the_same_history(state):
    chat = a_chat(state, retry_state=RETRY, last_error=BROKEN, compaction_requested_at=NOW)

    made = done(chat, ask.RetryTurn())

    after = made.chat
    assert (SNAPSHOT, 0, None, None) == (
        after.history_version,
        after.generation_attempt,
        after.retry_state,
        after.last_error,
    )
    assert (0, 0) == (after.provider_failures_count, after.process_deaths_count)
    assert (chat.chat.holder, NOW) == (after.holder, after.compaction_requested_at)
    assert (FAST, "low") == (after.last_model_config_id, after.last_reasoning_effort)
    assert ((), chat.queue) == (made.added, made.queue)


@pytest.mark.parametrize(("asked_at", "marker"), [(NOW - timedelta(hours=1), NOW), (None, None)])
def test_a_summary_that_was_asked_for_and_failed_is_asked_for_again_by_a_retry(asked_at, marker):
    chat = a_chat(State.R0, compaction_requested_at=asked_at)

    failed = done(chat, ask.FinishError(BROKEN))
    assert failed.chat.compaction_requested_at is None
    again = done(a_chat(State.E0, last_error=failed.chat.last_error), ask.RetryTurn())
    told = done(a_chat(State.E0, last_error=failed.chat.last_error), send("so?"))

    assert marker == again.chat.compaction_requested_at
    assert told.chat.compaction_requested_at is None


def test_a_turn_is_tried_again_with_another_model():
    made = done(a_chat(State.E0), ask.RetryTurn(SMART, "high"))

    assert (SMART, "high") == (made.chat.last_model_config_id, made.chat.last_reasoning_effort)


@pytest.mark.parametrize("state", [State.R0, State.R1])
def test_while_an_attempt_is_being_made_there_is_nothing_to_try_again(state):
    refusal = refused(a_chat(state, retry_state=None), ask.RetryTurn())

    assert isinstance(refusal, NotAllowed)
    assert "no attempt has failed" in str(refusal)


SUMMARISED = (
    assistant(call("s", SUMMARY_CALL), visibility=USER_ONLY, compressed=True),
    tool(result("s", SUMMARY_CALL), compressed=True),
)


@pytest.mark.parametrize("tail", [(), SUMMARISED], ids=["nothing said", "just summarised"])
@pytest.mark.parametrize("state", [State.W, State.E0, State.E1])
def test_where_no_model_has_said_anything_new_there_is_nothing_to_compact(state, tail):
    refusal = refused(a_chat(state, tail=tail), ask.RequestCompaction())

    assert isinstance(refusal, NotAllowed)
    assert "since the last summary" in str(refusal)


def test_a_call_that_a_model_has_made_up_is_no_summary():
    faked = (assistant(call("s", SUMMARY_CALL)), tool(result("s", SUMMARY_CALL, error=True)))

    made = done(a_chat(State.W, tail=faked), ask.RequestCompaction())

    assert State.R0 is made.state


# The choices that a chat goes on with


@pytest.mark.parametrize(
    ("rows", "model", "effort"),
    [
        ([(None, None)], FAST, "low"),
        ([(SMART, None)], SMART, "low"),
        ([(None, "high")], FAST, "high"),
        ([(SMART, "high"), (None, None)], SMART, "high"),
        ([(SMART, "high"), (FAST, None)], FAST, "high"),
    ],
)
def test_the_last_model_and_effort_that_are_named_are_the_chat_s(rows, model, effort):
    said = [assistant("m", model_config_id=m, reasoning_effort=e) for m, e in rows]

    after = done(a_chat(), step(*said)).chat

    assert (model, effort) == (after.last_model_config_id, after.last_reasoning_effort)


def test_a_message_that_only_waits_chooses_nothing_yet():
    after = done(a_chat(), send("m", model=SMART, effort="high")).chat

    assert (FAST, "low") == (after.last_model_config_id, after.last_reasoning_effort)


def test_a_made_up_result_does_not_change_the_choice():
    tail = (assistant("a", result("p", provider=True)),)
    chat = a_chat(State.A0, last_model_config_id=None)

    made = done(chat, ask.Interrupt())

    assert tool(result("a", DYNAMIC, '"interrupted by user"', error=True)) == made.added[0]
    assert made.chat.last_model_config_id is None
    assert () == done(a_chat(State.A0, tail=tail), ask.Interrupt()).added
