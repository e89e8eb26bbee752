"""Who may spawn what, and what is said of a child to its parent."""

from dataclasses import replace
from uuid import UUID

import pytest

from actors.ids import ChatId, MessageId
from actors.machine.chat import ChatError, Message, Visibility
from actors.machine.states import Status
from actors.parts.model import ReasoningPart
from actors.subagents import rules
from actors.subagents.ports import Kin
from tests.actors.machine.chats import NOW, a_chat, assistant, user
from tests.actors.turn.given import answered, calls

ROOT = a_chat().chat
CHILD = replace(ROOT, parent_id=ChatId(UUID(int=5)))


def history(*bodies):
    return [Message(MessageId(n), 1, NOW, False, body) for n, body in enumerate(bodies, 1)]


@pytest.mark.parametrize(
    ("chat", "may"), [(ROOT, True), (CHILD, False), (replace(ROOT, mode="explore"), False)]
)
def test_only_a_root_that_may_change_things_spawns(chat, may):
    assert may is (rules.may_spawn(chat) is None)


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (Status.RUNNING, False),
        (Status.INTERRUPTING, False),
        (Status.WAITING, True),
        (Status.ERROR, True),
        (Status.REQUIRES_ACTION, True),
    ],
)
def test_a_child_has_settled_when_there_is_something_to_report(status, expected):
    assert expected is rules.has_settled(status)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ([user("go"), assistant("  done ")], "done"),
        ([user("go"), assistant("first"), assistant(calls("a")), *answered("a")], "first"),
        ([user("go"), assistant(ReasoningPart("hm"))], ""),
        ([user("go")], ""),
        ([assistant("shown"), replace(assistant("hidden"), visibility=Visibility.MODEL)], "shown"),
    ],
    ids=["the answer", "before its tools", "only thoughts", "nothing yet", "not what is hidden"],
)
def test_a_report_is_what_was_said_last(said, expected):
    assert expected == rules.report(history(*said))


def test_a_deleted_answer_is_not_reported():
    [kept, gone] = history(assistant("kept"), assistant("gone"))

    assert "kept" == rules.report([kept, replace(gone, deleted=True)])


def test_the_same_call_has_the_same_child_and_no_other():
    ids = {
        rules.child_id(replace(ROOT, history_version=version), call)
        for version in (1, 2)
        for call in ("a", "b", "a")
    }

    assert 4 == len(ids)


def test_an_error_is_told_with_what_is_known_of_it():
    error = ChatError("The provider is busy.", "overloaded", retryable=True, detail="529")
    child = Kin(ROOT.id, CHILD.id, "t", "", Status.ERROR, False, error, NOW, NOW)

    assert {
        "chat_id": str(ROOT.id),
        "title": "t",
        "status": "error",
        "type": "general",
        "report": "half",
        "last_error": "The provider is busy.",
        "last_error_kind": "overloaded",
        "last_error_retryable": True,
        "last_error_detail": "529",
    } == rules.settled(child, "half")


def test_a_role_is_told_to_whom_it_concerns():
    assert (rules.ORCHESTRATION,) == rules.told_of_family(ROOT)
    assert (rules.ROLE,) == rules.told_of_family(CHILD)
