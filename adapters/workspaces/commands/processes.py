"""The commands that run in this process, and what they have written. They outlive the turn that
started them.

A command is a process group of its own. When it ends, whatever it has left running in its group
ends with it; when this process stops, all of them end; when this process is killed, the lifeline
ends them. A process is started in the main thread, because a sandbox ends with the thread that has
started it.
"""

import os
import signal
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from subprocess import STDOUT
from typing import Annotated
from uuid import UUID, uuid4

import trio

from actors.law.ids import ChatId
from actors.tools import workspaces as ports
from actors.tools.live_output import LiveOutput, LivePiece
from actors.tools.output import CommandOutput
from actors.tools.workspaces import NotStarted, Signal, WorkspaceRefusal
from adapters.workspaces.commands.process_groups import (
    Lifeline,
    ProcessGroup,
    open_lifeline,
    spawn,
    stream_of,
)
from adapters.workspaces.commands.sandbox import PROGRAM
from runtime.children import Child, Children, open_children
from runtime.clock import now, wall
from runtime.ends import End
from runtime.errors import RuntimeFault
from runtime.statistics import CounterMetric, GaugeMetric

RUNNING_PER_CHAT_MAX = 32  # one more is refused until one has ended
RUNNING_MAX = 512  # of all chats of this process; likewise
KEPT_SECONDS = 300.0  # that one which has ended is still known
KEPT_MAX = 2_048  # that have ended; the one that ended first is forgotten
READ_BYTES = 65_536
# A command that writes more than a mebibyte in one go has to wait so long: it is not to keep us
# from everything else.
PAUSE_BYTES, PAUSE_SECONDS = 1024 * 1024, 0.01
DRAIN_SECONDS = 1.0  # for the last output of a command; then another process holds it open
REAP_SECONDS = 5.0  # for a killed process to be gone; then it is left to the kernel


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessSpec:
    """A command to start: its arguments, where it runs, and within which limits."""

    chat: ChatId
    workspace: UUID
    command: ports.Command
    workdir: str
    arguments: Sequence[str]
    environment: Mapping[str, str]
    seconds_max: float
    disk_mb: int = 0  # of the workspace; 0: it is not measured


@dataclass(eq=False, slots=True)
class _Running:
    id: str
    spec: ProcessSpec
    group: ProcessGroup
    began: float = field(default_factory=now)
    began_at: datetime = field(default_factory=wall)
    output: CommandOutput = field(default_factory=CommandOutput)
    more: trio.lowlevel.ParkingLot = field(default_factory=trio.lowlevel.ParkingLot)
    ended: trio.Event = field(default_factory=trio.Event)
    ended_after: float = 0.0
    ended_at: datetime | None = None
    exit_code: int | None = None
    why: str = ""

    @property
    def seconds(self) -> float:
        return now() - self.began if self.exit_code is None else self.ended_after


@dataclass(frozen=True, slots=True)
class ProcessStatistics:
    """The figures of the commands of this process."""

    running: Annotated[int, GaugeMetric("Commands that run in workspaces.")]
    ended: Annotated[int, GaugeMetric("Commands that have ended and whose output is still kept.")]
    started_count: Annotated[int, CounterMetric("Commands that were started in workspaces.")]
    shown_characters_count: Annotated[
        int, CounterMetric("Characters of output that watchers were shown while commands ran.")
    ]


EndListener = Callable[[ProcessSpec], None]  # raises nothing


class OutputReader:
    """A reader of what a command writes while it runs."""

    def __init__(self, running: _Running) -> None:
        self._running = running
        self._live = LiveOutput()

    async def next(self) -> LivePiece | None:
        """Wait for the next piece of the output. None: the command has ended, and all was read.
        Nothing is lost if this is cancelled."""
        while True:
            while not self._live.is_behind(self._running.output):
                if self._running.ended.is_set():
                    return None
                await self._running.more.park()
            if not self._running.ended.is_set():
                await trio.sleep(self._live.pause_seconds)
            piece = self._live.next(self._running.output)
            if piece is not None:
                return piece

    @property
    def process(self) -> ports.Process:
        """Return the command as it is now."""
        return _seen(self._running)


