"""What is listed when: once in a turn, and again if something has come of a workspace."""

import json
from uuid import UUID

import pytest

from actors.chat.turn.ports import LocalTool
from actors.law.parts.prompt import ToolDefinition
from adapters.tools.mcp.chat_tools.search import FIND_TOOLS
from adapters.tools.mcp.listing import ServerTool, ToolServer
from adapters.tools.mcp.workspaces.config_file import NamedEntry, NamedProgram
from adapters.tools.mcp.workspaces.named_server import start_tool
from tests.adapters.tools.mcp.given import (
    HISTORY,
    NoWorkspaces,
    calling,
    configured,
    names,
    said,
    tools_of,
    using,
)
from tests.fakes.tool_server import a_server

ASKS = '{"queries": ["anything"]}'


class Near(NoWorkspaces):
    """A workspace with so many servers that are ready."""

    def __init__(self):
        self.ready = self.looks = 0

    def listing_number(self, chat):
        return 1 + self.ready

    async def tools(self, chat):
        self.looks += 1
        source = ToolServer(None, "kit", "kit", allows=lambda tool: True)
        local = [LocalTool(ToolDefinition(f"kit__{at}", "", "{}"), 1.0) for at in range(self.ready)]
        return [ServerTool(source, each.tool.name, each) for each in local]


async def test_what_comes_in_the_middle_of_a_turn_is_there_and_nobody_else_is_asked_again():
    async with (
        a_server() as wire,
        tools_of(one := configured(wire), workspace_mcp=(near := Near())) as tools,
    ):
        found = []
        for near.ready in (0, 0, 1, 1, 2):
            found.append(await names(tools, using(one)))

    assert [["one__echo"]] * 2 == found[:2]
    assert [["kit__0", "one__echo"]] * 2 == found[2:4]
    assert ["kit__0", "kit__1", "one__echo"] == found[4]
    assert (1, 3) == (wire.methods().count("tools/list"), near.looks)


async def test_the_next_turn_looks_anew():
    async with tools_of(workspace_mcp=(near := Near())) as tools:
        for history in (HISTORY, HISTORY, (*HISTORY, said("again", 2))):
            await names(tools, using(), history)

    assert 2 == near.looks


class Unstarted(Near):
    """A workspace with a server that nobody has allowed yet, beside many tools of another."""

    async def tools(self, chat):
        named = NamedEntry("new", NamedProgram("sh"))
        return [*await super().tools(chat), start_tool(UUID(int=1), named)]


@pytest.mark.parametrize(("window", "count"), [(200_000, 3), (400, 40)])
async def test_a_server_that_can_be_started_is_told_of_however_many_tools_there_are(window, count):
    async with tools_of(workspace_mcp=(near := Unstarted()), window=window) as tools:
        near.ready = count
        offered = await tools.offered(using(), HISTORY)
        found = json.loads((await tools.run(calling(using(), FIND_TOOLS, ASKS), FIND_TOOLS)).result)

    told = [tool.tool.name for tool in offered if not tool.hidden]
    assert "new__start_server" in told
    assert (count == 40) is (FIND_TOOLS in told)
    assert count == found["total_deferred"]
