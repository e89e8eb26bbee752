"""The tools that a chat's client executes. None runs here.

What a chat was born with never changes, so it is read once, and not at all for a chat without such
tools.
"""

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence

import msgspec

from actors.ids import ChatId
from actors.machine.chat import Chat
from actors.machine.requests import DynamicTool
from actors.parts.model import JsonText, ToolCallPart
from actors.parts.prompt import Tool
from actors.turn.ports import LocalTool, ToolOutput

CHATS_MAX = 4_096  # whose tools are kept; the one that was asked for longest ago is read again

Read = Callable[[ChatId], Awaitable[Sequence[DynamicTool]]]


class DeclaredTools:
    """Fulfils `actors.turn.ports.Tools`."""

    def __init__(self, read: Read) -> None:
        self._read = read
        self._known: OrderedDict[ChatId, tuple[Tool, ...]] = OrderedDict()

    def offered(self, chat: Chat) -> tuple[LocalTool, ...]:
        return ()

    async def declared(self, chat: Chat) -> tuple[Tool, ...]:
        if not chat.dynamic_tools:
            return ()
        if chat.id not in self._known:
            found = await self._read(chat.id)
            self._known[chat.id] = tuple(map(_tool, found))
            if len(self._known) > CHATS_MAX:
                self._known.popitem(last=False)
        self._known.move_to_end(chat.id)
        return self._known[chat.id]

    async def run(self, chat: Chat, call: ToolCallPart) -> ToolOutput:
        raise AssertionError(f"{call.name}: no tool was offered, so none is run")


def _tool(declared: DynamicTool) -> Tool:
    """Clients may leave out of a schema what every provider wants to see in it."""
    schema = msgspec.json.decode(declared.input_schema)
    whole = {"type": "object", "properties": {}, **schema}
    return Tool(declared.name, declared.description, JsonText(msgspec.json.encode(whole).decode()))
