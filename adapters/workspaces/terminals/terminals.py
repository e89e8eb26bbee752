"""The terminals of this process: begun within bounds, and ended with their workspace, with this
process, or with their own limits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated
from uuid import UUID

from actors.law.chat import Chat
from adapters.http.refusals import HttpError
from adapters.workspaces.commands.process_groups import Lifeline
from adapters.workspaces.commands.sandbox import (
    CommandLimits,
    NoSandbox,
    command_line,
    terminal_variables,
)
from adapters.workspaces.disk import DiskSilent
from adapters.workspaces.local import LocalWorkspaces, with_gate
from adapters.workspaces.store import OwnedWorkspace, WorkspaceRow
from adapters.workspaces.terminals.terminal import Terminal, TerminalSpec, open_terminal
from adapters.workspaces.terminals.wire import TerminalSize
from runtime.children import Child, Children
from runtime.clock import now
from runtime.ends import End
from runtime.errors import RuntimeFault
from runtime.statistics import CounterMetric, GaugeMetric

PER_WORKSPACE_MAX = 8  # that run in one workspace; one more is refused
PER_USER_MAX = 16  # likewise, of one user
TERMINALS_MAX = 128  # likewise, of this process
KNOWN_MAX = 2 * TERMINALS_MAX  # with those that have ended; then the oldest of these are forgotten
KEPT_SECONDS = 60.0  # that one which has ended can still be watched: its page shows why it ended

# A shell for people. The shell of systems without bash knows no directory in its prompt.
SHELL = (
    "if command -v bash > /dev/null; then export PS1='\\w \\$ '; exec bash -i; fi;"
    " export PS1='$ '; exec sh -i"
)


@dataclass(frozen=True, slots=True)
class TerminalsStatistics:
    running: Annotated[int, GaugeMetric("Terminals of people that run.")]
    watchers: Annotated[int, GaugeMetric("Watchers of terminals.")]
    started_count: Annotated[int, CounterMetric("Terminals of people that were started.")]
    output_bytes_count: Annotated[int, CounterMetric("Bytes that terminals have written.")]
    input_bytes_count: Annotated[int, CounterMetric("Bytes that were typed into terminals.")]


class Terminals:
    """The terminals that run in this process. Fulfils `WorkspaceListener` of the caretaker."""

    def __init__(self, workspaces: LocalWorkspaces, children: Children, lifeline: Lifeline) -> None:
        self._workspaces = workspaces
        self._children = children
        self._lifeline = lifeline
        self._known: dict[str, Terminal] = {}
        self._started_count = self._output_bytes = self._input_bytes = 0  # of forgotten ones

    async def start(self, row: OwnedWorkspace, size: TerminalSize) -> Terminal:
        """Start a terminal. HttpError: why there is none."""
        spec = await self._spec(row, size)
        self._check_room(row)
        try:
            used = partial(self._workspaces.usage.use, row.id)
            terminal = open_terminal(spec, self._lifeline, used=used)
        except (OSError, ValueError) as error:
            raise HttpError(503, "The terminal did not start.", detail=str(error)) from error
        try:
            self._children.start(
                Child(name=terminal.id, body=terminal.run, when_ended=_nothing_to_do)
            )
        except RuntimeFault as error:  # this process is stopping
            terminal.discard()
            raise HttpError(503, "The server is stopping.") from error
        self._known[terminal.id] = terminal
        self._started_count += 1
        self._workspaces.usage.use(row.id)
        return terminal

    def of(self, workspace: UUID) -> Sequence[Terminal]:
        """Return the terminals that run in a workspace, the oldest first."""
        self._forget()
        known = self._known.values()
        return [each for each in known if each.spec.workspace == workspace and each.end is None]

    def find(self, workspace: UUID, id: str) -> Terminal | None:
        """Return a terminal, also one that has ended a moment ago."""
        self._forget()
        found = self._known.get(id)
        return found if found is not None and found.spec.workspace == workspace else None

    # for the caretaker

    def opened(self, chat: Chat) -> None:
        """Do nothing: people begin terminals themselves."""

    async def closed(self, workspace: UUID) -> None:
        ending = self.of(workspace)
        for each in ending:
            each.stop("its workspace was stopped, or is too large")
        for each in ending:
            await each.over.wait()

    def running(self) -> Mapping[UUID, int]:
        known = self._known.values()
        return {each.spec.workspace: each.spec.disk_mb for each in known if each.end is None}

    def statistics(self) -> TerminalsStatistics:
        known = self._known.values()
        return TerminalsStatistics(
            running=sum(each.end is None for each in known),
            watchers=sum(each.watchers for each in known),
            started_count=self._started_count,
            output_bytes_count=self._output_bytes + sum(each.output_bytes for each in known),
            input_bytes_count=self._input_bytes + sum(each.input_bytes for each in known),
        )

    async def _spec(self, row: OwnedWorkspace, size: TerminalSize) -> TerminalSpec:
        sandbox = self._workspaces.sandbox
        if isinstance(sandbox, NoSandbox):
            raise HttpError(409, "No terminal can be started here.", detail=sandbox.why)
        if row.is_stopped:
            detail = f"{row.name} is stopped; start it first"
            raise HttpError(409, "The workspace is stopped.", detail=detail)
        paths = self._workspaces.paths(row.id)
        limits = CommandLimits(row.memory_mb, row.file_mb, row.processes, row.seconds)
        try:
            if not await self._workspaces.is_there(_row_of(row)):
                detail = "its directory is not on the machine of this daemon"
                raise HttpError(409, "The files of the workspace are not here.", detail=detail)
            told = terminal_variables(self._workspaces.environ, paths, tmp=sandbox.tmp(paths))
            gates = self._workspaces.gates
            paths, told = await with_gate(gates, sandbox, paths, told, row.id, row.owner_id)
            words = await command_line(sandbox, SHELL, paths, workdir=paths.home, limits=limits)
        except DiskSilent as silent:
            raise HttpError(503, "The terminal did not start.", detail=str(silent)) from silent
        return TerminalSpec(
            workspace=row.id,
            owner=row.owner_id,
            workdir=paths.home,
            arguments=words,
            environment=told,
            seconds_max=row.seconds,
            disk_mb=row.disk_mb,
            size=size,
        )

    def _check_room(self, row: OwnedWorkspace) -> None:
        self._forget()
        running = [each for each in self._known.values() if each.end is None]
        in_workspace = sum(each.spec.workspace == row.id for each in running)
        of_user = sum(each.spec.owner == row.owner_id for each in running)
        for count, maximum, whose in (
            (in_workspace, PER_WORKSPACE_MAX, "in this workspace"),
            (of_user, PER_USER_MAX, "of yours"),
            (len(running), TERMINALS_MAX, "of all users"),
        ):
            if count >= maximum:
                detail = f"{count} run {whose}, which is the most; end one first"
                raise HttpError(409, "Too many terminals.", detail=detail)

    def _forget(self) -> None:
        spare = len(self._known) - KNOWN_MAX
        for each in sorted(self._known.values(), key=lambda known: known.ended_at):
            if each.end is not None and (spare > 0 or each.ended_at + KEPT_SECONDS < now()):
                spare -= 1
                self._output_bytes += each.output_bytes
                self._input_bytes += each.input_bytes
                del self._known[each.id]


def _row_of(row: OwnedWorkspace) -> WorkspaceRow:
    return WorkspaceRow(
        row.id, row.name, row.template, row.memory_mb, row.file_mb, row.processes, row.seconds
    )


def _nothing_to_do(name: str, end: End) -> None:
    """Do nothing: a terminal tells its watchers by itself that it is over."""
