"""The desktops of this machine, as this process knows them.

A desktop is one command of its workspace, which no chat sees. It is started when it is first
wanted, ends with its workspace and with the process that began it, and by itself when it has had no
client for a while. Other processes that share the directory of workspaces find it by its socket.
"""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Annotated, NoReturn
from uuid import UUID

import trio

from actors.law.chat import Chat
from actors.law.ids import ChatId
from actors.tools import workspaces as ports
from actors.tools.workspaces import WorkspaceRefusal
from adapters.workspaces.commands.bubblewrap import DESKTOP_SEEN, WorkspacePaths
from adapters.workspaces.commands.processes import ProcessSpec
from adapters.workspaces.commands.sandbox import (
    CommandLimits,
    NoSandbox,
    Unconfined,
    command_line,
    environment,
)
from adapters.workspaces.desktop.connection import DesktopConnection, ScreenGone, dial_screen
from adapters.workspaces.desktop.programs import (
    CONFIGURATION,
    SOCKET,
    TAKEN,
    WINDOW_MANAGER_CONFIGURATION,
    MissingPrograms,
    missing_programs,
    start_script,
)
from adapters.workspaces.desktop.recording import (
    Recordings,
    RecordingsStatistics,
    open_recordings,
)
from adapters.workspaces.disk import Disk, DiskSilent
from adapters.workspaces.local import LocalProcesses, LocalWorkspaces, WorkspaceChat
from runtime.children import Child, open_children
from runtime.clock import now
from runtime.log import emit
from runtime.restart import Restart
from runtime.statistics import CounterMetric, GaugeMetric

DIRECTORY = "desktop"  # of a workspace, beside its home
DIALS_MAX = 2  # a screen that was killed may take a connection in the moment before it is gone
START_SECONDS = 10.0  # for a desktop to be there; then it is refused
LOOK_SECONDS = 0.01  # between two looks whether it is
# Without a call of the tool; then the connection is closed, and the desktop may end itself.
IDLE_SECONDS = 900.0
SWEEP_SECONDS = 60.0  # between two looks for connections that are idle
LEAVE_SECONDS = 1.0  # to close the connections of this process; then they go with it
OPERATED_MAX = 256  # desktops that tools of this process are connected to; one more is refused
WATCHERS_MAX = 16  # of one desktop from this process; one more is refused
SAID_CHARACTERS_MAX = 300  # of what a desktop says of why it does not start

_OFF = (
    "there are no desktops here: the operator of the server has to add chat-virtual-desktop to the"
    " setting experiments"
)


@dataclass(frozen=True, slots=True)
class DesktopStatistics:
    """The figures of the desktops that this process uses."""

    operated: Annotated[int, GaugeMetric("Desktops that tools of this process are connected to.")]
    watchers: Annotated[int, GaugeMetric("Clients that watch a desktop through this process.")]
    started_count: Annotated[int, CounterMetric("Desktops that this process has started.")]
    pictures_count: Annotated[int, CounterMetric("Screenshots that were taken for models.")]
    actions_count: Annotated[int, CounterMetric("Calls of the computer tool that did something.")]
    recordings: RecordingsStatistics | None


@dataclass(eq=False, slots=True)
class OperatedDesktop:
    """A desktop that a tool is connected to. `turn` is held by the call that uses it."""

    connection: DesktopConnection
    turn: trio.Lock = field(default_factory=trio.Lock)
    used_at: float = field(default_factory=now)


@dataclass(frozen=True, slots=True)
class WatchedDesktop:
    """A connection to a desktop that a client watches; `note_use` is told what the client does."""

    stream: trio.SocketStream
    note_use: Callable[[], None]


