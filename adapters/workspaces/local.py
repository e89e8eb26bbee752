"""The workspaces of chats on this machine: their files, and the commands that run in them."""

import os
from collections.abc import AsyncIterator, Hashable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Protocol
from uuid import UUID

from actors.law.ids import ChatId, UserId
from actors.tools import workspaces as ports
from actors.tools.workspaces import ChatWorkspace, NotStarted, Process, Signal, WorkspaceRefusal
from adapters.postgres.driver.pool import Pool
from adapters.settings import DESKTOP_EXPERIMENT, Config
from adapters.workspaces.commands.bubblewrap import HiddenPaths, WorkspacePaths
from adapters.workspaces.commands.peers import Peers
from adapters.workspaces.commands.processes import ProcessSpec, ProcessTable, open_processes
from adapters.workspaces.commands.sandbox import (
    DEFAULT_LIMITS,
    CommandLimits,
    GitGate,
    NoSandbox,
    Sandbox,
    command_line,
    display_of,
    environment,
    log_sandbox,
    sandbox_of,
    variables,
)
from adapters.workspaces.disk import Disk, DiskSilent, Programs
from adapters.workspaces.files import LocalFiles
from adapters.workspaces.store import WorkspaceRegistry, WorkspaceRow
from adapters.workspaces.templates import HOME, TMP
from adapters.workspaces.usage import WorkspaceUsage
from runtime import threads as threads
from runtime.children import Child, open_children
from runtime.restart import Restart
from runtime.threads import ThreadLimits

PEERS = ".peers"  # the directory where processes find each other, among the workspaces
SCREENS = "screens"  # of a workspace, beside its home: where its programs find its screen
RESOLVING = ThreadLimits("paths", 1)  # of the settings, at the start


class WorkspaceChat(Protocol):
    """A chat, as far as its workspace has to know it."""

    @property
    def id(self) -> ChatId: ...

    @property
    def owner_id(self) -> UserId | None: ...  # None: it has no commands run that reach a forge

    @property
    def is_root(self) -> bool: ...


async def with_gate(
    gates: GitGate | None,
    sandbox: Sandbox,
    paths: WorkspacePaths,
    told: Mapping[str, str],
    workspace: UUID,
    owner: UserId | None,
) -> tuple[WorkspacePaths, dict[str, str]]:
    """Return the paths and variables of a command with the gate by which git reaches forges, if
    the owner of the workspace has one."""
    gate = None if gates is None or owner is None else await gates.of(workspace, owner)
    if gate is None:
        return paths, dict(told)
    there = replace(paths, gate=gate.path)
    seen = sandbox.gate(there)
    return there, {**told, **gate.variables(seen), "PATH": f"{told['PATH']}:{seen}"}


