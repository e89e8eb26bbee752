"""An interruption in a process that did not run the tools: the journal knows what they came to."""

from dataclasses import replace
from uuid import uuid4

import trio

from actors.chat.actor import ChatActor
from actors.chat.turn.work import HeldChat, LeaseExpired
from actors.law.ids import Holder, RunnerId, WorkerId
from actors.law.requests import Acquire, Interrupt
from actors.streams.previews import Previews
from tests.actors.chat.stage import a_chat_at_work
from tests.fakes.scripted import HANGS, ScriptedProvider, ScriptedTools, call

CALLS = [("assistant", "fast(a)"), ("assistant", "slow(b)")]
A_DONE = ("tool", 'a={"output": "fast done"}')
B_CUT = ("tool", 'b!{"error": "interrupted before the tool produced a result"}')


async def goes_on_elsewhere(stage, *requests):
    """The process is gone; another one, which has seen nothing, takes the chat."""
    stage.life.cancel(LeaseExpired())
    await trio.testing.wait_all_tasks_blocked()
    other = Holder(WorkerId(uuid4()), RunnerId(uuid4()))
    applied = await stage.store.apply(stage.chat, [*requests, Acquire(other)])
    unseen = Previews(lambda key, said: b"")
    await ChatActor(other, HeldChat(applied.stored), replace(stage.world, previews=unseen)).run()


async def test_what_a_tool_came_to_in_a_process_that_is_gone_is_kept(autojump_clock):
    tools = ScriptedTools().add("fast").add("slow", HANGS)
    provider = ScriptedProvider([call("a", "fast"), call("b", "slow")])
    async with a_chat_at_work(provider, tools=tools) as stage:
        await trio.sleep(0.5)

        await goes_on_elsewhere(stage, Interrupt())

        assert [("user", "hello"), *CALLS, A_DONE, B_CUT] == stage.said
        assert ("waiting", None) == (stage.status, stage.row.holder)


async def test_what_a_tool_came_to_is_kept_whoever_else_has_declared_its_name(autojump_clock):
    tools = ScriptedTools().add("fast").add("slow", HANGS)
    provider = ScriptedProvider([call("a", "fast"), call("b", "slow")])
    async with a_chat_at_work(provider, tools=tools, dynamic=("fast",)) as stage:
        await trio.sleep(0.5)

        await goes_on_elsewhere(stage, Interrupt())

        assert [("user", "hello"), *CALLS, A_DONE, B_CUT] == stage.said


async def test_an_interrupted_call_that_nobody_had_begun_is_not_run(autojump_clock):
    tools = ScriptedTools().add("fast")
    provider = ScriptedProvider([call("a", "fast")])

    def prepare(store):
        store.hang_after("commit")  # the step is stored, but its tools are not begun

    async with a_chat_at_work(provider, tools=tools, prepare=prepare) as stage:
        await trio.sleep(0.5)

        await goes_on_elsewhere(stage, Interrupt())

        assert [] == tools.ran
        assert "interrupted before" in stage.said[-1][1]
