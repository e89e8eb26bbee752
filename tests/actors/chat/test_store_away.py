"""A store that is away for a moment, or for long; a chat that cannot be read; what is broken."""

from contextlib import asynccontextmanager
from dataclasses import replace
from operator import methodcaller
from uuid import uuid4

import pytest
import trio

from actors.chat.actor import FAULTS_MAX
from actors.chat.api import notify_changed
from actors.law.ids import Holder, RunnerId, WorkerId
from actors.law.requests import Acquire, Interrupt
from runtime.ends import Broken
from tests.actors.chat.stage import a_chat_at_work
from tests.fakes.balky import Away, Full
from tests.fakes.scripted import (
    HANGS,
    PlainPrompts,
    ScriptedProvider,
    ScriptedTools,
    call,
)


def failing(what, times, kind=Away):
    return lambda store: store.fail(what, times, kind)


HELLO, ANSWER = ("user", "hello"), ("assistant", "Hello")


async def test_an_answer_is_not_thrown_away_because_the_store_blinked(autojump_clock):
    provider = ScriptedProvider(["Hello"])
    async with a_chat_at_work(provider, prepare=failing("commit", 9)) as stage:
        await trio.sleep(60)

        assert [HELLO, ANSWER] == stage.said
        assert 1 == len(provider.prompts)


async def test_a_store_that_blinks_is_told_of_once(autojump_clock, caplog):
    async with a_chat_at_work(ScriptedProvider(["Hello"]), prepare=failing("commit", 9)):
        await trio.sleep(60)

    assert ["store.unanswered"] == [r.message for r in caplog.records if r.levelname == "WARNING"]


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
async def test_a_chat_that_cannot_be_read_ends_with_an_error_after_its_budget(
    autojump_clock, caplog
):
    provider = ScriptedProvider(["Hello"])
    async with a_chat_at_work(provider, prepare=failing("history", 100_000)) as stage:
        await trio.sleep(300)
        soon = stage.status
        await trio.sleep(3600)

        assert ("running", "error") == (soon, stage.status)
        assert [] == provider.prompts
        assert stage.row.holder is None
        assert FAULTS_MAX == stage.row.generation_attempt
        assert "a fault in the server" in stage.row.last_error.message
        assert ["chat.failing"] == [r.message for r in caplog.records if r.levelname == "ERROR"]


@pytest.mark.slow
async def test_a_store_that_is_away_for_hours_is_no_fault_of_the_chat(autojump_clock):
    provider = ScriptedProvider([call("a", "push")], ["done"])
    tools = ScriptedTools().add("push")
    async with a_chat_at_work(provider, tools=tools) as stage:
        for what in ("commit", "view"):
            stage.balky.fail(what, 100_000)
        await trio.sleep(7_200)
        for what in ("commit", "view"):
            stage.balky.fail(what, 0)
        await trio.sleep(60)

        assert ("waiting", ("assistant", "done")) == (stage.status, stage.said[-1])


@pytest.mark.slow
async def test_a_store_that_has_no_room_for_hours_is_no_fault_of_the_chat(autojump_clock):
    """Its attempts can be counted all the while: that takes no room."""
    provider = ScriptedProvider(["Hello"])
    async with a_chat_at_work(provider, prepare=failing("history", 100_000, Full)) as stage:
        await trio.sleep(7_200)
        counted, status = stage.row.generation_attempt, stage.status
        stage.balky.fail("history", 0)
        await trio.sleep(60)

        assert counted > FAULTS_MAX
        assert ("running", "waiting") == (status, stage.status)
        assert [HELLO, ANSWER] == stage.said


async def test_an_interrupt_is_not_held_up_by_a_commit_that_fails(autojump_clock):
    provider = ScriptedProvider(["Hello"])
    async with a_chat_at_work(provider, prepare=failing("commit", 5)) as stage:
        await trio.sleep(0.5)
        await stage.ask(Interrupt())
        await trio.sleep(5)

        assert [HELLO, ANSWER] == stage.said
        assert "waiting" == stage.status


@pytest.mark.parametrize("is_ahead", [True, False])
async def test_a_history_that_contradicts_its_chat_breaks_the_chat(autojump_clock, is_ahead):
    """Written past us. It is not read over and over: that would never end."""
    provider = ScriptedProvider(["never"])
    async with a_chat_at_work(provider, prepare=methodcaller("hang", "history")) as stage:
        await stage.balky.reached.wait()
        kept = stage.store.chats[stage.chat]
        kept.messages = [replace(m, revision=99) for m in kept.messages if is_ahead]
        stage.balky.go()
        await trio.sleep(10)

        [end] = stage.ends
        assert isinstance(end, Broken)
        assert "its history" in repr(end.error)
        assert (1, []) == (stage.row.generation_attempt, provider.prompts)


async def test_a_failed_assertion_breaks_the_chat_and_nothing_is_tried_again(autojump_clock):
    provider = ScriptedProvider([AssertionError("never")])
    async with a_chat_at_work(provider) as stage:
        await trio.sleep(10)

        [end] = stage.ends
        assert isinstance(end, Broken)
        assert 1 == len(provider.prompts)


async def test_what_breaks_while_we_leave_is_broken_all_the_same(autojump_clock):
    class Brittle(ScriptedProvider):
        @asynccontextmanager
        async def stream(self, prompt):
            try:
                async with super().stream(prompt) as batches:
                    yield batches
            finally:
                raise AssertionError("never")

    async with a_chat_at_work(Brittle([HANGS])) as stage:
        await trio.sleep(1)
        await stage.ask(Acquire(Holder(WorkerId(uuid4()), RunnerId(uuid4()))))
        await trio.sleep(1)

        [end] = stage.ends
        assert isinstance(end, Broken)


async def test_a_store_that_is_away_is_not_asked_without_a_pause_and_told_of_once(
    autojump_clock, caplog
):
    provider = ScriptedProvider(["Hel", HANGS])
    async with a_chat_at_work(provider, prepare=failing("view", 100_000)) as stage:
        await trio.sleep(1)
        notify_changed(stage.actor.address)
        await trio.sleep(100)

        assert 15 < stage.balky.asked["view"] < 30
        assert ["look.failed"] == [record.message for record in caplog.records]


class NoPrompts(PlainPrompts):
    """Fails for reasons of its own."""

    async def prompt_for(self, *args):
        raise OSError("files: gone")


async def test_work_that_fails_is_not_begun_again_without_a_pause(autojump_clock):
    provider = ScriptedProvider(["Hello"])
    async with a_chat_at_work(provider, prompts=NoPrompts()) as stage:
        await trio.sleep(1)
        soon = stage.row.generation_attempt
        await trio.sleep(200)

        assert soon < 6
        assert ("error", "generic") == (stage.status, stage.row.last_error.kind)
