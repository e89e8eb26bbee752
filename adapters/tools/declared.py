"""The tools that a chat's client executes. None runs here.

What a chat was born with never changes, so it is read once, and not at all for a chat without such
tools. Clients may declare what no provider takes, and a chat would then never be answered again: of
a schema only what describes parameters is passed on, as far as it does.
"""

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import msgspec

from actors.law.chat import Chat
from actors.law.ids import ChatId, chat_name
from actors.law.parts.message import JsonText
from actors.law.parts.prompt import ToolDefinition
from actors.law.requests import DynamicTool
from actors.tools.gating import kind_of, may_use_others
from runtime.log import emit

NO_PARAMETERS = JsonText('{"type":"object","properties":{}}')
_REFERRED_TO = ("$defs", "definitions")  # by the descriptions of parameters
# Of chats whose tools are kept, and of what is kept of them; those that were asked for longest ago
# are read again.
CHATS_MAX = 4_096
CHARACTERS_MAX = 32 * 1024 * 1024

Read = Callable[[ChatId], Awaitable[Sequence[DynamicTool]]]


class DeclaredTools:
    """Of all chats, read when they are needed."""

    def __init__(self, read: Read) -> None:
        self._read = read
        self._known: OrderedDict[ChatId, tuple[ToolDefinition, ...]] = OrderedDict()
        self._size = 0

    async def of(self, chat: Chat) -> tuple[ToolDefinition, ...]:
        """In the order in which they were declared."""
        if not chat.dynamic_tools or not may_use_others(kind_of(chat)):
            return ()
        if chat.id not in self._known:
            found = await self._read(chat.id)
            self._keep(chat.id, tuple(_tool(chat, each) for each in found))
        self._known.move_to_end(chat.id)
        return self._known[chat.id]

    def _keep(self, chat: ChatId, tools: tuple[ToolDefinition, ...]) -> None:
        if chat not in self._known:  # somebody else may have read it meanwhile
            self._known[chat] = tools
            self._size += _size(tools)
        while len(self._known) > 1 and (
            len(self._known) > CHATS_MAX or self._size > CHARACTERS_MAX
        ):
            _, oldest = self._known.popitem(last=False)
            self._size -= _size(oldest)


def _size(tools: Sequence[ToolDefinition]) -> int:
    return sum(len(tool.name) + len(tool.description) + len(tool.schema) for tool in tools)


def _tool(chat: Chat, declared: DynamicTool) -> ToolDefinition:
    schema = parameters(declared.input_schema)
    if schema is None:
        emit("tool.unreadable", "warning", chat=chat_name(chat.id), tool=declared.name)
        schema = NO_PARAMETERS
    return ToolDefinition(declared.name, declared.description, schema)


def parameters(declared: str) -> JsonText | None:
    """What a model is told of the parameters; None: that cannot be made out."""
    try:
        schema = msgspec.json.decode(declared, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError):
        return None
    found = schema.get("properties", {})
    if not isinstance(found, dict):
        return None
    properties = {name: about if isinstance(about, dict) else {} for name, about in found.items()}
    shown = {"type": "object", "properties": properties}
    if required := _required(schema.get("required"), properties):
        shown["required"] = required
    for name in _REFERRED_TO:
        if isinstance(schema.get(name), dict):
            shown[name] = schema[name]
    return JsonText(msgspec.json.encode(shown).decode())


def _required(said: object, properties: Mapping[str, object]) -> Sequence[str]:
    """Providers refuse what is empty, comes twice, or names nothing."""
    names = said if isinstance(said, list) else []
    return [name for name in properties if name in names]
