"""The queue by itself: deleting, promoting, rewording, reordering; its order and its version."""

import pytest

from actors.law.closing import PROMOTION
from actors.law.ids import QueuedId
from actors.law.refusals import QueuedNotFound, QueueMoved
from actors.law.states import State
from tests.actors.law.chats import (
    BOB,
    DYNAMIC,
    FAST,
    HISTORY,
    QUEUE,
    SMART,
    SNAPSHOT,
    a_chat,
    assistant,
    call,
    cancelled,
    delete,
    done,
    message,
    promote,
    queued,
    refused,
    reorder,
    reword,
    send,
    steering,
    user,
    waiting_texts,
)

WITH_QUEUE = (State.E1, State.R1, State.I1, State.A1)
THREE = (queued(1, "one"), queued(2, "two"), queued(3, "three"))


def three(state=State.R1, **columns):
    return a_chat(state, queue=THREE, **columns)


@pytest.mark.parametrize("state", WITH_QUEUE)
def test_deleting_the_last_queued_message_empties_the_queue_and_nothing_else(state):
    made = done(a_chat(state), delete(1))

    assert state.value[0] + "0" == made.after.state.value
    assert (SNAPSHOT, HISTORY) == (made.chat.queue_version, made.chat.history_version)
    assert () == made.added


@pytest.mark.parametrize(
    ("id", "left"), [(1, ["two", "three"]), (2, ["one", "three"]), (3, ["one", "two"])]
)
@pytest.mark.parametrize("state", WITH_QUEUE)
def test_deleting_one_of_several_keeps_the_order_of_the_others(state, id, left):
    made = done(three(state), delete(id))

    assert state is made.after.state
    assert left == waiting_texts(made)


@pytest.mark.parametrize("state", WITH_QUEUE)
@pytest.mark.parametrize("request_of", [delete, promote, lambda id: reword(id, "new")])
def test_a_queued_message_that_is_not_there_is_not_found(state, request_of):
    assert QueuedNotFound(QueuedId(9)) == refused(three(state), request_of(9))


@pytest.mark.parametrize("state", [State.R1, State.I1])
def test_promoting_a_later_message_puts_it_first_and_stops_the_turn(state):
    made = done(three(state), promote(3))

    assert State.I1 is made.after.state
    assert ["three", "one", "two"] == waiting_texts(made)
    assert THREE[:2] == made.queue[1:]
    assert made.queue[0].position < THREE[0].position
    assert () == made.added
    assert SNAPSHOT == made.chat.queue_version


@pytest.mark.parametrize("state", [State.R1, State.I1])
def test_promoting_the_head_stops_the_turn_and_leaves_the_queue_alone(state):
    made = done(three(state), promote(1))

    assert State.I1 is made.after.state
    assert THREE == made.queue
    assert QUEUE == made.chat.queue_version


@pytest.mark.parametrize("state", [State.E1, State.A1])
@pytest.mark.parametrize(("id", "text"), [(1, "one"), (2, "two"), (3, "three")])
def test_promoting_in_a_chat_that_waits_takes_the_message_at_once(state, id, text):
    made = done(three(state, tail=()), promote(id))

    assert State.R1 is made.after.state
    assert (user(text),) == made.added
    assert [t for t in ("one", "two", "three") if t != text] == waiting_texts(made)
    assert made.chat.last_error is None
    assert made.chat.requires_action_deadline_at is None


def test_promoting_the_only_message_empties_the_queue():
    assert State.R0 is done(a_chat(State.E1), promote(1)).after.state
    assert State.R0 is done(a_chat(State.A1), promote(1)).after.state


def test_promoting_closes_client_s_and_local_calls_before_the_message():
    tail = (assistant(call("x"), call("a", DYNAMIC)),)
    mine = queued(1, "mine", by=BOB, model=SMART, effort="high")

    made = done(a_chat(State.A1, queue=[mine], tail=tail), promote(1))

    taken = user("mine", by=BOB, model_config_id=SMART, reasoning_effort="high")
    closed = (cancelled("x", PROMOTION), cancelled("a", PROMOTION, DYNAMIC))
    assert (*closed, taken) == made.added
    assert (SMART, "high") == (made.chat.last_model_config_id, made.chat.last_reasoning_effort)


