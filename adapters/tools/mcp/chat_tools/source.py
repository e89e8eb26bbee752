"""The tools of servers: listed once for a turn, called as often as the model likes.

All servers of a chat are asked at once, and none of them has more than its seconds: one that is
slow or broken has no tools in this turn, and the next turn asks it again. One that a workspace
names may come in the middle of a turn, when it is ready.
"""

import json
from collections.abc import Awaitable, Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Protocol

import trio
from msgspec import Meta, Struct

from actors.chat.turn.ports import LocalTool, Models, ToolInvocation, ToolOutput
from actors.chat.turn.steps import error_output
from actors.law.chat import Chat, ChatError, Message, Role
from actors.law.ids import ChatId, MessageId
from actors.law.parts.message import JsonText
from actors.law.parts.prompt import ToolDefinition
from actors.law.store.hints import ChatMoved, News
from actors.law.store.ports import Bus
from actors.tools.gating import kind_of
from adapters.settings.caching import Cache
from adapters.tools.dispatch import read_arguments, schema_of
from adapters.tools.mcp.chat_tools import search as finding
from adapters.tools.mcp.chat_tools.results import output_of
from adapters.tools.mcp.chat_tools.search import FIND_TOOLS, DeferredTool
from adapters.tools.mcp.faults import ServerFault
from adapters.tools.mcp.listing import ServerTool, all_distinct, arguments_of
from adapters.tools.mcp.servers import McpServer, used_by
from adapters.tools.mcp.tolerance import RawResult
from adapters.tools.mcp.wiring import ServerCalls
from adapters.tools.mcp.workspaces.servers import WorkspaceServers

TURNS_MAX = 2_000  # whose lists are kept; the one not asked for longest is made anew
KEEP_SECONDS = 3_600.0  # of a turn that takes longer: then its servers are asked once more
FIND_SECONDS = 10.0
TAKEN_AWAY = "the server of this tool has been taken away; go on without it"


@dataclass(frozen=True, slots=True)
class ListedTurn:
    """The key under which a list of tools is kept: a turn, and the servers that were asked.

    A turn is known by its chat and the user's message that began it. Other servers in the same turn
    make another list. `full_chat` is what the servers are asked for, and no part of the key.
    """

    chat: ChatId
    begun_by: MessageId | None
    servers: Hashable
    full_chat: Chat = field(compare=False)


class TurnLists:
    """The lists of tools of turns: one for each chat, read once and kept until its turn ends."""

    def __init__(self, read: Callable[[ListedTurn], Awaitable[Sequence[ServerTool]]]) -> None:
        self._lists: Cache[ListedTurn, Sequence[ServerTool]] = Cache(
            read, keep_seconds=KEEP_SECONDS, max_entries=TURNS_MAX
        )
        self._last: dict[ChatId, ListedTurn] = {}

    async def of(self, turn: ListedTurn) -> Sequence[ServerTool]:
        if self._last.get(turn.chat) != turn:
            self.forget(turn.chat)
            self._last[turn.chat] = turn
            if len(self._last) > TURNS_MAX:
                self.forget(next(iter(self._last)))
        return await self._lists.get(turn)

    def forget(self, chat: ChatId) -> None:
        if (turn := self._last.pop(chat, None)) is not None:
            self._lists.drop(turn)


class FindTools(Struct, frozen=True):
    queries: Annotated[
        list[str],
        Meta(description="Words for what a tool should do; `server: words` looks at one server."),
    ] = []
    names: Annotated[list[str], Meta(description="Names of tools, as the catalogue has them.")] = []


class NoteSearch(Protocol):
    """Counts the searches of models for tools."""

    def __call__(self, matches: int | None, activated: int = 0) -> None:
        """Count a search for tools: how many it found, None if it was refused, and how many of them
        are described to the model from now on."""
        ...


def _uncounted(matches: int | None, activated: int = 0) -> None:
    pass


