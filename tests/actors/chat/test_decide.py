"""What a new view of the stored chat means for the work in flight."""

import pytest

from actors.chat.decide import Begin, Cancel, InFlight, KeepGoing, LeaveChat, decide
from actors.chat.turn.work import (
    Archived,
    HistoryMoved,
    LeaseTaken,
    StatusMoved,
    UserInterrupted,
    WorkKind,
)
from actors.law.states import State, Status
from runtime.ends import Shutdown
from tests.actors.law.chats import HISTORY, HOLDER, INTERRUPTING, OTHER_HOLDER, RETRY, a_chat

WAITS = (WorkKind.AWAIT_CLIENT, WorkKind.AWAIT_ATTEMPT)


def decided(state, work=None, *, draining=False, keeps_failing=False, **columns):
    chat = a_chat(state, **columns).chat
    return decide(HOLDER, chat, work, draining=draining, keeps_failing=keeps_failing)


def at_work(kind, status=Status.RUNNING, *, history_version=HISTORY, archived=False, at_stake=True):
    return InFlight(kind, history_version, status, archived, at_stake)


BEGUN = {
    State.W: WorkKind.LEAVE,
    State.E0: WorkKind.LEAVE,
    State.E1: WorkKind.LEAVE,
    State.R0: WorkKind.GENERATE,
    State.R1: WorkKind.GENERATE,
    State.I0: WorkKind.INTERRUPT,
    State.I1: WorkKind.INTERRUPT,
    State.A0: WorkKind.AWAIT_CLIENT,
    State.A1: WorkKind.AWAIT_CLIENT,
    State.XW: WorkKind.LEAVE,
    State.XE0: WorkKind.LEAVE,
    State.XE1: WorkKind.LEAVE,
}


def test_there_is_an_answer_for_every_state():
    assert set(State) - {State.INVALID} == set(BEGUN)


@pytest.mark.parametrize(("state", "kind"), BEGUN.items(), ids=lambda it: getattr(it, "value", ""))
def test_each_state_has_its_work(state, kind):
    assert Begin(kind) == decided(state)


@pytest.mark.parametrize("state", BEGUN, ids=lambda state: state.value)
def test_who_drains_leaves_but_for_what_only_he_knows(state):
    kind = WorkKind.INTERRUPT if state in INTERRUPTING else WorkKind.LEAVE

    assert Begin(kind) == decided(state, draining=True)


def test_an_attempt_that_failed_is_followed_by_a_pause():
    assert Begin(WorkKind.AWAIT_ATTEMPT) == decided(State.R0, retry_state=RETRY)
    assert Begin(WorkKind.INTERRUPT) == decided(State.I0, retry_state=RETRY)
    assert Begin(WorkKind.LEAVE) == decided(State.R0, retry_state=RETRY, draining=True)


@pytest.mark.parametrize(("state", "kind"), BEGUN.items(), ids=lambda it: getattr(it, "value", ""))
def test_attempts_that_keep_failing_here_are_not_begun_again(state, kind):
    expected = WorkKind.GIVE_UP if kind is WorkKind.GENERATE else kind

    assert Begin(expected) == decided(state, keeps_failing=True)
    assert Begin(WorkKind.LEAVE) == decided(State.R0, keeps_failing=True, draining=True)


@pytest.mark.parametrize("holder", [None, OTHER_HOLDER])
@pytest.mark.parametrize("work", [None, at_work(WorkKind.GENERATE)])
@pytest.mark.parametrize("draining", [True, False])
def test_a_chat_that_is_not_ours_is_let_go(holder, work, draining):
    assert LeaveChat(LeaseTaken(holder)) == decided(
        State.R0, work, holder=holder, draining=draining
    )


@pytest.mark.parametrize(
    "moved",
    [
        {"generation_attempt": 9},
        {"queue_version": 99},
        {"retry_state": RETRY},
        {"snapshot_version": 99},
        {"retry_state_version": 99},
    ],
    ids=lambda moved: next(iter(moved)),
)
@pytest.mark.parametrize("kind", [WorkKind.GENERATE, WorkKind.AWAIT_ATTEMPT])
def test_attempts_retries_and_the_queue_move_under_the_work(kind, moved):
    assert KeepGoing() == decided(State.R0, at_work(kind), **moved)
    assert KeepGoing() == decided(State.R1, at_work(kind), **moved)


@pytest.mark.parametrize("kind", WorkKind)
def test_work_on_another_history_is_obsolete(kind):
    assert Cancel(HistoryMoved(99)) == decided(State.R0, at_work(kind), history_version=99)


def test_a_users_interrupt_is_told_from_other_moves():
    interrupted = decided(State.I0, at_work(WorkKind.GENERATE))
    answered = decided(State.R0, at_work(WorkKind.AWAIT_CLIENT, Status.REQUIRES_ACTION))
    parked = decided(State.E0, at_work(WorkKind.GENERATE))

    assert Cancel(UserInterrupted()) == interrupted
    assert Cancel(StatusMoved("running")) == answered
    assert Cancel(StatusMoved("error")) == parked


def test_an_archived_chat_is_left_alone():
    assert Cancel(Archived()) == decided(State.XW, at_work(WorkKind.LEAVE, Status.WAITING))
    assert KeepGoing() == decided(State.XW, at_work(WorkKind.LEAVE, Status.WAITING, archived=True))


@pytest.mark.parametrize("kind", WorkKind)
@pytest.mark.parametrize("at_stake", [True, False])
def test_who_drains_ends_what_only_waits_and_finishes_the_rest(kind, at_stake):
    status = Status.REQUIRES_ACTION if kind is WorkKind.AWAIT_CLIENT else Status.RUNNING
    state = State.A0 if kind is WorkKind.AWAIT_CLIENT else State.R0
    only_waits = kind in WAITS or (kind is WorkKind.GENERATE and not at_stake)

    decision = decided(state, at_work(kind, status, at_stake=at_stake), draining=True)

    assert (Cancel(Shutdown()) if only_waits else KeepGoing()) == decision


def test_who_does_not_drain_goes_on_waiting():
    assert KeepGoing() == decided(State.R0, at_work(WorkKind.GENERATE, at_stake=False))
