"""Wiring of housekeeping: its lease, its chores, and the actor that does them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import uuid4

from actors.upkeep.housekeeping import Housekeeper
from adapters.chats.housekeeping.lease import PostgresHousekeeping, RuleChore
from adapters.chats.housekeeping.rules import AGE_RULES
from adapters.postgres.driver.pool import Pool
from runtime.children import Child, open_children
from runtime.restart import Restart


@asynccontextmanager
async def open_housekeeping(pool: Pool) -> AsyncIterator[Housekeeper]:
    """Keep house for the length of the block."""
    chores = [RuleChore(pool, rule) for rule in AGE_RULES]
    housekeeper = Housekeeper(PostgresHousekeeping(pool), chores, id=uuid4())
    async with open_children("housekeeping", capacity=1) as children:
        children.start(Child(name="housekeeper", body=housekeeper.run, restart=Restart()))
        yield housekeeper
