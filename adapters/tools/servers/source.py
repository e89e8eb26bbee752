"""The tools of servers: listed once for a turn, called as often as the model likes.

All servers of a chat are asked at once, and none of them has more than its seconds: one that is
slow or broken has no tools in this turn, and the next turn asks it again.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Annotated, Any
from uuid import UUID

import trio
from msgspec import Meta, Struct

from actors.ids import ChatId, MessageId
from actors.machine.chat import Chat, ChatError, Message, Role
from actors.machine.states import Status
from actors.parts.model import JsonText
from actors.parts.prompt import Tool
from actors.store.bus import Bus
from actors.store.hints import ChatMoved, News
from actors.tools.gating import Kind, kind_of
from actors.turn.ports import Calling, LocalTool, Models, ToolOutput
from actors.turn.steps import error_output
from adapters.caching import Cache
from adapters.mcp.faults import Fault
from adapters.mcp.listing import ServerTool, all_distinct
from adapters.mcp.naming import arguments_of
from adapters.mcp.opening import Reached
from adapters.mcp.servers import Server, used_by
from adapters.mcp.tolerant import Result
from adapters.mcp.workspaces.running import WorkspaceServers
from adapters.tools.schemas import read, schema_of
from adapters.tools.servers import finding
from adapters.tools.servers.finding import FIND_TOOLS, Deferred
from adapters.tools.servers.results import output_of

TURNS_MAX = 2_000  # whose lists are kept; the one not asked for longest is made anew
KEEP_SECONDS = 3_600.0  # of a turn that takes longer: then its servers are asked once more
FIND_SECONDS = 10.0
TAKEN_AWAY = "the server of this tool has been taken away; go on without it"


class FindTools(Struct, frozen=True):
    queries: Annotated[
        list[str],
        Meta(description="Words for what a tool should do; `server: words` looks at one server."),
    ] = []
    names: Annotated[list[str], Meta(description="Names of tools, as the catalogue has them.")] = []


@dataclass(frozen=True, slots=True)
class Turn:
    """Which list it is: another turn, or other servers, make another list."""

    chat: ChatId
    begun_by: MessageId | None
    kind: Kind
    servers: tuple[UUID, ...]
    near: int  # which look at its workspace; 0: none
    whole: Chat = field(compare=False)


class ServerTools:
    """Fulfils `adapters.tools.toolbox.ToolSource`. It `follow`s the bus as long as it is used."""

    def __init__(self, reached: Reached, near: WorkspaceServers, models: Models) -> None:
        self._reached = reached
        self._near = near
        self._models = models
        self._lists: Cache[Turn, Sequence[ServerTool]] = Cache(
            self._listed, keep_seconds=KEEP_SECONDS, most=TURNS_MAX
        )
        self._last: dict[ChatId, Turn] = {}

    @contextmanager
    def follow(self, bus: Bus) -> Iterator[None]:
        with bus.follow_all(self.hear):
            yield

    def hear(self, news: News) -> None:
        """A turn that is over is never asked about again."""
        if isinstance(news, ChatMoved) and news.status is not Status.RUNNING:
            self._forget(news.chat)
            self._near.forget(news.chat)

    async def offered(self, chat: Chat, history: Sequence[Message]) -> Sequence[LocalTool]:
        tools = await self._tools(chat, history)
        if not tools:
            return ()
        window = await self._window(chat)
        deferred = list(map(_deferred, tools))
        if not finding.are_too_many(deferred, window):
            return [tool.local for tool in tools]
        active = finding.activated(history, deferred, window)
        shown = (replace(tool.local, hidden=tool.here not in active) for tool in tools)
        return [_find_tools(deferred, window), *shown]

    async def run(self, calling: Calling, name: str) -> ToolOutput:
        tools = await self._tools(calling.chat, calling.history)
        if name == FIND_TOOLS:
            return await self._find(calling, tools)
        tool = next((tool for tool in tools if tool.here == name), None)
        if tool is None:
            return error_output(TAKEN_AWAY)
        arguments = arguments_of(calling.call.args, with_intent=tool.source.with_intent)
        if arguments is None:
            return error_output("the arguments are not a JSON object; call it again with one")
        try:
            return output_of(await self._called(calling.chat, tool, arguments))
        except Fault as fault:
            return error_output(str(fault))

    async def _called(self, chat: Chat, tool: ServerTool, arguments: dict[str, Any]) -> Result:
        if tool.source.id is None:
            return await self._near.call(chat, tool.source.name, tool.name, arguments)
        server = (await self._reached.known.servers()).get(tool.source.id)
        if server is None or not server.config.enabled:
            raise Fault(TAKEN_AWAY)
        return await self._reached.call(chat, server, tool.name, arguments)

    async def _find(self, calling: Calling, tools: Sequence[ServerTool]) -> ToolOutput:
        asked = read(FindTools, calling.call.args or "{}")
        if isinstance(asked, str):
            return error_output(asked)
        if not (asked.queries or asked.names):
            return error_output("queries and names are both empty; say what to look for")
        deferred = list(map(_deferred, tools))
        window = await self._window(calling.chat)
        found = finding.find(deferred, asked.queries, asked.names, window)
        if found.matches and not found.activated:
            names = ", ".join(match.name for match in found.matches)
            return error_output(f"found {names}: too big to be shown, call one by its name")
        document = {
            "matches": [{"name": m.name, "description": m.summary} for m in found.matches],
            "activated": found.activated,
            "total_deferred": len(deferred),
        }
        return ToolOutput(JsonText(json.dumps(document, ensure_ascii=False)))

    async def _tools(self, chat: Chat, history: Sequence[Message]) -> Sequence[ServerTool]:
        servers = await self._reached.known.servers()
        used = tuple(server.id for server in used_by(chat, servers))
        near = self._near.near(chat)
        if not (used or near):
            return ()
        turn = Turn(chat.id, _begun_by(history), kind_of(chat), used, near, chat)
        if self._last.get(chat.id) != turn:
            self._forget(chat.id)
            self._last[chat.id] = turn
            if len(self._last) > TURNS_MAX:
                self._forget(next(iter(self._last)))
        return await self._lists.get(turn)

    async def _listed(self, turn: Turn) -> Sequence[ServerTool]:
        servers = await self._reached.known.servers()
        found: list[ServerTool] = []

        async def ask(server: Server) -> None:
            found.extend(await self._reached.tools(turn.whole, server))

        async def look() -> None:
            found.extend(await self._near.tools(turn.whole))

        async with trio.open_nursery() as together:
            if turn.near:
                together.start_soon(look)
            for id in turn.servers:
                if id in servers:
                    together.start_soon(ask, servers[id])
        return all_distinct(found)

    async def _window(self, chat: Chat) -> int | None:
        model = await self._models.model_for(chat)
        return None if isinstance(model, ChatError) else model.context_limit

    def _forget(self, chat: ChatId) -> None:
        if (turn := self._last.pop(chat, None)) is not None:
            self._lists.drop(turn)


def _begun_by(history: Sequence[Message]) -> MessageId | None:
    said = (row.id for row in reversed(history) if row.body.role is Role.USER)
    return next(said, None)


def _deferred(tool: ServerTool) -> Deferred:
    told = tool.local.tool
    return Deferred(told.name, tool.source.name, told.description, told.schema)


def _find_tools(tools: Sequence[Deferred], window: int | None) -> LocalTool:
    says = (
        "Find tools that are not described to you yet, and have them described from the next step"
        " on. A tool whose name you know may also be called at once. There are:\n"
        + finding.catalogue(tools, window)
    )
    tool = Tool(FIND_TOOLS, says, schema_of(FindTools))
    return LocalTool(tool, FIND_SECONDS, serial=True, repeatable=True, strict=True)
