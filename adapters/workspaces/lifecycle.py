"""The lifecycle of workspaces: made, set up, started and stopped for chats."""

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from secrets import token_hex
from uuid import UUID, uuid5

import trio

from actors.law.chat import Chat
from actors.law.store.ports import Bus
from actors.tools import workspaces as ports
from actors.tools.workspaces import Process, WorkspaceRefusal
from adapters.settings import Config
from adapters.workspaces.caretaker import (
    Caretaker,
    CaretakerStatistics,
    WorkspaceListener,
    days_of,
)
from adapters.workspaces.commands.peers import PeersStatistics
from adapters.workspaces.commands.processes import ProcessStatistics
from adapters.workspaces.disk import DiskSilent
from adapters.workspaces.local import RESOLVING, LocalWorkspaces, templates_dir
from adapters.workspaces.store import CaretakerStore, WorkspaceRow
from adapters.workspaces.templates import (
    FaultyTemplate,
    Template,
    Templates,
    TooManyWorkspaces,
    WorkspaceNotMade,
    make_directory,
    mark_registered,
)
from adapters.workspaces.terminals.sharing import SharedTerminals, open_terminals
from adapters.workspaces.terminals.terminals import TerminalsStatistics
from runtime import threads as threads
from runtime.children import Child, open_children
from runtime.restart import Restart

NAME_CHARACTERS_MAX = 64  # of a workspace; the rest is left out
# To lay aside one that was not registered; after that it is found the next day.
GIVE_UP_SECONDS = 5.0

_NOT_IN_NAMES = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class SetupResult:
    """The end of a workspace's set-up command; `process` is None if it could not be run."""

    process: Process | None
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class OpenedWorkspace:
    """A workspace that a chat has, and whether it was made and set up just now."""

    workspace: WorkspaceRow
    home: str
    made: bool = False
    set_up: SetupResult | None = None


@dataclass(frozen=True, slots=True)
class WorkspacesStatistics:
    commands: ProcessStatistics
    peers: PeersStatistics
    kept: CaretakerStatistics
    terminals: TerminalsStatistics


@dataclass(frozen=True, slots=True)
class RetentionLimits:
    """Limits on how many workspaces a user may have, and how long unused ones are kept."""

    per_user: int = 100
    days: int = 0  # of those that no chat but archived ones has; 0: for ever
    days_max: int = 0  # whichever have them; likewise


DEFAULT_RETENTION = RetentionLimits()


