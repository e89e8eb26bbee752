"""Agents are spawned: what they are, what they have from their parent, how many may be."""

from dataclasses import replace
from uuid import UUID

import pytest
import trio

from actors.agents.ports import FamilyCounts
from actors.agents.rules import AT_WORK_MAX
from actors.law.ids import ChatId
from adapters.models.prompt_texts import ATTACHED, DETACHED_CHILD
from adapters.models.settings import override_name
from tests.adapters.tools.built_in.agents.ground import SLOW, a_parent, error
from tests.adapters.tools.offering import local_tools
from tests.fakes.balky import Away

pytestmark = pytest.mark.slow
A, B = UUID(int=51), UUID(int=52)


def prompts(parent):
    """What models were asked, as bytes of the wire."""
    return [heard.body.decode() for heard in parent.daemon.rehearsal.records]


async def test_an_agent_is_spawned_works_and_reports(parent):
    agent = await parent.spawn("look at the tests")

    assert ("look at the tests", "general") == (agent["title"], agent["type"])
    told = await parent.call("wait_agent", chat_id=agent["chat_id"])
    assert {**agent, "status": "waiting", "report": "the report"} == told


async def test_an_agent_is_told_what_it_is(parent):
    agent = await parent.call("spawn_agent", type="explore", prompt="look")
    await parent.at_rest(agent)

    asked = prompts(parent)[-1]

    assert "delegated-work" in asked
    assert "read-only" in asked
    assert "spawn_agent" not in asked


async def test_a_root_is_told_how_to_work_with_agents(parent):
    assert any("spawn_agent" in asked for asked in prompts(parent))


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"type": "clever", "prompt": "x"}, "no agent of type 'clever'"),
        ({"type": "computer_use", "prompt": "x"}, "needs a desktop"),
        ({"type": "general", "prompt": "  "}, "prompt is empty"),
        ({"type": "general"}, "missing the required argument `prompt`"),
        ({"type": "general", "prompt": "x", "model_config_id": "y"}, "is no UUID"),
        (
            {"type": "general", "prompt": "x", "model_config_id": str(UUID(int=5))},
            "there is no model config",
        ),
        ({"type": "general", "prompt": "x", "reasoning_effort": "some"}, "it can be none"),
    ],
)
async def test_what_cannot_be_spawned_is_refused_in_words(parent, asked, says):
    assert says in error(await parent.call("spawn_agent", **asked))


async def test_agents_spawn_no_agents(parent):
    agent = await parent.spawn("work")
    await parent.at_rest(agent)
    parent.chat = (await parent.daemon.chats.store.reading.view(agent["chat_id"])).chat

    assert "agents do not spawn agents" in error(await parent.spawn("more"))
    assert () == await local_tools(parent.chat, parent.tools)


async def test_of_agents_spawned_at_once_as_many_come_to_work_as_may(parent):
    spawned = []

    async def spawn(number):
        spawned.append(await parent.spawn(SLOW, title=f"agent {number}"))

    async with trio.open_nursery() as nursery:
        for number in range(AT_WORK_MAX + 3):
            nursery.start_soon(spawn, number)

    refused = [agent["error"] for agent in spawned if "error" in agent]
    assert 3 == len(refused)
    assert f"{AT_WORK_MAX} agents of this chat are at work" in refused[0]
    family = parent.tools.family
    assert FamilyCounts("api", AT_WORK_MAX, AT_WORK_MAX) == await family.family_counts(
        parent.chat.id, besides=[]
    )
    agents = [ChatId(UUID(agent["chat_id"])) for agent in spawned if "error" not in agent]
    assert FamilyCounts("api", AT_WORK_MAX - 2, AT_WORK_MAX - 2) == await family.family_counts(
        parent.chat.id, besides=agents[:2]
    )


async def test_who_has_come_to_rest_takes_no_place_at_work(parent):
    await parent.at_rest(await parent.spawn("work"))

    counts = await parent.tools.family.family_counts(parent.chat.id, besides=[])

    assert FamilyCounts("api", 1, 0) == counts


@pytest.mark.parametrize(
    ("asked", "title"),
    [
        ({"prompt": "one two three four five six"}, "one two three four five six"),
        ({"prompt": "one two three four five six seven"}, "one two three four five six…"),
        ({"prompt": "look", "title": " The\ntests\0 "}, "The tests"),
        ({"prompt": "look", "title": "t" * 100}, "t" * 80),
        ({"prompt": "\0"}, "New Chat"),
    ],
)
async def test_an_agent_has_the_title_it_was_given_or_its_first_words(parent, asked, title):
    agent = await parent.call("spawn_agent", type="general", **asked)

    await parent.at_rest(agent)

    assert title == agent["title"]


async def test_an_agent_has_what_its_parent_has(daemon):
    parent = await a_parent(
        daemon,
        mcp_server_ids=(A, B),
        plan_mode="plan",
        client_type="ui",
        approval_policy="allow",
    )

    agent = await parent.spawn("work")
    chat, root, client = await kept(parent, agent)

    assert (parent.chat.id, parent.chat.id) == (chat.parent_id, root)
    assert ((A, B), "plan", "", "ui") == (chat.mcp_server_ids, chat.plan_mode, chat.mode, client)
    assert "allow" == chat.approval_policy


