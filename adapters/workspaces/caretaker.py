"""The caretaker of workspaces: it notes that they are used, stops those that are idle, removes
those that are not needed, and ends what outgrows its share of the disk.

Several processes may share a database, and each sees to what it has: commands that it runs,
directories on its disk. What one process closes the others hear of; if the news is lost, they find
out at their next look.
"""

import math
import re
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, NoReturn, Protocol
from uuid import UUID

import trio

from actors.law.chat import Chat
from actors.law.store.hints import HintsLost, News, Tell, WorkspaceClosed
from actors.law.store.ports import Bus
from adapters.postgres.driver.faults import DatabaseFault
from adapters.workspaces.commands.processes import ProcessTable
from adapters.workspaces.disk import MAKING, Disk, DiskSilent
from adapters.workspaces.store import CaretakerStore
from adapters.workspaces.templates import UNREGISTERED, disk_of, mark_registered
from adapters.workspaces.usage import WorkspaceUsage, words_of_full
from runtime.clock import now, wall
from runtime.log import emit
from runtime.statistics import CounterMetric, GaugeMetric

LOOK_SECONDS = 30.0  # between two looks at what is closed and what is idle
REMOVE_SECONDS = 3_600.0  # between two looks for what is not needed, and for what is left of it
MEASURE_SECONDS = 15.0  # between two looks at how much is written; ten times as long as they take
RESTS = 10
MAKING_SECONDS = 86_400.0  # for a workspace to be made and registered; then it never will be
DELETE_SECONDS = 600.0  # for a workspace that was removed; what is left goes at the next look

# The directory of a workspace, UUID; one that is being made, .UUID.new; one that is removed,
# .UUID.gone.
_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_NAME = re.compile(rf"\.?(?P<id>{_UUID})(?:\.(?P<what>new|gone))?")


@dataclass(frozen=True, slots=True)
class CaretakerStatistics:
    full: Annotated[
        int, GaugeMetric("Workspaces that were over their limit when they were last looked at.")
    ]
    measured_count: Annotated[
        int, CounterMetric("Times that the size of a workspace was measured.")
    ]
    closed_count: Annotated[int, CounterMetric("Workspaces that were stopped here.")]
    removed_count: Annotated[int, CounterMetric("Directories of workspaces that were removed.")]
    noted: Annotated[
        int, GaugeMetric("Workspaces of which it is known how much tools have written.")
    ]
    programs: Annotated[
        int, GaugeMetric("Programs that measure or remove workspaces, those that hang included.")
    ]


class WorkspaceListener(Protocol):
    """A part of the daemon that runs or keeps something for workspaces while chats work in them."""

    def opened(self, chat: Chat) -> None:
        """Take note that this chat's workspace has been made, or started."""
        ...

    async def closed(self, workspace: UUID) -> None:
        """End what runs in it: it has been stopped, or is too large."""
        ...

    def running(self) -> Mapping[UUID, int]:
        """Return the workspaces in which it has something running, and how many mebibytes of the
        disk each may take; 0 if what runs there cannot write to it."""
        ...


