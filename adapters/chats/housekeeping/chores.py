"""The chores that are more than a rule: families are archived, and what was archived is erased.

Each fulfils `actors.upkeep.housekeeping.Chore`.
"""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from actors.law.ids import ChatId, UserId, chat_name
from actors.law.store.ports import Ledger
from actors.upkeep.age_rules import DAY_SECONDS, AgeRule
from actors.upkeep.housekeeping import Batch, HousekeepingLease, HousekeepingLost
from adapters.chats.housekeeping.erasing import FIRST, ErasedBatch, Eraser
from adapters.chats.housekeeping.lease import held, setting_of
from adapters.models import settings
from adapters.postgres.driver.pool import Pool
from adapters.postgres.queries import SQL
from runtime.clock import wall
from runtime.log import emit

ARCHIVED_MAX = 1_000  # families in one pass; the others wait for the next
LOCKS_EACH = 10  # messages that archiving a family takes as much work as: it asks the law


class Digests(Protocol):
    """Tells users which of their chats were archived."""

    async def file_archive_digest(
        self, user: UserId, chats: Sequence[tuple[ChatId, str]], *, count: int, days: int, day: str
    ) -> None: ...


class AutoArchive:
    """Archives families in which nothing was said for the days that are set. At the end of a pass
    each owner gets one digest of it."""

    name = "archive"

    def __init__(self, pool: Pool, ledger: Ledger, digests: Digests) -> None:
        self._pool = pool
        self._ledger = ledger
        self._digests = digests
        self._after = FIRST  # of this pass
        self._done: dict[UserId, list[tuple[ChatId, str]]] = {}

    async def batch(self, lease: HousekeepingLease, most: int) -> Batch | HousekeepingLost:
        wanted = max(1, most // LOCKS_EACH)
        async with held(self._pool, lease, setting=settings.AUTO_ARCHIVE_DAYS) as holding:
            if holding is None:
                return HousekeepingLost()
            days = holding.setting or 0
            asked = {"seconds": days * DAY_SECONDS, "after": self._after, "most": wanted}
            [found] = await holding.tx.run([(SQL["silent_families"], asked)]) if days > 0 else [[]]
        count = 0
        for root, owner, title, snapshot in found:
            if await self._archive(ChatId(root), owner, snapshot):
                self._done.setdefault(UserId(owner), []).append((ChatId(root), title))
                count += 1
        self._after = found[-1][0] if found else FIRST
        is_last = len(found) < wanted or sum(map(len, self._done.values())) >= ARCHIVED_MAX
        if is_last:
            self._after = FIRST
            await self._tell_owners(days, day=f"{wall().date().isoformat()}/{lease.epoch}")
        return Batch(count, is_last=is_last)

    async def due(self) -> int:
        days = await setting_of(self._pool, settings.AUTO_ARCHIVE_DAYS) or 0
        if days <= 0:
            return 0
        async with self._pool.connection() as connection:
            asked = {"seconds": days * DAY_SECONDS}
            [(count,)] = await connection.execute(SQL["count_silent_families"], asked)
        return int(count)

    async def _tell_owners(self, days: int, *, day: str) -> None:
        """Give each owner a digest. An owner who cannot be told now is told by the next pass."""
        while self._done:
            user, chats = next(iter(self._done.items()))
            await self._digests.file_archive_digest(
                user, chats, count=len(chats), days=days, day=day
            )
            del self._done[user]

    async def _archive(self, root: ChatId, owner: UUID, snapshot: int) -> bool:
        """Archive a family. Return False if it has moved since it was looked at."""
        made = await self._ledger.archive_family(root, archived=True, at_snapshot=snapshot)
        if not isinstance(made, tuple):
            return False
        emit("chat.auto_archived", "info", chat=chat_name(root), owner=owner, members=len(made))
        return True


class Retention:
    """Begins to erase families that were archived for the days that are set."""

    name = "retention"

    def __init__(self, eraser: Eraser) -> None:
        self._eraser = eraser
        self._after = FIRST
        # Only the age is taken from it: what is erased is more than a statement.
        days = settings.DEFAULTS[settings.RETENTION_DAYS]
        self._rule = AgeRule(
            name=self.name,
            help="archived chats",
            delete="",
            count="",
            setting=settings.RETENTION_DAYS,
            default_days=days,
        )

    async def batch(self, lease: HousekeepingLease, most: int) -> Batch | HousekeepingLost:
        async with held(self._eraser.pool, lease, setting=self._rule.setting) as holding:
            if holding is None:
                return HousekeepingLost()
            seconds = self._rule.age_seconds(holding.setting)
            if seconds is None:
                return Batch(is_last=True)
            looked_at, begun = await self._eraser.begin_old(
                holding.tx, seconds=seconds, after=self._after, most=most
            )
        is_last = len(looked_at) < most
        self._after = FIRST if is_last else looked_at[-1]
        return Batch(begun, is_last=is_last)

    async def due(self) -> int:
        days = await setting_of(self._eraser.pool, self._rule.setting)
        seconds = self._rule.age_seconds(days)
        return 0 if seconds is None else await self._eraser.count_old(seconds)


class Erasing:
    """Goes on with erasures that have begun in any process."""

    name = "erase"

    def __init__(self, eraser: Eraser) -> None:
        self._eraser = eraser

    async def batch(self, lease: HousekeepingLease, most: int) -> Batch | HousekeepingLost:
        async with held(self._eraser.pool, lease) as holding:
            if holding is None:
                return HousekeepingLost()
            done = await self._eraser.step(holding.tx, most=most, request=None)
        self._eraser.tell(done)
        return _batch_of(done)

    async def due(self) -> int:
        async with self._eraser.pool.connection() as connection:
            [(count,)] = await connection.execute(SQL["count_begun_erasures"])
        return int(count)


class ErasingOfUsers:
    """Goes on with erasures of all that a user has."""

    name = "erase_users"

    def __init__(self, eraser: Eraser, ledger: Ledger) -> None:
        self._eraser = eraser
        self._ledger = ledger

    async def batch(self, lease: HousekeepingLease, most: int) -> Batch | HousekeepingLost:
        async with held(self._eraser.pool, lease) as holding:
            if holding is None:
                return HousekeepingLost()
            done = await self._eraser.step_user(holding.tx, self._ledger, most=most, request=None)
        self._eraser.tell(done)
        return _batch_of(done)

    async def due(self) -> int:
        async with self._eraser.pool.connection() as connection:
            [(count,)] = await connection.execute(SQL["count_begun_users"])
        return int(count)


def _batch_of(done: ErasedBatch) -> Batch:
    return Batch(done.count, done.bytes, done.is_last)