@dataclass(frozen=True, slots=True)
class LocalProcesses:
    """Fulfils `actors.tools.workspaces.Processes`."""

    table: ProcessTable
    peers: Peers
    sandbox: Sandbox | NoSandbox
    environ: Mapping[str, str]
    chat: WorkspaceChat
    workspace: WorkspaceRow
    paths: WorkspacePaths
    display: str = ""  # the screen of the workspace, as its programs know it; "": it has none
    gates: GitGate | None = None

    async def start(self, command: ports.Command) -> Process | NotStarted | WorkspaceRefusal:
        """Start a command, which may run as long as the workspace allows. Return what it is now."""
        started = await self.begin(command, seconds_max=self.workspace.seconds)
        return started if not isinstance(started, str) else await self._now(started)

    async def begin(
        self, command: ports.Command, *, seconds_max: float
    ) -> str | NotStarted | WorkspaceRefusal:
        """Start a command, which may run for `seconds_max`. Return the id of its process."""
        spec = await self.spec_of(command, seconds_max=seconds_max)
        return spec if isinstance(spec, WorkspaceRefusal) else self.table.start(spec)

    async def spec_of(
        self, command: ports.Command, *, seconds_max: float
    ) -> ProcessSpec | WorkspaceRefusal:
        """Return the process to start for a command, or why it may not be started."""
        if isinstance(self.sandbox, NoSandbox):
            return WorkspaceRefusal(self.sandbox.says)
        wanted = str(Path(self.paths.home) / command.workdir)
        files = LocalFiles(self.paths.home, name=self.workspace.name)
        workdir = await files.directory(wanted)
        if isinstance(workdir, WorkspaceRefusal):
            return workdir
        row = self.workspace
        limits = CommandLimits(row.memory_mb, row.file_mb, row.processes, row.seconds)
        told = environment(self.environ, self.chat.id, self.paths, tmp=self.sandbox.tmp(self.paths))
        found = (row.id, self.chat.owner_id)
        paths, told = await with_gate(self.gates, self.sandbox, self.paths, told, *found)
        try:
            arguments = await command_line(
                self.sandbox, command.text, paths, workdir=workdir, limits=limits
            )
        except DiskSilent as silent:
            return WorkspaceRefusal(str(silent))
        return ProcessSpec(
            chat=self.chat.id,
            workspace=row.id,
            command=command,
            workdir=workdir,
            arguments=arguments,
            environment=told | ({"DISPLAY": self.display} if self.display else {}),
            seconds_max=seconds_max,
            disk_mb=row.disk_mb,
        )

    async def wait(
        self, id: str, seconds: float, *, show: ports.ShowOutput | None = None
    ) -> Process | WorkspaceRefusal:
        if not self.table.knows(self.chat.id, id):
            elsewhere = await self.peers.wait(self.chat.id, id, seconds)
            if elsewhere is not None:
                return elsewhere
        return await self.table.wait(self.chat.id, id, seconds, show=show)

    async def all(self) -> Sequence[Process]:
        both = [*self.table.all(self.chat.id), *await self.peers.all(self.chat.id)]
        both.sort(key=lambda each: each.started_at, reverse=True)
        return sorted(both, key=lambda each: not each.is_running)

    async def signal(self, id: str, signal: Signal) -> WorkspaceRefusal | None:
        if not self.table.knows(self.chat.id, id):
            told = await self.peers.signal(self.chat.id, id, signal)
            if told is not None:
                return WorkspaceRefusal(told.refused) if told.refused else None
        return self.table.signal(self.chat.id, id, signal)

    async def _now(self, id: str) -> Process | WorkspaceRefusal:
        return await self.table.wait(self.chat.id, id, 0)


