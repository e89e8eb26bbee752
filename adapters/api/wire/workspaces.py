"""Workspaces and templates, exactly as clients get them. Pure."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from msgspec import UNSET, Struct, UnsetType

from adapters.postgres.workspaces.owned import Owned
from adapters.workspace.sandbox import Limits
from adapters.workspace.templates import Faulty, Template


class WorkspaceLimits(Struct, frozen=True):
    """Of each process, of each command's life, and of the disk."""

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
    """`error`: its file cannot be read, and nothing is made of it."""

    id: str
    name: str
    display_name: str = ""
    description: str = ""
    git: str | UnsetType = UNSET
    branch: str | UnsetType = UNSET
    setup: str | UnsetType = UNSET
    limits: WorkspaceLimits | UnsetType = UNSET
    readme: str | UnsetType = UNSET
    error: str | UnsetType = UNSET


def workspace_of(row: Owned, *, organization: UUID, path: str) -> Workspace:
    return Workspace(
        id=row.id,
        organization_id=organization,
        owner_id=row.owner_id,
        owner_name=row.owner_name,
        name=row.name,
        template_name=row.template,
        status="stopped" if row.is_stopped else "running",
        is_set_up=row.is_set_up,
        path=path,
        limits=_limits(row),
        created_at=row.created_at,
        started_at=row.started_at,
        last_used_at=row.used_at,
    )


def template_of(found: Template | Faulty, *, whole: bool = False) -> WorkspaceTemplate:
    """`whole`: with what it says of itself at length."""
    if isinstance(found, Faulty):
        return WorkspaceTemplate(id=found.name, name=found.name, error=found.why)
    return WorkspaceTemplate(
        id=found.name,
        name=found.name,
        display_name=found.display_name,
        description=found.description,
        git=found.git or UNSET,
        branch=found.branch or UNSET,
        setup=found.setup or UNSET,
        limits=_limits(found.limits),
        readme=found.readme if whole and found.readme else UNSET,
    )


def _limits(row: Owned | Limits) -> WorkspaceLimits:
    return WorkspaceLimits(row.memory_mb, row.file_mb, row.processes, row.seconds, row.disk_mb)
