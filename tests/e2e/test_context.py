"""What a model is told of a workspace by real daemons: one is killed, another takes its place."""

import json

import httpx2
import pytest
import trio

from tests.adapters.workspaces.context.ground import put, skill
from tests.e2e.daemons import a_daemon
from tests.e2e.processes import EVENTUALLY_SECONDS
from tests.e2e.providers import a_provider
from tests.e2e.watchers import HEADER

pytestmark = pytest.mark.slow

TOKEN = "a-token-of-the-first-admin-for-these-tests"
CHATS = "/api/experimental/chats"
ORGANIZATIONS = "/api/v2/organizations"
SETTINGS = {
    "PROMPTCORNER_ADMIN_TOKEN": TOKEN,
    "PROMPTCORNER_DRAIN_SECONDS": "0",
    "PROMPTCORNER_SANDBOX": "none",
}
MAKES_ONE = '[[tool-calls: create_workspace:{"template_id": "web"}]] work'


@pytest.fixture
def provider():
    with a_provider() as provider:
        yield provider


def client_of(daemon):
    url = "http://" + daemon.wait_ready()["listen"]
    return httpx2.AsyncClient(base_url=url, headers={HEADER: TOKEN}, timeout=EVENTUALLY_SECONDS)


async def good(asked):
    answer = await asked
    assert answer.status_code < 300, answer.text
    return answer.json() if answer.content else None


def says(text):
    return {"content": [{"type": "text", "text": text}]}


async def until(client, chat, holds):
    with trio.fail_after(EVENTUALLY_SECONDS):
        while not holds(shown := await good(client.get(f"{CHATS}/{chat}"))):
            await trio.sleep(0.02)
    return shown


async def at_rest(client, chat):
    return await until(client, chat, lambda shown: shown["status"] == "waiting")


async def begun(client, text, **new):
    [organization, *_] = await good(client.get(ORGANIZATIONS))
    new = {"organization_id": organization["id"], **says(text), **new}
    chat = (await good(client.post(CHATS, json=new)))["id"]
    return await at_rest(client, chat)


async def a_turn(client, chat):
    await good(client.post(f"{CHATS}/{chat}/messages", json=says("go on")))
    await at_rest(client, chat)


def told(provider, chat):
    """The system prompt of the last request for this chat, as it came over the wire."""
    asked = [each["body"] for each in provider.requests(chat) if each["body"].get("stream")]
    return json.dumps(asked[-1]["system"], sort_keys=True)


async def test_each_chat_keeps_its_words_over_the_end_of_a_daemon(home, provider, database):
    put(home / "templates/web", **{"AGENTS.md": "rule one", "skills/deploy/SKILL.md": skill()})
    settings = {**SETTINGS, **provider.settings, "DATABASE_URL": database}
    with a_daemon(home, **settings) as first:
        async with client_of(first) as client:
            one = await begun(client, MAKES_ONE)
            two = await begun(client, "work too", workspace_id=one["workspace_id"])
            before = [told(provider, chat["id"]) for chat in (one, two)]
            put(home / f"workspaces/{one['workspace_id']}/home", **{"AGENTS.md": "rule two"})
            for chat in (one, two):
                await until(client, chat["id"], lambda shown: shown["context"]["dirty"])
            await good(client.put(f"{CHATS}/{two['id']}/context"))
        first.kill()

    with a_daemon(home, **settings) as second:
        async with client_of(second) as client:
            for chat in (one, two):
                await a_turn(client, chat["id"])
            shown = [await at_rest(client, chat["id"]) for chat in (one, two)]
        after = [told(provider, chat["id"]) for chat in (one, two)]

    assert ["rule one" in words for words in before] == [True, True]
    assert before[0] == after[0]
    assert before[1].replace("rule one", "rule two") == after[1]
    assert "- deploy: How we deploy" in after[1]
    assert [True, False] == [chat["context"]["dirty"] for chat in shown]
