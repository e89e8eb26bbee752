"""The store on PostgreSQL against the store in memory: random stories, and moments worth a test.

`stores.py` plays a story. A seed chooses it, and a failure names the seed.
"""

import os
from contextlib import asynccontextmanager
from datetime import timedelta
from random import Random

import pytest

from actors.law import requests as ask
from actors.law.chat import Verdict
from actors.law.store.ports import Applied
from tests.actors.law.chats import assistant, call, step
from tests.adapters.postgres.stores import migrated_database, open_store
from tests.models.requests import FILES, USERS
from tests.models.stores import Asked, Play, play

# How many times as long to play: the normal run asks some thousands of times.
SOAK = int(os.environ.get("PROMPTCORNER_SOAK", "1"))


@pytest.fixture(scope="session")
def migrated(server):
    return migrated_database(server)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12 * SOAK))
async def test_postgresql_and_memory_hold_the_same(migrated, seed):
    asked = await play(migrated, seed=seed, steps=100)

    assert asked > 100


@asynccontextmanager
async def a_turn_with_an_open_call(migrated):
    """A story that has just begun; its first chat waits for the result of the call `a`."""
    async with open_store(migrated) as store:
        await store.add_users(*USERS)
        await store.add_files(*FILES)
        playing = Play(store, Random(1))
        await playing.begin()
        chat = playing.chats[0]
        await playing.ask([Asked(chat, (step(assistant(call("a", "shell"))),))])
        yield playing, chat


async def test_a_moment_that_the_server_never_had_is_refused_by_both(migrated):
    async with a_turn_with_an_open_call(migrated) as (playing, chat):
        asks = ask.EnterRequiresAction((ask.CallToApprove("a", "shell", "{}"),))
        imagined = playing.memory.store.clock()
        decides = ask.DecideApproval("a", Verdict.DENY, USERS[0], asked_at=imagined)

        await playing.ask([Asked(chat, (asks, decides))])

        assert () == playing.memory.store.chats[chat].chat.approvals


async def test_what_is_over_by_the_time_of_the_server_is_over_for_both(migrated):
    async with a_turn_with_an_open_call(migrated) as (playing, chat):
        asks = ask.EnterRequiresAction(
            (ask.CallToApprove("a", "shell", "{}"),), approval_seconds=0.05
        )
        await playing.ask([Asked(chat, (asks,))])
        [waits] = playing.memory.store.chats[chat].chat.open_approvals
        await playing.postgres.until(f"clock_timestamp() > '{waits.until.isoformat()}'")
        decides = ask.DecideApproval("a", Verdict.ALLOW_ONCE, USERS[0])

        await playing.ask([Asked(chat, (ask.ExpireApprovals(), decides))])

        assert (waits,) == playing.memory.store.chats[chat].chat.open_approvals


async def test_what_is_over_while_several_ask_is_judged_before_and_after(migrated):
    async with a_turn_with_an_open_call(migrated) as (playing, chat):
        asks = ask.EnterRequiresAction(
            (ask.CallToApprove("a", "shell", "{}"),), approval_seconds=0.05
        )
        await playing.ask([Asked(chat, (asks,))])
        [waits] = playing.memory.store.chats[chat].chat.open_approvals
        decides = ask.DecideApproval("a", Verdict.ALLOW_ONCE, USERS[0])
        late = Asked(chat, (ask.ExpireApprovals(), decides))
        over = waits.until + timedelta(seconds=1)

        refusal = await playing.trial(late, over)

        assert not isinstance(refusal, Applied)
        assert [] == await playing.not_refused([(late, refusal)], (waits.until, over))
        began = waits.until - timedelta(seconds=1)
        assert [] == await playing.not_refused([(late, refusal)], (began, over))
        assert [(late, refusal)] == await playing.not_refused([(late, refusal)], (began, began))
