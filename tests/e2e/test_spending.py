"""A limit of spending over two daemons, of which one is killed in the middle of its calls: what it
had set aside comes back, and no more is spent than the limit and its calls in flight allow."""

import json

import pytest
import trio

from adapters.models.settings import DEFAULT_PRICE
from adapters.models.spend.store import NIL, SpendStore
from adapters.postgres.migrating import migrate
from tests.e2e.clients import AT_REST, LOOK_SECONDS, a_client, status
from tests.e2e.daemons import a_daemon, end_leases, holder_among
from tests.e2e.processes import EVENTUALLY_SECONDS
from tests.e2e.providers import a_provider

pytestmark = pytest.mark.slow

# A call is expected to take 4,000 tokens of answer, and does.
CALL_MICROS = 4_000_000
PRICE = {"input": "0", "output": "1000"}
CALLS_MAX = 5  # the last one passes the limit
LIMIT_MICROS = CALLS_MAX * CALL_MICROS - 1
CHATS_COUNT = 8
SLOWLY = "[[deltas: 100]] [[delta-ms: 50]]"  # five seconds of answer
AWAY = {"PROMPTCORNER_DRAIN_SECONDS": "0"}


@pytest.fixture
def provider():
    with a_provider("--output-tokens=4000", "--input-tokens=100") as provider:
        yield provider


async def limited(client):
    """State a price for all models, and a limit for all users together."""
    async with client.pool.connection() as connection:
        await connection.execute(
            "INSERT INTO settings (name, value) VALUES (%(name)s, %(value)s::json)",
            {"name": DEFAULT_PRICE, "value": json.dumps(PRICE)},
        )
    store = SpendStore(client.pool, lease_seconds=30)
    await store.put_limit("deployment", NIL, "month", hard_micros=LIMIT_MICROS, soft_micros=None)


async def rows(client, sql, **named):
    async with client.pool.connection() as connection:
        return await connection.execute(sql, named)


async def held_by(client, daemon):
    """Return the calls for which a daemon has set money aside."""
    return await rows(
        client,
        "SELECT id FROM spend_reservations WHERE worker_id::text = ANY(%(workers)s::text[])",
        workers=list(daemon.workers()),
    )


async def one_in_mid_call(client, provider, daemons, chats):
    """Return a daemon whose call a model has begun to answer, and the other one."""
    with trio.fail_after(EVENTUALLY_SECONDS):
        while not (asked := provider.by_chat()):
            await trio.sleep(LOOK_SECONDS)
    chat = next(each for each in chats if str(each) in asked)
    holder = holder_among(daemons, (await client.view(chat)).chat.holder.worker)
    [other] = [each for each in daemons if each is not holder]
    return holder, other


async def test_a_killed_daemon_costs_no_more_than_its_calls_in_flight(home, provider, database):
    await migrate(database)
    # A model of a compatible server has no price but the stated one.
    model = {"OPENAI_COMPAT_BASE_URL": provider.settings["OPENAI_COMPAT_BASE_URL"]}
    settings = {**AWAY, **model, "DATABASE_URL": database}
    async with a_client(database) as client:
        await limited(client)
        with a_daemon(home, **settings) as one, a_daemon(home, **settings) as two:
            for daemon in (one, two):
                daemon.wait_ready()
            chats = [await client.create(SLOWLY) for _ in range(CHATS_COUNT)]
            dead, other = await one_in_mid_call(client, provider, (one, two), chats)

            dead.process.kill()
            dead.process.wait()
            in_flight = await held_by(client, dead)
            end_leases(database, dead.workers())
            ends = [await client.until(chat, *AT_REST) for chat in chats]

            # What the dead had set aside has made room for others, up to the limit.
            answered = [end for end in ends if status(end) == "waiting"]
            refused = [end.chat.last_error for end in ends if status(end) == "error"]
            assert CALLS_MAX == len(answered)
            assert {"usage_limit"} == {error.kind for error in refused}
            assert in_flight
            assert len(provider.requests()) <= CALLS_MAX + len(in_flight)
            with trio.fail_after(EVENTUALLY_SECONDS):  # its last sweep may have been before
                while await rows(client, "SELECT FROM spend_reservations"):
                    await trio.sleep(LOOK_SECONDS)
            counted = await rows(
                client,
                "SELECT spent_micros, reserved_micros FROM spend_counters"
                " WHERE subject_id = %(all)s AND period = 'month'",
                all=NIL,
            )
            assert [(CALLS_MAX * CALL_MICROS, 0)] == [tuple(row) for row in counted]
            assert 0 == other.stop()
