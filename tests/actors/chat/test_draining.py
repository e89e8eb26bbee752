"""The process stops: what is in flight is finished, what only waits is handed on."""

from dataclasses import replace
from operator import methodcaller
from uuid import uuid4

import pytest
import trio

from actors.chat.actor import LEAVE_SECONDS, ChatActor
from actors.chat.api import drain, notify_changed
from actors.chat.turn.work import HeldChat
from actors.law.ids import Holder, RunnerId, WorkerId
from actors.law.requests import Acquire, BusyBehaviour, FinishTurn, RecordGenerationAttempt
from runtime.ends import Finished
from tests.actors.chat.stage import a_chat_at_work
from tests.fakes.balky import Away
from tests.fakes.scripted import (
    HANGS,
    OVERLOADED,
    MemoryJournal,
    OneModel,
    ScriptedProvider,
    ScriptedTools,
    call,
)

HELLO, ANSWER = ("user", "hello"), ("assistant", "Hello")


async def test_who_drains_finishes_the_answer_and_goes_no_further(autojump_clock):
    provider = ScriptedProvider(["look", 2, call("a", "read")], ["never"])
    tools = ScriptedTools().add("read")
    async with a_chat_at_work(provider, tools=tools) as stage:
        await trio.sleep(1)
        drain(stage.actor.address)
        await trio.sleep(5)

        assert ("running", None) == (stage.status, stage.row.holder)
        assert {("assistant", "read(a)"), ("assistant", "look")} == {*stage.said[1:]}
        assert [] == tools.ran
        assert [Finished()] == stage.ends


async def test_who_drains_finishes_the_batch_of_tools(autojump_clock):
    provider = ScriptedProvider([call("a", "read")], ["never"])
    tools = ScriptedTools().add("read", 3)
    async with a_chat_at_work(provider, tools=tools) as stage:
        await trio.sleep(1)
        drain(stage.actor.address)
        await trio.sleep(5)

        assert ("tool", 'a={"output": "read done"}') == stage.said[-1]
        assert ("running", None) == (stage.status, stage.row.holder)
        assert 1 == len(provider.prompts)


async def test_who_drains_lets_a_last_answer_end_the_turn(autojump_clock):
    async with a_chat_at_work(ScriptedProvider(["Hel", 2, "lo"])) as stage:
        await trio.sleep(1)
        drain(stage.actor.address)
        await trio.sleep(5)

        assert [HELLO, ANSWER] == stage.said
        assert "waiting" == stage.status


async def test_who_drains_still_keeps_what_was_said_before_an_interrupt(autojump_clock):
    async with a_chat_at_work(ScriptedProvider(["Hel", HANGS])) as stage:
        await trio.sleep(1)
        drain(stage.actor.address)
        await stage.send("stop", busy=BusyBehaviour.INTERRUPT)
        await trio.sleep(1)

        assert [HELLO, ("assistant", "Hel"), ("user", "stop")] == stage.said
        assert ("running", None) == (stage.status, stage.row.holder)
        assert [Finished()] == stage.ends


async def test_draining_twice_is_draining_once(autojump_clock):
    async with a_chat_at_work(ScriptedProvider(["Hel", 2, "lo"])) as stage:
        await trio.sleep(1)
        drain(stage.actor.address)
        drain(stage.actor.address)
        await trio.sleep(5)

        assert [HELLO, ANSWER] == stage.said


# what only waits


def waiting_tools(*more):
    tools = ScriptedTools().add("wait", HANGS, repeatable=True, only_waits=True)
    for name, script, rules in more:
        tools.add(name, *script, **rules)
    return tools


async def is_given_back(stage, *, within=0.1):
    """Whether the chat is free for another process so soon after the word to stop."""
    drain(stage.actor.address)
    await trio.sleep(within)
    return ("running", None, [Finished()]) == (stage.status, stage.row.holder, stage.ends)


async def test_a_chat_that_only_waits_for_others_is_given_back_at_once(autojump_clock):
    provider = ScriptedProvider([call("w", "wait")], ["never"])
    async with a_chat_at_work(provider, tools=waiting_tools()) as stage:
        await trio.sleep(10)

        assert await is_given_back(stage)
        assert [("assistant", "wait(w)")] == stage.said[1:]


async def test_a_tool_beside_the_wait_ends_and_then_the_chat_is_given_back(autojump_clock):
    provider = ScriptedProvider([call("w", "wait"), call("p", "push")], ["never"])
    tools, journal = waiting_tools(("push", [3], {})), MemoryJournal()
    async with a_chat_at_work(provider, tools=tools, journal=journal) as stage:
        await trio.sleep(1)
        assert not await is_given_back(stage)
        await trio.sleep(2)

        assert ("running", None) == (stage.status, stage.row.holder)
        noted = {entry.tool_call_id: entry.output for entry in journal.entries.values()}
        assert noted["w"] is None
        assert '{"output": "push done"}' == noted["p"].result


