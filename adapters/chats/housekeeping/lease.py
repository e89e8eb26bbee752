"""Housekeeping on PostgreSQL: its lease, and chores that are a rule and its statements.

The lease is one row. Each batch is one transaction that begins by writing this row, so another
process can take the lease before a batch or after it, and never in between.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID

import msgspec

from actors.upkeep.age_rules import AgeRule
from actors.upkeep.housekeeping import (
    Batch,
    HousekeepingLease,
    HousekeepingLost,
    PassReport,
)
from adapters.postgres.driver.connection import Transaction
from adapters.postgres.driver.pool import Pool
from adapters.postgres.driver.values import Json
from adapters.postgres.queries import SQL

# Without a beat for so long, another process takes over. A beat comes with each batch, and a batch
# that takes half as long has failed.
LEASE_SECONDS = 120.0

NOT_DURABLE = "SET LOCAL synchronous_commit = off"
"""For batches: no disk is waited for, by them or by others. One that is lost is done again."""


class PostgresHousekeeping:
    """The lease. Fulfils `actors.upkeep.housekeeping.HousekeepingStore`."""

    def __init__(self, pool: Pool, *, lease_seconds: float = LEASE_SECONDS) -> None:
        self._pool = pool
        self._lease_seconds = lease_seconds

    async def take(self, holder: UUID, *, rest_seconds: float) -> HousekeepingLease | None:
        wanted = {
            "holder": holder,
            "lease_seconds": self._lease_seconds,
            "rest_seconds": rest_seconds,
        }
        async with self._pool.connection() as connection:
            found = await connection.execute(SQL["take_housekeeping"], wanted)
        return HousekeepingLease(holder, found[0][0]) if found else None

    async def is_busy(self) -> bool:
        async with self._pool.connection() as connection:
            [(busy,)] = await connection.execute(SQL["chats_are_at_work"])
        return bool(busy)

    async def leave(self, lease: HousekeepingLease, report: PassReport | None) -> None:
        document = None if report is None else Json(msgspec.json.encode(report))
        leaving = {"holder": lease.holder, "epoch": lease.epoch, "report": document}
        async with self._pool.connection() as connection:
            await connection.execute(SQL["leave_housekeeping"], leaving)


class LeaseHeld:
    """A transaction under the lease: `tx` is open, and `setting` has what was asked for."""

    def __init__(self, tx: Transaction, setting: int | None) -> None:
        self.tx = tx
        self.setting = setting  # None: it is not set


@asynccontextmanager
async def held(
    pool: Pool, lease: HousekeepingLease, *, setting: str = ""
) -> AsyncIterator[LeaseHeld | None]:
    """Open a transaction under the lease, and read a setting. None: the lease is lost."""
    asking = {"holder": lease.holder, "epoch": lease.epoch, "setting": setting}
    async with pool.connection() as connection, connection.transaction() as tx:
        _, found = await tx.run([(NOT_DURABLE, ()), (SQL["hold_housekeeping"], asking)])
        yield LeaseHeld(tx, days_in(found[0][0])) if found else None


def days_in(stored: str | None) -> int | None:
    """Return the days that a stored setting says. One that cannot be read keeps things for ever."""
    if stored is None:
        return None
    try:
        return int(stored)
    except ValueError:
        return 0


class RuleChore:
    """The chore of one rule. Fulfils `actors.upkeep.housekeeping.Chore`."""

    def __init__(self, pool: Pool, rule: AgeRule) -> None:
        self._pool = pool
        self._rule = rule

    @property
    def name(self) -> str:
        return self._rule.name

    async def batch(self, lease: HousekeepingLease, most: int) -> Batch | HousekeepingLost:
        async with held(self._pool, lease, setting=self._rule.setting) as holding:
            if holding is None:
                return HousekeepingLost()
            seconds = self._rule.age_seconds(holding.setting)
            if seconds is None:
                return Batch(is_last=True)
            asked = {"seconds": seconds, "most": most}
            [[(count, size)]] = await holding.tx.run([(self._rule.delete, asked)])
        return Batch(count, size, is_last=count < most)

    async def due(self) -> int:
        days = await setting_of(self._pool, self._rule.setting) if self._rule.setting else None
        seconds = self._rule.age_seconds(days)
        if seconds is None:
            return 0
        async with self._pool.connection() as connection:
            [(count,)] = await connection.execute(self._rule.count, {"seconds": seconds})
        return int(count)


async def setting_of(pool: Pool, name: str) -> int | None:
    """Return what a setting of days says. None: it is not set."""
    async with pool.connection() as connection:
        found = await connection.execute(SQL["housekeeping_setting"], {"setting": name})
    return days_in(found[0][0]) if found else None
