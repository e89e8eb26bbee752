"""A daemon is killed in the middle of a batch of tools: what has ended is kept, what was under way
is not run again, and what is the client's comes after it.
"""

import json
from pathlib import Path

import psycopg
import pytest
import trio

from actors.chat.turn.tool_batch import MAY_HAVE_RUN
from promptcorner_client import api
from promptcorner_client.async_client import AsyncClient
from promptcorner_client.tools import tool
from tests.e2e.daemons import a_daemon
from tests.e2e.processes import EVENTUALLY_SECONDS, eventually
from tests.e2e.providers import a_provider

pytestmark = [
    pytest.mark.slow,
    # The HTTP library leaves generators of its own to the garbage collector.
    pytest.mark.filterwarnings("ignore:Async generator 'http:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

ADMIN = "a-token-of-the-first-admin-for-these-tests"
SETTINGS = {
    "PROMPTCORNER_ADMIN_TOKEN": ADMIN,
    "PROMPTCORNER_DRAIN_SECONDS": "0",
    "PROMPTCORNER_SANDBOX": "none",
    "PROMPTCORNER_APPROVAL_POLICY": "allow",
}
CREATES = '[[tool-calls: create_workspace:{"template_id": "empty"}]] [[text: There.]] make it'
WORKS = (
    '[[tool-calls: execute:{"command": "echo fast | tee -a ran"}'
    ' execute:{"command": "echo slow >> ran; exec sleep 600", "timeout": "5m"}'
    ' stock:{"article": "lamps"}]] [[text: Done.]] work'
)


@tool
async def stock(article: str) -> int:
    """How many of an article are in the store."""
    return 3


@pytest.fixture
def provider():
    with a_provider() as provider:
        yield provider


async def waited(client, chat, since=0):
    with trio.fail_after(EVENTUALLY_SECONDS):
        return await client.wait(chat.id, since=since, tools=[stock])


def results(seen):
    parts = [part for message in seen.history for part in message.content]
    said = [part for part in parts if part.type == "tool-result"]
    return [(part.tool_name, json.loads(bytes(part.result))) for part in said]


def have_ended(database):
    with psycopg.connect(database) as connection:
        counted = "SELECT count(*), count(ended_at) FROM tool_calls WHERE name = 'execute'"
        return connection.execute(counted).fetchone()


async def test_what_has_ended_is_kept_and_what_was_under_way_is_not_run_again(
    home, provider, database
):
    settings = {**SETTINGS, **provider.settings, "DATABASE_URL": database}
    with a_daemon(home, **settings) as first:
        address = first.wait_ready()["listen"]
        async with AsyncClient(f"http://{address}", ADMIN) as client:
            chat = await client.create(CREATES, tools=[stock])
            [(_, made)] = results(await waited(client, chat))
            sent = await client.request(api.send(chat.id, WORKS))
            eventually(lambda: have_ended(database) == (2, 1), "one has ended, one is under way")
            notes = Path(made["path"]) / "ran"
            eventually(lambda: "slow\n" in notes.read_text(), "the other one works, too")
        first.kill()
    ran = notes.read_text()

    with a_daemon(home, **settings) as second:
        address = second.wait_ready()["listen"]
        async with AsyncClient(f"http://{address}", ADMIN) as client:
            seen = await waited(client, chat, since=sent.message.id)
        assert 0 == second.stop()

    assert ["fast", "slow"] == sorted(ran.split())
    assert ran == notes.read_text()
    [_, (_, fast), (_, slow), (_, three)] = results(seen)
    assert "fast\n" == fast["output"]
    assert {"error": MAY_HAVE_RUN} == slow
    assert (3, "Done.") == (three, seen.answer)