class ProcessTable:
    """The commands that run in this process, and those that have ended a moment ago."""

    def __init__(
        self, children: Children, lifeline: Lifeline, *, kept_seconds: float = KEPT_SECONDS
    ) -> None:
        self._children = children
        self._kept_seconds = kept_seconds
        self._lifeline = lifeline
        self._known: dict[str, _Running] = {}  # in the order in which they began
        self._followers: dict[object, EndListener] = {}
        self._started_count = self._shown_characters = 0

    def start(self, spec: ProcessSpec) -> str | NotStarted | WorkspaceRefusal:
        self._forget()
        running = [each for each in self._known.values() if each.exit_code is None]
        own = sum(each.spec.chat == spec.chat for each in running)
        if own >= RUNNING_PER_CHAT_MAX or len(running) >= RUNNING_MAX:
            return WorkspaceRefusal(
                f"too many commands: {own} of this chat run already (at most"
                f" {RUNNING_PER_CHAT_MAX}), {len(running)} in all (at most {RUNNING_MAX});"
                " wait until some have ended, or end them with process_signal"
            )
        try:
            group = spawn(
                spec.arguments,
                self._lifeline,
                workdir=spec.workdir,
                environment=spec.environment,
                stderr=STDOUT,
            )
        except (OSError, ValueError) as error:  # ValueError: a zero byte in the command
            return NotStarted(_why_not(error))
        started = _Running(uuid4().hex[:12], spec, group)
        body = partial(self._follow, started)
        try:
            self._children.start(Child(name=started.id, body=body, when_ended=_nothing_to_do))
        except RuntimeFault as error:  # this process is stopping
            group.discard()
            return NotStarted(_why_not(error))
        group.release()
        self._known[started.id] = started
        self._started_count += 1
        return started.id

    async def wait(
        self, chat: ChatId, id: str, seconds: float, *, show: ports.ShowOutput | None = None
    ) -> ports.Process | WorkspaceRefusal:
        found = self._find(chat, id)
        if isinstance(found, WorkspaceRefusal):
            return found
        async with trio.open_nursery() as nursery:
            if show is not None:
                nursery.start_soon(self._show, found, show)
            with trio.move_on_after(seconds):
                await found.ended.wait()
            nursery.cancel_scope.cancel()
        return _seen(found)

    async def _show(self, running: _Running, show: ports.ShowOutput) -> None:
        """Show what a command writes, as long as it is waited for."""
        reader = OutputReader(running)
        while (piece := await reader.next()) is not None:
            self._shown_characters += len(piece.text)
            show(piece)

    def follow(self, chat: ChatId, id: str) -> "OutputReader | WorkspaceRefusal":
        """Return a reader of what a command writes, from its beginning to its end."""
        found = self._find(chat, id)
        return found if isinstance(found, WorkspaceRefusal) else OutputReader(found)

    def knows(self, chat: ChatId, id: str) -> bool:
        return not isinstance(self._find(chat, id), WorkspaceRefusal)

    def all(self, chat: ChatId) -> Sequence[ports.Process]:
        self._forget()
        newest_first = reversed(self._known.values())
        own = [_seen(each) for each in newest_first if each.spec.chat == chat]
        return sorted(own, key=lambda process: not process.is_running)

    def signal(self, chat: ChatId, id: str, wanted: Signal) -> WorkspaceRefusal | None:
        found = self._find(chat, id)
        if isinstance(found, WorkspaceRefusal):
            return found
        if found.exit_code is not None:
            return WorkspaceRefusal(
                f"process {id} is not running any more (exit code {found.exit_code})"
            )
        if wanted is Signal.KILL:
            found.group.kill()
        else:
            _terminate(found)
        return None

    @contextmanager
    def follow_ends(self, listener: EndListener) -> Iterator[None]:
        """Call `listener` with each command that has ended, for the length of the block."""
        place = object()
        self._followers[place] = listener
        try:
            yield
        finally:
            del self._followers[place]

    async def end(self, belongs: Callable[[ProcessSpec], bool], why: str) -> None:
        """Kill the commands to which this applies, and wait until they are gone."""
        ending = [each for each in self._known.values() if belongs(each.spec)]
        for each in ending:
            if each.exit_code is None:
                each.why = each.why or why
                each.group.kill()
        for each in ending:
            await each.ended.wait()

    async def end_workspace(self, workspace: UUID, why: str) -> None:
        await self.end(lambda spec: spec.workspace == workspace, why)

    def workspaces(self) -> dict[UUID, int]:
        """Return the workspaces in which commands run, and how much of the disk each may have."""
        specs = [each.spec for each in self._known.values() if each.exit_code is None]
        return {spec.workspace: spec.disk_mb for spec in specs}

    def statistics(self) -> ProcessStatistics:
        running = sum(each.exit_code is None for each in self._known.values())
        ended = len(self._known) - running
        return ProcessStatistics(running, ended, self._started_count, self._shown_characters)

    def _find(self, chat: ChatId, id: str) -> _Running | WorkspaceRefusal:
        found = self._known.get(id)
        if found is None or found.spec.chat != chat:
            return WorkspaceRefusal(
                f"process {id} not found; see process_list. Processes that have ended are"
                f" forgotten after {self._kept_seconds / 60:g} minutes, and all of them when the"
                " server is started again"
            )
        return found

    def _forget(self) -> None:
        ended = [each for each in self._known.values() if each.ended.is_set()]
        ended.sort(key=lambda each: each.began + each.ended_after)
        over = len(ended) - KEPT_MAX
        for number, each in enumerate(ended):
            if number < over or each.began + each.ended_after + self._kept_seconds < now():
                del self._known[each.id]

    async def _follow(self, running: _Running) -> None:
        """Follow a command from its start to its last output."""
        try:
            with trio.move_on_after(running.spec.seconds_max) as life:
                await self._live(running)
            if life.cancelled_caught:
                running.why = f"ended after {running.spec.seconds_max:g} s, which is its limit"
        finally:
            running.group.kill()
            with trio.move_on_after(REAP_SECONDS, shield=True):
                await running.group.wait()
            _reap(running)
            for listener in list(self._followers.values()):
                listener(running.spec)

    async def _live(self, running: _Running) -> None:
        with stream_of(running.group.popen.stdout) as stream:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(_listen, stream, running)
                await running.group.wait()
                running.group.kill()  # what it has left behind; itself it is not reaped yet
                nursery.cancel_scope.deadline = trio.current_time() + DRAIN_SECONDS


