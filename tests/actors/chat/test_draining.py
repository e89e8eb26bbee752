"""The process stops: what is in flight is finished, what only waits is handed on."""

import trio

from actors.chat.verbs import drain
from actors.machine.requests import Busy
from runtime.ends import Finished
from tests.actors.chat.stage import a_chat_at_work
from tests.fakes.scripted import HANGS, ScriptedProvider, ScriptedTools, call

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
        await stage.send("stop", busy=Busy.INTERRUPT)
        await trio.sleep(1)

        assert [HELLO, ("assistant", "Hel"), ("user", "stop")] == stage.said
        assert ("running", None) == (stage.status, stage.row.holder)
        assert [Finished()] == stage.ends


async def test_draining_twice_is_draining_once(autojump_clock):
    async with a_chat_at_work(ScriptedProvider(["Hel", 2, "lo"])) as stage:
        drain(stage.actor.address)
        drain(stage.actor.address)
        await trio.sleep(5)

        assert [HELLO, ANSWER] == stage.said
