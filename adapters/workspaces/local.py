"""The workspaces of chats on this machine: found, made, started and stopped."""

import os
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from secrets import token_hex
from uuid import UUID, uuid5

import trio

from actors.law.chat import Chat
from actors.law.store.ports import Bus
from actors.tools.workspace import ports
from actors.tools.workspace.ports import NotStarted, Process, Refused, Signal, Workspace
from adapters.postgres.driver.pool import Pool
from adapters.settings import Config
from adapters.workspaces.beside.peers import Peers, PeersStatistics
from adapters.workspaces.bubblewrap import Ground, Unseen
from adapters.workspaces.disks.disk import Disk, DiskSilent
from adapters.workspaces.files import LocalFiles
from adapters.workspaces.keeping import Caretaker, KeepingStatistics, Neighbour, days_of
from adapters.workspaces.making import HOME, PASSING, NotMade, TooMany, make, registered
from adapters.workspaces.processes import Order, ProcessStatistics, ProcessTable, open_processes
from adapters.workspaces.sandbox import (
    Limits,
    NoSandbox,
    Sandbox,
    command_line,
    environment,
    sandbox_of,
    tell,
    variables,
)
from adapters.workspaces.store.lives import Lives
from adapters.workspaces.store.registry import Registered, Registry
from adapters.workspaces.templates import Faulty, Template, Templates
from runtime.children import Child, open_children
from runtime.restart import Restart
from runtime.threads import work as threads
from runtime.threads.limits import ThreadLimits

PEERS = ".peers"  # the directory where processes find each other, among the workspaces
NAME_CHARACTERS_MAX = 64  # of a workspace; the rest is left out
# For one that nobody is to know of to be laid aside; then it is found the next day.
GIVE_UP_SECONDS = 5.0
RESOLVING = ThreadLimits("paths", 1)  # of the settings, at the start

_NOT_IN_NAMES = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class SetUp:
    """How the set-up command of a workspace went; None: it could not be run."""

    process: Process | None
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class Standing:
    """A workspace that a chat has, and what became of it just now."""

    workspace: Registered
    home: str
    made: bool = False
    set_up: SetUp | None = None


@dataclass(frozen=True, slots=True)
class LocalProcesses:
    """Fulfils `actors.tools.workspace.ports.Processes`."""

    table: ProcessTable
    peers: Peers
    sandbox: Sandbox | NoSandbox
    environ: Mapping[str, str]
    chat: Chat
    workspace: Registered
    ground: Ground

    async def start(self, command: ports.Command) -> Process | NotStarted | Refused:
        started = await self.begin(command, seconds_max=self.workspace.seconds)
        return started if not isinstance(started, str) else await self._now(started)

    async def begin(
        self, command: ports.Command, *, seconds_max: float
    ) -> str | NotStarted | Refused:
        order = await self.order(command, seconds_max=seconds_max)
        return order if isinstance(order, Refused) else self.table.start(order)

    async def order(self, command: ports.Command, *, seconds_max: float) -> Order | Refused:
        """What is started for a command."""
        if isinstance(self.sandbox, NoSandbox):
            return Refused(self.sandbox.says)
        wanted = str(Path(self.ground.home) / command.workdir)
        files = LocalFiles(self.ground.home, name=self.workspace.name)
        workdir = await files.directory(wanted)
        if isinstance(workdir, Refused):
            return workdir
        row = self.workspace
        limits = Limits(row.memory_mb, row.file_mb, row.processes, row.seconds)
        passing = self.sandbox.passing(self.ground)
        try:
            arguments = await command_line(
                self.sandbox, command.text, self.ground, workdir=workdir, limits=limits
            )
        except DiskSilent as silent:
            return Refused(str(silent))
        return Order(
            chat=self.chat.id,
            workspace=row.id,
            command=command,
            workdir=workdir,
            arguments=arguments,
            environment=environment(self.environ, self.chat.id, self.ground, passing=passing),
            seconds_max=seconds_max,
            disk_mb=row.disk_mb,
        )

    async def wait(self, id: str, seconds: float) -> Process | Refused:
        if not self.table.knows(self.chat.id, id):
            elsewhere = await self.peers.wait(self.chat.id, id, seconds)
            if elsewhere is not None:
                return elsewhere
        return await self.table.wait(self.chat.id, id, seconds)

    async def all(self) -> Sequence[Process]:
        both = [*self.table.all(self.chat.id), *await self.peers.all(self.chat.id)]
        both.sort(key=lambda each: each.started_at, reverse=True)
        return sorted(both, key=lambda each: not each.is_running)

    async def signal(self, id: str, signal: Signal) -> Refused | None:
        if not self.table.knows(self.chat.id, id):
            told = await self.peers.signal(self.chat.id, id, signal)
            if told is not None:
                return Refused(told.refused) if told.refused else None
        return self.table.signal(self.chat.id, id, signal)

    async def _now(self, id: str) -> Process | Refused:
        return await self.table.wait(self.chat.id, id, 0)


