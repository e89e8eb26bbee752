"""Programs that a workspace names, with real daemons: none is started before somebody allows it."""

import json

import pytest

from actors.tools.approvals import NO_PERSON_TO_ASK
from adapters.tools.mcp.workspaces.named_server import NEVER_ALLOWED, NOT_ALLOWED_YET
from tests.adapters.workspaces.context.ground import put
from tests.e2e.daemons import a_daemon
from tests.e2e.processes import ROOT
from tests.e2e.test_consent import api_of, provider, settings

__all__ = ["provider", "settings"]
pytestmark = pytest.mark.slow
SCRIPT = (ROOT / "tests/fakes/shell_server.sh").read_text()
STARTS = "kit__start_server:{}"
# What an agent is prompted with; escaped, for the model that spawns it is not to read it.
PROMPT = f"[[tool-calls: {STARTS} kit__look:{{}}]] [[tool-rounds: 2]] [[text: seen]] go"
PROMPT = PROMPT.replace("[", "\\u005b")
PROMPT = PROMPT.replace("]", "\\u005d")
SPAWNS = f'[[tool-calls: spawn_agent:{{"type": "general", "prompt": "{PROMPT}"}}]] go'
STARTS_IT = f"[[tool-calls: {STARTS}]] [[tool-rounds: 2]] [[text: done]] go"


def a_file(greeting):
    kit = {"command": "sh", "args": ["server.sh"], "env": {"GREETING": greeting}}
    return {"server.sh": SCRIPT, ".mcp.json": json.dumps({"mcpServers": {"kit": kit}})}


@pytest.fixture
def bound(settings):
    """Programs of workspaces are started here though there is no sandbox."""
    return {**settings, "PROMPTCORNER_WORKSPACE_SERVERS": "all"}


def home_of(top):
    [workspace] = (top / "workspaces").glob("*/home")
    return workspace


def was_started(top):
    return (home_of(top) / "listed").exists()


def shown_to_people(approval):
    return approval["tool_name"].rpartition(":")[0], json.loads(approval["args"])


KIT = {"server": "kit", "command": "sh server.sh", "environment": ["GREETING"]}


async def test_an_agent_starts_what_its_parent_has_written_only_with_the_consent_of_a_person(
    home, bound
):
    with a_daemon(home, **bound) as first:
        async with api_of(first) as api:
            await api.begin()
            put(home_of(home), **a_file("hi"))  # as the model could
            await api.say(SPAWNS)
            [asked] = await api.asked()
            before = was_started(home)
        first.kill()

    with a_daemon(home, **bound) as second:
        async with api_of(second, api.chat) as api:
            [again] = await api.asked()
            meanwhile = was_started(home)
            allowed = await api.decide(again)
            [looks] = await api.asked()
            after = was_started(home)
            always = (await api.family())["always"]
            await api.decide(looks, "deny")

    assert asked == again
    assert asked["chat_id"] != api.chat
    assert ("start:kit", KIT) == shown_to_people(asked)
    assert (False, False, 200, True) == (before, meanwhile, allowed, after)
    assert "workspace:kit__look" == looks["tool_name"]
    assert [asked["tool_name"]] == [grant["tool_name"] for grant in always]


async def test_where_nobody_is_asked_nothing_is_started_and_why_is_said(home, bound, provider):
    put(home / "templates/web", **a_file("hi"))
    with a_daemon(home, **bound) as daemon:
        async with api_of(daemon) as api:
            await api.begin(approval_policy="deny")
            await api.say(STARTS_IT)
            shown = await api.until("waiting")
            said = await api.said()

    [offered] = [
        tool["description"]
        for tool in provider.requests(api.chat)[-1]["body"]["tools"]
        if tool["name"] == "kit__start_server"
    ]
    [kit] = [each for each in shown["context"]["resources"] if each["kind"] == "mcp_server"]
    assert not was_started(home)
    assert NO_PERSON_TO_ASK.format(tool="kit__start_server")[:60] in said
    assert "In this chat that is denied" in offered
    assert ("excluded", NEVER_ALLOWED) == (kit["status"], kit["error"])


async def test_what_has_changed_since_a_person_was_asked_is_asked_about_again(home, bound):
    put(home / "templates/web", **a_file("hi"))
    with a_daemon(home, **bound) as daemon:
        async with api_of(daemon) as api:
            await api.begin()
            shown = await api.shown()
            await api.say(STARTS_IT)
            [first] = await api.asked()
            put(home_of(home), **a_file("ho"))
            await api.good("PUT", f"/{api.chat}/context")
            await api.decide(first, "allow_always")
            [second] = await api.asked()
            before = was_started(home)
            await api.decide(second, "allow_always")
            await api.until("waiting")
            after = was_started(home)
            grants = [grant["tool_name"] for grant in (await api.family())["always"]]
            await api.good("DELETE", f"/{api.chat}/approvals/always/{second['tool_name']}")
            left = [grant["tool_name"] for grant in (await api.family())["always"]]

    [kit] = [each for each in shown["context"]["resources"] if each["kind"] == "mcp_server"]
    assert ("excluded", NOT_ALLOWED_YET) == (kit["status"], kit["error"])
    assert shown_to_people(first) == shown_to_people(second) == ("start:kit", KIT)
    assert first["tool_name"] != second["tool_name"]
    assert (False, True) == (before, after)
    assert {first["tool_name"], second["tool_name"]} == set(grants)
    assert [first["tool_name"]] == left
