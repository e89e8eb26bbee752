"""Agents that operate desktops: offered where there are some, spawned with a model of their own."""

import json
from dataclasses import replace

import pytest

from actors.agents.rules import NO_DESKTOP_IN_PLANS
from tests.adapters.tools.built_in.agents.ground import error
from tests.adapters.tools.offering import local_tools

pytestmark = pytest.mark.slow


class Deployment:
    """A deployment in which an agent can have a desktop, or why it cannot."""

    def __init__(self, why=None):
        self.why = why

    async def __call__(self, chat):
        return self.why


def able(parent, why=None):
    parent.tools = replace(parent.tools, why_no_desktop=Deployment(why))
    return parent


async def told_types(parent):
    [spawn] = [
        tool.tool
        for tool in await local_tools(parent.chat, parent.tools)
        if tool.tool.name == "spawn_agent"
    ]
    return json.loads(spawn.schema)["properties"]["type"]["description"]


async def test_a_model_is_told_of_them_only_where_there_are_some(parent):
    assert "computer_use" not in await told_types(parent)
    assert "computer_use: operating programs" in await told_types(able(parent))


async def test_such_an_agent_has_its_mode_and_its_parents_model(parent):
    document = await able(parent).call("spawn_agent", type="computer_use", prompt="look around")

    assert "computer_use" == document["type"]
    child = (await parent.daemon.chats.store.reading.view(document["chat_id"])).chat
    assert "computer_use" == child.mode
    assert parent.chat.last_model_config_id == child.last_model_config_id
    await parent.at_rest(document)


@pytest.mark.parametrize(
    ("why", "asked", "says"),
    [
        (None, {"model_config_id": "x"}, "has a model of its own"),
        (None, {"reasoning_effort": "low"}, "has a model of its own"),
        (NO_DESKTOP_IN_PLANS, {}, "this chat plans"),
        ("Xvnc is not installed", {}, "Xvnc is not installed; use type general"),
    ],
)
async def test_what_cannot_be_had_is_refused_before_there_is_a_chat(parent, why, asked, says):
    wanted = {"type": "computer_use", "prompt": "look around", **asked}

    refused = await able(parent, why).call("spawn_agent", **wanted)

    assert says in error(refused)
