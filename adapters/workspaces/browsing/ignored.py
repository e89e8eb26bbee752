"""The entries of a directory that git ignores, as git itself says.

A repository can make git run programs, so git runs in the sandbox in which the commands of the
workspace run. If there is none, or git does not answer, it is not known what is ignored.
"""

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from posixpath import dirname
from typing import Annotated
from uuid import UUID, uuid4

import trio

from adapters.workspaces.commands.sandbox import CommandLimits, NoSandbox, command_line
from adapters.workspaces.disk import DiskSilent, Programs
from adapters.workspaces.local import LocalWorkspaces
from adapters.workspaces.store import OwnedWorkspace
from runtime.statistics import CounterMetric, GaugeMetric

SECONDS = 5.0  # for one answer of git; then it is not known
NAMES_BYTES_MAX = 32 * 1024  # of the names of one question: its answer has to fit into 64 KiB
ASKING_MAX = 8  # questions at once; others wait
PER_WORKSPACE_MAX = 2  # of them for one workspace, those that wait included; else it is not known
NONE_IGNORED = 1  # git's exit code


@dataclass(frozen=True, slots=True)
class IgnoredStatistics:
    asking: Annotated[int, GaugeMetric("Questions to git about ignored files in progress.")]
    asked_count: Annotated[int, CounterMetric("Questions to git about ignored files.")]
    unknown_count: Annotated[
        int, CounterMetric("Questions to git about ignored files that had no answer.")
    ]


class IgnoredEntries:
    """Asks git which entries of a directory are ignored."""

    def __init__(self, workspaces: LocalWorkspaces) -> None:
        self._workspaces = workspaces
        self._programs = Programs()
        self._places = trio.CapacityLimiter(ASKING_MAX)
        self._asking: dict[UUID, int] = {}
        self._asked_count = self._unknown_count = 0

    async def of(
        self, row: OwnedWorkspace, directory: str, names: Sequence[str]
    ) -> frozenset[str] | None:
        """Return those of these names that git ignores; None if that is not known."""
        own = self._asking.get(row.id, 0)
        if isinstance(self._workspaces.sandbox, NoSandbox) or own >= PER_WORKSPACE_MAX:
            self._unknown_count += 1
            return None
        self._asking[row.id] = own + 1
        try:
            async with self._places:
                found = await self._found(row, directory, names)
        finally:
            self._asking[row.id] -= 1
            if not self._asking[row.id]:
                del self._asking[row.id]
        self._unknown_count += found is None
        return found

    def statistics(self) -> IgnoredStatistics:
        asking = self._places.borrowed_tokens
        return IgnoredStatistics(int(asking), self._asked_count, self._unknown_count)

    async def _found(
        self, row: OwnedWorkspace, directory: str, names: Sequence[str]
    ) -> frozenset[str] | None:
        ignored: set[str] = set()
        for some in _bunches(names):
            self._asked_count += 1
            said = await self._ask(row, directory, some)
            if said is None:
                return None
            ignored.update(said)
        return frozenset(ignored)

    async def _ask(
        self, row: OwnedWorkspace, directory: str, names: Sequence[str]
    ) -> Sequence[str] | None:
        sandbox = self._workspaces.sandbox
        assert not isinstance(sandbox, NoSandbox), "it is looked at before"
        paths = self._workspaces.paths(row.id)
        limits = CommandLimits(row.memory_mb, row.file_mb, row.processes, row.seconds)
        quoted = " ".join(shlex.quote(f"./{name}") for name in names)
        git = "git -c core.fsmonitor=false check-ignore -z --stdin"
        text = f"printf '%s\\0' {quoted} | {git}"
        environ = {
            **self._workspaces.variables(row.id),
            "GIT_CEILING_DIRECTORIES": dirname(paths.home),
            "GIT_OPTIONAL_LOCKS": "0",
        }
        try:
            words = await command_line(sandbox, text, paths, workdir=directory, limits=limits)
            words = ["sh", "-c", 'cd -- "$1" && shift && exec "$@"', "sh", directory, *words]
            # Of one key one runs at a time, and each of these may run beside others.
            done = await self._programs.run(words, key=uuid4(), seconds=SECONDS, environ=environ)
        except (OSError, ValueError, DiskSilent):
            return None
        if done is None or done.code not in (0, NONE_IGNORED):
            return None
        said = done.said.decode(errors="surrogateescape").split("\0")
        return [name.removeprefix("./") for name in said if name]


def _bunches(names: Sequence[str]) -> Iterator[Sequence[str]]:
    bunch: list[str] = []
    size = 0
    for name in names:
        size += len(name.encode(errors="surrogateescape")) + 3
        if size > NAMES_BYTES_MAX and bunch:
            yield bunch
            bunch, size = [], 0
        bunch.append(name)
    if bunch:
        yield bunch
