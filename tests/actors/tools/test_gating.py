"""Which chat gets which tool: the table, written down a second time as the specification has it."""

import pytest

from actors.tools.gating import ChatKind, is_allowed, kind_of, may_search
from tests.actors.law.chats import CHAT, a_chat

COLUMNS = (
    ChatKind.ROOT,
    ChatKind.ROOT_PLAN,
    ChatKind.CHILD,
    ChatKind.CHILD_PLAN,
    ChatKind.EXPLORE,
    ChatKind.COMPUTER_USE,
)
TABLE = {
    "read_file": "x x x x x x",
    "write_file": "x x x - - x",
    "edit_files": "x x x - - x",
    "attach_file": "x x x - - x",
    "execute": "x x x x x x",
    "process_output": "x x x x x x",
    "process_list": "x - x - - x",
    "process_signal": "x - x - - x",
    "read_skill": "x x x x x x",
    "read_skill_file": "x x x x x x",
    "ask_user_question": "- x - - - -",
    "propose_plan": "- x - - - -",
    "list_templates": "x x - - - -",
    "read_template": "x x - - - -",
    "create_workspace": "x x - - - -",
    "start_workspace": "x x - - - -",
    "stop_workspace": "x x - - - -",
    "spawn_agent": "x x - - - -",
    "list_subagent_models": "x x - - - -",
    "wait_agent": "x x - - - -",
    "list_agents": "x x - - - -",
    "message_agent": "x - - - - -",
    "interrupt_agent": "x - - - - -",
    "advisor": "x - - - - -",
    "find_tools": "x x x x x x",
}


@pytest.mark.parametrize("name", TABLE)
def test_a_tool_is_there_for_chats_of_these_kinds(name):
    expected = TABLE[name].split()

    assert expected == ["x" if is_allowed(name, kind) else "-" for kind in COLUMNS]


def test_a_tool_without_a_row_is_for_roots_that_work():
    assert [ChatKind.ROOT] == [kind for kind in COLUMNS if is_allowed("brand_new", kind)]


def test_who_operates_a_desktop_does_not_while_it_plans():
    at_work = {"parent_id": CHAT, "mode": "computer_use"}

    assert ChatKind.COMPUTER_USE is kind_of(a_chat(**at_work).chat)
    assert ChatKind.CHILD_PLAN is kind_of(a_chat(**at_work, plan_mode="plan").chat)


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({}, True),
        ({"plan_mode": "plan"}, False),
        ({"parent_id": CHAT}, True),
        ({"parent_id": CHAT, "plan_mode": "plan"}, False),
        ({"parent_id": CHAT, "mode": "explore"}, True),
        ({"mode": "explore"}, False),
        ({"parent_id": CHAT, "mode": "computer_use"}, True),
    ],
)
def test_who_plans_does_not_search_nor_a_root_that_only_looks(columns, expected):
    assert expected is may_search(a_chat(**columns).chat)
