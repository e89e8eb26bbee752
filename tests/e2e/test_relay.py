"""Watchers at another process than the one that runs the chat see every word as it comes."""

import contextlib

import pytest

from tests.e2e.crossing import ADMIN, over, sites
from tests.e2e.daemons import a_daemon
from tests.e2e.providers import a_provider

pytestmark = pytest.mark.slow

LEASE_SECONDS = 2
PACED = "[[deltas: 60]] [[delta-ms: 20]]"
SETTINGS = {
    "PROMPTCORNER_ADMIN_TOKEN": ADMIN,
    "PROMPTCORNER_LEASE_SECONDS": str(LEASE_SECONDS),
    "PROMPTCORNER_DRAIN_SECONDS": "0",
}


@pytest.fixture(scope="module")
def provider():
    with a_provider() as provider:
        yield provider


@contextlib.contextmanager
def daemons(count, home, provider, database, **settings):
    """So many on one database, all ready."""
    with contextlib.ExitStack() as stack:
        settings = {**SETTINGS, **provider.settings, "DATABASE_URL": database, **settings}
        started = [stack.enter_context(a_daemon(home, **settings)) for _ in range(count)]
        for daemon in started:
            daemon.wait_ready()
        yield started


async def test_a_watcher_elsewhere_is_told_the_same_pieces_byte_for_byte(home, provider, database):
    with daemons(2, home, provider, database) as pair:
        async with sites(*pair) as (here, there):
            chat = await here.create(PACED)
            near, far = await here.watch(chat), await there.watch(chat)

            await near.until(over)
            await far.until(over)

            assert 60 <= len(near.pieces)
            assert near.pieces == far.pieces
            assert near.statuses[-1:] == far.statuses[-1:]
            there_now = (await there.actors())["relays"]
            assert (1, 0, 0) == (
                there_now["connected"],
                there_now["follows"],
                there_now["mirrored_bytes"],
            )
