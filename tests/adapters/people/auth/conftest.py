"""The door before the routes of people: each test begins with the first admin alone."""

import pytest
import trio.testing

from tests.adapters.people.auth.stage import a_door
from tests.adapters.postgres.stores import empty, migrated_database


@pytest.fixture
def rushing_clock():
    """A clock that goes with the wall, and that a test sends ahead."""
    return trio.testing.MockClock(rate=1.0)


@pytest.fixture
def standing_clock():
    """A clock that stands still: a request that has to wait waits until the test is over."""
    return trio.testing.MockClock()


@pytest.fixture(scope="session")
def migrated(server):
    return migrated_database(server)


@pytest.fixture
async def people(migrated):
    """The conninfo of a database without people."""
    empty(migrated)
    return migrated


@pytest.fixture
async def door(people):
    async with a_door(people) as door:
        yield door
