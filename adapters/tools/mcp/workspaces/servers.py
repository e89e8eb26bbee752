"""The servers that workspaces name, of this process: each runs once for all chats of a workspace.

A chat has those that stood in the file when it took it in, and what the file says since then counts
when the chat is told to take it in anew. It uses one only with the consent that a start needs,
whether the server runs for another chat or not. With its workspace a server ends.
"""

import shlex
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Protocol, assert_never
from uuid import UUID

import trio

from actors.law.chat import Chat
from actors.law.ids import ChatId, UserId
from actors.tools.approval_rules import Policy
from actors.tools.approvals import ApprovalSettings
from actors.tools.gating import kind_of, may_use_workspace_servers
from actors.tools.workspaces import ChatWorkspace, Command, WorkspaceRefusal
from adapters.settings import Config
from adapters.tools.mcp.faults import ServerFault
from adapters.tools.mcp.http import ServerAddress, Visit
from adapters.tools.mcp.listing import ServerTool
from adapters.tools.mcp.oauth.guard import Network
from adapters.tools.mcp.sdk.loading import load_sdk
from adapters.tools.mcp.tolerance import RawResult
from adapters.tools.mcp.workspaces.config_file import (
    SERVERS_MAX,
    InvalidEntry,
    NamedAddress,
    NamedEntry,
    NamedProgram,
    read_config_file,
)
from adapters.tools.mcp.workspaces.named_server import (
    NamedServer,
    OpenSession,
    ServerSlots,
    start_tool,
    why_not_started,
)
from adapters.workspaces.commands.process_groups import Lifeline, open_lifeline
from adapters.workspaces.commands.sandbox import NoSandbox, Unconfined
from adapters.workspaces.local import LocalProcesses, LocalWorkspaces
from runtime.statistics import GaugeMetric

if TYPE_CHECKING:
    from mcp.client.client import Client

WORKSPACES_MAX = 2_000  # that are remembered; the one used longest ago is forgotten, if it rests
ENTRIES_MAX = 4 * SERVERS_MAX  # of a workspace, old ones among them; then those that rest go
NOT_UNCONFINED = (
    "programs that a workspace names are not begun where there is no sandbox;"
    ' the operator can set workspace_servers = "all"'
)
NO_NETWORK = "workspaces have no network here; the operator can set sandbox_network = true"
_GIVEN = "PROMPTCORNER_GIVEN_"


@dataclass(frozen=True, slots=True)
class WorkspaceTrust:
    """The things that a workspace may have us do because of its file."""

    is_read: bool = True
    unconfined: bool = False  # whether programs are begun where there is no sandbox
    network: bool = False  # as commands have it
    allowed: tuple[Network, ...] = ()  # networks of our own that its addresses may lead into


def trust_of(config: Config) -> WorkspaceTrust:
    return WorkspaceTrust(
        config.workspace_servers != "off",
        config.workspace_servers == "all",
        config.sandbox_network or config.sandbox == "none",
        tuple(config.private_networks),
    )


class ConfigFiles(Protocol):
    """Reads the files in which workspaces name servers of tools."""

    async def settings(self, chat: Chat) -> Sequence[str]:
        """Return the contents of the files that name servers, as the chat took them in. Of two
        that name the same server the first counts."""
        ...


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """A server as people see it, with its tools' names and words. An empty `name` is the file
    itself."""

    name: str
    tools: tuple[tuple[str, str], ...] = ()
    fault: str = ""
    is_allowed: bool = True  # to be started for the chat that is shown


@dataclass(frozen=True, slots=True)
class ConsentScope:
    """The chat in which a start would happen, as far as consent to it depends on that."""

    chat: ChatId
    root: ChatId
    owner: UserId
    approval_policy: str


def consent_scope_of(chat: Chat) -> ConsentScope:
    return ConsentScope(chat.id, chat.root, chat.owner_id, chat.approval_policy)


