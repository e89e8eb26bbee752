"""Agents: spawned, waited for, talked to, stopped; by real chats on a real database."""

from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from uuid import UUID

import pytest
import trio

from actors.machine.chat import Role
from actors.machine.states import Status
from actors.store.hints import LookAtEverything
from actors.tools.gating import WHO
from adapters.rehearsal.behaviour import Behaviour
from adapters.tools.agents.asked import TOOLS
from tests.adapters.api.routes.daemon import a_daemon
from tests.adapters.tools.agents.ground import a_parent

pytestmark = pytest.mark.slow
SLOW = "[[first-token-ms: 60000]] take your time"
STOP = "[[first-token-ms: 0]] stop it"


@pytest.fixture
async def daemon(fresh):
    async with a_daemon(fresh, Behaviour(text="the report", delta_ms=1)) as daemon:
        yield daemon


@pytest.fixture
async def parent(daemon):
    return await a_parent(daemon)


def prompts(parent):
    """What models were asked, as bytes of the wire."""
    return [heard.body.decode() for heard in parent.daemon.rehearsal.heard]


def error(document):
    assert ["error"] == list(document)
    return document["error"]


# spawning


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
        ({"type": "general", "prompt": "x", "reasoning_effort": "some"}, "must be one of"),
    ],
)
async def test_what_cannot_be_spawned_is_refused_in_words(parent, asked, says):
    assert says in error(await parent.call("spawn_agent", **asked))


async def test_agents_spawn_no_agents(parent):
    agent = await parent.spawn("work")
    await parent.at_rest(agent)
    parent.chat = (await parent.daemon.chats.store.reading.view(agent["chat_id"])).chat

    assert "agents do not spawn agents" in error(await parent.spawn("more"))
    assert [] == await parent.tools.offered(parent.chat, ())


async def test_a_spawn_that_is_called_again_finds_its_agent(parent):
    first = await parent.spawn("work", _id="a")
    again = await parent.spawn("work", _id="a")
    other = await parent.spawn("work", _id="b")

    assert first["chat_id"] == again["chat_id"] != other["chat_id"]
    await parent.at_rest(first)
    await parent.at_rest(other)
    assert 2 == (await parent.call("list_agents"))["total"]


async def test_the_models_that_can_be_asked_are_listed(parent):
    listed = (await parent.call("list_subagent_models"))["models"]

    assert {str(model.id) for model in parent.daemon.models} == {
        model["model_config_id"] for model in listed
    }
    agent = await parent.spawn("work", model_config_id=listed[-1]["model_config_id"])
    assert "chat_id" in agent


# waiting


async def test_several_agents_are_waited_for_at_once(parent):
    agents = [await parent.spawn(f"work {n}") for n in range(5)]

    told = await parent.call("wait_agent", chat_ids=[agent["chat_id"] for agent in agents])

    assert not told["timed_out"]
    assert [agent["chat_id"] for agent in agents] == [one["chat_id"] for one in told["agents"]]
    assert {"the report"} == {one["report"] for one in told["agents"]}


async def test_the_first_of_several_is_enough_where_any_will_do(parent):
    slow, quick = await parent.spawn(SLOW), await parent.spawn("quick")

    told = await parent.call(
        "wait_agent", chat_ids=[slow["chat_id"], quick["chat_id"]], until="any"
    )

    assert [True, None] == [one.get("timed_out") for one in told["agents"]]
    await parent.call("interrupt_agent", chat_id=slow["chat_id"])
    await parent.at_rest(slow)


async def test_a_wait_that_takes_too_long_says_so_and_the_agent_goes_on(parent):
    slow = await parent.spawn(SLOW)

    told = await parent.call("wait_agent", chat_id=slow["chat_id"], timeout_seconds=1)

    assert ("running", True) == (told["status"], told["timed_out"])
    await parent.call("interrupt_agent", chat_id=slow["chat_id"])
    await parent.at_rest(slow)


async def test_an_agent_that_failed_is_reported_and_no_failure_to_wait(parent):
    agent = await parent.spawn("[[fault: 401]] work")

    told = await parent.call("wait_agent", chat_id=agent["chat_id"])

    assert ("error", "auth", False) == (
        told["status"],
        told["last_error_kind"],
        told["last_error_retryable"],
    )


async def test_waiting_asks_the_database_nothing(parent):
    slow = await parent.spawn("[[first-token-ms: 1500]] work")
    looks = []
    family = Counted(parent.tools.family, looks)
    parent.tools = replace(parent.tools, family=family)

    told = await parent.call("wait_agent", chat_id=slow["chat_id"])

    assert "waiting" == told["status"]
    # Whether it may wait; where it stands; whether it has settled, as its commit told; the report.
    assert ["descendants", "descendants", "descendants", "report"] == looks