@dataclass(frozen=True, slots=True)
class WorkspacesStatistics:
    commands: ProcessStatistics
    peers: PeersStatistics
    kept: KeepingStatistics


@dataclass(frozen=True, slots=True)
class Keeping:
    """How many workspaces there may be, and how long those are kept that nobody uses."""

    per_user: int = 100
    days: int = 0  # of those that no chat but archived ones has; 0: for ever
    days_max: int = 0  # whichever have them; likewise


USUALLY = Keeping()


class LocalWorkspaces:
    """Fulfils `actors.tools.workspace.ports.Workspaces`."""

    def __init__(
        self,
        directory: Path,
        registry: Registry,
        templates: Templates,
        *,
        table: ProcessTable,
        sandbox: Sandbox | NoSandbox,
        environ: Mapping[str, str],
        limits: Keeping = USUALLY,
    ) -> None:
        self._directory = directory
        self._table = table
        self.sandbox = sandbox
        self._environ = environ
        self.peers = Peers(directory / PEERS, table)
        self.neighbours: list[Neighbour] = []
        self._limits = limits
        self.registry = registry
        self.templates = templates
        self.caretaker = Caretaker(
            Lives(registry.pool),
            table,
            directory,
            neighbours=self.neighbours,
            days=days_of(limits.days),
            days_max=days_of(limits.days_max),
        )

    async def of(self, chat: Chat) -> Workspace | Refused:
        row = await self.registry.of(chat.id)
        if row is None:
            return Refused(f"this chat has no workspace; {_asks(chat, 'create_workspace')}")
        if row.is_stopped:
            return Refused(f"the workspace {row.name} is stopped; {_asks(chat, 'start_workspace')}")
        try:
            is_there = await self._is_there(row)
        except DiskSilent as silent:
            return Refused(str(silent))
        if not is_there:
            return Refused(
                f"the directory of the workspace {row.name} is not on this machine any more;"
                f" {_asks(chat, 'create_workspace')}"
            )
        self.caretaker.use(row.id)
        home = self.home(row.id)
        room = partial(self.caretaker.room, row.id, row.disk_mb)
        files = LocalFiles(home, room, name=row.name)
        return Workspace(row.id, row.name, home, files, self._processes(chat, row))

    async def create(self, chat: Chat, call: str, template: Template, name: str) -> Standing:
        """The chat's workspace: the one that it has, or a new one. NotMade: why there is none.
        Called again for the same call, it goes on where it was cut short."""
        try:
            standing = await self._create(chat, call, template, name)
        except DiskSilent as silent:
            raise NotMade(str(silent)) from silent
        self._moved_in(chat)
        return standing

    async def _create(self, chat: Chat, call: str, template: Template, name: str) -> Standing:
        row = await self.registry.of(chat.id)
        if row is not None and (row.is_stopped or await self._is_there(row)):
            known = await self.templates.named(row.template)
            set_up = None if row.is_stopped else await self.set_up(chat, row, known)
            return Standing(row, self.home(row.id), set_up=set_up)
        await self._check_number(chat)
        limits = template.limits
        new = Registered(
            # Ids of calls may come again in later steps.
            uuid5(chat.id, f"{chat.history_version}/{call}"),
            _name_of(name or template.display_name or template.name),
            template.name,
            limits.memory_mb,
            limits.file_mb,
            limits.processes,
            limits.seconds,
            limits.disk_mb,
            is_set_up=not template.setup,
        )
        row = await self._made(template, new, chat)
        return Standing(
            row, self.home(row.id), made=True, set_up=await self.set_up(chat, row, template)
        )

    async def _made(self, template: Template, new: Registered, chat: Chat) -> Registered:
        row, place = None, self._place(new.id)
        try:
            if not await self._is_there(new):
                await make(template, place, self._environ)
            row = await self._register(new, chat)
        finally:
            if row is None:
                with trio.move_on_after(GIVE_UP_SECONDS, shield=True):
                    await self.caretaker.give_up(new.id)
        await registered(place)
        return row

    async def set_up(
        self, chat: Chat, row: Registered, template: Template | Faulty | None
    ) -> SetUp | None:
        """Once in a workspace's life, to its end; again, if it was cut short."""
        if row.is_set_up or not isinstance(template, Template) or not template.setup:
            return None
        seconds = float(template.setup_seconds)
        processes = self._processes(chat, row)
        begun = await processes.begin(ports.Command(template.setup), seconds_max=seconds)
        if not isinstance(begun, str):
            return SetUp(None, begun.says)
        ended = await processes.wait(begun, seconds + 60)
        if isinstance(ended, Refused):
            return SetUp(None, ended.says)
        await self.registry.is_set_up(row.id)
        return SetUp(ended)

    async def start(self, chat: Chat, row: Registered) -> Standing:
        await self.registry.start(row.id)
        template = None if row.is_set_up else await self.templates.named(row.template)
        set_up = await self.set_up(chat, row, template)
        self._moved_in(chat)
        return Standing(row, self.home(row.id), set_up=set_up)

    async def stop(self, workspace: UUID) -> None:
        """With all that runs in it."""
        await self.registry.stop(workspace)
        await self.caretaker.close(workspace)

    async def _check_number(self, chat: Chat) -> None:
        count = await self.registry.count(chat.owner_id)
        if count >= self._limits.per_user:
            raise TooMany(count, self._limits.per_user)

    def _moved_in(self, chat: Chat) -> None:
        for neighbour in self.neighbours:
            neighbour.moved_in(chat)

    async def _register(self, new: Registered, chat: Chat) -> Registered:
        """Under its name, or if there is one of that name under another."""
        for suffix in ("", f"-{token_hex(2)}"):
            row = replace(new, name=f"{new.name[: NAME_CHARACTERS_MAX - len(suffix)]}{suffix}")
            if await self.registry.add(row, chat.owner_id, chat.id):
                return row
        raise NotMade(f"workspace {new.name}: there is one of this name; give another")

    def _processes(self, chat: Chat, row: Registered) -> LocalProcesses:
        return LocalProcesses(
            self._table, self.peers, self.sandbox, self._environ, chat, row, self._ground(row.id)
        )

    def statistics(self) -> WorkspacesStatistics:
        return WorkspacesStatistics(
            self._table.statistics(), self.peers.statistics(), self.caretaker.statistics()
        )

    def home(self, workspace: UUID) -> str:
        """The directory of a workspace, be it there or not."""
        return self._ground(workspace).home

    def variables(self, workspace: UUID) -> Mapping[str, str]:
        """What its commands find in their environment, whichever chat has begun them."""
        ground, sandbox = self._ground(workspace), self.sandbox
        passing = ground.passing if isinstance(sandbox, NoSandbox) else sandbox.passing(ground)
        return variables(self._environ, ground, passing=passing)

    def _place(self, workspace: UUID) -> Path:
        return self._directory / str(workspace)

    def _ground(self, workspace: UUID) -> Ground:
        place = self._place(workspace)
        return Ground(str(place / HOME), str(place / PASSING))

    async def _is_there(self, row: Registered) -> bool:
        """Look whether its directory exists. DiskSilent: its disk does not answer."""
        home = self.home(row.id)
        return await Disk(home, f"the workspace {row.name}").read(partial(os.path.isdir, home))


