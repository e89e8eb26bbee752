"""The files of the workspaces of this machine, as people look at them."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from adapters.http.refusals import HttpError
from adapters.workspaces.browsing.archive import Archives, ArchivesStatistics
from adapters.workspaces.browsing.ignored import IgnoredEntries, IgnoredStatistics
from adapters.workspaces.browsing.listing import ListedDirectory, list_directory
from adapters.workspaces.browsing.reading import FileFacts, look_at_file
from adapters.workspaces.disk import Disk, DiskSilent
from adapters.workspaces.local import LocalWorkspaces
from adapters.workspaces.store import OwnedWorkspace

RETRY_SECONDS = 5  # when the disk does not answer

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class BrowsingStatistics:
    archives: ArchivesStatistics
    ignored: IgnoredStatistics


class WorkspaceBrowser:
    """Looks at the files of workspaces. HttpError: why something cannot be shown."""

    def __init__(self, workspaces: LocalWorkspaces) -> None:
        self._workspaces = workspaces
        self._ignored = IgnoredEntries(workspaces)
        self._archives = Archives()

    def home(self, row: OwnedWorkspace) -> str:
        """Return the directory of a workspace."""
        return self._workspaces.home(row.id)

    def disk(self, row: OwnedWorkspace) -> Disk:
        """Return the disk on which the workspace lies."""
        return Disk(self.home(row), f"the workspace {row.name}")

    async def list(
        self, row: OwnedWorkspace, path: str, *, offset: int, limit: int
    ) -> tuple[ListedDirectory, frozenset[str] | None]:
        """Return a page of a directory, and the names in it that git ignores; None if these are
        not known."""
        look = partial(list_directory, self.home(row), path, offset=offset, limit=limit)
        found = await self._look(row, look)
        names = [each.name for each in found.entries]
        if not names or not found.is_in_repository:
            return found, frozenset()
        return found, await self._ignored.of(row, found.path, names)

    async def look_at(self, row: OwnedWorkspace, path: str) -> FileFacts:
        """Return what a file is now."""
        return await self._look(row, partial(look_at_file, self.home(row), path))

    async def archive(self, row: OwnedWorkspace, path: str) -> tuple[str, AsyncIterator[bytes]]:
        """Return the name of a directory, and its zip file, which is made while it is read."""
        home, disk = self.home(row), self.disk(row)
        name = await self._look(row, self._archives.checking(home, path))
        return name, self._archives.send(home, path, disk)

    def statistics(self) -> BrowsingStatistics:
        return BrowsingStatistics(self._archives.statistics(), self._ignored.statistics())

    async def _look(self, row: OwnedWorkspace, look: Callable[[], Result]) -> Result:
        try:
            return await self.disk(row).read(look)
        except DiskSilent as silent:
            retry = (("retry-after", str(RETRY_SECONDS)),)
            why = "The files cannot be read now."
            raise HttpError(503, why, detail=str(silent), headers=retry) from silent
