"""A catalogue on a real database, with the bus of one process."""

import pytest

from tests.actors.law.chats import ANN, BOB
from tests.adapters.models.store.ground import open_ground
from tests.adapters.postgres.stores import empty, migrated_database


@pytest.fixture(scope="session")
def migrated(server):
    return migrated_database(server)


@pytest.fixture
async def ground(migrated):
    empty(migrated)
    async with open_ground(migrated) as ground:
        await ground.add_users(ANN, BOB)
        yield ground
