"""Legal holds on PostgreSQL.

A hold is on a family of chats or on a user. While there is one nothing of theirs is erased: not by
retention, not by users, not by admins. The erasure of a family that has begun before goes on to its
end; that of a user waits with what it has not come to.
"""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from msgspec import UNSET

from actors.law.ids import ChatId, UserId
from adapters.chats.housekeeping.erasing import HOLDS_LOCK
from adapters.chats.housekeeping.schemas import LegalHold
from adapters.postgres.driver.pool import Pool
from adapters.postgres.driver.values import Statement
from adapters.postgres.queries import SQL, Record

HOLDS_LISTED_MAX = 1_000  # the oldest are left out


class HoldRow(Record, frozen=True):
    """A legal hold, with the names of what it is about."""

    id: UUID
    root_id: ChatId | None
    title: str | None
    user_id: UserId | None
    username: str | None
    reason: str
    set_by: UserId
    set_by_name: str
    set_at: datetime


class HoldStore:
    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def set_on_chat(self, root: ChatId, reason: str, *, by: UserId) -> bool:
        """Put a family on hold. Return False if it is being erased, or gone."""
        return await self._set((SQL["hold_chat"], {"root": root, "reason": reason, "set_by": by}))

    async def set_on_user(self, user: UserId, reason: str, *, by: UserId) -> bool:
        return await self._set((SQL["hold_user"], {"user": user, "reason": reason, "set_by": by}))

    async def release(self, *, root: ChatId | None = None, user: UserId | None = None) -> bool:
        """Lift a hold. Return False if there was none."""
        async with self._pool.connection() as connection:
            [gone] = await connection.commit([(SQL["release_hold"], {"root": root, "user": user})])
        return bool(gone)

    async def all(
        self, *, root: ChatId | None = None, user: UserId | None = None
    ) -> Sequence[HoldRow]:
        """Return all holds, or those that are set on a family or a user."""
        asked = {"root": root, "user": user, "most": HOLDS_LISTED_MAX}
        async with self._pool.connection() as connection:
            return [HoldRow.of(row) for row in await connection.execute(SQL["holds"], asked)]

    async def on_chat(self, root: ChatId, owner: UserId) -> Sequence[HoldRow]:
        """Return the holds that keep a family: its own one first, and its owner's."""
        asked = {"root": root, "owner": owner}
        async with self._pool.connection() as connection:
            found = await connection.execute(SQL["holds_on_chat"], asked)
        return [HoldRow.of(row) for row in found]

    async def _set(self, setting: Statement) -> bool:
        """Set a hold while no erasure begins."""
        async with self._pool.connection() as connection:
            _, made = await connection.commit([(SQL["lock_holds"], {"lock": HOLDS_LOCK}), setting])
        return bool(made)


def hold_json(row: HoldRow) -> LegalHold:
    """Return a hold as clients see it."""
    return LegalHold(
        id=row.id,
        chat_id=row.root_id or UNSET,
        chat_title=UNSET if row.title is None else row.title,
        user_id=row.user_id or UNSET,
        username=row.username or UNSET,
        reason=row.reason,
        set_by=row.set_by,
        set_by_username=row.set_by_name,
        set_at=row.set_at,
    )
