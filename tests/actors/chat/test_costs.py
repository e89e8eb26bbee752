"""What a turn costs at the store: writes, reads, looks."""

import trio

from actors.law.chat import UserMessage
from actors.law.parts.message import TextPart
from actors.law.requests import EditMessage, Interrupt
from tests.actors.chat.stage import ANN, a_chat_at_work
from tests.fakes.scripted import HANGS, ScriptedProvider, ScriptedTools, call

HELLO, ANSWER = ("user", "hello"), ("assistant", "Hello")


async def test_a_plain_turn_is_two_writes_and_one_read(autojump_clock):
    async with a_chat_at_work(ScriptedProvider(["Hello"])) as stage:
        await trio.sleep(5)

        assert 2 == stage.row.snapshot_version
        assert {"commit": 1, "history": 1} == dict(stage.balky.asked)


async def test_a_step_is_one_write_and_leads_to_the_next(autojump_clock):
    provider = ScriptedProvider([call("a", "read")], [call("b", "read")], ["done"])
    tools = ScriptedTools().add("read")
    async with a_chat_at_work(provider, tools=tools) as stage:
        await trio.sleep(5)

        steps = 5  # two calls, their two results, the last answer
        assert "waiting" == stage.status
        assert 1 + steps == stage.row.snapshot_version
        assert {"commit": steps, "history": 1} == dict(stage.balky.asked)


async def test_a_message_that_waited_costs_no_new_read(autojump_clock):
    async with a_chat_at_work(ScriptedProvider(["One", 2], ["Two"])) as stage:
        await trio.sleep(1)
        await stage.send("and?")
        await trio.sleep(3)

        assert ("assistant", "Two") == stage.said[-1]
        assert (1, 1) == (stage.balky.asked["history"], stage.balky.asked["view"])


async def test_history_is_read_anew_only_when_it_moved_without_us(autojump_clock):
    async with a_chat_at_work(ScriptedProvider(["One", HANGS], ["Two"])) as stage:
        await trio.sleep(1)
        first = stage.store.chats[stage.chat].messages[0].id
        await stage.ask(EditMessage(first, UserMessage((TextPart("rather"),), ANN)))
        await trio.sleep(1)

        assert [("user", "rather"), ("assistant", "Two")] == stage.said
        assert 2 == stage.balky.asked["history"]


async def test_an_interrupt_is_one_write_of_ours_and_one_look(autojump_clock):
    async with a_chat_at_work(ScriptedProvider(["Hel", HANGS])) as stage:
        await trio.sleep(1)
        await stage.ask(Interrupt())
        await trio.sleep(1)

        assert ("waiting", None) == (stage.status, stage.row.holder)
        assert {"history": 1, "view": 1, "commit": 1} == dict(stage.balky.asked)
