"""Some tools of a server are left out, and those of several servers get names of their own."""

import json
from dataclasses import replace
from uuid import UUID

import pytest

from actors.chat.turn.ports import LocalTool
from actors.law.parts.prompt import ToolDefinition
from actors.tools.call_checks import schema_fault
from adapters.tools.mcp import listing as listing_of_servers
from adapters.tools.mcp.http import ServerAddress, Visit
from adapters.tools.mcp.listing import (
    ServerTool,
    ToolServer,
    accepted_schema,
    all_distinct,
    arguments_of,
    distinct,
    is_allowed,
    offered_schema,
    tool_name,
    tools_of,
    workspace_server,
)
from adapters.tools.mcp.sdk.clients import connect
from adapters.tools.mcp.servers import ServerConfig
from tests.effort import counted
from tests.fakes.tool_server import a_server, listing, tool


def a_tool(slug, name, id=None):
    source = ToolServer(id, slug, slug, allows=lambda tool: True)
    return ServerTool(source, name, LocalTool(ToolDefinition(tool_name(slug, name), "", "{}"), 1.0))


def named(*tools):
    return [(tool.offered_name, tool.source.id, tool.name) for tool in all_distinct(tools)]


def test_a_workspace_takes_no_name_from_a_server_that_is_set_up():
    ours = UUID("f" * 32)

    found = named(a_tool("0", "push"), a_tool("0", "push", ours))

    assert [("0__push", ours, "push"), ("0__push_2", None, "push")] == found


def test_names_do_not_depend_on_who_answers_first():
    one, two = UUID(int=1), UUID(int=2)
    tools = [a_tool("a", "x/", one), a_tool("a", "x.", one), a_tool("a", "x-", two)]
    tools += [a_tool("a", "x_"), a_tool("b", "y")]

    found = named(*tools)

    assert found == named(*reversed(tools))
    assert ["a__x-", "a__x_", "a__x__2", "a__x__3", "b__y"] == [name for name, _, _ in found]


def test_many_tools_of_one_name_are_named_about_as_fast_as_others():
    """A workspace may bring 32 servers with 500 tools each, and no letter that a name may have."""
    others = [a_tool("a", f"tool{number}") for number in range(3_000)]
    alike = [a_tool("\u30c4" * 64, f"tool{number}") for number in range(3_000)]

    with counted() as usual:
        all_distinct(others)
    with counted() as effort:
        found = all_distinct(alike)

    assert 3_000 == len({tool.offered_name for tool in found})
    assert effort.calls < 20 * usual.calls


def config(**more):
    return ServerConfig(display_name="a", slug="a", url="http://h/", **more)


@pytest.mark.parametrize(
    ("slug", "tool", "name"),
    [
        ("wiki", "read", "wiki__read"),
        ("wiki", "read page/ü", "wiki__read_page__"),
        ("wiki", "x" * 80, "wiki__" + "x" * 58),
    ],
)
def test_a_name_is_fit_for_every_provider(slug, tool, name):
    assert name == tool_name(slug, tool)


def test_two_tools_of_one_name_get_numbers():
    assert "a_3" == distinct("a", {"a": 1, "a_2": 1})
    assert "x" * 62 + "_2" == distinct("x" * 64, {"x" * 64: 1})


@pytest.mark.parametrize(
    ("allow", "deny", "allowed"),
    [
        ((), (), True),
        (("b",), (), False),
        (("a",), (), True),
        (("a",), ("a",), False),
        ((), ("a",), False),
        ((), ("b",), True),
    ],
)
def test_what_is_denied_stays_denied(allow, deny, allowed):
    assert allowed is is_allowed("a", config(tool_allow_list=allow, tool_deny_list=deny))


def test_a_schema_is_an_object_with_properties_and_without_an_empty_required():
    shown = json.loads(offered_schema({"required": []}, with_intent=False))

    assert {"type": "object", "properties": {}} == shown


def test_a_schema_with_intent_wraps_the_one_of_the_server():
    shown = json.loads(
        offered_schema({"type": "object", "properties": {"a": {}}}, with_intent=True)
    )

    assert ["model_intent", "properties"] == shown["required"]
    assert {"type": "object", "properties": {"a": {}}} == shown["properties"]["properties"]


@pytest.mark.parametrize(
    ("args", "with_intent", "sent"),
    [
        ('{"a": 1}', False, {"a": 1}),
        (None, False, {}),
        ("[1]", False, None),
        ("{", False, None),
        ('{"model_intent": "x", "properties": {"a": 1}}', True, {"a": 1}),
        ('{"model_intent": "x", "a": 1}', True, {"a": 1}),
    ],
)
def test_arguments_are_sent_as_the_server_knows_them(args, with_intent, sent):
    assert sent == arguments_of(args, with_intent=with_intent)


@pytest.mark.parametrize(
    ("arguments", "fits"),
    [
        ({"model_intent": "to look", "properties": {"q": "x"}}, True),
        ({"properties": {"q": "x"}}, True),
        ({"q": "x"}, True),
        ({"model_intent": "to look", "q": "x"}, True),
        ({"model_intent": "to look", "properties": {}}, False),
        ({"model_intent": "to look", "properties": {"q": 1}}, False),
        ({}, False),
    ],
)
def test_arguments_beside_an_intent_are_checked_however_they_are_wrapped(arguments, fits):
    schema = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}

    accepted = json.loads(accepted_schema(schema))

    assert fits is (schema_fault(arguments, accepted, strict=False) is None)


@pytest.mark.parametrize("with_intent", [False, True])
async def test_a_tool_whose_schema_no_provider_could_read_is_left_out(with_intent):
    """Python's servers write such numbers unless they are told not to."""
    endless = {"type": "object", "properties": {"n": {"maximum": float("inf")}}}
    answers = {"tools/list": listing(tool("a", "", endless), tool("b"))}
    source = replace(workspace_server("s"), with_intent=with_intent)
    async with a_server(answers) as s, connect(ServerAddress(s.url), Visit()) as client:
        found = await tools_of(client, source)

    assert ["b"] == [tool.name for tool in found]


async def test_a_schema_that_is_too_big_hides_no_other_and_all_have_a_bound(monkeypatch):
    monkeypatch.setattr(listing_of_servers, "SCHEMA_BYTES_MAX", 200)
    monkeypatch.setattr(listing_of_servers, "SCHEMAS_BYTES_MAX", 300)
    sizes = {"a": 900, "b": 100, "c": 190, "d": 100, "e": 1}
    tools = [tool(name, "", {"x": "y" * (size - 40)}) for name, size in sizes.items()]
    answers = {"tools/list": listing(*tools)}
    async with a_server(answers) as s, connect(ServerAddress(s.url), Visit()) as client:
        found = await tools_of(client, workspace_server("s"))

    assert ["b", "c"] == [tool.name for tool in found]
