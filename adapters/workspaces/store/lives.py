"""Workspaces on PostgreSQL, for those who keep them: used, stopped when idle, removed at last."""

from collections.abc import Collection
from typing import Any
from uuid import UUID

from adapters.postgres.driver.pool import Pool
from adapters.postgres.queries import SQL

AT_ONCE_MAX = 100  # stopped or removed by one look; the others by the next
REMOVED_MAX = 10_000  # looked for on this machine's disk at once; likewise
FORGOTTEN_DAYS = 90.0  # after which nobody looks for the directory of one that was removed


class Lives:
    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def used(self, workspaces: Collection[UUID]) -> None:
        await self._run(SQL["use_workspaces"], workspaces=list(workspaces))

    async def stop_idle(self) -> list[UUID]:
        """As administrators have set it. Those that were stopped by that."""
        return await self._run(SQL["stop_idle_workspaces"], most=AT_ONCE_MAX)

    async def unused(self, *, days: float | None, days_max: float | None) -> list[UUID]:
        return await self._run(
            SQL["unused_workspaces"], days=days, days_max=days_max, most=AT_ONCE_MAX
        )

    async def remove(self, workspace: UUID) -> bool:
        """False: somebody works in it, or it is gone."""
        return bool(await self._run(SQL["remove_workspace"], id=workspace))

    async def closed(self, workspaces: Collection[UUID]) -> list[UUID]:
        """Of these, in which nobody works any more."""
        return await self._run(SQL["closed_workspaces"], workspaces=list(workspaces))

    async def unknown(self, workspaces: Collection[UUID]) -> list[UUID]:
        """Of these, which have never been registered, or were forgotten long ago."""
        return await self._run(SQL["unknown_workspaces"], workspaces=list(workspaces))

    async def removed(self) -> list[UUID]:
        return await self._run(SQL["removed_workspaces"], most=REMOVED_MAX)

    async def forget(self) -> None:
        await self._run(SQL["forget_workspaces"], days=FORGOTTEN_DAYS)

    async def _run(self, sql: str, /, **asked: Any) -> list[UUID]:
        async with self._pool.connection() as connection:
            return [row[0] for row in await connection.execute(sql, asked)]
