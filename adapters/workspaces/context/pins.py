"""The rows of what chats have pinned of their workspaces, and snapshots in memory. Those who watch
a chat are told when its pin changes."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

import msgspec

from actors.law.ids import ChatId
from actors.law.store.hints import ContextChanged, Tell
from actors.prompts.resources import WorkspaceResources
from adapters.postgres.driver.pool import Pool
from adapters.postgres.driver.values import Row
from adapters.postgres.queries import SQL
from adapters.settings.caching import RecentlyUsed
from runtime.statistics import GaugeMetric


@dataclass(frozen=True, slots=True)
class ContextPin:
    """A row of what is pinned. `digest` is None while the workspace could not be looked at yet."""

    digest: bytes | None
    dirty_since: datetime | None
    error: str | None


class ContextPins:
    """The store of what chats have pinned of their workspaces."""

    def __init__(self, pool: Pool, *, tell: Tell) -> None:
        self._pool = pool
        self._tell = tell

    async def of(self, chat: ChatId, workspace: UUID) -> ContextPin | None:
        found = await self._run(SQL["pinned_of_chat"], chat=chat, workspace=workspace)
        return ContextPin(*found[0]) if found else None

    async def snapshot(self, chat: ChatId, digest: bytes) -> WorkspaceResources | None:
        """Return the snapshot of this digest, or None if the chat has pinned another one by now."""
        found = await self._run(SQL["snapshot_of_chat"], chat=chat, digest=digest)
        return msgspec.json.decode(found[0][0], type=WorkspaceResources) if found else None

    async def pin(
        self,
        chat: ChatId,
        workspace: UUID,
        *,
        digest: bytes,
        snapshot: WorkspaceResources,
        again: bool,
    ) -> None:
        """Pin a snapshot. Unless `again`, a chat that has pinned something of this workspace keeps
        that."""
        facts = {"digest": digest, "snapshot": msgspec.json.encode(snapshot), "again": again}
        await self._for_chat(SQL["pin_context"], chat, workspace=workspace, **facts)

    async def note_unreadable_for(self, chat: ChatId, workspace: UUID, error: str) -> None:
        """Note why the workspace cannot be read. The chat keeps what it has."""
        await self._for_chat(SQL["context_unread"], chat, workspace=workspace, error=error)

    async def note_contents(self, workspace: UUID, digest: bytes) -> None:
        """Note what stands in the workspace now: chats that have pinned something else are dirty,
        others are not."""
        await self._for_all(SQL["workspace_stands"], workspace=workspace, digest=digest)

    async def note_unreadable(self, workspace: UUID, error: str) -> None:
        """Note that the workspace cannot be looked at any more."""
        await self._for_all(SQL["workspace_unread"], workspace=workspace, error=error)

    async def _for_chat(self, sql: str, chat: ChatId, **facts: Any) -> None:
        for (owner,) in await self._run(sql, chat=chat, **facts):
            self._tell(ContextChanged(chat, owner))

    async def _for_all(self, sql: str, **facts: Any) -> None:
        for chat, owner in await self._run(sql, **facts):
            self._tell(ContextChanged(chat, owner))

    async def _run(self, sql: str, /, **facts: Any) -> list[Row]:
        async with self._pool.connection() as connection:
            return await connection.execute(sql, facts)


KEPT_CHARACTERS_MAX = 64 * 1024 * 1024  # of their texts; at the bound the one used longest ago goes
SNAPSHOTS_KEPT_MAX = 100_000  # likewise, however small they are


@dataclass(frozen=True, slots=True)
class SnapshotsStatistics:
    kept: Annotated[
        int, GaugeMetric("Snapshots of context files that are kept in memory.", name="")
    ]
    kept_characters: Annotated[
        int, GaugeMetric("Characters of context files that are kept in memory.", name="characters")
    ]


class Snapshots:
    """Snapshots of context files in memory, by their digests; the oldest go at the bound."""

    def __init__(self, *, kept_characters_max: int = KEPT_CHARACTERS_MAX) -> None:
        self._kept: RecentlyUsed[bytes, WorkspaceResources] = RecentlyUsed(
            SNAPSHOTS_KEPT_MAX,
            max_weight=kept_characters_max,
            weight_of=lambda snapshot: snapshot.characters,
        )

    def get(self, digest: bytes) -> WorkspaceResources | None:
        return self._kept.get(digest)

    def put(self, digest: bytes, snapshot: WorkspaceResources) -> None:
        if digest not in self._kept:
            self._kept.put(digest, snapshot)

    def statistics(self) -> SnapshotsStatistics:
        return SnapshotsStatistics(len(self._kept), self._kept.weight)