async def test_news_that_got_lost_is_looked_for(parent):
    agent = await parent.spawn("[[first-token-ms: 1500]] work")
    bus = Deaf()
    parent.tools = replace(parent.tools, bus=bus)
    told = []

    async with trio.open_nursery() as nursery:
        nursery.start_soon(partial(_wait, parent, agent, told))
        await parent.at_rest(agent)
        assert [] == told
        bus.doubt()

    assert "waiting" == told[0]["status"]


async def _wait(parent, agent, told):
    told.append(await parent.call("wait_agent", chat_id=agent["chat_id"]))


@pytest.mark.parametrize("name", ["wait_agent", "message_agent", "interrupt_agent"])
async def test_chats_that_are_not_ours_are_not_there(daemon, parent, name):
    other = await a_parent(daemon, "another")
    theirs = await other.spawn("work")
    await other.at_rest(theirs)

    for stranger in (theirs["chat_id"], str(other.chat.id), str(parent.chat.id), UUID(int=9)):
        told = await parent.call(name, chat_id=stranger, message="hello")
        assert f"{stranger} is no agent of this chat; see list_agents" == error(told)


# talking


async def test_an_agent_at_rest_is_given_more_work(parent):
    agent = await parent.spawn("work")
    await parent.at_rest(agent)

    told = await parent.call("message_agent", chat_id=agent["chat_id"], message="more")

    assert ("running", False) == (told["status"], told["interrupted"])
    users = [said for role, said in await parent.at_rest(agent) if role is Role.USER]
    assert ["work", "more"] == users


async def test_a_message_that_is_sent_again_after_a_crash_is_there_once(parent):
    agent = await parent.spawn("work")
    await parent.at_rest(agent)

    for _ in range(2):
        await parent.call("message_agent", "m", chat_id=agent["chat_id"], message="more")

    users = [said for role, said in await parent.at_rest(agent) if role is Role.USER]
    assert ["work", "more"] == users


async def test_an_agent_at_work_is_interrupted_for_a_message(parent):
    agent = await parent.spawn(SLOW)

    told = await parent.call(
        "message_agent", chat_id=agent["chat_id"], message=STOP, interrupt=True
    )

    assert told["interrupted"]
    users = [said for role, said in await parent.at_rest(agent) if role is Role.USER]
    assert [SLOW, STOP] == users


async def test_an_agent_is_interrupted_once(parent):
    agent = await parent.spawn(SLOW)

    first = await parent.call("interrupt_agent", chat_id=agent["chat_id"])
    await parent.at_rest(agent)
    second = await parent.call("interrupt_agent", chat_id=agent["chat_id"])

    assert (True, False) == (first["interrupted"], second["interrupted"])


async def test_agents_are_listed_by_pages(parent):
    for n in range(3):
        await parent.at_rest(await parent.spawn(f"work {n}"))

    first = await parent.call("list_agents", limit=2)
    last = await parent.call("list_agents", limit=2, offset=2)
    behind = await parent.call("list_agents", offset=9)

    assert (["work 2", "work 1"], True) == (
        [agent["title"] for agent in first["agents"]],
        first["has_more"],
    )
    assert (["work 0"], False) == ([agent["title"] for agent in last["agents"]], last["has_more"])
    assert (3, 0) == (behind["total"], behind["returned"])


# whole turns


async def test_a_model_spawns_waits_and_reads_the_report(daemon):
    spawn = '[[tool-calls: spawn_agent:{"type":"general","prompt":"look"}]] [[tool-rounds: 1]]'

    chat = await daemon.begin(f"{spawn} delegate")
    await daemon.at_rest(chat)

    family = await a_parent(daemon)
    page = await family.tools.family.children(chat, limit=5, offset=0)
    assert ["look"] == [child.title for child in page.shown]
    await daemon.at_rest(page.shown[0].id)


async def test_an_interrupted_parent_leaves_its_agents_at_work(daemon):
    parent = await a_parent(daemon)
    agent = await parent.spawn("[[first-token-ms: 600]] work")

    with trio.move_on_after(0.1) as scope:
        await parent.call("wait_agent", chat_id=agent["chat_id"])

    assert scope.cancelled_caught
    stored = await daemon.chats.store.reading.view(agent["chat_id"])
    assert Status.RUNNING is stored.chat.status
    await parent.at_rest(agent)


def test_each_tool_has_its_row_in_the_table():
    assert {tool.tool.name for tool in TOOLS} <= WHO.keys()


class Counted:
    """A family that writes down what it is asked."""

    def __init__(self, family, looks):
        self._family = family
        self._looks = looks

    def __getattr__(self, name):
        async def asked(*how):
            self._looks.append(name)
            return await getattr(self._family, name)(*how)

        return asked


class Deaf:
    """A bus on which no news of chats arrives."""

    def __init__(self):
        self._heard = []

    def follow_chat(self, chat, heard):
        self._heard.append(heard)
        return nullcontext()

    def doubt(self):
        for heard in self._heard:
            heard(LookAtEverything())
