"""Where plans may be written, and by whom."""

import pytest

from actors.tools.plans import PLAN_BYTES_MAX, plan_path, plan_path_fault, read_plan, write_refusal
from tests.actors.law.chats import CHAT, a_chat

HOME = "/w/home"
PLAN = plan_path(HOME, CHAT)


@pytest.mark.parametrize(
    ("path", "planning", "may"),
    [
        (PLAN, True, True),
        (f"{HOME}/./.promptcorner/plans/PLAN-{CHAT}.md", True, False),
        (f"{HOME}/a.py", True, False),
        (PLAN, False, True),
        (f"{HOME}/a.py", False, True),
        (f"{HOME}/plan.md", False, False),
        (f"{HOME}/docs/../Plan.MD", False, False),
        (f"{HOME}/docs/plan.md", False, True),
        ("plan.md", False, False),
        ("a.py", False, True),  # refused by others, for not being absolute
    ],
)
def test_a_plan_has_its_place(path, planning, may):
    chat = a_chat(plan_mode="plan" if planning else "").chat

    why = write_refusal(path, HOME, chat)

    assert may is (why is None)
    assert may or PLAN in why


PLACE = "/home/x/PLAN-1.md"


def test_a_plan_stands_where_the_chat_was_told_to_write_it():
    assert plan_path_fault(PLACE, PLACE) is None
    assert PLACE in plan_path_fault("/home/x/other.md", PLACE)
    assert "must end with .md" in plan_path_fault("/plan.txt", "/plan.txt")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b" \n\t ", "is empty"),
        (b"x" * (PLAN_BYTES_MAX + 1), f"more than {PLAN_BYTES_MAX} bytes"),
    ],
)
def test_what_is_no_plan_is_refused_with_a_reason(content, says):
    _, fault = read_plan(content)

    assert says in fault


def test_a_plan_may_fill_all_the_room_there_is():
    assert ("x" * PLAN_BYTES_MAX, None) == read_plan(b"x" * PLAN_BYTES_MAX)


def test_bytes_that_are_no_text_do_not_cost_the_plan():
    assert ("a\ufffdb", None) == read_plan(b" a\xffb\n")
