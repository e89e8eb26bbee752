"""Watchers at another process than the one that runs the chat see every word as it comes."""

import contextlib
import itertools

import pytest
import trio

from tests.e2e.crossing import ADMIN, answered, over, pieces, sites
from tests.e2e.daemons import a_daemon
from tests.e2e.processes import EVENTUALLY_SECONDS, POLL_SECONDS, eventually
from tests.e2e.providers import a_provider

pytestmark = pytest.mark.slow

PACED = "[[deltas: 60]] [[delta-ms: 20]]"
LONG = "[[deltas: 150]] [[delta-ms: 50]]"
SETTINGS = {
    "PROMPTCORNER_ADMIN_TOKEN": ADMIN,
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


async def counted(site, what, **wanted):
    """Wait until the statistics of something are these; return all of them.

    That nobody follows any more is known a moment after the last word.
    """
    with trio.fail_after(EVENTUALLY_SECONDS):
        while True:
            found = (await site.actors())[what]
            if wanted == {name: found[name] for name in wanted}:
                return found
            await trio.sleep(POLL_SECONDS)


async def test_a_watcher_elsewhere_is_told_the_same_pieces_byte_for_byte(home, provider, database):
    with daemons(2, home, provider, database) as pair:
        async with sites(*pair) as (here, there):
            chat = await here.create("[[deltas: 2]]")
            near, far = await here.watch(chat), await there.watch(chat)
            for seen in (near, far):
                await seen.until(over)
                seen.events.clear()

            await here.send(chat, PACED)
            for seen in (near, far):
                await seen.until(over)

            assert 1 < len(near.pieces)  # how many it is depends on how busy the machine is
            assert near.pieces == far.pieces
            assert near.statuses == far.statuses
            await counted(there, "relays", connected=1, follows=0, mirrored_bytes=0)


async def test_fifty_chats_cross_over_one_connection_and_resting_ones_over_none(
    home, provider, database
):
    with daemons(2, home, provider, database) as pair:
        async with sites(*pair) as (here, there):
            chats = [await here.create("[[deltas: 2]]") for _ in range(50)]
            watchers = [await there.watch(chat) for chat in chats]
            for seen in watchers:
                await seen.until(over)
            await counted(here, "relayed", follows=0)
            for chat in chats:
                await here.send(chat, "[[deltas: 100]] [[delta-ms: 30]]")

            for seen in watchers:
                await seen.until(answered(2), seconds=90)

            after = await counted(here, "relayed", peers=1, follows=0, admitted_count=1)
            assert after["pieces_count"] > 2 * len(chats)
            for chat, seen in zip(chats, watchers, strict=True):
                assert not gaps(seen), chat


def gaps(seen):
    """Places where a piece is missing within an attempt."""
    places = [
        (part["history_version"], part["generation_attempt"], part["seq"])
        for part in (e["message_part"] for e in seen.told if e["type"] == "message_part")
    ]
    return [
        (before, after)
        for before, after in itertools.pairwise(places)
        if before[:2] == after[:2] and before[2] + 1 != after[2]
    ]


async def test_after_the_crash_of_the_owner_its_watchers_follow_whoever_takes_over(
    home, provider, database
):
    with daemons(3, home, provider, database) as trio_of_them:
        async with sites(*trio_of_them) as (first, second, third):
            chat = await first.create(LONG)
            watchers = [await second.watch(chat), await third.watch(chat)]
            for seen in watchers:
                await seen.until(pieces(3))

            trio_of_them[0].kill()
            for seen in watchers:
                await seen.until(over, seconds=90)

            for seen in watchers:
                attempts = {
                    e["message_part"]["generation_attempt"]
                    for e in seen.told
                    if e["type"] == "message_part"
                }
                assert 2 <= len(attempts), "of the crashed one, and of its successor"
                assert not gaps(seen)
                assert 1 == seen.answers


async def test_a_process_with_another_secret_sees_no_pieces_but_all_that_is_durable(
    home, provider, database
):
    with contextlib.ExitStack() as stack:
        shared = {**SETTINGS, **provider.settings, "DATABASE_URL": database}
        ours, theirs = (
            stack.enter_context(a_daemon(home, **shared, PROMPTCORNER_SECRET_KEY=key * 64))
            for key in "ab"
        )
        async with sites(ours, theirs) as (here, there):
            chat = await here.create(PACED)
            seen = await there.watch(chat)

            await seen.until(over)

            assert [] == seen.pieces
            assert 1 == seen.answers
            assert (await here.actors())["relayed"]["admitted_count"] == 0
            told = eventually(lambda: theirs.entry("relay.unlinked"), "it says why")
            assert "its secret_key is not ours" in told["why"]
