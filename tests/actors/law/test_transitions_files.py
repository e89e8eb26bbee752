"""Files are linked to a chat in the change that first refers to them, or the change is refused."""

import pytest

from actors.law import requests as ask
from actors.law.chat import KnownFiles
from actors.law.parts.message import FilePart
from actors.law.refusals import FilesFull, FilesUnavailable
from actors.law.states import State
from actors.law.transitions import create
from tests.actors.law.chats import (
    ANN,
    CHAT,
    NOW,
    a_chat,
    answer,
    assistant,
    call,
    done,
    edit,
    file,
    file_id,
    promote,
    queued,
    refused,
    result,
    reword,
    send,
    steering,
    step,
    submit,
    suffix,
    tool,
    user,
)


def files(linked=(), stored=()):
    return KnownFiles(frozenset(map(file_id, linked)), frozenset(map(file_id, stored)))


def links(*numbers):
    return frozenset(map(file_id, numbers))


NEW = files(stored=[1, 2])
OLD = suffix(user("old"))


@pytest.mark.parametrize(
    ("state", "request_"),
    [
        (State.W, send("see", file(1), file(2))),
        (State.R0, send("see", file(1), file(2))),
        (State.E1, send("see", file(1), file(2))),
        (State.R0, edit("see", file(1), then=(user(file(2)),))),
        (State.R1, reword(1, file(1), file(2))),
        (State.R0, step(assistant(file(1)), tool(file(2)))),
        (State.A0, submit(answer("a"), then=(user(file(1), file(2)),))),
        (State.I0, ask.FinishInterruption((assistant(file(1), file(2)),))),
    ],
)
def test_whatever_brings_files_links_them(state, request_):
    made = done(a_chat(state, files=NEW, suffix=OLD), request_)

    assert links(1, 2) == made.links
    assert links(1, 2) <= made.after.files.linked


def test_a_new_chat_links_its_files():
    request = ask.CreateChat(ask.NewChat(CHAT, ANN), (user(file(1)),))

    assert links(1) == create(request, now=NOW, files=NEW).links
    assert FilesUnavailable((file_id(1),)) == create(request, now=NOW)


def test_a_file_that_is_linked_is_not_linked_again_even_if_it_is_gone():
    made = done(a_chat(State.W, files=files(linked=[1])), send(file(1)))

    assert frozenset() == made.links


def test_a_file_named_twice_is_linked_once():
    assert links(1) == done(a_chat(State.W, files=NEW), send(file(1), file(1))).links


def test_data_within_the_message_is_no_file():
    part = FilePart("text/plain", data="aGk=")

    assert frozenset() == done(a_chat(State.W), send(part)).links


def test_a_file_that_is_not_there_refuses_the_whole():
    refusal = refused(a_chat(State.R0, files=NEW), send(file(1), file(8), file(7)))

    assert FilesUnavailable((file_id(7), file_id(8))) == refusal


def test_fifty_files_are_linked_and_the_next_new_one_is_refused():
    almost = a_chat(State.W, files=files(range(49), stored=range(60)))
    full = a_chat(State.W, files=files(range(50), stored=range(60)))

    assert links(50) == done(almost, send(file(50))).links
    assert FilesFull(50) == refused(almost, send(file(50), file(51)))
    assert FilesFull(50) == refused(full, send(file(51)))
    assert frozenset() == done(full, send(file(3))).links


def test_a_missing_file_outranks_a_full_chat():
    full = a_chat(State.W, files=files(range(50)))

    assert FilesUnavailable((file_id(51),)) == refused(full, send(file(51)))


def test_files_over_the_bound_in_one_bundle_refuse_all_of_it():
    almost = a_chat(State.R0, files=files(range(49), stored=range(60)))

    assert FilesFull(50) == refused(almost, send(file(50)), send(file(51)))


@pytest.mark.parametrize(
    ("state", "request_"),
    [
        (State.R1, ask.FinishTurn()),
        (State.I1, ask.FinishInterruption()),
        (State.E1, promote(1)),
        (State.A1, promote(1)),
        (State.E1, send("m")),
    ],
)
def test_a_queued_message_brings_no_files_when_its_turn_comes(state, request_):
    """They were linked when it was queued; nobody has to look them up again."""
    made = done(a_chat(state, queue=[queued(1, file(1))]), request_)

    assert user(file(1)) == made.added[-1]
    assert frozenset() == made.links


def test_a_steering_message_brings_no_files_when_it_enters():
    chat = a_chat(State.R1, queue=[steering(1, file(1))], tail=(assistant(call("x")),))

    made = done(chat, step(tool(result("x"))))

    assert user(file(1)) == made.added[-1]
    assert frozenset() == made.links


def test_moving_a_queued_message_links_nothing():
    made = done(a_chat(State.R1, queue=[queued(1, "a"), queued(2, file(1))]), promote(2))

    assert frozenset() == made.links


def test_only_the_new_files_of_a_reworded_message_are_linked():
    chat = a_chat(State.R1, queue=[queued(1, file(1))], files=files(linked=[1], stored=[2]))

    assert links(2) == done(chat, reword(1, file(1), file(2))).links