@asynccontextmanager
async def open_workspaces(config: Config, pool: Pool, bus: Bus) -> AsyncIterator[LocalWorkspaces]:
    """Commands run as long as the block is; directories stay."""
    data_dir, templates_dir, unseen = await threads.read(RESOLVING, partial(_places, config))
    sandbox = await sandbox_of(
        config.sandbox,
        config.environ,
        network=config.sandbox_network,
        unseen=unseen,
    )
    tell(sandbox, is_root=os.geteuid() == 0)
    async with open_processes() as table, open_children("workspaces", capacity=2) as children:
        workspaces = LocalWorkspaces(
            data_dir / "workspaces",
            Registry(pool),
            Templates(templates_dir),
            table=table,
            sandbox=sandbox,
            environ=config.environ,
            limits=Keeping(
                config.workspaces_per_user, config.workspace_days, config.workspace_days_max
            ),
        )
        caretaker = workspaces.caretaker
        children.start(Child(name="peers", body=workspaces.peers.run, restart=Restart()))
        with caretaker.follow(bus):
            children.start(
                Child(name="caretaker of workspaces", body=caretaker.run, restart=Restart())
            )
            yield workspaces


def _places(config: Config) -> tuple[Path, Path, Unseen]:
    """Without symbolic links."""
    data_dir = config.data_dir.resolve()
    templates_dir = (config.templates_dir or data_dir / "templates").resolve()
    return data_dir, templates_dir, _unseen(config, data_dir, templates_dir)


def _unseen(config: Config, data_dir: Path, templates_dir: Path) -> Unseen:
    """Our directories, and the files in which settings stand, secret ones among them."""
    apart = [] if templates_dir.is_relative_to(data_dir) else [templates_dir]
    files = [*config.files, *([config.tls_key] if config.tls_key else [])]
    return Unseen(tuple(map(str, (data_dir, *apart))), tuple(str(path.resolve()) for path in files))


def _asks(chat: Chat, tool: str) -> str:
    if chat.is_root:
        return f"{tool} makes one" if tool == "create_workspace" else f"{tool} starts it"
    return f"the chat that has spawned you has to call {tool}: say so in your report"


def _name_of(text: str) -> str:
    plain = _NOT_IN_NAMES.sub("-", text.lower()).strip("-")[:NAME_CHARACTERS_MAX].strip("-")
    return plain or "workspace"
