"""Every request from every state: where it leads, or that it is refused, with which identity.

The table below is typed from the specification, not from `table.py`; both must agree.
"""

from dataclasses import replace

import pytest

from actors.law import requests as ask
from actors.law.change import Change
from actors.law.chat import Verdict
from actors.law.refusals import InvalidState, NotAllowed
from actors.law.states import State
from actors.law.table import REQUESTS, leads_to
from actors.law.transitions import transition
from tests.actors.law.chats import (
    ACTION,
    ANN,
    BROKEN,
    DYNAMIC,
    INVALID,
    NOW,
    OTHER_HOLDER,
    RETRY,
    a_broken_chat,
    a_chat,
    answer,
    approval,
    assistant,
    call,
    delete,
    edit,
    interrupt_with,
    promote,
    queued,
    reorder,
    result,
    reword,
    send,
    steer,
    steering,
    step,
    submit,
    suffix,
    tool,
    user,
)

# .: no such transition   =: allowed in general, refused because nothing would change
MATRIX = """
                     W    E0   E1      R0   R1      I0   I1      A0   A1      XW   XE0  XE1  Invalid
archive              XW   XE0  XE1     .    .       .    .       .    .       =    =    =    .
unarchive            =    =    =       .    .       .    .       .    .       W    E0   E1   .
send                 R0   R0   R1      R1   R1      I1   I1      A1   A1      .    .    .    .
send_interrupting    R0   R0   R1      I1   I1      I1   I1      R1   R1      .    .    .    .
send_steering        R0   R0   R1      R1   R1      I1   I1      A1   A1      .    .    .    .
edit_message         R0   R0   R0      R0   R0      R0   R0      R0   R0      .    .    .    .
compact              R0   R0   R1      .    .       .    .       .    .       .    .    .    .
retry                .    R0   R1      R0   R1      .    .       .    .       .    .    .    .
delete_queued        .    .    E0/E1   .    R0/R1   .    I0/I1   .    A0/A1   .    .    .    .
promote_queued       .    .    R0/R1   .    I1      .    I1      .    R0/R1   .    .    .    .
edit_queued          .    .    E1      .    R1      .    I1      .    A1      .    .    .    .
reorder_queued       .    .    E1      .    R1      .    I1      .    A1      .    .    .    .
interrupt            .    .    .       I0   I1      .    .       R0   R0/R1   .    .    .    .
complete_action      .    .    .       .    .       .    .       A0/R0 A1/R0/R1 . .    .    .
decide               .    .    .       .    .       .    .       A0/R0 A1/R0/R1 . .    .    .
reconcile            .    .    .       .    .       .    .       .    .       .    .    .    E0/E1
acquire              W    E0   E1      R0   R1      I0   I1      A0   A1      XW   XE0  XE1  Invalid
take-up              W    E0   E1      R0   R1      I0   I1      A0   A1      XW   XE0  XE1  Invalid
abandon              W    E0   E1      R0   R1      I0   I1      A0   A1      XW   XE0  XE1  Invalid
record_attempt       .    .    .       R0   R1      .    .       .    .       .    .    .    .
record_retry         .    .    .       R0   R1      .    .       .    .       .    .    .    .
commit_step          .    .    .       R0   R0/R1   .    .       .    .       .    .    .    .
enter_action         .    .    .       A0   A1      .    .       .    .       .    .    .    .
cancel_action        .    .    .       .    .       .    .       A0/R0 A1/R0/R1 . .    .    .
expire               .    .    .       .    .       .    .       A0/R0 A1/R0/R1 . .    .    .
finish_interruption  .    .    .       .    .       W    R0/R1   .    .       .    .    .    .
finish_turn          .    .    .       W    R0/R1   .    .       .    .       .    .    .    .
finish_error         E0   .    .       E0   E1      .    .       .    .       .    .    .    .
"""

ASKED = {
    "archive": ask.SetArchived(True),
    "unarchive": ask.SetArchived(False),
    "send": send("new"),
    "send_interrupting": interrupt_with("new"),
    "send_steering": steer("new"),
    "edit_message": edit("new"),
    "compact": ask.RequestCompaction(),
    "retry": ask.RetryTurn(),
    "delete_queued": delete(1),
    "promote_queued": promote(1),
    "edit_queued": reword(1, "new"),
    "reorder_queued": reorder(1),  # completed for each queue
    "interrupt": ask.Interrupt(),
    "complete_action": submit(answer("a")),
    "decide": ask.DecideApproval("b", Verdict.DENY, ANN),
    "reconcile": ask.ReconcileInvalidState(),
    "acquire": ask.Acquire(OTHER_HOLDER),
    "take-up": ask.TakeUp(OTHER_HOLDER),
    "abandon": ask.Abandon(),
    "record_attempt": ask.RecordGenerationAttempt(),
    "record_retry": ask.RecordRetryState(RETRY),
    "commit_step": step(tool(result("a", DYNAMIC))),
    "enter_action": ask.EnterRequiresAction(),
    "cancel_action": ask.CancelRequiresAction(),
    "expire": ask.ExpireApprovals(),
    "finish_interruption": ask.FinishInterruption(),
    "finish_turn": ask.FinishTurn(),
    "finish_error": ask.FinishError(BROKEN),
}

