"""The rows of workspaces in PostgreSQL: whose they are, and which chat works in which."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from actors.law.ids import ChatId, UserId
from actors.law.store.hints import ContextChanged, Tell
from actors.tools.ranking import LOOKED_BACK_DAYS, TemplateUse
from adapters.postgres.driver.pool import Pool
from adapters.postgres.driver.values import Row
from adapters.postgres.queries import SQL

_DAY_SECONDS = 86_400


@dataclass(frozen=True, slots=True)
class WorkspaceRow:
    """A workspace, as chats that work in it know it."""

    id: UUID
    name: str
    template: str
    memory_mb: int
    file_mb: int
    processes: int
    seconds: int
    disk_mb: int = 10_240
    is_set_up: bool = False
    is_stopped: bool = False


class WorkspaceRegistry:
    """The rows of workspaces, for the chats that work in them."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool

    async def of(self, chat: ChatId) -> WorkspaceRow | None:
        """Return the workspace that a chat works in, or None."""
        found = await self._run(SQL["workspace_of_chat"], chat=chat)
        return WorkspaceRow(*found[0]) if found else None

    async def add(self, new: WorkspaceRow, owner: UserId, chat: ChatId) -> bool:
        """Register a workspace and bind it to the chat. Return False if its owner has one of this
        name."""
        facts = {
            "id": new.id,
            "name": new.name,
            "template": new.template,
            "memory_mb": new.memory_mb,
            "file_mb": new.file_mb,
            "processes": new.processes,
            "seconds": new.seconds,
            "disk_mb": new.disk_mb,
            "is_set_up": new.is_set_up,
        }
        return bool(await self._run(SQL["add_workspace"], owner=owner, root=chat, **facts))

    async def count(self, owner: UserId) -> int:
        """Return how many workspaces a user has."""
        [(count,)] = await self._run(SQL["workspaces_of"], owner=owner)
        return int(count)

    async def note_set_up(self, workspace: UUID) -> None:
        """Note that the set-up command of a workspace has run to its end."""
        await self._run(SQL["workspace_is_set_up"], id=workspace)

    async def start(self, workspace: UUID) -> None:
        await self._run(SQL["start_workspace"], id=workspace)

    async def stop(self, workspace: UUID) -> None:
        await self._run(SQL["stop_workspace"], id=workspace)

    async def uses(self, owner: UserId) -> Mapping[str, TemplateUse]:
        """Return how each template has been used."""
        found = await self._run(SQL["template_uses"], owner=owner, days=LOOKED_BACK_DAYS)
        return {
            template: TemplateUse(developers, own, last, (seconds or 0.0) / _DAY_SECONDS, removed)
            for template, developers, own, removed, last, seconds in found
        }

    async def _run(self, sql: str, /, **asked: Any) -> list[Row]:
        async with self.pool.connection() as connection:
            return await connection.execute(sql, asked)


@dataclass(frozen=True, slots=True)
class OwnedWorkspace:
    """A workspace with its owner, as users see it."""

    id: UUID
    owner_id: UserId
    owner_name: str
    name: str
    template: str
    memory_mb: int
    file_mb: int
    processes: int
    seconds: int
    disk_mb: int
    is_set_up: bool
    is_stopped: bool
    created_at: datetime
    started_at: datetime
    used_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceFilter:
    """Conditions that listed workspaces meet; None puts no condition."""

    username: str | None = None  # of their owner
    name: str | None = None  # a part of theirs
    template: str | None = None
    is_stopped: bool | None = None
    limit: int
    offset: int = 0


@dataclass(frozen=True, slots=True)
class OwnerScope:
    """The workspaces of one user; or of all users, for those who may see them."""

    owner: UserId
    all_users: bool = False


