"""Workspaces on PostgreSQL, for those who own them."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from actors.law.ids import ChatId, UserId
from actors.law.store.hints import ContextChanged, Tell
from adapters.postgres.driver.pool import Pool
from adapters.postgres.driver.values import Row
from adapters.postgres.queries import SQL


@dataclass(frozen=True, slots=True)
class Owned:
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
class Wanted:
    """Which of them; None: whichever."""

    username: str | None = None  # of their owner
    name: str | None = None  # a part of theirs
    template: str | None = None
    is_stopped: bool | None = None
    limit: int
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Whose:
    """Those of a user; or everybody's, for whoever may see them."""

    owner: UserId
    everybodys: bool = False


class OwnedWorkspaces:
    def __init__(self, pool: Pool, *, tell: Tell, sharing: bool = True) -> None:
        self._pool = pool
        self._tell = tell
        self._sharing = sharing  # of chats

    async def one(self, workspace: UUID, whose: Whose) -> Owned | None:
        found = await self._run(SQL["owned_workspace"], workspace=workspace, **asdict(whose))
        return Owned(*found[0]) if found else None

    async def page(self, whose: Whose, wanted: Wanted) -> tuple[Sequence[Owned], int]:
        """And how many there are on all pages."""
        asked = {**asdict(whose), **asdict(wanted)}
        found = await self._run(SQL["owned_workspaces"], **asked)
        return [Owned(*row) for _, *row in found if row[0] is not None], found[0][0]

    async def bind(self, chat: ChatId, workspace: UUID | None) -> None:
        """A root works there from now on, and all its family with it; None: nowhere."""
        found = await self._run(SQL["bind_workspace"], root=chat, workspace=workspace)
        for bound, owner in found:
            self._tell(ContextChanged(bound, owner))

    async def chats(
        self, workspaces: Sequence[UUID], caller: UserId, *, is_admin: bool
    ) -> Mapping[UUID, ChatId]:
        """Of each the chat that was touched last, of those that the caller may read."""
        asked = {"workspaces": workspaces, "caller": caller, "is_admin": is_admin}
        found = await self._run(SQL["chats_of_workspaces"], **asked, sharing=self._sharing)
        return dict(tuple(row) for row in found)

    async def _run(self, sql: str, /, **asked: Any) -> list[Row]:
        async with self._pool.connection() as connection:
            return await connection.execute(sql, asked)
