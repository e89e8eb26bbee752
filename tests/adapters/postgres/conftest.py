"""What the tests of the connection share."""

import os
from contextlib import contextmanager

import pytest
import trio
import trio.testing

from adapters.postgres.driver.connection import DatabaseConnection
from adapters.postgres.driver.pool import Pool
from adapters.postgres.driver.turns import Patience
from tests.actors.law.chats import ANN, BOB
from tests.adapters.postgres.stores import migrated_database, open_store
from tests.fakes.severed_network import severed_network
from tests.patience import PATIENCE_SECONDS

RUSH = 40.0


@pytest.fixture
def rushing_clock():
    """A clock that goes with the wall, but for `rushing`."""
    return trio.testing.MockClock(rate=1.0)


@contextmanager
def rushing(clock):
    """Let limits of many seconds pass in a moment.

    A test may wait for nothing else in the block: by this clock a busy machine takes too long.
    """
    clock.rate = RUSH
    try:
        yield
    finally:
        clock.rate = 1.0


@contextmanager
def standing(clock):
    """Let no time pass but what is jumped over."""
    clock.rate = 0.0
    try:
        yield
    finally:
        clock.rate = 1.0


@pytest.fixture
def no_leaks(database):
    """No socket is left open when the test has ended."""
    before = sockets()
    yield
    assert set() == sockets() - before


@pytest.fixture
async def connection(database, no_leaks):
    connection = await DatabaseConnection.open(database)
    yield connection
    connection.close()


@pytest.fixture
async def witness(database, no_leaks):
    """Another connection, straight to the server, that sees what really holds."""
    connection = await DatabaseConnection.open(database)
    yield connection
    connection.close()


@pytest.fixture
async def network(database, no_leaks):
    async with severed_network(database) as network:
        yield network


@pytest.fixture
async def pool(network):
    pool = Pool(network.conninfo, size=2, patience=Patience(stalled=1.0))
    yield pool
    await pool.drain(seconds=1.0)


@pytest.fixture(scope="session")
def migrated(server):
    """The conninfo of a database with our schema, shared by the tests of a run."""
    return migrated_database(server)


@pytest.fixture
async def store(migrated):
    async with open_store(migrated) as store:
        await store.add_users(ANN, BOB)
        yield store


async def cancel_when_it_sleeps(witness, connection, scope):
    """Cancel the scope when a statement of this connection has begun to sleep at the server."""

    async def sleeps():
        return await witness.execute(SLEEPS, (connection.backend,))

    await until(sleeps)
    scope.cancel()


SLEEPS = "SELECT pid FROM pg_stat_activity WHERE pid = %s AND wait_event = 'PgSleep'"


async def until(condition, seconds=PATIENCE_SECONDS):
    """For what a real server does in its own time; nothing else may be waited for like this."""
    with trio.fail_after(seconds):
        while not await condition():
            await trio.sleep(0.002)


def sockets():
    """The sockets that this process has open, by the kernel's numbers for them."""
    links = set()
    for fd in os.listdir("/proc/self/fd"):
        try:
            links.add(os.readlink(f"/proc/self/fd/{fd}"))
        except FileNotFoundError:
            continue  # the one that listed the folder
    return {link for link in links if link.startswith("socket:")}
