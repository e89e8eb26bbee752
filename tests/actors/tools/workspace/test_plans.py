"""Where plans may be written, and by whom."""

import pytest

from actors.tools.workspace.plans import plan_path, unwritable
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

    why = unwritable(path, HOME, chat)

    assert may is (why is None)
    assert may or PLAN in why
