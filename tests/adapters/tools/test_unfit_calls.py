"""Calls of our own tools that cannot be served: refused before a person is asked about them."""

import json

import pytest

from actors.law.parts.message import ToolCallPart
from actors.tools.approval_rules import Policy
from actors.tools.approvals import Consent, sort_calls
from actors.tools.call_checks import refusals
from adapters.tools.built_in import advisor, lifecycle, skills
from adapters.tools.built_in import agent_schemas as agents
from adapters.tools.built_in import workspace_schemas as workspace
from adapters.tools.built_in.agents import AgentTools
from adapters.tools.built_in.lifecycle import LifecycleTools
from adapters.tools.built_in.workspace import WorkspaceTools
from adapters.tools.dispatch import read_arguments
from tests.actors.law.chats import a_chat

OF = {  # what each tool reads its arguments as
    tool: source._deeds()[tool.tool.name][0]
    for source, tools in (
        (WorkspaceTools(None, None), workspace.TOOLS),
        (LifecycleTools(None), lifecycle.TOOLS),
        (AgentTools(None, None, None, None, None), agents.TOOLS),
    )
    for tool in tools
}
VALUES = [None, True, 1, 1.0, 1.5, "", "words", "00000000-0000-0000-0000-000000000001", [], {}]
VALUES += [[1], ["words"], [{}], [{"path": 1}], [{"path": "", "edits": [{}]}], {"a": 1}]


def fitting(schema):
    """Arguments as the model is told to write them."""
    match schema:
        case {"enum": [first, *_]}:
            return first
        case {"anyOf": [first, *_]}:
            return fitting(first)
        case {"format": "uuid"}:
            return VALUES[7]
        case {"type": "object"}:
            return {name: fitting(inner) for name, inner in schema.get("properties", {}).items()}
        case {"type": "array"}:
            return [fitting(schema["items"])]
        case {"type": kind}:
            return {"string": "words", "integer": 1, "number": 1.0, "boolean": True}[kind]
    raise AssertionError(schema)


def variations(tool):
    """Arguments that fit, and each of them left out or replaced by anything."""
    whole = fitting(json.loads(tool.tool.schema))
    yield whole
    for name in whole:
        yield {key: value for key, value in whole.items() if key != name}
        for value in VALUES:
            yield {**whole, name: value}


@pytest.mark.parametrize("tool", OF, ids=lambda tool: tool.tool.name)
def test_what_a_tool_cannot_read_is_refused_and_nothing_else(tool):
    for arguments in variations(tool):
        args = json.dumps(arguments)
        call = ToolCallPart("x", tool.tool.name, args)
        is_readable = not isinstance(read_arguments(OF[tool], args), str)
        refused = refusals([call], {tool.tool.name: tool})

        if is_readable:
            assert {} == refused, f"{args} can be read"
        elif not _is_about_its_content(read_arguments(OF[tool], args)):
            assert [call] == list(refused), f"{args}: {read_arguments(OF[tool], args)}"


def _is_about_its_content(fault):
    """The type is right. Whether a text is a UUID, or a number small enough, the tool says."""
    return "UUID" in fault or "<= " in fault or ">= " in fault or "length" in fault


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("execute", "{}"),
        ("execute", '{"command": ["ls"]}'),
        ("write_file", '{"path": "/a"}'),
        ("edit_files", "{}"),
        ("process_signal", '{"process_id": "1", "signal": "stop"}'),
        ("create_workspace", "[]"),
    ],
)
def test_nobody_is_asked_about_a_call_that_cannot_be_served(name, args):
    tools = {tool.tool.name: tool for tool in OF}
    call = ToolCallPart("x", name, args)

    found = sort_calls([call], a_chat().chat, tools, Consent(Policy.ASK))

    assert ((call,), (), {}) == (found.run, found.calls_to_approve, found.denied)


def test_all_tools_of_ours_are_strict():
    others = (advisor.TOOL, skills.READING, skills.READING_FILE)

    assert all(tool.strict for tool in (*OF, *others))