class Desktops:
    """The desktops of workspaces. Fulfils `adapters.workspaces.caretaker.WorkspaceListener`."""

    def __init__(
        self,
        workspaces: LocalWorkspaces,
        *,
        missing: MissingPrograms | None = None,
    ) -> None:
        self._workspaces = workspaces
        self._missing = missing
        self._operated: dict[UUID, OperatedDesktop] = {}
        self._watchers: dict[UUID, int] = {}
        self._starting: dict[UUID, trio.Lock] = {}
        self._connecting = 0  # of those that come to be operated
        self._used = trio.Event()
        self.recordings: Recordings | None = None  # while this is open
        self._pictures_count = self._actions_count = self._started_count = 0

    @property
    def why_none(self) -> str | None:
        """Return why there is no desktop for any workspace, or None if there may be."""
        if not self._workspaces.has_screens:
            return _OFF
        if self._missing is not None:
            return self._missing.says
        sandbox = self._workspaces.sandbox
        return sandbox.says if isinstance(sandbox, NoSandbox) else None

    async def operate(self, chat: WorkspaceChat) -> OperatedDesktop | WorkspaceRefusal:
        """Return the desktop of a chat's workspace, connected for its tool."""
        found = await self._place_of(chat)
        if isinstance(found, WorkspaceRefusal):
            return found
        async with self._lock(found.workspace.id):
            known = self._operated.get(found.workspace.id)
            if known is None:
                if len(self._operated) + self._connecting >= OPERATED_MAX:
                    return WorkspaceRefusal(
                        f"{OPERATED_MAX} desktops are in use on this server, which is all there may"
                        " be; try again later"
                    )
                self._connecting += 1
                try:
                    made = await self._connected(found)
                finally:
                    self._connecting -= 1
                if isinstance(made, WorkspaceRefusal):
                    return made
                known = self._operated[found.workspace.id] = made
                self._used.set()
        known.used_at = now()
        return known

    async def catch_up(
        self, chat: WorkspaceChat, desktop: OperatedDesktop
    ) -> WorkspaceRefusal | None:
        """Connect anew if a picture was given up on the connection, for the call that has the turn.
        The pointer stays where it is; keys and buttons that were held are let go."""
        if not desktop.connection.is_behind:
            return None
        found = await self._place_of(chat)
        if isinstance(found, WorkspaceRefusal):
            return found
        async with self._lock(found.workspace.id):
            made = await self._connected(found)
        if isinstance(made, WorkspaceRefusal):
            return made
        if self._operated.get(found.workspace.id) is not desktop:
            await made.connection.aclose()
            return WorkspaceRefusal("the desktop was ended meanwhile; try again")
        old, desktop.connection = desktop.connection, made.connection
        desktop.connection.pointer = old.pointer
        await old.aclose()
        return None

    async def forget(self, desktop: OperatedDesktop) -> None:
        """Close a connection that does not work any more; the next call makes another one."""
        for workspace, known in list(self._operated.items()):
            if known is desktop:
                del self._operated[workspace]
        await desktop.connection.aclose()

    def count_call(self, *, is_action: bool) -> None:
        """Count a call of the tool that was served."""
        self._pictures_count += 1
        self._actions_count += is_action

    async def refusal(self, chat: WorkspaceChat) -> WorkspaceRefusal | None:
        """Return why the chat can have no desktop now, or None if it can."""
        found = await self._place_of(chat)
        return found if isinstance(found, WorkspaceRefusal) else None

    async def dial(self, chat: WorkspaceChat) -> trio.SocketStream | WorkspaceRefusal:
        """Return a new connection to the desktop of a chat's workspace, which nothing was said on.
        The desktop is started if it is not there."""
        found = await self._place_of(chat)
        if isinstance(found, WorkspaceRefusal):
            return found
        async with self._lock(found.workspace.id):
            return await self._dialled(found)

    @asynccontextmanager
    async def watching(
        self, chat: WorkspaceChat
    ) -> AsyncIterator[WatchedDesktop | WorkspaceRefusal]:
        """Give a connection for a client that watches, for the length of the block."""
        found = await self._place_of(chat)
        dialled = await self.dial(chat)
        if isinstance(dialled, WorkspaceRefusal):
            yield dialled
            return
        async with dialled:
            if isinstance(found, WorkspaceRefusal):  # started in between
                yield found
                return
            workspace = found.workspace.id
            if self._watchers.get(workspace, 0) >= WATCHERS_MAX:
                yield WorkspaceRefusal(
                    f"{WATCHERS_MAX} clients watch this desktop, which is all there may be"
                )
                return
            self._watchers[workspace] = self._watchers.get(workspace, 0) + 1
            try:
                yield WatchedDesktop(dialled, partial(self._workspaces.usage.use, workspace))
            finally:
                self._watchers[workspace] -= 1
                if not self._watchers[workspace]:
                    del self._watchers[workspace]

    async def aclose(self) -> None:
        """Leave all desktops. They end with their commands."""
        with trio.move_on_after(LEAVE_SECONDS, shield=True):
            for desktop in list(self._operated.values()):
                await self.forget(desktop)

    # what the caretaker of workspaces asks

    def opened(self, chat: Chat) -> None:
        """Do nothing: a desktop is started when it is wanted."""

    async def closed(self, workspace: UUID) -> None:
        """Leave a desktop that was ended with its workspace."""
        if (known := self._operated.get(workspace)) is not None:
            await self.forget(known)

    def running(self) -> Mapping[UUID, int]:
        """Return nothing: desktops run as commands, which are counted."""
        return {}

    async def run(self) -> NoReturn:
        """Close connections that have not been used for a while. Sleeps while there is none."""
        while True:
            if not self._operated:
                self._used = trio.Event()
                await self._used.wait()
            await trio.sleep(SWEEP_SECONDS)
            for desktop in list(self._operated.values()):
                if not desktop.turn.locked() and desktop.used_at + IDLE_SECONDS < now():
                    await self.forget(desktop)

    def statistics(self) -> DesktopStatistics:
        return DesktopStatistics(
            operated=len(self._operated),
            watchers=sum(self._watchers.values()),
            started_count=self._started_count,
            pictures_count=self._pictures_count,
            actions_count=self._actions_count,
            recordings=None if self.recordings is None else self.recordings.statistics(),
        )

    # inside

    def _lock(self, workspace: UUID) -> trio.Lock:
        """Return the lock under which a workspace's desktop is looked for and started."""
        unused = [id for id, lock in self._starting.items() if not lock.statistics().owner]
        if len(unused) > OPERATED_MAX:
            for id in unused:
                del self._starting[id]
        return self._starting.setdefault(workspace, trio.Lock())

    async def _place_of(self, chat: WorkspaceChat) -> LocalProcesses | WorkspaceRefusal:
        if (why := self.why_none) is not None:
            return WorkspaceRefusal(why)
        found = await self._workspaces.of(chat)
        if isinstance(found, WorkspaceRefusal):
            return found
        assert isinstance(found.processes, LocalProcesses), "ours are on this machine"
        return found.processes

    async def _connected(self, place: LocalProcesses) -> OperatedDesktop | WorkspaceRefusal:
        refused = WorkspaceRefusal("")
        for _ in range(DIALS_MAX):
            stream = await self._dialled(place)
            if isinstance(stream, WorkspaceRefusal):
                return stream
            connection = DesktopConnection(stream)
            is_ready = False
            try:
                await connection.begin()
                is_ready = True
                return OperatedDesktop(connection)
            except ScreenGone as gone:
                refused = WorkspaceRefusal(f"{gone}; try again")
            finally:
                if not is_ready:
                    await connection.aclose()
        return refused

    async def _dialled(self, place: LocalProcesses) -> trio.SocketStream | WorkspaceRefusal:
        directory = str(self._workspaces.place(place.workspace.id) / DIRECTORY)
        try:
            if (stream := await dial_screen(directory, SOCKET)) is not None:
                return stream
            return await self._start(place, directory)
        except DiskSilent as silent:
            return WorkspaceRefusal(str(silent))

    async def _start(
        self, place: LocalProcesses, directory: str
    ) -> trio.SocketStream | WorkspaceRefusal:
        """Start a desktop, and connect to it as soon as it listens."""
        prepare = partial(_prepared, directory, place.paths.screens)
        await Disk(directory, f"the workspace {place.workspace.name}").write(prepare)
        began = now()
        chat = ChatId(place.workspace.id)  # no chat has this id, and so none sees the command
        started = self._workspaces.table.start(await self._spec(chat, place, directory))
        if not isinstance(started, str):
            return WorkspaceRefusal(f"the desktop does not start: {started.says}")
        while now() < began + START_SECONDS:
            if (stream := await dial_screen(directory, SOCKET)) is not None:
                self._started_count += 1
                emit("desktop.started", "info", workspace=place.workspace.id, seconds=now() - began)
                return stream
            seen = await self._workspaces.table.wait(chat, started, LOOK_SECONDS)
            if isinstance(seen, WorkspaceRefusal):
                return seen
            if not seen.is_running and seen.exit_code != TAKEN:
                said = seen.output.text.strip()[-SAID_CHARACTERS_MAX:]
                return WorkspaceRefusal(f"the desktop does not start: {said or seen.exit_code}")
            await trio.sleep(LOOK_SECONDS)
        return WorkspaceRefusal(f"the desktop did not start within {START_SECONDS:g} s; try again")

    async def _spec(self, chat: ChatId, place: LocalProcesses, directory: str) -> ProcessSpec:
        sandbox, row = place.sandbox, place.workspace
        assert not isinstance(sandbox, NoSandbox), "there is a desktop"
        is_private = not isinstance(sandbox, Unconfined)
        paths: WorkspacePaths = replace(place.paths, desktop=directory)
        script = start_script(
            DESKTOP_SEEN if is_private else directory, place.display, is_private=is_private
        )
        limits = CommandLimits(row.memory_mb, row.file_mb, row.processes, row.seconds)
        return ProcessSpec(
            chat=chat,
            workspace=row.id,
            command=ports.Command("the desktop", background=True),
            workdir=paths.home,
            arguments=await command_line(sandbox, script, paths, workdir=paths.home, limits=limits),
            environment=environment(place.environ, place.chat.id, paths, tmp=sandbox.tmp(paths)),
            seconds_max=row.seconds,
            disk_mb=row.disk_mb,
        )


def _prepared(directory: str, screens: str) -> None:
    """Make the directories of a desktop, and write what its window manager reads."""
    Path(directory).mkdir(mode=0o700, exist_ok=True)
    Path(screens).mkdir(exist_ok=True)
    Path(screens).chmod(0o1777)
    (Path(directory) / CONFIGURATION).write_text(WINDOW_MANAGER_CONFIGURATION)


@asynccontextmanager
async def open_desktops(workspaces: LocalWorkspaces) -> AsyncIterator[Desktops]:
    """Give the desktops of workspaces for the length of the block."""
    desktops = Desktops(workspaces, missing=missing_programs(workspaces.environ))
    async with open_children("desktops", capacity=1) as children:
        children.start(Child(name="desktops", body=desktops.run, restart=Restart()))
        try:
            async with open_recordings(desktops.dial) as desktops.recordings:
                yield desktops
        finally:
            await desktops.aclose()
