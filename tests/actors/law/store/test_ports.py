"""A worker's write must still find its chat, held by itself, at the work it was made for."""

from dataclasses import replace

import pytest

from actors.law.states import State, Status
from actors.law.store.ports import Fence, StaleFence, fence_holds, fence_of
from tests.actors.law.chats import ATTEMPT, HISTORY, HOLDER, OTHER_HOLDER, QUEUE, SNAPSHOT, a_chat

CHAT = a_chat(State.R0).chat
FENCE = Fence(HOLDER, Status.RUNNING, HISTORY)
ONE_ATTEMPT = replace(FENCE, attempt=ATTEMPT)


def test_a_fence_stands_while_nothing_it_names_has_moved():
    assert fence_holds(FENCE, CHAT)
    assert fence_holds(ONE_ATTEMPT, CHAT)


@pytest.mark.parametrize(
    "moved",
    [
        {"holder": None},
        {"holder": OTHER_HOLDER},
        {"holder": replace(HOLDER, worker=OTHER_HOLDER.worker)},
        {"holder": replace(HOLDER, runner=OTHER_HOLDER.runner)},
        {"status": Status.INTERRUPTING},
        {"status": Status.WAITING},
        {"status": Status.REQUIRES_ACTION},
        {"archived": True},
        {"history_version": HISTORY + 1},
        {"history_version": HISTORY - 1},
    ],
)
def test_a_fence_falls_with_whatever_it_names(moved):
    assert not fence_holds(FENCE, replace(CHAT, **moved))


@pytest.mark.parametrize(
    "moved",
    [
        {"snapshot_version": SNAPSHOT + 1},
        {"queue_version": QUEUE + 1},
        {"generation_attempt": ATTEMPT + 1},
        {"pin_order": 1},
    ],
)
def test_a_fence_does_not_care_for_anything_else(moved):
    assert fence_holds(FENCE, replace(CHAT, **moved))


@pytest.mark.parametrize("attempt", [0, ATTEMPT - 1, ATTEMPT + 1])
def test_the_write_of_one_attempt_falls_with_the_next(attempt):
    assert not fence_holds(ONE_ATTEMPT, replace(CHAT, generation_attempt=attempt))


def test_a_fence_of_attempt_nought_is_not_a_fence_without_attempt():
    assert not fence_holds(replace(FENCE, attempt=0), CHAT)


def test_an_archived_chat_can_still_be_given_back():
    archived = replace(CHAT, archived=True)

    assert fence_holds(replace(FENCE, archived=True), archived)
    assert fence_holds(replace(FENCE, archived=True), CHAT)


@pytest.mark.parametrize("state", [s for s in State if s is not State.INVALID])
def test_the_fence_of_a_chat_as_it_is_stands_for_it(state):
    chat = a_chat(state).chat

    assert fence_holds(fence_of(chat), chat)
    assert ATTEMPT == fence_of(chat).attempt


def test_nobody_s_chat_has_no_fence():
    assert fence_of(replace(CHAT, holder=None)) is None


def test_a_fallen_fence_says_what_was_found():
    moved = StaleFence(FENCE, replace(CHAT, history_version=HISTORY + 1))

    assert str(HISTORY + 1) in str(moved)
    assert "no longer stands: found" in str(moved)
