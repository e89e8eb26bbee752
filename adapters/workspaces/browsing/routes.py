"""The endpoints of the files of workspaces, for their owners and for administrators."""

from collections.abc import Sequence

from msgspec import UNSET

from adapters.http.endpoints import Call, Endpoint, HttpResponse, Parameter, json_response, number
from adapters.http.files import clean_name, disposition_of
from adapters.http.refusals import not_found
from adapters.workspaces.browsing.browser import WorkspaceBrowser
from adapters.workspaces.browsing.listing import (
    ListedDirectory,
    ListedEntry,
    is_utf8,
    path_in,
    shown_text,
)
from adapters.workspaces.browsing.reading import SAFE_HEADERS, file_response
from adapters.workspaces.schemas import DirectoryPage, FileEntry
from adapters.workspaces.store import OwnedWorkspace, OwnedWorkspaces, OwnerScope

FILES = "/api/v2/workspaces/{workspace}/files"
PAGE, PAGE_MAX = 500, 1_000  # entries of a directory in one answer; more are refused
OFFSET_MAX = 1_000_000
ARCHIVES_PER_MINUTE = 12  # of one user; then 429

_PATH = Parameter(name="path", help="in the workspace: relative to it, or absolute as tools say it")


class BrowsingRoutes:
    """Handlers of files of workspaces."""

    def __init__(self, owned: OwnedWorkspaces, browser: WorkspaceBrowser) -> None:
        self._owned = owned
        self._browser = browser

    def endpoints(self) -> Sequence[Endpoint]:
        return (
            Endpoint(
                method="GET",
                path=FILES,
                handle=self.list,
                summary="A directory of a workspace: folders first, then by name.",
                tag="workspaces",
                parameters=(
                    _PATH,
                    Parameter(name="limit", type=int, help=f"0 or none: {PAGE}"),
                    Parameter(name="offset", type=int, help="how many to leave out"),
                ),
                answers={200: DirectoryPage},
                refusals=(409, 503),
            ),
            Endpoint(
                method="GET",
                path=f"{FILES}/content",
                handle=self.read,
                summary="A file of a workspace, or a range of its bytes.",
                tag="workspaces",
                parameters=(
                    _PATH,
                    Parameter(name="download", type=bool, help="true: never opened in place"),
                ),
                answers={200: bytes, 206: bytes},
                refusals=(409, 416, 503),
            ),
            Endpoint(
                method="GET",
                path=f"{FILES}/archive",
                handle=self.archive,
                summary="A directory of a workspace with all that is in it, as a zip file.",
                tag="workspaces",
                rate_per_minute=ARCHIVES_PER_MINUTE,
                parameters=(_PATH,),
                answers={200: bytes},
                refusals=(409, 503),
            ),
        )

    async def list(self, call: Call) -> HttpResponse:
        row, path = await self._asked(call)
        offset = number(call, "offset", maximum=OFFSET_MAX)
        limit = number(call, "limit", maximum=PAGE_MAX) or PAGE
        found, ignored = await self._browser.list(row, path, offset=offset, limit=limit)
        return json_response(200, files_of(found, self._browser.home(row), ignored))

    async def read(self, call: Call) -> HttpResponse:
        row, path = await self._asked(call)
        facts = await self._browser.look_at(row, path)
        return file_response(call, facts, self._browser.home(row), self._browser.disk(row))

    async def archive(self, call: Call) -> HttpResponse:
        row, path = await self._asked(call)
        below, body = await self._browser.archive(row, path)
        name = f"{clean_name(shown_text(below)) or row.name}.zip"
        headers = (*SAFE_HEADERS, ("content-disposition", disposition_of(name, inline=False)))
        return HttpResponse(200, body, "application/zip", headers=headers)

    async def _asked(self, call: Call) -> tuple[OwnedWorkspace, str]:
        """Return the workspace, and the absolute path that is asked for."""
        scope = OwnerScope(call.user.id, call.user.is_admin)
        row = await self._owned.one(call.uuid("workspace"), scope)
        if row is None:
            raise not_found()
        return row, path_in(self._browser.home(row), call.one("path") or "")


def files_of(found: ListedDirectory, home: str, ignored: frozenset[str] | None) -> DirectoryPage:
    """Return a page of a directory as clients get it. `ignored` is None where it is not known."""
    top = found.path.removeprefix(home).lstrip("/")
    return DirectoryPage(
        path=shown_text(top),
        entries=[_file_of(each, top, ignored) for each in found.entries],
        count=found.count,
        is_cut=found.is_cut,
    )


def _file_of(entry: ListedEntry, top: str, ignored: frozenset[str] | None) -> FileEntry:
    path = f"{top}/{entry.name}" if top else entry.name
    return FileEntry(
        name=shown_text(entry.name),
        path=path if is_utf8(path) else UNSET,
        kind=entry.kind,
        size_bytes=entry.size_bytes,
        modified_at=entry.modified_at,
        is_executable=entry.is_executable,
        link_to=entry.link_to or UNSET,
        is_ignored=UNSET if ignored is None else entry.name in ignored,
    )
