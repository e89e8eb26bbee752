"""What the tests of chats on their shelves share."""

import pytest

from tests.adapters.chats.overviews.ground import a_ground
from tests.adapters.postgres.stores import migrated_database


@pytest.fixture(scope="session")
def migrated(server):
    return migrated_database(server)


@pytest.fixture
async def ground(migrated):
    async with a_ground(migrated) as ground:
        yield ground
