"""Several requests as one change: one snapshot, one write, all or nothing."""

import pytest

from actors.law import requests as ask
from actors.law.change import no_change
from actors.law.chat import KnownFiles
from actors.law.refusals import MessageNotFound, NotAllowed, QueuedNotFound
from actors.law.states import State
from tests.actors.law.chats import (
    BROKEN,
    HISTORY,
    MODEL_ONLY,
    OTHER_HOLDER,
    QUEUE,
    RETRY,
    RETRY_VERSION,
    SNAPSHOT,
    a_chat,
    assistant,
    call,
    delete,
    done,
    edit,
    file,
    file_id,
    promote,
    refused,
    result,
    send,
    step,
    suffix,
    tool,
    user,
    waiting_texts,
)

ANSWERED = (assistant("hello"),)


def test_three_in_one_are_one_change_of_one_snapshot():
    chat = a_chat(State.R0, tail=ANSWERED)

    made = done(chat, ask.FinishTurn(), ask.SetArchived(True), ask.SetArchived(False))

    assert State.W is made.after.state
    assert chat is made.before
    assert SNAPSHOT == made.chat.snapshot_version
    assert ((), HISTORY, QUEUE) == (made.added, made.chat.history_version, made.chat.queue_version)


def test_archiving_there_and_back_loses_the_pin():
    made = done(a_chat(State.W), ask.SetArchived(True), ask.SetArchived(False))

    assert (False, 0) == (made.chat.archived, made.chat.pin_order)


def test_a_turn_ends_once():
    refusal = refused(a_chat(State.R0), ask.FinishTurn(), ask.FinishTurn())

    assert NotAllowed("FinishTurn", State.W, "no such transition") == refusal


def test_one_refusal_refuses_what_was_allowed_before_it():
    refusal = refused(a_chat(State.R0), send("a"), ask.FinishTurn(), delete(9), send("b"))

    assert NotAllowed("DeleteQueued", State.R0, "no such transition") == refusal


def test_nothing_asked_changes_nothing():
    chat = a_chat(State.R1)

    made = done(chat, *())

    assert no_change(chat) == made
    assert chat.chat == made.chat
    assert not made.touched


def test_a_message_that_is_sent_and_taken_in_one_bundle_was_never_queued():
    chat = a_chat(State.R0, tail=ANSWERED)

    made = done(chat, send("now"), ask.FinishTurn())

    assert State.R0 is made.after.state
    assert ((user("now"),), ()) == (made.added, made.queue)


def test_rows_that_are_not_stored_yet_are_told_apart_and_found():
    made = done(a_chat(State.R0), send("a"), send("b"), promote(-2), delete(-1))

    assert ["b"] == waiting_texts(made)
    assert [-2] == [row.id for row in made.queue]


def test_an_id_of_no_row_is_not_found_in_a_bundle_either():
    assert QueuedNotFound(-2) == refused(a_chat(State.R0), send("a"), delete(-2))


def test_a_step_and_the_end_of_its_turn_are_one_change():
    chat = a_chat(State.R1, tail=ANSWERED)

    made = done(chat, step(assistant("done")), ask.FinishTurn())

    assert (assistant("done"), user("queued")) == made.added
    assert (State.R0, SNAPSHOT) == (made.after.state, made.chat.history_version)


def test_what_a_step_leaves_open_is_closed_by_the_next_in_the_bundle():
    made = done(a_chat(State.R0, tail=ANSWERED), step(assistant(call("z"))), ask.Interrupt())
    ended = done(made.after, ask.FinishInterruption())

    assert ["z"] == [part.id for body in ended.added for part in body.parts]


def test_an_attempt_and_a_step_count_anew():
    made = done(a_chat(State.R0), ask.RecordGenerationAttempt(), step(assistant("so")))

    assert 0 == made.chat.generation_attempt


def test_a_step_and_the_next_attempt_are_at_the_first():
    made = done(a_chat(State.R0), step(assistant("so")), ask.RecordGenerationAttempt())

    assert (SNAPSHOT, 1) == (made.chat.history_version, made.chat.generation_attempt)


def test_a_retry_state_that_comes_and_goes_in_a_bundle_is_still_news():
    made = done(a_chat(), ask.RecordRetryState(RETRY), ask.RecordGenerationAttempt())

    assert (None, SNAPSHOT) == (made.chat.retry_state, made.chat.retry_state_version)
    assert RETRY_VERSION != SNAPSHOT


def test_an_edit_may_be_followed_by_others():
    chat = a_chat(State.E1, tail=(), suffix=suffix(user("old")))

    made = done(chat, edit("new"), ask.Acquire(OTHER_HOLDER), send("more"))

    assert (State.R1, OTHER_HOLDER) == (made.after.state, made.chat.holder)
    assert [40] == [row.id for row in made.deleted]
    assert ((user("new"),), ["more"]) == (made.added, waiting_texts(made))


def test_an_edit_may_follow_what_says_nothing():
    chat = a_chat(State.XW, tail=(), suffix=suffix(user("old"), MODEL_ONLY))

    made = done(chat, ask.SetArchived(False), edit("new"))

    assert State.R0 is made.after.state
    assert ((user("new"),), [40, 41]) == (made.added, [row.id for row in made.deleted])


def test_an_edit_of_a_history_that_its_bundle_has_added_to_is_a_bug_of_the_caller():
    chat = a_chat(State.R0, tail=(), suffix=suffix(user("old")))

    with pytest.raises(AssertionError, match="nothing is added before an edit in its bundle"):
        done(chat, step(assistant("so")), edit("new"))


def test_a_second_edit_in_a_bundle_finds_its_message_gone():
    chat = a_chat(State.R0, tail=(), suffix=suffix(user("old")))

    assert MessageNotFound(40) == refused(chat, edit("new"), edit("newer"))


def test_files_are_linked_once_however_often_a_bundle_names_them():
    stored = KnownFiles(stored=frozenset({file_id(1), file_id(2)}))
    chat = a_chat(State.R0, tail=ANSWERED, files=stored)

    made = done(chat, send(file(1)), send(file(1), file(2)), ask.FinishTurn())

    assert frozenset({file_id(1), file_id(2)}) == made.links


@pytest.mark.parametrize(
    ("requests", "touched"),
    [
        ((delete(1), send("a")), True),
        ((send("a"), delete(1)), True),
        ((delete(1), delete(-1)), False),
    ],
)
def test_the_time_of_change_moves_if_any_of_them_moves_it(requests, touched):
    chat = a_chat(State.R1)
    if not touched:
        chat = done(chat, send("x")).after

    assert touched == done(chat, *requests).touched


def test_a_whole_turn_in_one_bundle():
    chat = a_chat(State.W, tail=ANSWERED, holder=None)

    made = done(
        chat,
        send("do"),
        ask.Acquire(OTHER_HOLDER),
        ask.RecordGenerationAttempt(),
        step(assistant(call("z")), tool(result("z"))),
        ask.RecordGenerationAttempt(),
        step(assistant("done")),
        ask.FinishTurn(),
    )

    said = (user("do"), assistant(call("z")), tool(result("z")), assistant("done"))
    assert (State.W, said) == (made.after.state, made.added)
    assert (0, None) == (made.chat.generation_attempt, made.chat.last_error)
    failed = done(made.after, ask.FinishError(BROKEN))
    assert State.E0 is failed.after.state
