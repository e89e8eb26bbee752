"""Agents are told more, stopped and listed; and whole turns with them."""

from dataclasses import replace
from functools import partial

import pytest
import trio

from actors.law.chat import QUEUE_ROWS_MAX, Role
from actors.law.requests import Interrupt
from actors.law.states import Status
from actors.tools.gating import KINDS_BY_TOOL
from adapters.access.changes import ChatSender
from adapters.tools.built_in.agent_schemas import TOOLS
from tests.adapters.tools.built_in.agents.ground import SLOW, a_parent

pytestmark = pytest.mark.slow
STOP = "[[first-token-ms: 0]] stop it"


async def test_an_agent_at_rest_is_given_more_work(parent):
    agent = await parent.spawn("work")
    await parent.at_rest(agent)

    told = await parent.call("message_agent", chat_id=agent["chat_id"], message="more")

    assert ("running", False) == (told["status"], told["interrupted"])
    users = [said for role, said in await parent.at_rest(agent) if role is Role.USER]
    assert ["work", "more"] == users


async def test_a_user_may_write_to_an_agent_itself(parent):
    agent = await parent.spawn("work")
    await parent.at_rest(agent)

    said = {"content": [{"type": "text", "text": "and that"}]}
    await parent.daemon.ask("POST", f"{agent['chat_id']}/messages", said)

    users = [said for role, said in await parent.at_rest(agent) if role is Role.USER]
    assert ["work", "and that"] == users


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


async def test_an_agent_that_waits_for_others_is_stopped_like_one_at_work(parent):
    agent = await parent.waiting_agent()
    asked_before = len(parent.daemon.rehearsal.records)

    told = await parent.call("interrupt_agent", chat_id=agent["chat_id"])

    assert ("interrupting", True) == (told["status"], told["interrupted"])
    said = [role for role, _ in await parent.at_rest(agent)]
    assert [Role.USER, Role.ASSISTANT, Role.TOOL] == said
    assert asked_before == len(parent.daemon.rehearsal.records)
    settled = await parent.call("wait_agent", chat_id=agent["chat_id"])
    assert ("waiting", True) == (settled["status"], settled["unfinished"])


async def test_a_message_that_interrupts_ends_the_wait_of_an_agent_for_others(parent):
    agent = await parent.waiting_agent()

    told = await parent.call(
        "message_agent", chat_id=agent["chat_id"], message="leave it", interrupt=True
    )

    assert ("running", True) == (told["status"], told["interrupted"])
    said = await parent.at_rest(agent)
    assert (Role.USER, "leave it") in said
    assert (Role.ASSISTANT, "the report") == said[-1]


async def test_a_message_waits_until_others_have_answered(parent):
    agent = await parent.waiting_agent()

    told = await parent.call("message_agent", chat_id=agent["chat_id"], message="and that")

    assert ("requires_action", False) == (told["status"], told["interrupted"])


@pytest.mark.parametrize("waits", [False, True], ids=["at work", "waiting for others"])
@pytest.mark.parametrize("calls", [("apply",), ("descendants",), ("apply", "descendants")])
async def test_an_interrupt_whose_answer_gets_lost_is_told_and_made_once(parent, calls, waits):
    agent = await (parent.waiting_agent() if waits else parent.spawn(SLOW))

    told = await parent.unheard(*calls).call("interrupt_agent", chat_id=agent["chat_id"])

    assert told["interrupted"]
    await parent.at_rest(agent)


class Hasty:
    """Before the first write somebody else's comes."""

    def __init__(self, ledger, answer):
        self._ledger, self._answer = ledger, answer

    async def apply(self, chat, requests, **more):
        answer, self._answer = self._answer, None
        if answer is not None:
            await self._ledger.apply(chat, answer)
        return await self._ledger.apply(chat, requests, **more)


async def test_an_agent_that_goes_on_at_that_very_moment_is_stopped_all_the_same(parent):
    agent = await parent.waiting_agent(SLOW)
    chats = parent.daemon.chats
    ledger = Hasty(chats.store.ledger, [Interrupt()])
    parent.tools = replace(parent.tools, sending=ChatSender(ledger, chats.supervisor))

    told = await parent.call("interrupt_agent", chat_id=agent["chat_id"])

    assert told["interrupted"]
    await parent.at_rest(agent)


async def test_agents_are_listed_by_pages(parent):
    for n in range(3):
        await parent.at_rest(await parent.spawn(f"work {n}"))

    first = await parent.call("list_agents", limit=2)
    last = await parent.call("list_agents", limit=2, offset=2)
    behind = await parent.call("list_agents", offset=9, limit=99)

    assert (["work 2", "work 1"], True) == (
        [agent["title"] for agent in first["agents"]],
        first["has_more"],
    )
    assert (["work 0"], False) == ([agent["title"] for agent in last["agents"]], last["has_more"])
    assert (3, 0) == (behind["total"], behind["returned"])


async def test_an_agent_reads_so_many_messages_after_its_turn_and_no_more(parent):
    agent = await parent.spawn(SLOW)
    message = partial(parent.call, "message_agent", chat_id=agent["chat_id"], message="more")

    told = [await message() for _ in range(QUEUE_ROWS_MAX + 1)]

    assert all("error" not in each for each in told[:-1])
    assert {
        "error": f"{QUEUE_ROWS_MAX} messages wait for this agent; wait for it first",
        "type": "general",
    } == told[-1]


@pytest.mark.parametrize("name", ["message_agent", "interrupt_agent"])
async def test_an_archived_agent_is_left_alone_and_its_type_is_told(parent, name):
    agent = await parent.call("spawn_agent", type="explore", prompt="look")
    await parent.at_rest(agent)
    made = await parent.daemon.chats.store.ledger.archive_family(parent.chat.id, archived=True)

    told = await parent.call(name, chat_id=agent["chat_id"], message="hello")

    assert 2 == len(made)
    assert ("explore", True) == (told["type"], "archived" in told["error"])
    assert 0 == (await parent.call("list_agents"))["total"]


async def test_an_agent_that_failed_is_not_interrupted(parent):
    agent = await parent.spawn("[[fault: 401]] work")
    await parent.at_rest(agent)

    told = await parent.call("interrupt_agent", chat_id=agent["chat_id"])

    assert ("general", True) == (told["type"], "stopped by an error" in told["error"])


async def test_a_model_spawns_waits_and_reads_the_report(daemon):
    spawn = '[[tool-calls: spawn_agent:{"type":"general","prompt":"look"}]] [[tool-rounds: 1]]'

    chat = await daemon.begin(f"{spawn} delegate")
    await daemon.at_rest(chat)

    family = await a_parent(daemon)
    page = await family.tools.family.children(chat, limit=5, offset=0)
    assert ["look"] == [child.title for child in page.members]
    await daemon.at_rest(page.members[0].id)


async def test_an_interrupted_parent_leaves_its_agents_at_work(daemon):
    parent = await a_parent(daemon)
    agent = await parent.spawn(SLOW)

    with trio.move_on_after(0.1) as scope:
        await parent.call("wait_agent", chat_id=agent["chat_id"])

    assert scope.cancelled_caught
    stored = await daemon.chats.store.reading.view(agent["chat_id"])
    assert Status.RUNNING is stored.chat.status
    await parent.call("interrupt_agent", chat_id=agent["chat_id"])
    await parent.at_rest(agent)


def test_each_tool_has_its_row_in_the_table():
    assert {tool.tool.name for tool in TOOLS} <= KINDS_BY_TOOL.keys()