@dataclass(frozen=True, slots=True)
class WorkspaceServerStatistics:
    running: Annotated[int, GaugeMetric("MCP servers that run in workspaces.")]
    workspaces: Annotated[int, GaugeMetric("Workspaces whose MCP servers are remembered.")]


class WorkspaceServers:
    """The servers that workspaces name, of this process. Fulfils
    `adapters.workspaces.caretaker.WorkspaceListener`."""

    def __init__(
        self,
        workspaces: LocalWorkspaces,
        files: ConfigFiles,
        trust: WorkspaceTrust,
        approving: ApprovalSettings,
        *,
        slots: ServerSlots,
        lifeline: Lifeline,
    ) -> None:
        self._workspaces = workspaces
        self._files = files
        self._trust = trust
        self._approving = approving
        self._slots = slots
        self._lifeline = lifeline
        self._of: dict[UUID, dict[NamedEntry, NamedServer]] = {}
        self._moves: dict[ChatId, int] = {}  # of chats at work, as are these
        self._late: dict[ChatId, tuple[NamedServer, ...]] = {}

    def statistics(self) -> WorkspaceServerStatistics:
        return WorkspaceServerStatistics(self._slots.running, len(self._of))

    def listing_number(self, chat: Chat) -> int:
        """Return the number of the listing that a chat is to have: another one if something has
        changed since, 0 if it may have no servers of a workspace."""
        if not (self._trust.is_read and may_use_workspace_servers(kind_of(chat))):
            return 0
        if any(server.has_come for server in self._late.get(chat.id, ())):
            del self._late[chat.id]
            self._moves[chat.id] = self._moves.get(chat.id, 0) + 1
        moves = sum(self._moves.get(id, 0) for id in {chat.id, chat.root})
        has_one = chat.workspace_id is not None or not chat.is_root or moves
        return 1 + moves if has_one else 0

    def forget(self, chat: ChatId) -> None:
        """Forget a chat that has come to rest."""
        self._moves.pop(chat, None)
        self._late.pop(chat, None)

    def opened(self, chat: Chat) -> None:
        self._moves[chat.root] = self._moves.get(chat.root, 0) + 1

    async def closed(self, workspace: UUID) -> None:
        ending = self._of.pop(workspace, {}).values()
        for server in ending:
            server.leave()
        for server in ending:
            await server.wait_ended()

    def running(self) -> Mapping[UUID, int]:
        running = {
            id: [each.disk_mb for each in servers.values() if each.is_running]
            for id, servers in self._of.items()
        }
        return {id: max(disk_mbs) for id, disk_mbs in running.items() if disk_mbs}

    async def tools(self, chat: Chat) -> Sequence[ServerTool]:
        """Return the tools of all servers that its workspace names and the chat may start, within
        DISCOVERY_SECONDS; and of those that need a person's consent the tools that start them."""
        texts = await self._files.settings(chat)
        workspace = await self._workspaces.of(chat) if texts else None
        if not isinstance(workspace, ChatWorkspace):
            return ()
        named = [each for each in self._read(workspace.id, texts) if isinstance(each, NamedEntry)]
        consents = await self._consents(workspace.id, named, consent_scope_of(chat))
        is_free = await self._approving.consent_under(chat.approval_policy, chat.owner_id)
        servers = [
            self._server(workspace, each) for each, to in consents.items() if to is Policy.ALLOW
        ]
        found = [
            start
            for start in (start_tool(workspace.id, each, to) for each, to in consents.items())
            if is_free.to(start.local) is not Policy.ALLOW
        ]

        async def ask(server: NamedServer) -> None:
            found.extend(await server.listed())

        async with trio.open_nursery() as together:
            for server in servers:
                together.start_soon(ask, server)
        self._late[chat.id] = tuple(server for server in servers if server.is_late)
        return found

    async def start(self, chat: Chat, name: str) -> None:
        """Start a server, and have the turn list its tools; or raise `ServerFault`."""
        server = await self._allowed(chat, name)
        tools = await server.listed()
        self._list_anew(chat)
        if not tools and server.fault:
            raise ServerFault(server.fault)

    async def call(self, chat: Chat, name: str, tool: str, arguments: dict[str, Any]) -> RawResult:
        """Call a tool. ServerFault: it failed, or may not be called."""
        return await (await self._allowed(chat, name)).call(tool, arguments)

    async def seen(
        self, scope: ConsentScope, workspace: UUID, texts: Iterable[str]
    ) -> Sequence[ServerStatus]:
        """Return what these files name, as far as chats of this process have used it; and why this
        chat does not."""
        known = self._of.get(workspace, {})
        read = self._read(workspace, texts)
        named = [each for each in read if isinstance(each, NamedEntry)]
        consents = await self._consents(workspace, named, scope)
        return [_seen(each, known, consents) for each in read]

    async def _allowed(self, chat: Chat, name: str) -> NamedServer:
        """Return the server that the chat's file calls so now, with what it says of it now, if the
        chat may start that; or raise `ServerFault`. Then the turn lists its tools anew, because
        what it was told of holds no longer: its next step may ask for consent."""
        workspace = await self._workspaces.of(chat)
        if isinstance(workspace, WorkspaceRefusal):
            raise ServerFault(workspace.says)
        read = self._read(workspace.id, await self._files.settings(chat))
        named = next((each for each in read if each.name == name), None)
        if not isinstance(named, NamedEntry):
            raise ServerFault("the workspace does not name the server of this tool any more")
        consents = await self._consents(workspace.id, [named], consent_scope_of(chat))
        if why := why_not_started(consents[named]):
            self._list_anew(chat)
            raise ServerFault(why)
        return self._server(workspace, named)

    def _list_anew(self, chat: Chat) -> None:
        self._moves[chat.id] = self._moves.get(chat.id, 0) + 1

    async def _consents(
        self, workspace: UUID, named: Sequence[NamedEntry], scope: ConsentScope
    ) -> Mapping[NamedEntry, Policy]:
        """Return what would come of each start. What people have allowed is looked up only where a
        server would not be started without it."""
        starts = {each: start_tool(workspace, each).local for each in named}
        consent = await self._approving.consent_under(scope.approval_policy, scope.owner)
        found = {each: consent.to(start) for each, start in starts.items()}
        if all(to is Policy.ALLOW for to in found.values()):
            return found
        granted = await self._approving.grants.of(scope.root, scope.chat)
        consent = replace(consent, granted=granted)
        return {each: consent.to(start) for each, start in starts.items()}

    def _read(self, workspace: UUID, texts: Iterable[str]) -> Sequence[NamedEntry | InvalidEntry]:
        """Return the entries of all files; of each name the first."""
        variables = self._workspaces.variables(workspace)
        found: dict[str, NamedEntry | InvalidEntry] = {}
        for text in texts:
            for each in read_config_file(text.encode(), variables):
                found.setdefault(each.name, each)
        return list(found.values())

    def _server(self, workspace: ChatWorkspace, named: NamedEntry) -> NamedServer:
        servers = self._of[workspace.id] = self._of.pop(workspace.id, {})
        if named not in servers:
            if len(servers) >= ENTRIES_MAX:
                servers = self._of[workspace.id] = {
                    k: v for k, v in servers.items() if v.is_running
                }
            way, disk_mb = self._way(workspace, named), _disk_mb_of(workspace, named)
            servers[named] = NamedServer(workspace.id, named, way, self._slots, disk_mb)
            self._forget_one()
        return servers[named]

    def _forget_one(self) -> None:
        """Forget the workspace that was used longest ago, of those that rest. `_of` is in the order
        of use."""
        if len(self._of) > WORKSPACES_MAX:
            resting = (id for id, each in self._of.items() if not _any_runs(each.values()))
            if (oldest := next(resting, None)) is not None:
                del self._of[oldest]

    # how one is spoken with

    def _way(self, workspace: ChatWorkspace, named: NamedEntry) -> OpenSession | str:
        """Return how to open a session with the server, or why its workspace may not have us do
        that."""
        match named.target:
            case NamedProgram() as program:
                sandbox = self._workspaces.sandbox
                if isinstance(sandbox, NoSandbox):
                    return sandbox.says
                if isinstance(sandbox, Unconfined) and not self._trust.unconfined:
                    return NOT_UNCONFINED
                assert isinstance(workspace.processes, LocalProcesses), "it is on this machine"
                return partial(_spoken_with, workspace.processes, program, self._lifeline)
            case NamedAddress(url, headers, is_sse):
                if not self._trust.network:
                    return NO_NETWORK
                address = ServerAddress(url, dict(headers), is_sse, self._trust.allowed)
                return partial(_reached, address)
            case _:
                assert_never(named.target)