class Caretaker:
    """Looks after the workspaces of this process. It has to `run` and to `follow` the bus.

    `listeners` run other things in workspaces, such as servers of tools. They are told when what
    runs in a workspace has to end.
    """

    def __init__(
        self,
        store: CaretakerStore,
        table: ProcessTable,
        usage: WorkspaceUsage,
        directory: Path,
        *,
        tell: Tell,
        listeners: Sequence[WorkspaceListener] = (),
        days: float | None = None,
        days_max: float | None = None,
    ) -> None:
        self._store = store
        self._table = table
        self._usage = usage
        self._directory = directory
        self._tell = tell
        self._listeners = listeners
        self._days = days  # without use, of one that no chat but archived ones has; None: for ever
        self._days_max = days_max  # likewise, whichever have it
        self._closed: set[UUID] = set()
        self._woken, self._left_over = trio.Event(), trio.Event()
        self._sizes: dict[UUID, int] = {}  # of those in which commands run, when last looked at
        self._closed_count = self._removed_count = 0

    @contextmanager
    def follow(self, bus: Bus) -> Iterator[None]:
        with bus.follow(self.hear, WorkspaceClosed):
            yield

    def hear(self, news: News) -> None:
        match news:
            case WorkspaceClosed(workspace=workspace):
                self._closed.add(workspace)
            case HintsLost():
                pass
            case _:
                return
        self._woken.set()

    async def close(self, workspace: UUID) -> None:
        """End what runs in a workspace that was stopped: here at once, elsewhere when heard."""
        self._tell(WorkspaceClosed(workspace))
        self._closed.discard(workspace)  # which we have just told ourselves as well
        await self._closed_here(workspace)

    async def remove(self, workspace: UUID) -> bool:
        """Remove a workspace; its directory goes in a moment. Return False if a chat works in it,
        or it is gone."""
        if not await self._store.remove(workspace):
            return False
        await self.close(workspace)
        self._left_over.set()
        return True

    def removed(self, workspace: UUID) -> None:
        """Take note that the row of a workspace was marked as removed: what runs in it ends, and
        its directory goes in a moment. Another process that has the directory finds out by itself.
        """
        self._tell(WorkspaceClosed(workspace))
        self._left_over.set()

    def statistics(self) -> CaretakerStatistics:
        usage = self._usage
        counts = usage.measured_count, self._closed_count, self._removed_count
        return CaretakerStatistics(usage.full, *counts, usage.noted, usage.programs.running)

    async def run(self) -> NoReturn:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._see_to_disks)
            nursery.start_soon(self._see_to_left_overs)
            while True:
                await _unless_faulty(self.look)
                with trio.move_on_after(LOOK_SECONDS):
                    await self._woken.wait()
                self._woken = trio.Event()

    async def look(self) -> None:
        """Take note of what is used, and close what is idle or was closed elsewhere. The database
        says whether news of a closed workspace still holds: it may have been started again."""
        used, heard = frozenset(self._usage.used), frozenset(self._closed)
        if used:
            await self._store.note_used(used)
        for workspace in await self._store.stop_idle():
            await self.close(workspace)
        if here := heard.union(self._running()):
            for workspace in await self._store.closed(here):
                await self._closed_here(workspace)
        self._usage.used -= used
        self._closed -= heard

    async def give_up(self, workspace: UUID) -> None:
        """Give up a workspace that was being made: its directory goes in a moment, unless it has
        been registered. What the database or the disk does not allow now is done a day later."""
        with suppress(DatabaseFault, OSError, DiskSilent):
            if await self._store.unknown([workspace]):
                place = self._directory / str(workspace)
                await disk_of(place).write(partial(_aside, place), MAKING, seconds=0)
                self._left_over.set()

    async def clear(self) -> None:
        """Remove workspaces that are not needed, what is left of those that were removed elsewhere,
        and what was never made to the end. Directories that the database does not know stay: it may
        be another database than yesterday."""
        for workspace in await self._store.unused(days=self._days, days_max=self._days_max):
            if await self.remove(workspace):
                emit("workspace.removed", "info", workspace=workspace)
        removed = frozenset(await self._store.removed())
        before = wall().timestamp() - MAKING_SECONDS
        look = partial(_left_over, self._directory, removed, before=before)
        left, doubtful = await Disk(str(self._directory), "all workspaces").read(look)
        unknown = await self._store.unknown(doubtful) if doubtful else []
        for workspace, path in doubtful.items():
            if workspace in unknown:
                left.append(path)
            else:
                await mark_registered(path)  # which was cut short
        for path in left:
            await self._delete(path)
        await self._store.forget()

    async def measure(self) -> None:
        """Measure the workspaces in which something runs. Where one is over its limit and has
        grown, what runs in it is ended; a command that only removes files goes on."""
        limits = {each: disk_mb for each, disk_mb in self._running().items() if disk_mb}
        self._sizes = {each: size for each, size in self._sizes.items() if each in limits}
        for workspace, disk_mb in limits.items():
            before = self._sizes.get(workspace)
            size = self._sizes[workspace] = await self._usage.measure(workspace)
            is_over = self._usage.is_over(workspace, size, disk_mb)
            if is_over and before is not None and size > before:
                await self._end(workspace, f"ended: {words_of_full(size, disk_mb)}")

    def _running(self) -> Mapping[UUID, int]:
        """Return the workspaces in which something runs, and how much of the disk each may take."""
        found = self._table.workspaces()
        for listener in self._listeners:
            for workspace, disk_mb in listener.running().items():
                found[workspace] = max(disk_mb, found.get(workspace, 0))
        return found

    async def _closed_here(self, workspace: UUID) -> None:
        self._closed_count += 1
        self._usage.forget(workspace)
        await self._end(workspace, "its workspace was stopped")

    async def _end(self, workspace: UUID, why: str) -> None:
        await self._table.end_workspace(workspace, why)
        for listener in self._listeners:
            await listener.closed(workspace)

    async def _delete(self, path: Path) -> None:
        """Delete a directory by programs that can cope with trees of any depth and that follow no
        links. What is not done in time is done at the next look."""
        try:
            aside = await disk_of(path).write(partial(_aside, path), MAKING, seconds=0)
        except DiskSilent:
            return
        if aside is None:
            return
        command = ["sh", "-c", 'chmod -R u+rwx -- "$1"; rm -rf -- "$1"', "sh", str(aside)]
        with suppress(OSError):
            done = await self._usage.programs.run(
                command, key=("rm", aside), seconds=DELETE_SECONDS
            )
            self._removed_count += done is not None

    async def _see_to_left_overs(self) -> NoReturn:
        while True:
            await _unless_faulty(self.clear)
            with trio.move_on_after(REMOVE_SECONDS):
                await self._left_over.wait()
            self._left_over = trio.Event()

    async def _see_to_disks(self) -> NoReturn:
        while True:
            began = now()
            await self.measure()
            await trio.sleep(max(MEASURE_SECONDS, RESTS * (now() - began)))


