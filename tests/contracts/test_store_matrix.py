"""Every request from every state, on what is really stored: the matrix of the law, once more.

The pure matrix (tests/actors/law/test_matrix.py) says where each pair leads or that it is
refused; here each is asked of a store, by the long way and by the short one, and all rows are
what the law alone decides.
"""

from dataclasses import replace

import pytest

from actors.law import requests as ask
from actors.law.change import Change
from actors.law.chat import HistoryRow, Suffix
from actors.law.states import State, state_of
from actors.law.store.ports import Applied, fence_of
from actors.law.transitions import transition
from tests.actors.law.chats import (
    ANN,
    BROKEN,
    COLUMNS,
    DYNAMIC,
    HOLDER,
    INVALID,
    LOCAL,
    RETRY,
    assistant,
    call,
    send,
    steer,
    step,
    user,
)
from tests.actors.law.test_matrix import ASKED, LANDINGS
from tests.adapters.postgres.stores import new_chat_id
from tests.contracts.given import applied

QUEUES = ([send("one")], [send("one"), send("two")], [steer("one")], [steer("one"), send("two")])
WAY = {  # from R0 or R1, with an open call of the client's tool
    "W": [ask.FinishTurn()],
    "E": [ask.FinishError(BROKEN)],
    "R": [],
    "I": [ask.Interrupt()],
    "X": [ask.SetArchived(True)],
}
CALL, LOCAL_CALL = call("a", DYNAMIC), call("b")
# Of whom a chat can wait, and what leads there: its client, a person whose time is over, or both.
ASKS = ask.EnterRequiresAction((ask.CallToApprove("b", LOCAL, "{}"),), -1)
CLIENT = ((CALL,), ask.EnterRequiresAction())
PERSON, BOTH = ((LOCAL_CALL,), ASKS), ((CALL, LOCAL_CALL), ASKS)
WAITED_FOR = {"complete_action": (CLIENT, BOTH), "cancel_action": (CLIENT, BOTH)}
WAITED_FOR |= {"decide": (PERSON, BOTH), "expire": (PERSON, BOTH)}


@pytest.mark.slow
@pytest.mark.parametrize("way", ["long", "short"])
@pytest.mark.parametrize("name", ASKED)
async def test_a_request_does_from_every_state_what_the_law_says(world, name, way):
    chats = {chat: state for state in State for chat in await chats_in(world, state, name)}
    before = await world.all_rows()
    views = {chat: await world.reading.view(chat) for chat in chats}
    asked = {chat: fitted(ASKED[name], before[chat]) for chat in chats}

    answers = {chat: await ask_of(world, views[chat], asked[chat], way) for chat in chats}

    after = await world.all_rows()
    landed = {state: set() for state in State}
    for chat, state in chats.items():
        assert state is views[chat].state
        locked = under_lock(views[chat], before[chat], answers[chat])
        if isinstance(asked[chat], ask.EditMessage):
            locked = replace(locked, tail=())  # nothing stands before the message it replaces
        law = transition(locked, asked[chat])
        check(law, answers[chat], before[chat], after[chat])
        if isinstance(law, Change):
            landed[state].add(state_in(after[chat]))
    assert {state: LANDINGS[name, state] for state in State} == landed


async def chats_in(world, state, name=""):
    if state is State.INVALID:
        return [await broken_chat(world, *columns) for columns in INVALID]
    queues = QUEUES if state.value.endswith("1") else [[]]
    words = state.value.rstrip("01")
    if words == "A":
        waits = WAITED_FOR.get(name, (CLIENT,))
        return [
            await a_chat(world, [*queue, then], calls) for queue in queues for calls, then in waits
        ]
    if name == "retry" and words == "R":
        return [await a_chat(world, [*queue, ask.RecordRetryState(RETRY)]) for queue in queues]
    then = [request for word in reversed(words) for request in WAY[word]]
    return [await a_chat(world, [*queue, *then]) for queue in queues]


async def broken_chat(world, status, is_queued, archived):
    chat = await a_chat(world, QUEUES[0] if is_queued else [])
    kept = await world.rows(chat)
    await world.write_past_the_law(
        chat, status=status, archived=archived, snapshot_version=kept.chat.snapshot_version + 1
    )
    return chat


async def a_chat(world, then, calls=(CALL,)):
    """Held, with an open call of the client's tool; then what leads to its state."""
    new = ask.NewChat(new_chat_id(), ANN, dynamic_tools=(ask.DynamicTool(DYNAMIC),))
    begun = [ask.Acquire(HOLDER), step(assistant(*calls))]
    await applied(world.ledger.create(ask.CreateChat(new, (user("old"),)), begun))
    await applied(world.ledger.apply(new.id, then))
    return new.id


def fitted(request, kept):
    """The same request, of the rows that there are."""
    match request:
        case ask.ReorderQueued():
            return replace(request, order=tuple(row.id for row in reversed(kept.queue)))
        case ask.DeleteQueued() | ask.PromoteQueued() | ask.EditQueued() if kept.queue:
            return replace(request, queued_id=kept.queue[0].id)
        case ask.EditMessage():
            return replace(request, message_id=kept.messages[0].id)
        case _:
            return request


async def ask_of(world, view, request, way):
    if way == "long":
        return await world.ledger.apply(view.chat.id, [request])
    fence = replace(fence_of(view.chat), archived=True)
    return await world.ledger.commit(view, [request], fence=fence)


def under_lock(view, kept, answer):
    """What the law looked at: the view, at the next snapshot and at the time of the answer."""
    first, *later = kept.messages
    return replace(
        view,
        chat=replace(view.chat, snapshot_version=view.chat.snapshot_version + 1),
        now=answer.at if isinstance(answer, Applied) else view.now,
        suffix=Suffix(first, tuple(HistoryRow(m.id, m.body.visibility) for m in later)),
    )


def check(law, answer, before, after):
    if not isinstance(law, Change):
        assert (law, before) == (answer, after)
        return
    assert isinstance(answer, Applied)
    assert law.chat == answer.chat == after.chat
    assert said(law.queue) == said(after.queue)
    assert list(law.added) == [m.body for m in after.messages[len(before.messages) :]]
    assert [row.id for row in law.deleted] == [m.id for m in after.messages if m.deleted]


def said(queue):
    return [(row.position, row.steers, row.message) for row in queue]


def state_in(kept):
    chat = kept.chat
    return state_of(chat.status, queued=bool(kept.queue), archived=chat.archived)


def test_every_state_is_there():
    assert set(State) == {*COLUMNS}
