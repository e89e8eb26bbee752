"""Chats change hands: processes are told to stop or killed, the database is killed, and every chat
comes to rest with each thing said once.
"""

import contextlib
import os
import signal
import time

import pytest
import trio
from psycopg.conninfo import make_conninfo

from actors.chat.turn.retries import DEATHS_MAX, FAILURES_MAX
from actors.law.requests import Acquire, RecordGenerationAttempt
from adapters.postgres.embedded import ClusterOptions
from tests.e2e.clients import AT_REST, LOOK_SECONDS, a_client, status
from tests.e2e.daemons import STOP_SECONDS_MAX, a_daemon, holder_among
from tests.e2e.processes import EVENTUALLY_SECONDS, eventually, postmaster
from tests.e2e.providers import a_provider, asker

pytestmark = pytest.mark.slow

SLOW_SECONDS = 20  # that a busy machine may take for what is done at once
LONG = "[[deltas: 120]] [[delta-ms: 50]]"  # six seconds of answer
AWAY = {"PROMPTCORNER_DRAIN_SECONDS": "0"}


@pytest.fixture(scope="module")
def provider():
    with a_provider() as provider:
        yield provider


@contextlib.contextmanager
def daemons(count, home, provider, database, **settings):
    """So many on one database, all ready."""
    with contextlib.ExitStack() as stack:
        settings = {**AWAY, **provider.settings, "DATABASE_URL": database, **settings}
        started = [stack.enter_context(a_daemon(home, **settings)) for _ in range(count)]
        for daemon in started:
            daemon.wait_ready()
        yield started


async def told_once(client, chat, text=None):
    """Whether the chat is at rest with one answer, the whole one."""
    answer = await client.answer(chat)
    roles = [role for role, _ in await client.said(chat)]
    assert ["user", "assistant"] == roles
    assert text in (None, answer)
    return True


async def held_by(pair, client, chat):
    """Return the one of two daemons that holds the chat, and the other one.

    The database says it: the news that a chat is held may come after the request to its model.
    """
    stored = await client.view(chat)
    holder = holder_among(pair, stored.chat.holder.worker)
    [other] = [each for each in pair if each is not holder]
    return holder, other


async def test_a_killed_process_loses_its_chats_to_another_within_its_lease(
    home, provider, database
):
    lease = 6  # the other one, which waits for the processor like all, has to keep its own
    with daemons(2, home, provider, database, PROMPTCORNER_LEASE_SECONDS=str(lease)) as pair:
        async with a_client(database) as client:
            chat = await client.create(LONG)
            await provider.asked(chat)
            first, second = await held_by(pair, client, chat)

            first.process.kill()
            killed_at = time.monotonic()
            await provider.asked(chat, times=2)
            seconds = time.monotonic() - killed_at

            assert await told_once(client, chat)
            assert 2 == len(provider.requests(chat))  # one by the dead, one by the other
            assert seconds <= lease + SLOW_SECONDS
            assert 0 == second.stop()


async def test_attempts_that_ended_with_their_process_are_no_failures_of_the_provider(
    home, provider, database
):
    with daemons(1, home, provider, database) as [first]:
        async with a_client(database) as client:
            chat = await client.create("[[text: At last.]] [[fault: 429:20@1]]")
            failed = await client.until_true(chat, lambda stored: stored.chat.retry_state)
            first.kill()
            await client.ask(chat, *[RecordGenerationAttempt()] * FAILURES_MAX)

            with daemons(1, home, provider, database) as [second]:
                assert await told_once(client, chat, "At last.")

                assert 1 == failed.chat.provider_failures_count
                assert 2 == len(provider.requests(chat))
                assert 0 == second.stop()


async def test_a_step_in_which_process_after_process_dies_stops_its_chat(home, provider, database):
    """Four of the five deaths are written into its row, to spare their time."""
    with daemons(1, home, provider, database) as [first]:
        async with a_client(database) as client:
            chat = await client.create(LONG)
            await provider.asked(chat)
            holder = (await client.view(chat)).chat.holder
            await client.ask(chat, *[Acquire(holder, after_death=True)] * (DEATHS_MAX - 1))
            first.kill()

            with daemons(1, home, provider, database) as [second]:
                stopped = await client.until(chat, "error")

                assert "the process that ran it ended" in stopped.chat.last_error.message
                assert (DEATHS_MAX, None) == (
                    stopped.chat.process_deaths_count,
                    stopped.chat.holder,
                )
                assert 1 == len(provider.requests(chat))
                await client.send(chat, "[[text: Fine.]]")
                assert "Fine." == await client.answer(chat)
                assert 0 == second.stop()


async def test_processes_that_are_told_to_stop_in_mid_step_are_no_deaths(home, provider, database):
    with daemons(1, home, provider, database) as [first]:
        async with a_client(database) as client:
            chat = await client.create(LONG)
            await provider.asked(chat)
            assert 0 == first.stop()

            with daemons(1, home, provider, database) as [second]:
                await provider.asked(chat, times=2)
                assert 0 == second.stop()

            left = (await client.view(chat)).chat
            assert (2, 0) == (left.generation_attempt, left.process_deaths_count)


async def test_a_pause_that_a_killed_process_announced_is_over_when_the_next_attempt_is_made(
    home, provider, database
):
    with daemons(1, home, provider, database) as [first]:
        async with a_client(database) as client:
            chat = await client.create("[[text: At last.]] [[fault: 429:20@1]]")
            waiting = await client.until_true(chat, lambda stored: stored.chat.retry_state)
            assert 20_000 <= waiting.chat.retry_state.delay_ms <= 30_000
            first.kill()

            with daemons(1, home, provider, database):
                assert await told_once(client, chat, "At last.")

            assert 2 == len(provider.requests(chat))


