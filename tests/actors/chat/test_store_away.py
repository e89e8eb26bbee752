"""A store that is away for a moment, or for long; a chat that cannot be read; what is broken."""

import pytest
import trio

from actors.machine.requests import Interrupt
from runtime.ends import Broken
from tests.actors.chat.stage import a_chat_at_work
from tests.fakes.scripted import ScriptedProvider, ScriptedTools, call


def failing(what, times):
    return lambda store: store.fail(what, times)


HELLO, ANSWER = ("user", "hello"), ("assistant", "Hello")


async def test_an_answer_is_not_thrown_away_because_the_store_blinked(autojump_clock):
    provider = ScriptedProvider(["Hello"])
    async with a_chat_at_work(provider, prepare=failing("commit", 9)) as stage:
        await trio.sleep(60)

        assert [HELLO, ANSWER] == stage.said
        assert 1 == len(provider.prompts)


async def test_what_tools_did_is_not_done_again_because_the_store_blinked(autojump_clock):
    provider = ScriptedProvider([call("a", "push")], ["done"])
    tools = ScriptedTools().add("push", 1)
    async with a_chat_at_work(provider, tools=tools) as stage:
        await trio.sleep(0.5)
        stage.balky.fail("commit", 9)
        await trio.sleep(60)

        assert ["a"] == tools.ran
        assert ("assistant", "done") == stage.said[-1]


async def test_a_write_that_went_through_unheard_is_not_made_twice(autojump_clock):
    provider = ScriptedProvider([call("a", "push")], ["done"])
    tools = ScriptedTools().add("push")
    async with a_chat_at_work(provider, tools=tools) as stage:
        stage.balky.lose_answer("commit", 1)
        await trio.sleep(60)

        assert ["a"] == tools.ran
        assert [*CALLED, ("assistant", "done")] == stage.said
        assert "waiting" == stage.status


CALLED = [HELLO, ("assistant", "push(a)"), ("tool", 'a={"output": "push done"}')]


@pytest.mark.parametrize("what", ["commit", "history"])
async def test_a_store_that_stays_away_is_waited_for_without_an_error(autojump_clock, what):
    provider = ScriptedProvider(["Hello"])
    async with a_chat_at_work(provider, prepare=failing(what, 40)) as stage:
        await trio.sleep(600)

        assert [HELLO, ANSWER] == stage.said
        assert stage.row.last_error is None


@pytest.mark.slow
async def test_a_chat_that_cannot_be_read_ends_with_an_error_after_its_budget(autojump_clock):
    provider = ScriptedProvider(["Hello"])
    async with a_chat_at_work(provider, prepare=failing("history", 100_000)) as stage:
        await trio.sleep(300)
        soon = stage.status
        await trio.sleep(3600)

        assert ("running", "error") == (soon, stage.status)
        assert [] == provider.prompts
        assert stage.row.holder is None


async def test_an_interrupt_is_not_held_up_by_a_commit_that_fails(autojump_clock):
    provider = ScriptedProvider(["Hello"])
    async with a_chat_at_work(provider, prepare=failing("commit", 5)) as stage:
        await trio.sleep(0.5)
        await stage.ask(Interrupt())
        await trio.sleep(5)

        assert [HELLO, ANSWER] == stage.said
        assert "waiting" == stage.status


async def test_a_failed_assertion_breaks_the_chat_and_nothing_is_tried_again(autojump_clock):
    provider = ScriptedProvider([AssertionError("never")])
    async with a_chat_at_work(provider) as stage:
        await trio.sleep(10)

        [end] = stage.ends
        assert isinstance(end, Broken)
        assert 1 == len(provider.prompts)
