"""What a new view of the stored chat means for the work in flight."""

import pytest

from actors.chat.decide import Cancel, Carry, End, Go, InFlight, decide
from actors.chat.turn.causes import Archived, HistoryMoved, LeaseTaken, StatusMoved, UserInterrupted
from actors.chat.turn.work import Kind
from actors.law.states import State, Status
from runtime.cause import Shutdown
from tests.actors.law.chats import HISTORY, HOLDER, INTERRUPTING, OTHER_HOLDER, RETRY, a_chat

WAITS = (Kind.AWAIT_CLIENT, Kind.AWAIT_ATTEMPT)


def decided(state, work=None, *, draining=False, keeps_failing=False, **columns):
    chat = a_chat(state, **columns).chat
    return decide(HOLDER, chat, work, draining=draining, keeps_failing=keeps_failing)


def at_work(kind, status=Status.RUNNING, *, history_version=HISTORY, archived=False, at_stake=True):
    return InFlight(kind, history_version, status, archived, at_stake)


BEGUN = {
    State.W: Kind.LEAVE,
    State.E0: Kind.LEAVE,
    State.E1: Kind.LEAVE,
    State.R0: Kind.GENERATE,
    State.R1: Kind.GENERATE,
    State.I0: Kind.INTERRUPT,
    State.I1: Kind.INTERRUPT,
    State.A0: Kind.AWAIT_CLIENT,
    State.A1: Kind.AWAIT_CLIENT,
    State.XW: Kind.LEAVE,
    State.XE0: Kind.LEAVE,
    State.XE1: Kind.LEAVE,
}


@pytest.mark.parametrize(("state", "kind"), BEGUN.items(), ids=lambda it: getattr(it, "value", ""))
def test_each_state_has_its_work(state, kind):
    assert Go(kind) == decided(state)


@pytest.mark.parametrize("state", BEGUN, ids=lambda state: state.value)
def test_who_drains_leaves_but_for_what_only_he_knows(state):
    kind = Kind.INTERRUPT if state in INTERRUPTING else Kind.LEAVE

    assert Go(kind) == decided(state, draining=True)


def test_an_attempt_that_failed_is_followed_by_a_pause():
    assert Go(Kind.AWAIT_ATTEMPT) == decided(State.R0, retry_state=RETRY)
    assert Go(Kind.INTERRUPT) == decided(State.I0, retry_state=RETRY)
    assert Go(Kind.LEAVE) == decided(State.R0, retry_state=RETRY, draining=True)


@pytest.mark.parametrize(("state", "kind"), BEGUN.items(), ids=lambda it: getattr(it, "value", ""))
def test_attempts_that_keep_failing_here_are_not_begun_again(state, kind):
    expected = Kind.GIVE_UP if kind is Kind.GENERATE else kind

    assert Go(expected) == decided(state, keeps_failing=True)
    assert Go(Kind.LEAVE) == decided(State.R0, keeps_failing=True, draining=True)


@pytest.mark.parametrize("holder", [None, OTHER_HOLDER])
@pytest.mark.parametrize("work", [None, at_work(Kind.GENERATE)])
@pytest.mark.parametrize("draining", [True, False])
def test_a_chat_that_is_not_ours_is_let_go(holder, work, draining):
    assert End(LeaseTaken(holder)) == decided(State.R0, work, holder=holder, draining=draining)


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
@pytest.mark.parametrize("kind", [Kind.GENERATE, Kind.AWAIT_ATTEMPT])
def test_attempts_retries_and_the_queue_move_under_the_work(kind, moved):
    assert Carry() == decided(State.R0, at_work(kind), **moved)
    assert Carry() == decided(State.R1, at_work(kind), **moved)


@pytest.mark.parametrize("kind", Kind)
def test_work_on_another_history_is_obsolete(kind):
    assert Cancel(HistoryMoved(99)) == decided(State.R0, at_work(kind), history_version=99)


def test_a_users_interrupt_is_told_from_other_moves():
    interrupted = decided(State.I0, at_work(Kind.GENERATE))
    answered = decided(State.R0, at_work(Kind.AWAIT_CLIENT, Status.REQUIRES_ACTION))
    parked = decided(State.E0, at_work(Kind.GENERATE))

    assert Cancel(UserInterrupted()) == interrupted
    assert Cancel(StatusMoved("running")) == answered
    assert Cancel(StatusMoved("error")) == parked


def test_an_archived_chat_is_left_alone():
    assert Cancel(Archived()) == decided(State.XW, at_work(Kind.LEAVE, Status.WAITING))
    assert Carry() == decided(State.XW, at_work(Kind.LEAVE, Status.WAITING, archived=True))


@pytest.mark.parametrize("kind", Kind)
@pytest.mark.parametrize("at_stake", [True, False])
def test_who_drains_ends_what_only_waits_and_finishes_the_rest(kind, at_stake):
    status = Status.REQUIRES_ACTION if kind is Kind.AWAIT_CLIENT else Status.RUNNING
    state = State.A0 if kind is Kind.AWAIT_CLIENT else State.R0
    only_waits = kind in WAITS or (kind is Kind.GENERATE and not at_stake)

    decision = decided(state, at_work(kind, status, at_stake=at_stake), draining=True)

    assert (Cancel(Shutdown()) if only_waits else Carry()) == decision


def test_who_does_not_drain_goes_on_waiting():
    assert Carry() == decided(State.R0, at_work(Kind.GENERATE, at_stake=False))
