"""A catalogue on a real database, with the bus of one process."""

import psycopg
import pytest

from tests.actors.law.chats import ANN, BOB
from tests.adapters.models.store.ground import open_ground
from tests.adapters.postgres.stores import TABLES, migrated_database


@pytest.fixture(scope="session")
def migrated(server):
    return migrated_database(server)


@pytest.fixture
async def ground(migrated):
    with psycopg.connect(migrated, autocommit=True) as connection:
        for table in TABLES:
            connection.execute(f"DELETE FROM {table}")
    async with open_ground(migrated) as ground:
        await ground.add_users(ANN, BOB)
        yield ground
