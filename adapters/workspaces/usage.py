"""The use of workspaces in this process: which are worked in, and how much of the disk they take.

A disk is not measured by the kernel here, but by looking: what is written between two looks is over
the limit until then.
"""

from contextlib import suppress
from pathlib import Path
from uuid import UUID

from actors.tools.workspaces import WorkspaceRefusal
from adapters.settings.caching import RecentlyUsed
from adapters.workspaces.disk import Programs

DU_SECONDS = 60.0  # for one measurement; then it is not known how much it is
WRITTEN_BYTES = 64 * 1024 * 1024  # by tools, without a look at how much that makes in all
# Workspaces of which it is known how much was written, and as many that are known to be full; of
# the one written to longest ago it is forgotten.
NOTED_MAX = 4_096
MIB = 1024 * 1024


class WorkspaceUsage:
    """Notes which workspaces are used, and how much of the disk they take."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self.programs = Programs()
        self.used: set[UUID] = set()  # since the caretaker last took note
        self.measured_count = 0
        self._written: RecentlyUsed[UUID, int] = RecentlyUsed(
            NOTED_MAX
        )  # by tools, since it was measured
        self._full: RecentlyUsed[UUID, int] = RecentlyUsed(
            NOTED_MAX
        )  # their sizes when last measured

    @property
    def full(self) -> int:
        return len(self._full)

    @property
    def noted(self) -> int:
        return len(self._written)

    def use(self, workspace: UUID) -> None:
        self.used.add(workspace)

    async def room(self, workspace: UUID, disk_mb: int, count: int) -> WorkspaceRefusal | None:
        """Take note that a tool is to write so many bytes, or return why it may not."""
        if workspace not in self._full and self._note(workspace, count) <= WRITTEN_BYTES:
            return None
        size = await self.measure(workspace)
        if not self.is_over(workspace, size, disk_mb):
            return None
        return WorkspaceRefusal(words_of_full(size, disk_mb))

    async def measure(self, workspace: UUID) -> int:
        """Return how many bytes it takes. If that cannot be measured, now or because it is being
        measured already, one that was full stays so, and any other takes nothing."""
        self.measured_count += 1
        self._written.pop(workspace)
        size = await self._size_of(self._directory / str(workspace))
        return (self._full.peek(workspace) or 0) if size is None else size

    def is_over(self, workspace: UUID, size: int, disk_mb: int) -> bool:
        """Return whether this size is over the workspace's limit, and remember it if so."""
        if size <= disk_mb * MIB:
            self._full.pop(workspace)
            return False
        self._full.put(workspace, size)
        return True

    def forget(self, workspace: UUID) -> None:
        """Forget the size of a workspace that was closed."""
        self._full.pop(workspace)
        self._written.pop(workspace)

    def _note(self, workspace: UUID, count: int) -> int:
        """Return how many bytes were written since it was measured, these included."""
        written = (self._written.pop(workspace) or 0) + count
        self._written.put(workspace, written)
        return written

    async def _size_of(self, place: Path) -> int | None:
        """Return what it takes of the disk, in bytes; None if that cannot be measured."""
        with suppress(OSError):
            command = ["du", "-skx", "--", str(place)]
            done = await self.programs.run(command, key=("du", place), seconds=DU_SECONDS)
            if done is not None:
                kibibytes, _, _ = done.said.partition(b"\t")
                return int(kibibytes or b"0") * 1024
        return None


def words_of_full(size: int, disk_mb: int) -> str:
    return (
        f"the workspace takes {size // MIB} MiB of the disk (at most {disk_mb});"
        " remove what is not needed, with rm"
    )
