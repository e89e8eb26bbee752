"""Runs git for looks at repositories, in the sandbox of their workspace.

At most GIT_AT_ONCE_MAX looks run in this process; others wait. A look that takes too long is killed
with all that it has started, and so is one whose caller is cancelled. One that hangs on a disk does
not even end then: it is left, and no look begins in its workspace before it is gone.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePath
from subprocess import DEVNULL
from typing import Annotated, TypeVar
from uuid import UUID

import trio

from adapters.workspaces.commands.process_groups import (
    Lifeline,
    ProcessGroup,
    spawn,
    stream_of,
)
from adapters.workspaces.commands.sandbox import (
    Bubblewrap,
    CommandLimits,
    NoSandbox,
    command_line,
)
from adapters.workspaces.disk import Disk, DiskSilent
from adapters.workspaces.git.looking import (
    MEMORY_SCRATCH,
    OUTPUT_BYTES_MAX,
    Look,
    LookFailed,
    look_command,
    look_variables,
    read_look,
)
from adapters.workspaces.local import LocalWorkspaces
from adapters.workspaces.store import WorkspaceRow
from runtime.statistics import CounterMetric, GaugeMetric

GIT_SECONDS_MAX = 15.0  # for one look at one repository; then it has failed
GIT_AT_ONCE_MAX = 4  # looks; others wait
REAP_SECONDS = 2.0  # for git that was killed to be gone; then it is left
READ_BYTES = 65_536

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class GitStatistics:
    running: Annotated[int, GaugeMetric("Looks at repositories in which git runs.")]
    left: Annotated[int, GaugeMetric("Looks that were killed and whose git hangs on a disk.")]
    looks_count: Annotated[int, CounterMetric("Times that git was run to look at a repository.")]
    failed_count: Annotated[int, CounterMetric("Looks at repositories that failed.")]


class GitRunner:
    """Runs git in workspaces."""

    def __init__(self, workspaces: LocalWorkspaces, lifeline: Lifeline) -> None:
        self._workspaces = workspaces
        self._lifeline = lifeline
        self._places = trio.CapacityLimiter(GIT_AT_ONCE_MAX)
        self._left: dict[UUID, list[ProcessGroup]] = {}
        self._looks_count = self._failed_count = 0

    async def look(self, workspace: WorkspaceRow, root: str) -> Look:
        """Look at the repository at `root`."""
        async with self._places:
            self._looks_count += 1
            found = await self._look(workspace, root)
        self._failed_count += isinstance(found, LookFailed)
        return found

    async def read_disk(self, workspace: WorkspaceRow, work: Callable[[], Result]) -> Result:
        """Look at the disk of a workspace, in a thread. DiskSilent: it does not answer."""
        home = self._workspaces.home(workspace.id)
        return await Disk(home, f"the workspace {workspace.name}").read(work)

    def home(self, workspace: WorkspaceRow) -> str:
        return self._workspaces.home(workspace.id)

    def statistics(self) -> GitStatistics:
        return GitStatistics(
            self._places.borrowed_tokens,
            sum(map(len, self._left.values())),
            self._looks_count,
            self._failed_count,
        )

    async def _look(self, workspace: WorkspaceRow, root: str) -> Look:
        sandbox, paths = self._workspaces.sandbox, self._workspaces.paths(workspace.id)
        if isinstance(sandbox, NoSandbox):
            return LookFailed(sandbox.says)
        if self._hangs(workspace.id):
            return LookFailed("git hangs: the disk of the workspace does not answer")
        is_confined = isinstance(sandbox, Bubblewrap)
        command = look_command(root, MEMORY_SCRATCH if is_confined else paths.tmp)
        variables = self._workspaces.variables(workspace.id)
        row = workspace
        try:
            arguments = await command_line(
                sandbox,
                command.text,
                paths,
                workdir=paths.home,
                limits=CommandLimits(row.memory_mb, row.file_mb, row.processes, row.seconds),
            )
            group = spawn(
                arguments,
                self._lifeline,
                workdir=paths.home,
                environment=look_variables(variables, str(PurePath(paths.home).parent)),
                stderr=DEVNULL,
            )
        except DiskSilent as silent:
            return LookFailed(str(silent))
        except OSError as error:
            return LookFailed(f"git cannot be started: {(error.strerror or 'no reason').lower()}")
        output = await self._run(workspace.id, group)
        if output is None:
            return LookFailed(f"git took longer than {GIT_SECONDS_MAX:g} s, which is its limit")
        return read_look(output, command.mark)

    async def _run(self, workspace: UUID, group: ProcessGroup) -> bytes | None:
        """Let a look run to its end, and return what it has written; None if it took too long."""
        try:
            with stream_of(group.popen.stdout) as stream:
                group.release()
                with trio.move_on_after(GIT_SECONDS_MAX):
                    return await _read(stream)
            return None
        finally:
            group.kill()
            with trio.move_on_after(REAP_SECONDS, shield=True):
                await group.wait()
            if group.ending() is None:
                self._left.setdefault(workspace, []).append(group)
            else:
                group.reap()

    def _hangs(self, workspace: UUID) -> bool:
        """Return whether git that was killed is still there; reap what is gone."""
        left = self._left.pop(workspace, [])
        for group in left:
            if group.ending() is not None:
                group.reap()
        still = [group for group in left if group.popen.returncode is None]
        if still:
            self._left[workspace] = still
        return bool(still)


async def _read(stream: trio.lowlevel.FdStream) -> bytes:
    """Read to the end. What is over the bound is not kept: then nothing can be made of it."""
    said = bytearray()
    while data := await stream.receive_some(READ_BYTES):
        said += data[: max(0, OUTPUT_BYTES_MAX - len(said))]
    return bytes(said)
