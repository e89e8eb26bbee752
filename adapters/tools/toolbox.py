"""All tools of a turn, from wherever they come: our own, those of servers, those of the client.

A source says what it offers to a chat, and runs it. Its order is the order in which the model is
told of it; of two tools of one name the first is there, the other is not.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Protocol

from actors.chat.turn.ports import Calling, LocalTool, OfferedTools, ToolOutput
from actors.law.chat import Chat, Message
from actors.law.ids import chat_name
from actors.tools.gating import is_allowed, kind_of
from adapters.tools.declared import DeclaredTools
from runtime.log import emit


class ToolSource(Protocol):
    """Where tools come from."""

    async def offered(self, chat: Chat, history: Sequence[Message]) -> Sequence[LocalTool]:
        """Asked at every attempt: what takes long is remembered for the turn."""
        ...

    async def run(self, calling: Calling, name: str) -> ToolOutput:
        """`name` is the tool's own, whatever it was called by."""
        ...


@dataclass(frozen=True, slots=True)
class Box:
    """Fulfils `actors.chat.turn.ports.Toolset`."""

    offered: OfferedTools
    # By the names of their tools.
    sources: Mapping[str, ToolSource] = field(default_factory=lambda: MappingProxyType({}))

    async def run(self, calling: Calling) -> ToolOutput:
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

    async def for_turn(self, chat: Chat, history: Sequence[Message]) -> Box:
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
        return Box(OfferedTools(tuple(local.values()), declared), sources)
