"""Records of model calls over a daemon that is killed in the middle of two: the turn goes on in its
run, the other run is told as interrupted, nothing is stuck, and retention takes both."""

from contextlib import asynccontextmanager

import httpx2
import psycopg
import pytest
import trio

from adapters.models.debug_runs.store import STALE_SECONDS
from tests.e2e.daemons import a_daemon
from tests.e2e.processes import EVENTUALLY_SECONDS
from tests.e2e.providers import a_provider
from tests.e2e.watchers import HEADER

pytestmark = pytest.mark.slow

TOKEN = "a-token-of-the-first-admin-for-these-tests"
CHATS = "/api/v2/chats"
SETTINGS = {
    "PROMPTCORNER_ADMIN_TOKEN": TOKEN,
    "PROMPTCORNER_DRAIN_SECONDS": "0",
    "PROMPTCORNER_DEBUG_LOGGING_FORCED": "on",
}
LOOK_SECONDS = 0.02
NEVER_MS = 600_000  # longer than any test takes


@pytest.fixture
def provider():
    with a_provider() as provider:
        yield provider


@asynccontextmanager
async def a_client(daemon):
    url = "http://" + daemon.wait_ready()["listen"]
    headers = {HEADER: TOKEN}
    async with httpx2.AsyncClient(
        base_url=url, headers=headers, timeout=EVENTUALLY_SECONDS
    ) as client:
        yield client


async def good(asking):
    answer = await asking
    assert answer.status_code < 300, answer.text
    return answer.json() if answer.content else None


async def until(look):
    with trio.fail_after(EVENTUALLY_SECONDS):
        while not (found := await look()):
            await trio.sleep(LOOK_SECONDS)
    return found


async def at_rest(client, chat):
    async def look():
        return (await good(client.get(f"{CHATS}/{chat}")))["status"] == "waiting"

    await until(look)


async def statuses(client, chat):
    """{kind and number, the oldest first: (id, status)} of the runs of a chat."""
    runs = await good(client.get(f"{CHATS}/{chat}/debug/runs"))
    kinds = {"chat_turn": [], "title_generation": []}
    for run in reversed(runs):
        kinds.get(run["kind"], []).append((run["id"], run["status"]))
    return kinds


async def asked_for_a_title(client, chat):
    """Ask for a title, of which the daemon's death is the answer."""
    with pytest.raises(httpx2.HTTPError):
        await client.post(f"{CHATS}/{chat}/title/regenerate")


async def test_a_run_that_a_kill_cuts_is_interrupted_or_goes_on_and_goes_when_it_is_old(
    home, provider, database
):
    settings = {**SETTINGS, **provider.settings, "DATABASE_URL": database}
    message = {"content": [{"type": "text", "text": "[[text: good day]] hello"}]}
    with a_daemon(home, **settings) as first:
        async with a_client(first) as client, trio.open_nursery() as nursery:
            [organization, *_] = await good(client.get("/api/v2/organizations"))
            new = {**message, "organization_id": organization["id"]}
            chat = (await good(client.post(CHATS, json=new)))["id"]
            await at_rest(client, chat)
            provider.behave(first_token_ms=NEVER_MS)
            nursery.start_soon(asked_for_a_title, client, chat)
            await good(client.post(f"{CHATS}/{chat}/messages", json=message))

            async def both_run():
                found = await statuses(client, chat)
                turns, titles = found["chat_turn"], found["title_generation"]
                are_open = [each[-1][1] == "in_progress" for each in (turns, titles) if each]
                return found if len(turns) == 2 and are_open == [True, True] else None

            before = await until(both_run)
            first.kill()
    provider.behave(first_token_ms=0)
    (turn, _), (title, _) = before["chat_turn"][-1], before["title_generation"][-1]
    with psycopg.connect(database, autocommit=True) as connection:  # time passes
        connection.execute(
            "UPDATE debug_runs SET updated_at = now() - make_interval(secs => %s) WHERE id = %s",
            (STALE_SECONDS + 1, title),
        )

    with a_daemon(home, **settings) as second:
        async with a_client(second) as client:
            await at_rest(client, chat)

            async def all_ended():
                found = await statuses(client, chat)
                ended = [each for runs in found.values() for each in runs]
                return dict(ended) if "in_progress" not in dict(ended).values() else None

            after = await until(all_ended)
            assert ("completed", "interrupted") == (after[turn], after[title])
            run = await good(client.get(f"{CHATS}/{chat}/debug/runs/{title}"))
            assert ["interrupted"] == [step["status"] for step in run["steps"]]
            assert run["finished_at"]

            await good(
                client.put(f"{CHATS}/config/debug-retention-days", json={"debug_retention_days": 1})
            )
            with psycopg.connect(database, autocommit=True) as connection:  # days pass
                connection.execute("UPDATE debug_runs SET started_at = now() - interval '2 days'")
            await good(client.post("/api/v2/housekeeping", json={"dry_run": False}))

            async def none_is_left():
                return not await good(client.get(f"{CHATS}/{chat}/debug/runs"))

            await until(none_is_left)
        assert 0 == second.stop()
