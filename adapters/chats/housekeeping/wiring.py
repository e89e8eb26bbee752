"""Wiring of housekeeping: its lease, its chores, the actor that does them, and its endpoints."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import UUID, uuid4

from actors.law.store.hints import Tell
from actors.law.store.ports import Ledger
from actors.upkeep.housekeeping import Chore, Housekeeper
from adapters.access.admission import Admission
from adapters.chats.housekeeping.chores import AutoArchive, Erasing, ErasingOfUsers, Retention
from adapters.chats.housekeeping.erasing import Eraser
from adapters.chats.housekeeping.erasure_routes import ErasureRoutes
from adapters.chats.housekeeping.hold_routes import HoldRoutes
from adapters.chats.housekeeping.holds import HoldStore
from adapters.chats.housekeeping.lease import PostgresHousekeeping, RuleChore
from adapters.chats.housekeeping.pass_routes import HousekeepingRoutes
from adapters.chats.housekeeping.rules import AGE_RULES
from adapters.chats.notices.inbox import InboxStore
from adapters.chats.overviews import PinStore
from adapters.http.endpoints import Routes
from adapters.models.catalogue import Catalogue
from adapters.models.routes.checks import People
from adapters.postgres.driver.pool import Pool
from runtime.children import Child, open_children
from runtime.restart import Restart


@dataclass(frozen=True, slots=True)
class HousekeepingParts:
    """The parts of housekeeping in a process."""

    pool: Pool
    ledger: Ledger
    eraser: Eraser
    housekeeper: Housekeeper

    def routes(
        self, admission: Admission, catalogue: Catalogue, people: People
    ) -> Sequence[Routes]:
        pins, holds = PinStore(self.pool), HoldStore(self.pool)
        return (
            ErasureRoutes(admission, self.eraser, ledger=self.ledger, pins=pins, people=people),
            HoldRoutes(admission, holds, people),
            HousekeepingRoutes(self.pool, catalogue, self.housekeeper),
        )


@asynccontextmanager
async def open_housekeeping(
    pool: Pool, ledger: Ledger, *, tell: Tell, removed: Callable[[UUID], None]
) -> AsyncIterator[HousekeepingParts]:
    """Keep house for the length of the block. `removed` is told of workspaces that were erased."""
    eraser = Eraser(pool, tell=tell, removed=removed)
    chores: list[Chore] = [
        AutoArchive(pool, ledger, InboxStore(pool, tell=tell)),
        Retention(eraser),
        ErasingOfUsers(eraser, ledger),
        Erasing(eraser),
        *(RuleChore(pool, rule) for rule in AGE_RULES),
    ]
    housekeeper = Housekeeper(PostgresHousekeeping(pool), chores, id=uuid4())
    async with open_children("housekeeping", capacity=1) as children:
        children.start(Child(name="housekeeper", body=housekeeper.run, restart=Restart()))
        yield HousekeepingParts(pool, ledger, eraser, housekeeper)