@asynccontextmanager
async def open_workspace_servers(
    workspaces: LocalWorkspaces,
    files: ConfigFiles,
    trust: WorkspaceTrust,
    approving: ApprovalSettings,
) -> AsyncIterator[WorkspaceServers]:
    """Give the servers that workspaces name. They run as long as the block does."""
    async with open_lifeline() as lifeline, trio.open_nursery() as nursery:
        slots = ServerSlots(nursery)
        servers = WorkspaceServers(
            workspaces, files, trust, approving, slots=slots, lifeline=lifeline
        )
        yield servers
        nursery.cancel_scope.cancel()


@asynccontextmanager
async def _spoken_with(
    processes: LocalProcesses, program: NamedProgram, lifeline: Lifeline
) -> AsyncIterator["Client"]:
    text, given = command_of(program)
    seconds = float(processes.workspace.seconds)
    spec = await processes.spec_of(Command(text), seconds_max=seconds)
    if isinstance(spec, WorkspaceRefusal):
        raise ServerFault(spec.says)
    spec = replace(spec, environment={**spec.environment, **given})
    async with (await load_sdk()).start(spec, lifeline) as client:
        yield client


@asynccontextmanager
async def _reached(address: ServerAddress) -> AsyncIterator["Client"]:
    async with (await load_sdk()).connect(address, Visit()) as client:
        yield client