async def test_a_process_told_to_stop_hands_its_chats_over_before_its_lease_is_over(
    home, provider, database
):
    lease = 4 * SLOW_SECONDS
    with daemons(2, home, provider, database, PROMPTCORNER_LEASE_SECONDS=str(lease)) as pair:
        async with a_client(database) as client:
            chat = await client.create(LONG)
            await provider.asked(chat)
            leaving, _ = await held_by(pair, client, chat)

            leaving.process.send_signal(signal.SIGTERM)
            told_at = time.monotonic()
            await provider.asked(chat, times=2)
            seconds = time.monotonic() - told_at

            assert seconds < lease / 2
            assert 0 == leaving.process.wait(STOP_SECONDS_MAX)
            assert await told_once(client, chat)
            assert 2 == len(provider.requests(chat))


async def test_a_step_that_runs_may_finish_when_the_process_is_told_to_stop(
    home, provider, database
):
    with daemons(1, home, provider, database, PROMPTCORNER_DRAIN_SECONDS="30") as [daemon]:
        async with a_client(database) as client:
            chat = await client.create("[[deltas: 20]] [[delta-ms: 50]]")
            await provider.asked(chat)

            assert 0 == daemon.stop()

            stored = await client.view(chat)
            assert ("waiting", None) == (status(stored), stored.chat.holder)
            assert await told_once(client, chat)
            assert 1 == len(provider.requests(chat))


async def test_a_process_that_is_not_ready_yet_takes_what_was_left_behind(home, provider, database):
    with daemons(1, home, provider, database) as [first]:
        async with a_client(database) as client:
            chat = await client.create(LONG)
            await provider.asked(chat)
            assert 0 == first.stop()
            left = await client.view(chat)

            with daemons(1, home, provider, database):
                assert await told_once(client, chat)

            assert ("running", 2) == (status(left), len(provider.requests(chat)))


async def test_two_processes_share_many_chats_and_each_is_run_once(home, provider, database):
    half = {"PROMPTCORNER_ROOT_CHATS": "100"}
    said = "Said once. [[text: Said once.]] [[first-token-ms: 1500]]"
    with daemons(2, home, provider, database, **half):
        async with a_client(database) as client:
            chats = [await client.create(said) for _ in range(200)]

            for chat in chats:
                assert await told_once(client, chat, "Said once.")

            asked = provider.by_chat()
            assert dict.fromkeys(map(str, chats), 1) == {str(c): asked[str(c)] for c in chats}
            assert await client.until_held_by(2, *chats)


async def test_no_more_chats_are_at_work_than_there_is_room_for(home, provider, database):
    with daemons(1, home, provider, database, PROMPTCORNER_ROOT_CHATS="2"):
        async with a_client(database) as client:
            chats = []

            async def create():
                chats.append(await client.create("[[first-token-ms: 2000]]"))

            def at_work():
                asked = [r for r in provider.requests() if asker(r) in set(map(str, chats))]
                return sum(request["ended"] is None for request in asked)

            async with trio.open_nursery() as creating:
                for _ in range(6):
                    creating.start_soon(create)

            with trio.fail_after(EVENTUALLY_SECONDS):
                while (count := at_work()) < 2:
                    await trio.sleep(LOOK_SECONDS)
                assert 2 == count
                while {status(await client.view(chat)) for chat in chats} - set(AT_REST):
                    assert at_work() <= 2
                    await trio.sleep(LOOK_SECONDS)


async def test_a_killed_database_heals_under_running_chats(home, provider):
    said = "[[deltas: 40]] [[delta-ms: 50]] [[delta-chars: 1]]"
    with a_daemon(home, **AWAY, **provider.settings) as daemon:
        daemon.wait_ready()
        conninfo = make_conninfo(
            host=str(ClusterOptions(home).socket_dir), user="promptcorner", dbname="postgres"
        )
        async with a_client(conninfo) as client:
            chats = [await client.create(said) for _ in range(30)]
            await provider.asked(chats[-1])

            os.kill(postmaster(home), signal.SIGKILL)
            eventually(lambda: not daemon.is_ready(), "it has noticed")

            for chat in chats:
                assert await told_once(client, chat)
            assert 0 == daemon.stop()


async def test_a_poisoned_chat_stops_loudly_and_is_not_handed_round(home, provider, database):
    with daemons(2, home, provider, database) as pair:
        async with a_client(database) as client:
            chat = await client.create("[[text: One.]]")
            await client.answer(chat)
            await client.write_past_the_law(chat, '[{"type": "text", "text": 1}]')

            await client.send(chat, "[[text: Two.]]")
            stopped = await client.until(chat, "error")

            assert "fault in the server" in stopped.chat.last_error.message
            assert None is stopped.chat.holder
            assert 1 == len(provider.requests(chat))
            loud = eventually(lambda: parked_at(pair), "it is told loudly")  # once it is stored
            assert [f"chat/{chat}"] == [entry["chat"] for entry in loud]
            other = await client.create("[[text: Fine.]]")
            assert "Fine." == await client.answer(other)


def parked_at(daemons):
    return [entry for each in daemons for entry in each.entries if entry["event"] == "chat.parked"]