def _left_over(
    directory: Path, removed: Collection[UUID], *, before: float
) -> tuple[list[Path], dict[UUID, Path]]:
    """Return the directories that have to go, and those that have to go if the database does not
    know of them."""
    sure: list[Path] = []
    doubtful: dict[UUID, Path] = {}
    for path in directory.iterdir() if directory.is_dir() else ():
        if (named := _NAME.fullmatch(path.name)) is None:
            continue
        id, what = UUID(named["id"]), named["what"]
        is_half = what == "new" and _changed_at(path) < before
        if what == "gone" or is_half or (what is None and id in removed):
            sure.append(path)
        elif what is None and _changed_at(path / UNREGISTERED) < before:
            doubtful[id] = path
    return sure, doubtful


def _changed_at(path: Path) -> float:
    """Return when a path was last changed. One that cannot be looked at counts as changed in the
    future, so that it stays."""
    try:
        return path.lstat().st_mtime
    except OSError:
        return math.inf


def _aside(path: Path) -> Path | None:
    """Move a workspace to where it is deleted, so that no process finds half of it. Return that
    path, or None if there is nothing left of it."""
    named = _NAME.fullmatch(path.name)
    assert named is not None, "it is a workspace's"
    aside = path.with_name(f".{named['id']}.gone")
    if path.is_dir() and not aside.exists():
        with suppress(FileNotFoundError):  # another process was faster
            path.rename(aside)
    return aside if aside.is_dir() else None


async def _unless_faulty(look: Callable[[], Awaitable[None]]) -> None:
    """Do the work. A fault of the database or the disk is logged, and the next look tries again."""
    try:
        await look()
    except (DatabaseFault, OSError, DiskSilent) as fault:
        emit("workspaces.kept", "warning", error=fault)


def days_of(setting: int) -> float | None:
    """Return the days of a setting, or None where 0 means for ever."""
    return float(setting) if setting else None