async def test_a_result_that_stands_nowhere_else_keeps_the_chat_from_being_given_back(
    autojump_clock,
):
    class Forgetful(MemoryJournal):
        async def end(self, chat, tool_call_id, output):
            raise Away("journal")

    provider = ScriptedProvider([call("w", "wait"), call("p", "push")], ["never"])
    tools = waiting_tools(("push", [1], {}))
    async with a_chat_at_work(provider, tools=tools, journal=Forgetful()) as stage:
        await trio.sleep(5)

        assert not await is_given_back(stage, within=20)


async def test_a_tool_whose_turn_has_not_come_is_not_begun(autojump_clock):
    provider = ScriptedProvider([call("w", "wait"), call("m", "make")], ["never"])
    tools = waiting_tools(("make", [1], {"serial": True, "repeatable": True}))
    async with a_chat_at_work(provider, tools=tools) as stage:
        await trio.sleep(1)

        assert await is_given_back(stage)
        assert ["w"] == tools.ran


async def test_who_goes_on_with_the_wait_knows_its_age_and_the_results_beside_it(autojump_clock):
    journal, calls = MemoryJournal(), [call("w", "wait"), call("p", "push")]
    tools = waiting_tools(("push", [], {}))
    async with a_chat_at_work(ScriptedProvider(calls), tools=tools, journal=journal) as stage:
        await trio.sleep(5)
        assert await is_given_back(stage)
        key = next(key for key in journal.entries if "w" in key)
        journal.entries[key] = replace(journal.entries[key], age_seconds=5.0)

        me = Holder(WorkerId(uuid4()), RunnerId(uuid4()))
        taken = await stage.store.apply(stage.chat, [Acquire(me), RecordGenerationAttempt()])
        other = ScriptedTools().add("wait", 1, repeatable=True, only_waits=True).add("push")
        world = replace(stage.world, tools=other, models=OneModel(ScriptedProvider(["done"])))
        await ChatActor(me, HeldChat(taken.stored, attempt_begun=True), world).run()

        assert (["w"], [5.0]) == (other.ran, other.ages)
        results = [text for role, text in stage.said if role == "tool"]
        assert ['w={"output": "wait done"}', 'p={"output": "push done"}'] == results
        assert ("waiting", ("assistant", "done")) == (stage.status, stage.said[-1])


async def test_a_chat_whose_history_cannot_be_read_yet_is_given_back(autojump_clock):
    provider = ScriptedProvider(["never"])
    prepare = methodcaller("fail", "history", 100)
    async with a_chat_at_work(provider, prepare=prepare) as stage:
        await trio.sleep(1)

        assert await is_given_back(stage)
        assert [] == provider.prompts


async def test_a_chat_whose_next_attempt_cannot_be_counted_yet_is_given_back(autojump_clock):
    provider = ScriptedProvider([OVERLOADED], ["never"])
    async with a_chat_at_work(provider) as stage:
        await trio.sleep(0.5)
        stage.balky.hang("commit")
        await trio.sleep(1)
        assert stage.balky.reached.is_set()

        assert await is_given_back(stage)
        assert 1 == len(provider.prompts)


async def test_a_chat_that_waits_for_servers_of_tools_is_given_back(autojump_clock):
    class Slow(ScriptedTools):
        async def for_turn(self, chat, history):
            await trio.sleep_forever()

    provider = ScriptedProvider(["never"])
    async with a_chat_at_work(provider, tools=Slow()) as stage:
        await trio.sleep(1)

        assert await is_given_back(stage)


@pytest.mark.parametrize("draining_first", [True, False])
async def test_where_the_store_is_away_giving_back_is_not_tried_for_long(
    autojump_clock, draining_first
):
    """The process leaves, or its lease runs out: either frees the chat."""
    provider = ScriptedProvider([call("w", "wait")], ["never"])
    async with a_chat_at_work(provider, tools=waiting_tools()) as stage:
        await trio.sleep(1)
        stage.balky.fail("commit", 100_000)
        stage.balky.fail("view", 100_000)
        if not draining_first:
            await stage.ask(FinishTurn())
            stage.balky.fail("view", 0)
            notify_changed(stage.actor.address)
            await trio.sleep(1)
        drain(stage.actor.address)
        await trio.sleep(LEAVE_SECONDS + 0.1)

        assert [Finished()] == stage.ends


async def test_a_chat_that_moves_while_it_is_given_back_is_still_given_back(autojump_clock):
    """Only time ends the giving back; a user who speaks meanwhile makes it begin anew."""
    provider = ScriptedProvider([call("w", "wait")], ["never"])
    async with a_chat_at_work(provider, tools=waiting_tools()) as stage:
        await trio.sleep(1)
        stage.balky.hang("commit")
        drain(stage.actor.address)
        await trio.sleep(1)
        assert stage.balky.reached.is_set()

        await stage.send("stop", busy=BusyBehaviour.INTERRUPT)
        await trio.sleep(1)

        assert ("user", "stop") == stage.said[-1]
        assert ("running", None) == (stage.status, stage.row.holder)
        assert [Finished()] == stage.ends
