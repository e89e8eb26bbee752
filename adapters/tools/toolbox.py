"""The tools of a turn, from several sources: built-in ones, those of servers, those of plugins, and
those that the chat's client executes.

A source says what it offers to a chat, and runs it. The order of sources is the order in which a
model is told of their tools; of two tools of one name the first counts. A tool that runs here is
offered to the kinds of chats that `actors.tools.gating` names, or to root chats that work if it
names none.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Protocol

import msgspec

from actors.chat.turn.ports import LocalTool, OfferedTools, ToolInvocation, ToolOutput
from actors.law.chat import Chat, Message
from actors.law.ids import ChatId, chat_name
from actors.law.parts.json_text import nests_too_deep
from actors.law.parts.message import JsonText
from actors.law.parts.prompt import ToolDefinition
from actors.law.requests import DynamicTool
from actors.tools.gating import is_allowed, kind_of, may_use_dynamic_tools
from adapters.settings.caching import RecentlyUsed
from runtime.log import emit

NO_PARAMETERS = JsonText('{"type":"object","properties":{}}')
_REFERRED_TO = ("$defs", "definitions")  # by the descriptions of parameters
# Of chats whose tools are kept, and of what is kept of them; those that were asked for longest ago
# are read again.
CHATS_MAX = 4_096
CHARACTERS_MAX = 32 * 1024 * 1024

ReadDeclared = Callable[[ChatId], Awaitable[Sequence[DynamicTool]]]


class DeclaredTools:
    """The tools that the clients of chats execute; none runs here.

    What a chat was born with never changes, so it is read once, and not at all for a chat without
    such tools. Clients may declare what no provider takes, and a chat would then never be answered
    again: of a schema only what describes parameters is passed on, as far as it does.
    """

    def __init__(self, read: ReadDeclared) -> None:
        self._read = read
        self._known: RecentlyUsed[ChatId, tuple[ToolDefinition, ...]] = RecentlyUsed(
            CHATS_MAX, max_weight=CHARACTERS_MAX, weight_of=_size
        )

    async def of(self, chat: Chat) -> tuple[ToolDefinition, ...]:
        """Return the tools of a chat, in the order in which they were declared."""
        if not chat.dynamic_tools or not may_use_dynamic_tools(kind_of(chat)):
            return ()
        known = self._known.get(chat.id)
        if known is None:
            known = tuple(_tool(chat, each) for each in await self._read(chat.id))
            self._known.put(chat.id, known)
        return known


def _size(tools: Sequence[ToolDefinition]) -> int:
    return sum(len(tool.name) + len(tool.description) + len(tool.schema) for tool in tools)


def _tool(chat: Chat, declared: DynamicTool) -> ToolDefinition:
    schema = parameters(declared.input_schema)
    if schema is None:
        emit("tool.unreadable", "warning", chat=chat_name(chat.id), tool=declared.name)
        schema = NO_PARAMETERS
    return ToolDefinition(declared.name, declared.description, schema)


def parameters(declared: str) -> JsonText | None:
    """Return what a model is told of the parameters, or None if that cannot be made out."""
    try:
        schema = msgspec.json.decode(declared, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError):
        return None
    if nests_too_deep(declared):
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
    """Return the required names once each: providers refuse what is empty, comes twice, or names
    nothing."""
    names = said if isinstance(said, list) else []
    return [name for name in properties if name in names]


class ToolSource(Protocol):
    """A source of tools. It is given to the toolbox when that is built."""

    async def offered(self, chat: Chat, history: Sequence[Message]) -> Sequence[LocalTool]:
        """Return the tools that this chat has of it. Asked at every attempt, so what takes long is
        remembered for the turn."""
        ...

    async def run(self, calling: ToolInvocation, name: str) -> ToolOutput:
        """Run a call. `name` is the tool's own, whatever it was called by. An error of the call is
        its output; what is raised is a bug."""
        ...


@dataclass(frozen=True, slots=True)
class TurnTools:
    """Fulfils `actors.chat.turn.ports.Toolset`."""

    offered: OfferedTools
    # By the names of their tools.
    sources: Mapping[str, ToolSource] = field(default_factory=lambda: MappingProxyType({}))

    async def run(self, calling: ToolInvocation) -> ToolOutput:
        called = calling.call.name
        name = next(
            (tool.tool.name for tool in self.offered.local if called in tool.aliases), called
        )
        return await self.sources[name].run(calling, name)


class Toolbox:
    """Fulfils `actors.chat.turn.ports.Tools`."""

    def __init__(self, declared: DeclaredTools, sources: Sequence[ToolSource]) -> None:
        self._declared = declared
        self._sources = sources

    async def for_turn(self, chat: Chat, history: Sequence[Message]) -> TurnTools:
        local: dict[str, LocalTool] = {}
        sources: dict[str, ToolSource] = {}
        kind = kind_of(chat)
        for source in self._sources:
            for tool in await source.offered(chat, history):
                name = tool.tool.name
                # A server's tools are gated with their server, and a plugin's by their source.
                if not (tool.is_foreign or tool.plugin or is_allowed(name, kind)):
                    continue
                if name in local:
                    emit("tool.shadowed", "warning", chat=chat_name(chat.id), tool=name)
                    continue
                local[name], sources[name] = tool, source
        declared = await self._declared.of(chat)
        for name in (theirs.name for theirs in declared):
            if name in local:  # what runs here is what is called
                emit("tool.shadowed", "warning", chat=chat_name(chat.id), tool=name)
        return TurnTools(OfferedTools(tuple(local.values()), declared), sources)
