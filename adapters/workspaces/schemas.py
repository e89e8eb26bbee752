"""The JSON of workspaces and templates, exactly as clients get it. Pure."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from msgspec import UNSET, Struct, UnsetType


class WorkspaceLimits(Struct, frozen=True):
    """Limits of each process, of each command's life, and of the disk."""

    memory_mb: int
    file_mb: int
    processes: int
    seconds: int
    disk_mb: int


class Workspace(Struct, frozen=True, kw_only=True):
    id: UUID
    organization_id: UUID
    owner_id: UUID
    owner_name: str
    name: str
    template_name: str
    status: str  # running or stopped
    is_set_up: bool  # the template's command for that has run to its end, or there is none
    path: str  # on the server's disk
    limits: WorkspaceLimits
    created_at: datetime
    started_at: datetime
    last_used_at: datetime


class Workspaces(Struct, frozen=True):
    workspaces: Sequence[Workspace]
    count: int  # on all pages


class WorkspaceTemplate(Struct, frozen=True, kw_only=True):
    """A template. `error` says why its file cannot be read; then no workspace is made of it."""

    id: UUID
    organization_id: UUID
    name: str
    display_name: str = ""
    description: str = ""
    git: str | UnsetType = UNSET
    branch: str | UnsetType = UNSET
    setup: str | UnsetType = UNSET
    limits: WorkspaceLimits | UnsetType = UNSET
    readme: str | UnsetType = UNSET
    error: str | UnsetType = UNSET


class FileEntry(Struct, frozen=True, kw_only=True):
    """An entry of a directory. It has no `path` if its name is not UTF-8: then no address can say
    it. `is_ignored` is left out where that is not known."""

    name: str
    path: str | UnsetType = UNSET  # relative to the workspace
    kind: str  # file, directory, link, or other: a pipe, a socket, a device
    size_bytes: int
    modified_at: datetime | None
    is_executable: bool
    link_to: str | UnsetType = UNSET  # of a link
    is_ignored: bool | UnsetType = UNSET  # by git


class DirectoryPage(Struct, frozen=True, kw_only=True):
    """A page of a directory: folders first, then by name. With `is_cut` it has more entries than
    are ever listed."""

    path: str  # relative to the workspace, without symbolic links; "" is the workspace itself
    entries: Sequence[FileEntry]
    count: int  # on all pages
    is_cut: bool
