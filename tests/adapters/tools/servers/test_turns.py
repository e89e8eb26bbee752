"""What is listed when: once in a turn, and again if something has come of a workspace."""

from actors.parts.prompt import Tool
from actors.turn.ports import LocalTool
from adapters.mcp.listing import ServerTool, Source
from tests.adapters.mcp.given import HISTORY, NoWorkspaces, configured, names, said, tools_of, using
from tests.fakes.tool_server import a_server


class Near(NoWorkspaces):
    """A workspace with so many servers that are ready."""

    def __init__(self):
        self.ready = self.looks = 0

    def near(self, chat):
        return 1 + self.ready

    async def tools(self, chat):
        self.looks += 1
        source = Source(None, "kit", "kit", allows=lambda tool: True)
        local = [LocalTool(Tool(f"kit__{at}", "", "{}"), 1.0) for at in range(self.ready)]
        return [ServerTool(source, each.tool.name, each) for each in local]


async def test_what_comes_in_the_middle_of_a_turn_is_there_and_nobody_else_is_asked_again():
    async with (
        a_server() as wire,
        tools_of(one := configured(wire), near=(near := Near())) as tools,
    ):
        found = []
        for near.ready in (0, 0, 1, 1, 2):
            found.append(await names(tools, using(one)))

    assert [["one__echo"]] * 2 == found[:2]
    assert [["kit__0", "one__echo"]] * 2 == found[2:4]
    assert ["kit__0", "kit__1", "one__echo"] == found[4]
    assert (1, 3) == (wire.methods().count("tools/list"), near.looks)


async def test_the_next_turn_looks_anew():
    async with tools_of(near=(near := Near())) as tools:
        for history in (HISTORY, HISTORY, (*HISTORY, said("again", 2))):
            await names(tools, using(), history)

    assert 2 == near.looks
