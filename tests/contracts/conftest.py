"""Each test of a contract runs twice: on the store in memory, and on PostgreSQL."""

import pytest

from tests.adapters.postgres.stores import migrated_database
from tests.contracts.worlds import MemoryWorld, postgres_world


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
        async with postgres_world(where) as world:
            yield world