@asynccontextmanager
async def open_processes(*, kept_seconds: float = KEPT_SECONDS) -> AsyncIterator[ProcessTable]:
    """Give the table of commands for the length of the block; at its end all of them are killed."""
    async with (
        open_lifeline() as lifeline,
        open_children("commands", capacity=RUNNING_MAX) as children,
    ):
        yield ProcessTable(children, lifeline, kept_seconds=kept_seconds)


def _nothing_to_do(name: str, end: End) -> None:
    """Do nothing: a command tells by itself that it is over."""


def _reap(running: _Running) -> None:
    code = running.group.reap()
    running.ended_after = now() - running.began
    running.ended_at = wall()
    running.exit_code = -1 if code is None else code if code >= 0 else 128 - code
    running.ended.set()
    running.more.unpark_all()


def _why_not(error: Exception) -> str:
    if isinstance(error, FileNotFoundError) and error.filename == "sh":
        return "not started: sh is not installed; the operator of the server can do that"
    if isinstance(error, OSError) and error.errno is not None:
        return f"not started: {os.strerror(error.errno).lower()}"
    if isinstance(error, RuntimeFault):
        return "not started: the server is stopping"
    return "not started: the command has a zero byte in it"


async def _listen(stream: trio.lowlevel.FdStream, running: _Running) -> None:
    """Read the output until no process can write to it any more."""
    count = 0
    while data := await stream.receive_some(READ_BYTES):
        running.output.add(data)
        running.more.unpark_all()
        count += len(data)
        if count > PAUSE_BYTES:
            count = 0
            await trio.sleep(PAUSE_SECONDS)


def _terminate(running: _Running) -> None:
    """Ask the members of the group to end, but not a sandbox around them: it would end them before
    they could react. If there is nothing but the sandbox yet, the sandbox is asked."""
    leader = running.group.number
    members = list(_members(leader))
    if _is_sandbox(running):
        members = [pid for pid in members if pid != leader and _name(pid) != PROGRAM] or [leader]
    for pid in members:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGTERM)


def _is_sandbox(running: _Running) -> bool:
    return os.path.basename(running.spec.arguments[0]) == PROGRAM


def _name(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/comm") as file:
            return file.read().strip()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def _members(group: int) -> Iterator[int]:
    for name in os.listdir("/proc"):
        if not name.isdecimal():
            continue
        with suppress(ProcessLookupError):
            if os.getpgid(int(name)) == group:
                yield int(name)


def _seen(running: _Running) -> ports.Process:
    spec = running.spec
    return ports.Process(
        id=running.id,
        command=spec.command.text,
        workdir=spec.workdir,
        background=spec.command.background,
        output=running.output.shown,
        started_at=running.began_at,
        wall_ms=round(running.seconds * 1000),
        exit_code=running.exit_code,
        ended_at=running.ended_at,
        why=running.why,
    )
