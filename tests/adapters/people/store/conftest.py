"""People on a real database, which all tests of a run share: each begins without people."""

from dataclasses import dataclass

import pytest
import trio

from adapters.people.store.deployment import Invitations
from adapters.people.store.tokens import Tokens
from adapters.people.store.users import Users
from adapters.postgres.driver.connection import DatabaseConnection
from adapters.postgres.driver.pool import Pool
from tests.adapters.postgres.stores import empty, migrated_database
from tests.patience import PATIENCE_SECONDS


@dataclass
class People:
    pool: Pool
    users: Users
    tokens: Tokens
    invitations: Invitations
    aside: DatabaseConnection  # sees what really holds

    async def rows(self, sql, **parameters):
        return await self.aside.execute(sql, parameters)

    async def until(self, sql):
        """For what the server does in its own time; `sql` says when, of its activity here."""
        activity = f"{sql} FROM pg_stat_activity WHERE datname = current_database()"
        with trio.fail_after(PATIENCE_SECONDS):
            async with self.pool.connection() as connection:
                while [(True,)] != await connection.execute(activity):
                    await trio.sleep(0.002)

    async def add(self, username="ann", **fields):
        return await self.users.add(username, **fields)


@pytest.fixture(scope="session")
def migrated(server):
    return migrated_database(server)


@pytest.fixture
async def people(migrated):
    empty(migrated)
    pool, aside = Pool(migrated, size=4), await DatabaseConnection.open(migrated)
    yield People(pool, Users(pool), Tokens(pool), Invitations(pool), aside)
    aside.close()
    await pool.drain(1)
