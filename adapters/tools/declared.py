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
from actors.parts.model import JsonText
from actors.parts.prompt import Tool

CHATS_MAX = 4_096  # whose tools are kept; the one that was asked for longest ago is read again

Read = Callable[[ChatId], Awaitable[Sequence[DynamicTool]]]


class DeclaredTools:
    """Of all chats, read when they are needed."""

    def __init__(self, read: Read) -> None:
        self._read = read
        self._known: OrderedDict[ChatId, tuple[Tool, ...]] = OrderedDict()

    async def of(self, chat: Chat) -> tuple[Tool, ...]:
        """In the order in which they were declared. A chat that plans has none."""
        if not chat.dynamic_tools or chat.is_planning:
            return ()
        if chat.id not in self._known:
            found = await self._read(chat.id)
            self._known[chat.id] = tuple(map(_tool, found))
            if len(self._known) > CHATS_MAX:
                self._known.popitem(last=False)
        self._known.move_to_end(chat.id)
        return self._known[chat.id]


def _tool(declared: DynamicTool) -> Tool:
    """Clients may leave out of a schema what every provider wants to see in it."""
    schema = msgspec.json.decode(declared.input_schema)
    whole = {"type": "object", "properties": {}, **schema}
    return Tool(declared.name, declared.description, JsonText(msgspec.json.encode(whole).decode()))
