"""The table of requests: which is allowed from which state, and the states it can lead to. Pure.

The diagram in docs/states.md is drawn from this table. Taking and giving back a chat (`Acquire`,
`TakeUp`, `Abandon`) is allowed from every state, leads nowhere else, and is therefore not in it.
"""

from collections.abc import Mapping
from typing import get_args

from actors.law import requests as ask
from actors.law.states import State

W, E0, E1, R0, R1 = State.W, State.E0, State.E1, State.R0, State.R1
I0, I1, A0, A1 = State.I0, State.I1, State.A0, State.A1
XW, XE0, XE1, INVALID = State.XW, State.XE0, State.XE1, State.INVALID

Row = Mapping[type[ask.Request], frozenset[State]]


def _to(*states: State) -> frozenset[State]:
    return frozenset(states)


# Changes of the queue alone: rows may be reworded or moved wherever there are any.
def _queue_of(state: State) -> Row:
    return {ask.EditQueued: _to(state), ask.ReorderQueued: _to(state)}


ALLOWED: Mapping[State, Row] = {
    W: {
        ask.SetArchived: _to(XW),
        ask.SendMessage: _to(R0),
        ask.EditMessage: _to(R0),
        ask.RequestCompaction: _to(R0),
        ask.FinishError: _to(E0),
    },
    E0: {
        ask.SetArchived: _to(XE0),
        ask.SendMessage: _to(R0),
        ask.EditMessage: _to(R0),
        ask.RequestCompaction: _to(R0),
        ask.RetryTurn: _to(R0),
    },
    E1: {
        ask.SetArchived: _to(XE1),
        ask.SendMessage: _to(R1),
        ask.EditMessage: _to(R0),
        ask.RequestCompaction: _to(R1),
        ask.RetryTurn: _to(R1),
        ask.DeleteQueued: _to(E0, E1),
        ask.PromoteQueued: _to(R0, R1),
        **_queue_of(E1),
    },
    R0: {
        ask.SendMessage: _to(R1, I1),
        ask.EditMessage: _to(R0),
        ask.Interrupt: _to(I0),
        ask.RetryTurn: _to(R0),
        ask.RecordGenerationAttempt: _to(R0),
        ask.RecordRetryState: _to(R0),
        ask.CommitStep: _to(R0),
        ask.EnterRequiresAction: _to(A0),
        ask.FinishTurn: _to(W),
        ask.FinishError: _to(E0),
    },
    R1: {
        ask.SendMessage: _to(R1, I1),
        ask.EditMessage: _to(R0),
        ask.DeleteQueued: _to(R0, R1),
        ask.PromoteQueued: _to(I1),
        ask.Interrupt: _to(I1),
        ask.RetryTurn: _to(R1),
        ask.RecordGenerationAttempt: _to(R1),
        ask.RecordRetryState: _to(R1),
        ask.CommitStep: _to(R0, R1),  # R0: all that was queued has steered into the turn
        ask.EnterRequiresAction: _to(A1),
        ask.FinishTurn: _to(R0, R1),
        ask.FinishError: _to(E1),
        **_queue_of(R1),
    },
    I0: {
        ask.SendMessage: _to(I1),
        ask.EditMessage: _to(R0),
        ask.FinishInterruption: _to(W),
    },
    I1: {
        ask.SendMessage: _to(I1),
        ask.EditMessage: _to(R0),
        ask.DeleteQueued: _to(I0, I1),
        ask.PromoteQueued: _to(I1),
        ask.FinishInterruption: _to(R0, R1),
        **_queue_of(I1),
    },
    A0: {
        ask.SendMessage: _to(A1, R1),
        ask.EditMessage: _to(R0),
        ask.Interrupt: _to(R0),
        # From these to where they came from: something else is still waited for.
        ask.CompleteRequiresAction: _to(A0, R0),
        ask.DecideApproval: _to(A0, R0),
        ask.CancelRequiresAction: _to(A0, R0),
        ask.ExpireApprovals: _to(A0, R0),
    },
    A1: {
        ask.SendMessage: _to(A1, R1),
        ask.EditMessage: _to(R0),
        ask.DeleteQueued: _to(A0, A1),
        ask.PromoteQueued: _to(R0, R1),
        ask.Interrupt: _to(R0, R1),
        ask.CompleteRequiresAction: _to(A1, R0, R1),
        ask.DecideApproval: _to(A1, R0, R1),
        ask.CancelRequiresAction: _to(A1, R0, R1),
        ask.ExpireApprovals: _to(A1, R0, R1),
        **_queue_of(A1),
    },
    XW: {ask.SetArchived: _to(W)},
    XE0: {ask.SetArchived: _to(E0)},
    XE1: {ask.SetArchived: _to(E1)},
    INVALID: {ask.ReconcileInvalidState: _to(E0, E1)},
}

REQUESTS: tuple[type[ask.Request], ...] = get_args(ask.Request)
EVERYWHERE: frozenset[type[ask.Request]] = frozenset({ask.Acquire, ask.TakeUp, ask.Abandon})


def leads_to(state: State, request: type[ask.Request]) -> frozenset[State]:
    """Return the states that `request` can lead to from `state`; none if it is not allowed
    there."""
    if request in EVERYWHERE:
        return frozenset({state})
    return ALLOWED[state].get(request, frozenset())
