"""Which change of a chat is news, and for whom: a line for each way a turn may end or stop."""

from dataclasses import replace

import pytest

from actors.law import requests as ask
from actors.law.change import Change
from actors.law.chat import Approval
from actors.law.ids import ChatId
from actors.law.parts.message import JsonText
from actors.law.states import State, Status
from actors.law.store.news import MESSAGE_CHARACTERS_MAX, TOOLS_MAX, NewsKind, news_of_change
from actors.law.transitions import bundle, create
from tests.actors.law.chats import (
    ANN,
    BROKEN,
    CHAT,
    DYNAMIC,
    NOW,
    a_chat,
    assistant,
    call,
    result,
    send,
    step,
    tool,
    user,
)

NEEDS, ENDED, FAILED = NewsKind.NEEDS_YOU, NewsKind.ENDED, NewsKind.FAILED
ROOT = ChatId(CHAT.__class__(int=2))
ASKS, PLANS = "ask_user_question", "propose_plan"


def news(stored, *requests):
    """What its owner is told; the moves of its status are told to programs, and left out here."""
    made = bundle(stored, requests)
    assert isinstance(made, Change), made
    return [one for one in news_of_change(made) if one.kind is not NewsKind.STATUS]


def kinds(stored, *requests):
    return [one.kind for one in news(stored, *requests)]


def ended_by(name, **how):
    return [step(assistant(call("q", name)), tool(result("q", name, **how))), ask.FinishTurn()]


def at_work(**columns):
    return a_chat(tail=(), **columns)


LINES = {
    "a turn that ends": (at_work(), [step(assistant("bye")), ask.FinishTurn()], [ENDED]),
    "a step of a turn that goes on": (at_work(), [step(assistant(call("a")))], []),
    "a turn behind which another message waits": (
        a_chat(State.R1, tail=()),
        [step(assistant("bye")), ask.FinishTurn()],
        [],
    ),
    "an error": (at_work(), [ask.FinishError(BROKEN)], [FAILED]),
    "an agent that ends": (at_work(parent_id=ROOT), [step(assistant("bye")), ask.FinishTurn()], []),
    "an agent that fails": (at_work(parent_id=ROOT), [ask.FinishError(BROKEN)], []),
    "an interrupt": (at_work(), [ask.Interrupt()], []),
    "the end of an interrupted turn": (a_chat(State.I0), [ask.FinishInterruption(())], []),
    "a summary that was asked for": (
        at_work(compaction_requested_at=NOW),
        [ask.FinishTurn()],
        [],
    ),
    "a message": (a_chat(State.W, tail=()), [send("hello")], []),
    "a question": (at_work(plan_mode="plan"), ended_by(ASKS), [NEEDS]),
    "a plan": (at_work(plan_mode="plan"), ended_by(PLANS), [NEEDS]),
    "a question that failed": (at_work(plan_mode="plan"), ended_by(ASKS, error=True), [ENDED]),
    "a tool of this name in another mode": (at_work(), ended_by(ASKS), [ENDED]),
    "calls of its client": (
        a_chat(tail=(assistant(call("a", DYNAMIC)),)),
        [ask.EnterRequiresAction()],
        [NEEDS],
    ),
    "calls of its client, of an agent": (
        a_chat(tail=(assistant(call("a", DYNAMIC)),), parent_id=ROOT),
        [ask.EnterRequiresAction()],
        [NEEDS],
    ),
}


@pytest.mark.parametrize("line", LINES)
def test_the_owner_is_told_what_concerns_them(line):
    stored, requests, expected = LINES[line]

    assert expected == kinds(stored, *requests)


def approval(id, tool="shell", allowed_by=None):
    return Approval(id, tool, JsonText("{}"), NOW, allowed_by=allowed_by)


def waits_for(*approvals):
    """The change by which a chat comes to wait for these."""
    before = at_work()
    chat = replace(before.chat, status=Status.REQUIRES_ACTION, approvals=approvals)
    return Change(before, chat, ())


def test_new_questions_for_consent_are_told_with_the_names_of_the_tools():
    [_, told] = news_of_change(waits_for(approval("a"), approval("b", "fetch")))

    assert (NEEDS, "consent") == (told.kind, told.detail["reason"])
    assert ["shell", "fetch"] == told.detail["tools"]


def test_what_was_asked_before_is_not_told_again():
    first = waits_for(approval("a"), approval("b"))
    before = replace(first.before, chat=first.chat)
    after = replace(first.chat, approvals=(approval("a", allowed_by=ANN), approval("b")))

    assert () == news_of_change(Change(before, after, ()))


def test_a_child_that_asks_for_one_more_consent_is_news_although_its_status_stays():
    first = waits_for(approval("a"))
    before = replace(first.before, chat=first.chat)
    after = replace(first.chat, parent_id=ROOT, approvals=(approval("a"), approval("b")))

    assert [NEEDS] == [one.kind for one in news_of_change(Change(before, after, ()))]


def test_what_is_told_has_bounds():
    [_, told] = news_of_change(waits_for(*(approval(str(n)) for n in range(TOOLS_MAX + 5))))
    long = replace(BROKEN, message="x" * (2 * MESSAGE_CHARACTERS_MAX))

    assert TOOLS_MAX == len(told.detail["tools"])
    [failed] = news(at_work(), ask.FinishError(long))
    assert MESSAGE_CHARACTERS_MAX == len(failed.detail["message"])


def test_every_move_of_a_status_is_told_to_programs():
    made = bundle(at_work(), [step(assistant("bye")), ask.FinishTurn()])
    new = create(ask.CreateChat(ask.NewChat(CHAT, ANN), (user("hi"),)), now=NOW)

    assert {"from": "running", "to": "waiting"} == news_of_change(made)[0].detail
    assert {"from": None, "to": "running"} == news_of_change(new)[0].detail
    assert () == news_of_change(bundle(at_work(), [step(assistant(call("a")))]))