QUEUES = (
    (queued(1, "one"),),
    (queued(1, "one"), queued(2, "two")),
    (steering(1, "one"),),
    (steering(1, "one"), queued(2, "two")),
)


def _parsed():
    head, *lines = MATRIX.strip().splitlines()
    states = [State(word) for word in head.split()]
    for line in lines:
        name, *cells = line.split()
        assert len(cells) == len(states)
        for state, cell in zip(states, cells, strict=True):
            yield name, state, cell


PAIRS = tuple(_parsed())
LANDINGS = {
    (name, state): frozenset() if cell in ".=" else frozenset(map(State, cell.split("/")))
    for name, state, cell in PAIRS
}


# Of whom a chat can wait: its client, a person, or both.
CLIENT = {"tail": (assistant(call("a", DYNAMIC)),)}
PERSON = {"tail": (assistant(call("b")),), "approvals": (approval("b", until=NOW),)}
BOTH = {**PERSON, "tail": (assistant(call("a", DYNAMIC), call("b")),)}
WAITED_FOR = {"complete_action": (CLIENT, BOTH), "cancel_action": (CLIENT, BOTH)}
WAITED_FOR |= {"decide": (PERSON, BOTH), "expire": (PERSON, BOTH)}


def _chats_in(state, name):
    target = suffix(user("old"))
    if state is State.INVALID:
        return [a_broken_chat(*columns, suffix=target) for columns in INVALID]
    queues = QUEUES if state.value.endswith("1") else ((),)
    if name == "retry":
        return [a_chat(state, queue=queue, retry_state=RETRY) for queue in queues]
    waited_for = WAITED_FOR.get(name, (CLIENT,)) if state in ACTION else (CLIENT,)
    return [
        a_chat(state, queue=queue, suffix=target, **who) for queue in queues for who in waited_for
    ]


def _asked(name, chat):
    request = ASKED[name]
    if isinstance(request, ask.ReorderQueued):
        return replace(request, order=tuple(row.id for row in reversed(chat.queue)))
    return request


@pytest.mark.parametrize(("name", "state", "cell"), PAIRS, ids=lambda v: getattr(v, "value", v))
def test_a_request_leads_where_the_table_says_or_is_refused(name, state, cell):
    chats = _chats_in(state, name)

    made = [transition(chat, _asked(name, chat)) for chat in chats]

    if LANDINGS[name, state]:
        assert all(isinstance(one, Change) for one in made)
        assert LANDINGS[name, state] == {one.after.state for one in made}
    elif state is State.INVALID:
        assert [InvalidState(type(ASKED[name]).__name__)] * len(chats) == made
    else:
        identities = {(type(one), one.transition, one.state, one.fault) for one in made}
        assert {(NotAllowed, type(ASKED[name]).__name__, state, None)} == identities


@pytest.mark.parametrize("state", State, ids=lambda state: state.value)
@pytest.mark.parametrize("request_type", REQUESTS, ids=lambda kind: kind.__name__)
def test_the_law_s_own_table_says_the_same(request_type, state):
    variants = [name for name, asked in ASKED.items() if isinstance(asked, request_type)]

    expected = frozenset().union(*(LANDINGS[name, state] for name in variants))

    assert variants
    assert expected == leads_to(state, request_type)


def test_the_table_asks_everything_that_can_be_asked():
    assert set(ASKED) == {name for name, _, _ in PAIRS}
    assert set(REQUESTS) == {type(asked) for asked in ASKED.values()}
    assert len(set(State)) * len(ASKED) == len(PAIRS)


def test_every_wrong_combination_of_columns_is_invalid():
    assert 8 == len(INVALID)  # waiting with a queue; archived while there is work to do


def test_a_chat_in_an_invalid_state_is_reconciled_by_the_size_of_its_queue():
    for status, is_queued, archived in INVALID:
        made = transition(a_broken_chat(status, is_queued, archived), ASKED["reconcile"])

        assert (State.E1 if is_queued else State.E0) is made.after.state


@pytest.mark.parametrize("state", [State.XW, State.XE0, State.XE1, State.W, State.E0, State.E1])
def test_archiving_what_is_archived_names_the_state_and_the_rule(state):
    archived = state.value.startswith("X")

    refusal = transition(a_chat(state), ask.SetArchived(archived))

    rule = f"archived is {str(archived).lower()} already"
    assert NotAllowed("SetArchived", state, rule) == refusal
    assert f"SetArchived is not allowed from {state.value}: {rule}" == str(refusal)


def test_an_answer_to_a_chat_that_waits_for_none_names_the_state():
    refusal = transition(a_chat(State.R0), submit(answer("a"), by=ANN))

    assert NotAllowed("CompleteRequiresAction", State.R0, "no such transition") == refusal