def command_of(program: NamedProgram) -> tuple[str, Mapping[str, str]]:
    """Return what the shell runs, and the variables that it finds. Pure.

    The variables of the file stand there under names of ours, and get their own names inside:
    outside, the program that starts the sandbox must not obey them.
    """
    given = {f"{_GIVEN}{at}": value for at, (_, value) in enumerate(program.env)}
    run = f"exec {shlex.join([program.command, *program.args])}"
    if not given:
        return run, given
    sets = [f'{name}="${ours}"' for (name, _), ours in zip(program.env, given, strict=True)]
    return f"export {' '.join(sets)}; unset {' '.join(given)}; {run}", given


def _disk_mb_of(workspace: ChatWorkspace, named: NamedEntry) -> int:
    match named.target, workspace.processes:
        case NamedProgram(), LocalProcesses(workspace=row):
            return row.disk_mb
        case _:
            return 0


def _seen(
    each: NamedEntry | InvalidEntry,
    known: Mapping[NamedEntry, NamedServer],
    consents: Mapping[NamedEntry, Policy],
) -> ServerStatus:
    if isinstance(each, InvalidEntry):
        return ServerStatus(each.name, fault=each.why)
    if why := why_not_started(consents[each]):
        return ServerStatus(each.name, fault=why, is_allowed=False)
    server = known.get(each)
    if server is None:
        return ServerStatus(each.name)
    told = [tool.local.tool for tool in server.tools]
    return ServerStatus(
        each.name, tuple((tool.name, tool.description) for tool in told), server.fault
    )


def _any_runs(servers: Iterable[NamedServer]) -> bool:
    return any(server.is_running for server in servers)
