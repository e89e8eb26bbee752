"""A catalogue on a real database, with the bus of one process."""

import psycopg
import pytest

from tests.actors.machine.chats import ANN, BOB
from tests.adapters.catalogue.ground import TABLES, open_ground
from tests.adapters.postgres.stores import migrated_database


@pytest.fixture(scope="session")
def migrated(server):
    return migrated_database(server)


@pytest.fixture
async def ground(migrated):
    """Empty before the test and after it: other databases are copied from this one."""
    empty(migrated)
    async with open_ground(migrated) as ground:
        await ground.add_users(ANN, BOB)
        yield ground
    empty(migrated)


def empty(conninfo):
    with psycopg.connect(conninfo, autocommit=True) as connection:
        for table in TABLES:
            connection.execute(f"DELETE FROM {table}")