class ServerTools:
    """The tools of servers as a source of the toolbox (`adapters.tools.toolbox.ToolSource`). It
    follows the bus as long as it is used."""

    def __init__(
        self,
        calls: ServerCalls,
        workspace_mcp: WorkspaceServers,
        models: Models,
        note_search: NoteSearch = _uncounted,
    ) -> None:
        self._calls = calls
        self._note_search = note_search
        self._workspace_mcp = workspace_mcp
        self._models = models
        self._set_up = TurnLists(self._listed)
        self._named = TurnLists(self._looked)

    @contextmanager
    def follow(self, bus: Bus) -> Iterator[None]:
        with bus.follow(self.hear, ChatMoved):
            yield

    def hear(self, news: News) -> None:
        """Forget the lists of a turn that is over."""
        if isinstance(news, ChatMoved) and news.status.ends_a_turn:
            for each in (self._set_up, self._named, self._workspace_mcp):
                each.forget(news.chat)

    async def offered(self, chat: Chat, history: Sequence[Message]) -> Sequence[LocalTool]:
        tools = await self._tools(chat, history)
        if not tools:
            return ()
        window = await self._window(chat)
        starts, tools = _split(tools)
        deferred = list(map(_deferred, tools))
        if not finding.are_too_many(deferred, window):
            return [tool.local for tool in (*starts, *tools)]
        active = finding.activated(history, deferred, window)
        shown = (replace(tool.local, hidden=tool.offered_name not in active) for tool in tools)
        return [_find_tools(deferred, window), *(start.local for start in starts), *shown]

    async def run(self, calling: ToolInvocation, name: str) -> ToolOutput:
        tools = await self._tools(calling.chat, calling.history)
        if name == FIND_TOOLS:
            return await self._find(calling, tools)
        tool = next((tool for tool in tools if tool.offered_name == name), None)
        if tool is None:
            return error_output(TAKEN_AWAY)
        if tool.local.start is not None:
            return await self._started(calling, tool)
        arguments = arguments_of(calling.call.args, with_intent=tool.source.with_intent)
        if arguments is None:
            return error_output("the arguments are not a JSON object; call it again with one")
        try:
            return output_of(await self._called(calling.chat, tool, arguments))
        except ServerFault as fault:
            return error_output(str(fault))

    async def _started(self, calling: ToolInvocation, start: ServerTool) -> ToolOutput:
        name = start.source.name
        try:
            await self._workspace_mcp.start(calling.chat, name)
        except ServerFault as fault:
            return error_output(str(fault))
        _, tools = _split(await self._tools(calling.chat, calling.history))
        its = [
            each.offered_name
            for each in tools
            if each.source.id is None and each.source.name == name
        ]
        return ToolOutput(JsonText(json.dumps({"started": name, "tools": its})))

    async def _called(self, chat: Chat, tool: ServerTool, arguments: dict[str, Any]) -> RawResult:
        if tool.source.id is None:
            return await self._workspace_mcp.call(chat, tool.source.name, tool.name, arguments)
        server = (await self._calls.registry.servers()).get(tool.source.id)
        if server is None or not server.config.enabled:
            raise ServerFault(TAKEN_AWAY)
        return await self._calls.call(chat, server, tool.name, arguments)

    async def _find(self, calling: ToolInvocation, tools: Sequence[ServerTool]) -> ToolOutput:
        asked = read_arguments(FindTools, calling.call.args or "{}")
        if isinstance(asked, str):
            self._note_search(None)
            return error_output(asked)
        if not (asked.queries or asked.names):
            self._note_search(None)
            return error_output("queries and names are both empty; say what to look for")
        deferred = list(map(_deferred, _split(tools)[1]))
        window = await self._window(calling.chat)
        found = finding.find(deferred, asked.queries, asked.names, window)
        self._note_search(len(found.matches), len(found.activated))
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
        """Return the tools of all servers: those that are set up, and those that the workspace
        names, asked at once."""
        servers = await self._calls.registry.servers()
        used = tuple(server.id for server in used_by(chat, servers))
        number, by = self._workspace_mcp.listing_number(chat), _begun_by(history)
        if not (used or number):
            return ()
        found: list[ServerTool] = []

        async def ask(lists: TurnLists, servers: Hashable) -> None:
            found.extend(await lists.of(ListedTurn(chat.id, by, servers, chat)))

        async with trio.open_nursery() as together:
            if used:
                together.start_soon(ask, self._set_up, (kind_of(chat), used))
            if number:
                together.start_soon(ask, self._named, number)
        return all_distinct(found)

    async def _listed(self, turn: ListedTurn) -> Sequence[ServerTool]:
        servers = await self._calls.registry.servers()
        found: list[ServerTool] = []

        async def ask(server: McpServer) -> None:
            found.extend(await self._calls.tools(turn.full_chat, server))

        async with trio.open_nursery() as together:
            for server in used_by(turn.full_chat, servers):
                together.start_soon(ask, server)
        return found

    async def _looked(self, turn: ListedTurn) -> Sequence[ServerTool]:
        return await self._workspace_mcp.tools(turn.full_chat)

    async def _window(self, chat: Chat) -> int | None:
        model = await self._models.model_for(chat)
        return None if isinstance(model, ChatError) else model.context_limit


def _begun_by(history: Sequence[Message]) -> MessageId | None:
    said = (row.id for row in reversed(history) if row.body.role is Role.USER)
    return next(said, None)


def _split(tools: Sequence[ServerTool]) -> tuple[Sequence[ServerTool], Sequence[ServerTool]]:
    """Return the tools that start servers, which are few and small and never deferred; and the
    others."""
    starts = [tool for tool in tools if tool.local.start is not None]
    return starts, [tool for tool in tools if tool.local.start is None]


def _deferred(tool: ServerTool) -> DeferredTool:
    told = tool.local.tool
    return DeferredTool(told.name, tool.source.name, told.description, told.schema)


def _find_tools(tools: Sequence[DeferredTool], window: int | None) -> LocalTool:
    says = (
        "Find tools that are not described to you yet, and have them described from the next step"
        " on. A tool whose name you know may also be called at once. There are:\n"
        + finding.catalogue(tools, window)
    )
    tool = ToolDefinition(FIND_TOOLS, says, schema_of(FindTools))
    return LocalTool(tool, FIND_SECONDS, serial=True, repeatable=True, strict=True)