def test_promoting_twice_puts_the_second_one_first():
    made = done(three(), promote(2), promote(3))

    assert ["three", "two", "one"] == waiting_texts(made)


def test_a_promoted_message_keeps_whether_it_steers():
    made = done(a_chat(State.R1, queue=[queued(1, "a"), steering(2, "s")]), promote(2))

    assert [True, False] == [row.steers for row in made.queue]


@pytest.mark.parametrize("state", WITH_QUEUE)
def test_a_reworded_message_keeps_its_place_and_its_sender(state):
    made = done(three(state), reword(2, "again", by=BOB, model=SMART))

    assert state is made.after.state
    assert ["one", "again", "three"] == waiting_texts(made)
    assert message("again", model=SMART) == made.queue[1].message
    assert THREE[1].position == made.queue[1].position
    assert (SNAPSHOT, HISTORY) == (made.chat.queue_version, made.chat.history_version)


def test_a_reworded_message_keeps_the_model_and_effort_that_are_not_named_anew():
    chosen = queued(1, "one", model=FAST, effort="low")
    chat = a_chat(State.R1, queue=[chosen])

    assert message("new", model=FAST, effort="low") == done(chat, reword(1, "new")).queue[0].message


def test_a_reworded_steering_message_still_steers():
    made = done(a_chat(State.R1, queue=[steering(1, "s")]), reword(1, "t"))

    assert [True] == [row.steers for row in made.queue]


def test_saying_the_same_again_changes_nothing():
    made = done(three(), reword(2, "two"))

    assert THREE == made.queue
    assert QUEUE == made.chat.queue_version


@pytest.mark.parametrize("order", [(3, 1, 2), (2, 1, 3), (3, 2, 1)])
@pytest.mark.parametrize("state", WITH_QUEUE)
def test_a_new_order_holds(state, order):
    made = done(three(state), reorder(*order))

    assert state is made.after.state
    assert list(order) == [row.id for row in made.queue]
    assert made.queue == tuple(sorted(made.queue, key=lambda row: row.position))
    assert SNAPSHOT == made.chat.queue_version


def test_the_same_order_changes_nothing():
    made = done(three(), reorder(1, 2, 3))

    assert THREE == made.queue
    assert QUEUE == made.chat.queue_version


@pytest.mark.parametrize("order", [(), (1, 2), (1, 2, 3, 4), (1, 1, 2), (1, 2, 4), (1, 2, 3, 3)])
def test_an_order_of_other_messages_is_refused_and_says_what_is_queued(order):
    refusal = refused(three(), reorder(*order))

    assert QueueMoved((1, 2, 3)) == refusal
    assert "the queue has changed: it holds 1, 2, 3; order exactly these" == str(refusal)


@pytest.mark.parametrize("positions", [(1, 2, 3), (-5, 0, 900), (7, 8, 10)])
def test_whatever_is_done_to_a_queue_its_positions_rise_in_its_order(positions):
    queue = [queued(n, f"{n}", position=at) for n, at in enumerate(positions, start=1)]
    chat = a_chat(State.R1, queue=queue)

    for request in (send("x"), promote(3), reorder(2, 3, 1), delete(1), reword(2, "y")):
        after = [row.position for row in done(chat, request).queue]

        assert sorted(set(after)) == after


@pytest.mark.parametrize("state", WITH_QUEUE)
def test_a_change_of_the_queue_alone_leaves_deadline_marker_and_time_of_change(state):
    chat = three(state)

    for request in (delete(1), reword(1, "new"), reorder(3, 2, 1)):
        made = done(chat, request)

        assert not made.touched
        deadline = chat.chat.requires_action_deadline_at
        assert deadline == made.chat.requires_action_deadline_at
        assert chat.chat.last_error == made.chat.last_error


def test_what_is_not_stored_yet_has_an_id_below_all_others():
    made = done(a_chat(State.R0), send("a"), send("b"))

    assert [-1, -2] == [row.id for row in made.queue]
