"""What tools are called when several servers have them."""

from uuid import UUID

from actors.chat.turn.ports import LocalTool
from actors.law.parts.prompt import ToolDefinition
from adapters.tools.mcp.listing import ServerTool, Source, all_distinct
from adapters.tools.mcp.naming import tool_name


def a_tool(slug, name, id=None):
    source = Source(id, slug, slug, allows=lambda tool: True)
    return ServerTool(source, name, LocalTool(ToolDefinition(tool_name(slug, name), "", "{}"), 1.0))


def named(*tools):
    return [(tool.here, tool.source.id, tool.name) for tool in all_distinct(tools)]


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
