"""Workspaces on PostgreSQL: which there are, whose they are, which chat works in which."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from actors.law.ids import ChatId, UserId
from actors.tools.workspace.ranking import LOOKED_BACK_DAYS, Uses
from adapters.postgres.driver.pool import Pool
from adapters.postgres.driver.values import Row
from adapters.postgres.queries import SQL

_DAY_SECONDS = 86_400


@dataclass(frozen=True, slots=True)
class Registered:
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


class Registry:
    def __init__(self, pool: Pool) -> None:
        self.pool = pool

    async def of(self, chat: ChatId) -> Registered | None:
        found = await self._run(SQL["workspace_of_chat"], chat=chat)
        return Registered(*found[0]) if found else None

    async def add(self, new: Registered, owner: UserId, chat: ChatId) -> bool:
        """Registered and bound to the chat. False: its owner has one of this name."""
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
        [(count,)] = await self._run(SQL["workspaces_of"], owner=owner)
        return int(count)

    async def is_set_up(self, workspace: UUID) -> None:
        await self._run(SQL["workspace_is_set_up"], id=workspace)

    async def start(self, workspace: UUID) -> None:
        await self._run(SQL["start_workspace"], id=workspace)

    async def stop(self, workspace: UUID) -> None:
        await self._run(SQL["stop_workspace"], id=workspace)

    async def uses(self, owner: UserId) -> Mapping[str, Uses]:
        """By templates."""
        found = await self._run(SQL["template_uses"], owner=owner, days=LOOKED_BACK_DAYS)
        return {
            template: Uses(developers, own, last, (seconds or 0.0) / _DAY_SECONDS, removed)
            for template, developers, own, removed, last, seconds in found
        }

    async def _run(self, sql: str, /, **asked: Any) -> list[Row]:
        async with self.pool.connection() as connection:
            return await connection.execute(sql, asked)