class LocalWorkspaces:
    """Fulfils `actors.tools.workspaces.Workspaces`."""

    def __init__(
        self,
        directory: Path,
        registry: WorkspaceRegistry,
        *,
        table: ProcessTable,
        sandbox: Sandbox | NoSandbox,
        environ: Mapping[str, str],
        has_screens: bool = False,
    ) -> None:
        self.has_screens = has_screens
        self.directory = directory
        self.registry = registry
        self.table = table
        self.sandbox = sandbox
        self.environ = environ
        self.peers = Peers(directory / PEERS, table)
        self.usage = WorkspaceUsage(directory)
        self.gates: GitGate | None = None  # by which git reaches forges; None: it does not
        self._programs = Programs()

    async def of(self, chat: WorkspaceChat) -> ChatWorkspace | WorkspaceRefusal:
        row = await self.registry.of(chat.id)
        if row is None:
            return WorkspaceRefusal(
                f"this chat has no workspace; {_asks(chat, 'create_workspace')}"
            )
        if row.is_stopped:
            return WorkspaceRefusal(
                f"the workspace {row.name} is stopped; {_asks(chat, 'start_workspace')}"
            )
        try:
            is_there = await self.is_there(row)
        except DiskSilent as silent:
            return WorkspaceRefusal(str(silent))
        if not is_there:
            return WorkspaceRefusal(
                f"the directory of the workspace {row.name} is not on this machine any more;"
                f" {_asks(chat, 'create_workspace')}"
            )
        self.usage.use(row.id)
        home = self.home(row.id)
        room = partial(self.usage.room, row.id, row.disk_mb)
        files = LocalFiles(home, room, name=row.name)
        return ChatWorkspace(row.id, row.name, home, files, self.processes(chat, row))

    def processes(self, chat: WorkspaceChat, row: WorkspaceRow) -> LocalProcesses:
        display = display_of(row.id) if self.has_screens else ""
        paths = self.paths(row.id)
        return LocalProcesses(
            self.table,
            self.peers,
            self.sandbox,
            self.environ,
            chat,
            row,
            paths,
            display,
            self.gates,
        )

    def home(self, workspace: UUID) -> str:
        """Return the directory of a workspace, whether it exists or not."""
        return self.paths(workspace).home

    def variables(self, workspace: UUID) -> Mapping[str, str]:
        """Return the variables that commands find in this workspace, whichever chat began them."""
        paths, sandbox = self.paths(workspace), self.sandbox
        tmp = paths.tmp if isinstance(sandbox, NoSandbox) else sandbox.tmp(paths)
        return variables(self.environ, paths, tmp=tmp)

    async def ask(self, workspace: UUID, text: str, *, key: Hashable, seconds: float) -> bytes:
        """Return what a command of ours says, which is run in the sandbox of a workspace as the
        chats' own are, but is none of them. Nothing is returned if it fails or takes too long."""
        if isinstance(self.sandbox, NoSandbox):
            return b""
        paths = self.paths(workspace)
        try:
            words = await command_line(
                self.sandbox, text, paths, workdir=paths.home, limits=DEFAULT_LIMITS
            )
            done = await self._programs.run(
                words, key=key, seconds=seconds, environ=self.variables(workspace)
            )
        except (DiskSilent, OSError):
            return b""
        return b"" if done is None or done.code else done.said

    def place(self, workspace: UUID) -> Path:
        return self.directory / str(workspace)

    def paths(self, workspace: UUID) -> WorkspacePaths:
        """Return the directories of a workspace, whether they exist or not."""
        place = self.place(workspace)
        screens = str(place / SCREENS) if self.has_screens else ""
        return WorkspacePaths(str(place / HOME), str(place / TMP), screens)

    async def is_there(self, row: WorkspaceRow) -> bool:
        """Look whether its directory exists. DiskSilent: its disk does not answer."""
        home = self.home(row.id)
        return await Disk(home, f"the workspace {row.name}").read(partial(os.path.isdir, home))


def _asks(chat: WorkspaceChat, tool: str) -> str:
    if chat.is_root:
        return f"{tool} makes one" if tool == "create_workspace" else f"{tool} starts it"
    return f"the chat that has spawned you has to call {tool}: say so in your report"


@asynccontextmanager
async def open_workspaces(config: Config, pool: Pool) -> AsyncIterator[LocalWorkspaces]:
    """Give the workspaces of chats. Their commands run as long as the block; directories stay."""
    data_dir, hidden = await threads.read(RESOLVING, partial(_places, config))
    sandbox = await sandbox_of(
        config.sandbox,
        config.environ,
        network=config.sandbox_network,
        hidden=hidden,
    )
    log_sandbox(sandbox, is_root=os.geteuid() == 0)
    async with open_processes() as table, open_children("workspaces", capacity=1) as children:
        workspaces = LocalWorkspaces(
            data_dir / "workspaces",
            WorkspaceRegistry(pool),
            table=table,
            sandbox=sandbox,
            environ=config.environ,
            has_screens=DESKTOP_EXPERIMENT in config.experiments,
        )
        children.start(Child(name="peers", body=workspaces.peers.run, restart=Restart()))
        yield workspaces


def _places(config: Config) -> tuple[Path, HiddenPaths]:
    """Return the data directory without symbolic links, and what commands may not see."""
    data_dir = config.data_dir.resolve()
    return data_dir, _hidden_paths(config, data_dir, templates_dir(config))


def _hidden_paths(config: Config, data_dir: Path, templates_dir: Path) -> HiddenPaths:
    """Return what commands may not see: our directories, and the files in which settings stand,
    secret ones among them."""
    apart = [] if templates_dir.is_relative_to(data_dir) else [templates_dir]
    files = [*config.files, *([config.tls_key] if config.tls_key else [])]
    return HiddenPaths(
        tuple(map(str, (data_dir, *apart))), tuple(str(path.resolve()) for path in files)
    )


def templates_dir(config: Config) -> Path:
    """Return the directory of templates, without symbolic links. It looks at a disk."""
    return (config.templates_dir or config.data_dir / "templates").resolve()
