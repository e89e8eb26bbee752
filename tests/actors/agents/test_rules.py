"""Who may spawn what, and what is said of a child to its parent."""

from contextlib import ExitStack
from dataclasses import replace
from uuid import UUID

import pytest
import trio

from actors.agents import rules
from actors.agents.ports import ChildReport, FamilyCounts, FamilyMember
from actors.agents.rules import AT_WORK_MAX, CHILDREN_MAX, SpawnSlots, slot_refusal
from actors.law.chat import ChatError, Role
from actors.law.failures.wording import failure_messages
from actors.law.ids import ChatId
from actors.law.parts.deltas import FailureKind
from actors.law.parts.message import CUT_SHORT, UNPRICED, ReasoningPart, TextPart
from actors.law.states import Status
from tests.actors.chat.turn.given import calls
from tests.actors.law.chats import NOW, a_chat

ROOT = a_chat().chat
CHILD = replace(ROOT, parent_id=ChatId(UUID(int=5)))


@pytest.mark.parametrize(
    ("chat", "may"), [(ROOT, True), (CHILD, False), (replace(ROOT, mode="explore"), False)]
)
def test_only_a_root_that_may_change_things_spawns(chat, may):
    assert may is (rules.spawn_refusal(chat) is None)


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (Status.RUNNING, False),
        (Status.INTERRUPTING, False),
        (Status.WAITING, True),
        (Status.ERROR, True),
        (Status.REQUIRES_ACTION, False),
    ],
)
def test_a_child_has_settled_when_there_is_something_to_report(status, expected):
    assert expected is rules.has_settled(status)


@pytest.mark.parametrize(
    ("role", "cost_source", "expected"),
    [
        (Role.ASSISTANT, "table", True),
        (Role.ASSISTANT, UNPRICED.source, True),
        (Role.ASSISTANT, CUT_SHORT.source, False),
        (Role.ASSISTANT, None, False),  # files that were attached before it was stopped
        (Role.TOOL, None, False),
        (Role.USER, None, False),
    ],
)
def test_work_is_whole_that_ends_with_an_answer_heard_to_its_end(role, cost_source, expected):
    assert expected is rules.is_whole(role, cost_source)


def test_a_report_is_the_words_of_a_message():
    parts = (ReasoningPart("hm"), TextPart("  do"), calls("a"), TextPart("ne "))

    assert ("done", "") == (rules.report_in(parts), rules.report_in(parts[:1]))


def test_the_same_call_has_the_same_child_and_no_other():
    ids = {
        rules.child_id(replace(ROOT, history_version=version), call)
        for version in (1, 2)
        for call in ("a", "b", "a")
    }

    assert 4 == len(ids)


@pytest.mark.parametrize(
    ("status", "is_whole", "expected"),
    [
        (Status.WAITING, True, {"report": "said"}),
        (Status.WAITING, False, {"report": "", "unfinished": True}),
    ],
    ids=["done", "interrupted"],
)
def test_only_of_work_that_is_done_the_last_words_are_a_report(status, is_whole, expected):
    child = a_child(status, last_report=ChildReport("said", is_whole))

    assert {**INTRODUCED, "status": status.value, **expected} == rules.report_document(child)


GENERIC = failure_messages(FailureKind.GENERIC, "openai", retryable=True, status=None).ended


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (
            ChatError("It is busy.", "overloaded", retryable=True, detail="529"),
            {
                "last_error": "It is busy. (529)",
                "last_error_kind": "overloaded",
                "last_error_retryable": True,
                "last_error_detail": "529",
            },
        ),
        (
            ChatError("It is busy.", "overloaded"),
            {
                "last_error": "It is busy.",
                "last_error_kind": "overloaded",
                "last_error_retryable": False,
            },
        ),
        (
            ChatError(GENERIC, provider="openai", retryable=True, detail="what it said"),
            {
                "last_error": "what it said",
                "last_error_kind": "generic",
                "last_error_retryable": True,
                "last_error_detail": "what it said",
            },
        ),
        (
            None,
            {
                "last_error": rules.UNKNOWN_ERROR,
                "last_error_kind": "generic",
                "last_error_retryable": False,
            },
        ),
    ],
    ids=["with detail", "without", "a message that says nothing", "nothing is known"],
)
def test_an_error_is_told_with_what_is_known_of_it(error, expected):
    child = a_child(Status.ERROR, error, ChildReport("half", False))

    assert {**INTRODUCED, "status": "error", "report": "half", **expected} == rules.report_document(
        child
    )


def a_child(status, error=None, last_report=None):
    return FamilyMember(ROOT.id, CHILD.id, "t", "", status, False, error, NOW, NOW, last_report)


INTRODUCED = {"chat_id": str(ROOT.id), "title": "t", "type": "general"}


def test_a_role_is_told_to_whom_it_concerns():
    assert (rules.ORCHESTRATION,) == rules.family_instructions(ROOT)
    assert (rules.ROLE,) == rules.family_instructions(CHILD)


PARENT, OTHER = ChatId(UUID(int=1)), ChatId(UUID(int=2))
CHILDREN = [ChatId(UUID(int=10 + n)) for n in range(AT_WORK_MAX + 20)]


@pytest.mark.parametrize(
    ("children", "at_work", "before", "says"),
    [
        (0, 0, 0, None),
        (CHILDREN_MAX - 1, AT_WORK_MAX - 1, 0, None),
        (CHILDREN_MAX - 1, 0, 1, f"this chat has had {CHILDREN_MAX} agents"),
        (CHILDREN_MAX, 0, 0, "give the work to one that rests, with message_agent"),
        (AT_WORK_MAX, AT_WORK_MAX - 1, 1, f"{AT_WORK_MAX} agents of this chat are at work"),
        (AT_WORK_MAX, AT_WORK_MAX, 0, "wait for one with wait_agent"),
    ],
)
def test_who_finds_no_place_is_told_why_and_what_to_do(children, at_work, before, says):
    why = slot_refusal(FamilyCounts("api", children, at_work), before=before)

    assert (why is None) is (says is None)
    assert (says or "") in (why or "")


def test_those_before_in_line_are_those_of_the_same_parent_that_are_still_on_their_way():
    places, [a, b, c, *_] = SpawnSlots(), CHILDREN
    with ExitStack() as stack:
        with places.reserve(PARENT, a):
            assert [a] == stack.enter_context(places.reserve(PARENT, b))
            assert [] == stack.enter_context(places.reserve(OTHER, c))

        with places.reserve(PARENT, c) as before:
            assert [b] == before

    with places.reserve(PARENT, a) as before:
        assert [] == before


async def test_of_many_at_once_as_many_come_in_as_there_is_room_for(autojump_clock):
    places, stored, refused = SpawnSlots(), set(), []

    async def spawn(child, seconds):
        with places.reserve(PARENT, child) as before:
            besides = {*before, child}
            await trio.sleep(seconds)
            count = len(stored - besides)
            await trio.sleep(seconds / 3)
            if slot_refusal(FamilyCounts("api", count, count), before=len(before)):
                refused.append(child)
                return
            await trio.sleep(seconds / 7)
            stored.add(child)
            await trio.sleep(seconds)

    async with trio.open_nursery() as nursery:
        for number, child in enumerate(CHILDREN):
            nursery.start_soon(spawn, child, 1 + number * 7 % 5)

    assert (AT_WORK_MAX, 20) == (len(stored), len(refused))