async def test_an_agent_works_where_its_parent_does_by_now(parent):
    """A parent that has made itself a workspace in this very turn does not know it by its row."""
    assert parent.chat.workspace_id is None
    before = await parent.spawn("look")
    async with parent.daemon.chats.store.pool.connection() as connection:
        [(workspace,)] = await connection.execute(
            "INSERT INTO workspaces (id, owner_id, name, template, memory_mb, file_mb, processes,"
            " seconds) VALUES (gen_random_uuid(), %(o)s, 'w', 'empty', 1, 1, 1, 1) RETURNING id",
            {"o": parent.chat.owner_id},
        )
        await connection.execute(
            "UPDATE chats SET workspace_id = %(w)s WHERE id = %(c)s",
            {"w": workspace, "c": parent.chat.id},
        )

    after = await parent.spawn("look again")

    reading = parent.daemon.chats.store.reading
    assert workspace == (await reading.view(after["chat_id"])).chat.workspace_id
    told = [
        [row.body.parts[0].text for row in await reading.history(agent["chat_id"])]
        for agent in (before, after)
    ]
    assert [DETACHED_CHILD in told[0], ATTACHED in told[1]] == [True, True]


async def test_an_agent_that_explores_has_what_its_parent_could_use_just_then(daemon):
    parent = await a_parent(daemon, mcp_server_ids=(A, B), plan_mode="plan")
    parent.tools = replace(parent.tools, usable=only_b)

    agent = await parent.call("spawn_agent", type="explore", prompt="look")
    chat, _, _ = await kept(parent, agent)

    assert ((B,), "", "explore") == (chat.mcp_server_ids, chat.plan_mode, chat.mode)


async def only_b(chat):
    return (B,)


async def kept(parent, agent):
    """Once it is at rest: the chat, its root, and what client it is of."""
    id = UUID(agent["chat_id"])
    await parent.at_rest({"chat_id": id})
    async with parent.daemon.chats.store.pool.connection() as connection:
        asked = "SELECT root_id, client_type FROM chats WHERE id = %(id)s"
        [(root, client)] = await connection.execute(asked, {"id": id})
    return (await parent.daemon.chats.store.reading.view(id)).chat, root, client


async def test_an_agent_is_asked_with_the_model_and_effort_that_are_named(parent):
    [*_, last] = (await parent.call("list_subagent_models"))["models"]
    named = {"model_config_id": last["model_config_id"], "reasoning_effort": "low"}

    chat, _, _ = await kept(parent, await parent.spawn("work", **named))

    assert named == asked_with(chat)


async def test_where_none_is_named_its_type_s_own_is_asked_and_else_its_parent_s(parent):
    ours, theirs, *_ = [model.id for model in parent.daemon.models]
    parent.chat = replace(parent.chat, last_model_config_id=ours)
    await configured(parent, override_name("explore"), f"{theirs}:high")

    general, _, _ = await kept(parent, await parent.spawn("work"))
    explore, _, _ = await kept(parent, await parent.call("spawn_agent", type="explore", prompt="x"))

    assert {"model_config_id": str(ours), "reasoning_effort": None} == asked_with(general)
    assert {"model_config_id": str(theirs), "reasoning_effort": "high"} == asked_with(explore)


async def configured(parent, name, value):
    """As an administrator sets it."""
    chats = parent.daemon.chats
    async with chats.store.pool.connection() as connection:
        insert = "INSERT INTO settings (name, value) VALUES (%(name)s, to_json(%(value)s::text))"
        await connection.execute(insert, {"name": name, "value": value})
    chats.catalogue.forget()


def asked_with(chat):
    return {
        "model_config_id": str(chat.last_model_config_id),
        "reasoning_effort": chat.last_reasoning_effort,
    }


async def test_a_spawn_that_is_called_again_finds_its_agent(parent):
    first = await parent.spawn("work", _id="a")
    again = await parent.spawn("work", _id="a")
    other = await parent.spawn("work", _id="b")

    assert first["chat_id"] == again["chat_id"] != other["chat_id"]
    await parent.at_rest(first)
    await parent.at_rest(other)
    assert 2 == (await parent.call("list_agents"))["total"]


@pytest.mark.parametrize("calls", [("create",), ("create", "descendants")])
async def test_a_spawn_whose_answer_gets_lost_finds_its_agent(parent, calls):
    agent = await parent.unheard(*calls).spawn("work")

    page = await parent.tools.family.children(parent.chat.id, limit=9, offset=0)
    assert [agent["chat_id"]] == [str(child.id) for child in page.members]
    assert ("work", "general") == (agent["title"], agent["type"])


async def test_of_an_agent_that_was_born_nothing_is_read_again(parent):
    agent = await parent.unheard("descendants").spawn("work")

    assert {"chat_id", "title", "status", "type"} == set(agent)
    with pytest.raises(Away):
        await parent.tools.family.descendants(parent.chat.id, [])
    await parent.at_rest(agent)


async def test_the_models_that_can_be_asked_are_listed(parent):
    listed = (await parent.call("list_subagent_models"))["models"]

    assert {str(model.id) for model in parent.daemon.models} == {
        model["model_config_id"] for model in listed
    }
    agent = await parent.spawn("work", model_config_id=listed[-1]["model_config_id"])
    assert "chat_id" in agent