class OwnedWorkspaces:
    """The rows of workspaces, for the users who own them."""

    def __init__(self, pool: Pool, *, tell: Tell, sharing: bool = True) -> None:
        self._pool = pool
        self._tell = tell
        self._sharing = sharing  # of chats

    async def one(self, workspace: UUID, scope: OwnerScope) -> OwnedWorkspace | None:
        found = await self._run(SQL["owned_workspace"], workspace=workspace, **asdict(scope))
        return OwnedWorkspace(*found[0]) if found else None

    async def page(
        self, scope: OwnerScope, wanted: WorkspaceFilter
    ) -> tuple[Sequence[OwnedWorkspace], int]:
        """Return a page of workspaces, and how many there are on all pages."""
        asked = {**asdict(scope), **asdict(wanted)}
        found = await self._run(SQL["owned_workspaces"], **asked)
        return [OwnedWorkspace(*row) for _, *row in found if row[0] is not None], found[0][0]

    async def bind(self, chat: ChatId, workspace: UUID | None) -> None:
        """Let a root chat and all its family work in this workspace from now on; None: in none."""
        found = await self._run(SQL["bind_workspace"], root=chat, workspace=workspace)
        for bound, owner in found:
            self._tell(ContextChanged(bound, owner))

    async def chats(
        self, workspaces: Sequence[UUID], caller: UserId, *, is_admin: bool
    ) -> Mapping[UUID, ChatId]:
        """Return for each workspace the chat that was touched last, of those that the caller may
        read."""
        asked = {"workspaces": workspaces, "caller": caller, "is_admin": is_admin}
        found = await self._run(SQL["chats_of_workspaces"], **asked, sharing=self._sharing)
        return dict(tuple(row) for row in found)

    async def _run(self, sql: str, /, **asked: Any) -> list[Row]:
        async with self._pool.connection() as connection:
            return await connection.execute(sql, asked)


AT_ONCE_MAX = 100  # stopped or removed by one look; the others by the next
REMOVED_MAX = 10_000  # looked for on this machine's disk at once; likewise
FORGOTTEN_DAYS = 90.0  # after which the directory of a removed workspace is not looked for


class CaretakerStore:
    """The rows of workspaces, for the caretaker: which are used, idle, or have to go."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def note_used(self, workspaces: Collection[UUID]) -> None:
        """Note that tools work in these workspaces now."""
        await self._run(SQL["use_workspaces"], workspaces=list(workspaces))

    async def stop_idle(self) -> list[UUID]:
        """Stop workspaces that are idle for as long as administrators have set. Return those that
        were stopped."""
        return await self._run(SQL["stop_idle_workspaces"], most=AT_ONCE_MAX)

    async def unused(self, *, days: float | None, days_max: float | None) -> list[UUID]:
        """Return workspaces that may be removed, because no tool has worked in them for so long."""
        return await self._run(
            SQL["unused_workspaces"], days=days, days_max=days_max, most=AT_ONCE_MAX
        )

    async def remove(self, workspace: UUID) -> bool:
        """Remove a workspace. Return False if a chat works in it, or it is gone."""
        return bool(await self._run(SQL["remove_workspace"], id=workspace))

    async def closed(self, workspaces: Collection[UUID]) -> list[UUID]:
        """Return those of these workspaces in which no chat works any more."""
        return await self._run(SQL["closed_workspaces"], workspaces=list(workspaces))

    async def unknown(self, workspaces: Collection[UUID]) -> list[UUID]:
        """Return those of these workspaces that have never been registered, or were forgotten long
        ago."""
        return await self._run(SQL["unknown_workspaces"], workspaces=list(workspaces))

    async def removed(self) -> list[UUID]:
        """Return workspaces that were removed and whose directories may still lie on a disk."""
        return await self._run(SQL["removed_workspaces"], most=REMOVED_MAX)

    async def forget(self) -> None:
        await self._run(SQL["forget_workspaces"], days=FORGOTTEN_DAYS)

    async def _run(self, sql: str, /, **asked: Any) -> list[UUID]:
        async with self._pool.connection() as connection:
            return [row[0] for row in await connection.execute(sql, asked)]