class WorkspaceLifecycle:
    """Makes, starts and stops the workspaces of chats. `listeners` are told when one is opened."""

    def __init__(
        self,
        workspaces: LocalWorkspaces,
        templates: Templates,
        terminals: SharedTerminals,
        *,
        bus: Bus,
        limits: RetentionLimits = DEFAULT_RETENTION,
        listeners: Sequence[WorkspaceListener] = (),
    ) -> None:
        self.workspaces = workspaces
        self.templates = templates
        self.terminals = terminals
        self._limits = limits
        self._listeners = listeners
        self.caretaker = Caretaker(
            CaretakerStore(workspaces.registry.pool),
            workspaces.table,
            workspaces.usage,
            workspaces.directory,
            tell=bus.tell,
            listeners=listeners,
            days=days_of(limits.days),
            days_max=days_of(limits.days_max),
        )

    async def create(self, chat: Chat, call: str, template: Template, name: str) -> OpenedWorkspace:
        """Return the chat's workspace: the one that it has, or a new one. WorkspaceNotMade: why
        there is none. Called again for the same call, it goes on where it was cut short."""
        try:
            standing = await self._create(chat, call, template, name)
        except DiskSilent as silent:
            raise WorkspaceNotMade(str(silent)) from silent
        self._tell_opened(chat)
        return standing

    async def _create(
        self, chat: Chat, call: str, template: Template, name: str
    ) -> OpenedWorkspace:
        row = await self.workspaces.registry.of(chat.id)
        if row is not None and (row.is_stopped or await self.workspaces.is_there(row)):
            known = await self.templates.named(row.template)
            set_up = None if row.is_stopped else await self.set_up(chat, row, known)
            return OpenedWorkspace(row, self.workspaces.home(row.id), set_up=set_up)
        await self._check_number(chat)
        limits = template.limits
        new = WorkspaceRow(
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
        return OpenedWorkspace(
            row,
            self.workspaces.home(row.id),
            made=True,
            set_up=await self.set_up(chat, row, template),
        )

    async def _made(self, template: Template, new: WorkspaceRow, chat: Chat) -> WorkspaceRow:
        row, place = None, self.workspaces.place(new.id)
        try:
            if not await self.workspaces.is_there(new):
                await make_directory(template, place, self.workspaces.environ)
            row = await self._register(new, chat)
        finally:
            if row is None:
                with trio.move_on_after(GIVE_UP_SECONDS, shield=True):
                    await self.caretaker.give_up(new.id)
        await mark_registered(place)
        return row

    async def set_up(
        self, chat: Chat, row: WorkspaceRow, template: Template | FaultyTemplate | None
    ) -> SetupResult | None:
        """Run the template's set-up command to its end, once in a workspace's life; again if it was
        cut short."""
        if row.is_set_up or not isinstance(template, Template) or not template.setup:
            return None
        seconds = float(template.setup_seconds)
        processes = self.workspaces.processes(chat, row)
        begun = await processes.begin(ports.Command(template.setup), seconds_max=seconds)
        if not isinstance(begun, str):
            return SetupResult(None, begun.says)
        ended = await processes.wait(begun, seconds + 60)
        if isinstance(ended, WorkspaceRefusal):
            return SetupResult(None, ended.says)
        await self.workspaces.registry.note_set_up(row.id)
        return SetupResult(ended)

    async def start(self, chat: Chat, row: WorkspaceRow) -> OpenedWorkspace:
        await self.workspaces.registry.start(row.id)
        template = None if row.is_set_up else await self.templates.named(row.template)
        set_up = await self.set_up(chat, row, template)
        self._tell_opened(chat)
        return OpenedWorkspace(row, self.workspaces.home(row.id), set_up=set_up)

    async def stop(self, workspace: UUID) -> None:
        """Stop a workspace with all that runs in it."""
        await self.workspaces.registry.stop(workspace)
        await self.caretaker.close(workspace)

    async def _check_number(self, chat: Chat) -> None:
        count = await self.workspaces.registry.count(chat.owner_id)
        if count >= self._limits.per_user:
            raise TooManyWorkspaces(count, self._limits.per_user)

    def _tell_opened(self, chat: Chat) -> None:
        for listener in self._listeners:
            listener.opened(chat)

    async def _register(self, new: WorkspaceRow, chat: Chat) -> WorkspaceRow:
        """Register it under its name, or under another if its owner has one of that name."""
        for suffix in ("", f"-{token_hex(2)}"):
            row = replace(new, name=f"{new.name[: NAME_CHARACTERS_MAX - len(suffix)]}{suffix}")
            if await self.workspaces.registry.add(row, chat.owner_id, chat.id):
                return row
        raise WorkspaceNotMade(f"workspace {new.name}: there is one of this name; give another")

    def statistics(self) -> WorkspacesStatistics:
        return WorkspacesStatistics(
            self.workspaces.table.statistics(),
            self.workspaces.peers.statistics(),
            self.caretaker.statistics(),
            self.terminals.own.statistics(),
        )


@asynccontextmanager
async def open_lifecycle(
    config: Config,
    workspaces: LocalWorkspaces,
    bus: Bus,
    listeners: Sequence[WorkspaceListener],
) -> AsyncIterator[WorkspaceLifecycle]:
    """Let workspaces be made, and look after them, for the length of the block."""
    templates = Templates(await threads.read(RESOLVING, partial(templates_dir, config)))
    limits = RetentionLimits(
        config.workspaces_per_user, config.workspace_days, config.workspace_days_max
    )
    async with (
        open_terminals(workspaces) as terminals,
        open_children("lifecycle of workspaces", capacity=1) as children,
    ):
        lifecycle = WorkspaceLifecycle(
            workspaces,
            templates,
            terminals,
            bus=bus,
            limits=limits,
            listeners=(*listeners, terminals.own),
        )
        caretaker = lifecycle.caretaker
        with caretaker.follow(bus):
            children.start(
                Child(name="caretaker of workspaces", body=caretaker.run, restart=Restart())
            )
            yield lifecycle


def _name_of(text: str) -> str:
    plain = _NOT_IN_NAMES.sub("-", text.lower()).strip("-")[:NAME_CHARACTERS_MAX].strip("-")
    return plain or "workspace"
