"""Each test of a contract runs twice: on the store in memory, and on PostgreSQL."""

import pytest

from tests.actors.law.chats import ANN, BOB
from tests.adapters.postgres.stores import migrated_database, open_store
from tests.contracts.worlds import MemoryWorld


@pytest.fixture(params=["memory", "postgres"])
def where(request):
    if request.param == "memory":
        return None
    return migrated_database(request.getfixturevalue("server"))


@pytest.fixture
async def world(where):
    if where is None:
        yield MemoryWorld()
    else:
        async with open_store(where) as world:
            await world.add_users(ANN, BOB)
            yield world
