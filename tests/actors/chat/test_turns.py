"""Turns that go well: from a user's message to rest."""

import pytest
import trio

from actors.law.requests import BusyBehaviour, Interrupt
from runtime.ends import Finished, Shutdown
from tests.actors.chat.stage import a_chat_at_work, moves
from tests.fakes.scripted import (
    HANGS,
    OVERLOADED,
    PlainPrompts,
    ScriptedProvider,
    ScriptedTools,
    call,
)


async def test_a_turn_answers_and_rests(autojump_clock):
    async with a_chat_at_work(ScriptedProvider(["Hel", 1, "lo"])) as stage:
        await trio.sleep(5)

    assert [("user", "hello"), ("assistant", "Hello")] == stage.said
    assert ["Hel", "lo"] == stage.shown()
    assert "waiting" == stage.status
    assert stage.row.holder is None
    assert [Finished()] == stage.ends


async def test_tools_run_together_and_are_published_in_call_order(autojump_clock):
    provider = ScriptedProvider(
        [
            "look",
            call("a", "slow"),
            call("b", "fast"),
        ],
        ["done"],
    )
    tools = ScriptedTools().add("slow", 3.0).add("fast", 1.0)
    async with a_chat_at_work(provider, tools=tools) as stage:
        await trio.sleep(3.5)
        took = trio.current_time()
        await trio.sleep(1)

    assert took < 4
    assert [
        ("user", "hello"),
        ("assistant", "slow(a)"),
        ("assistant", "fast(b)"),
        ("assistant", "look"),
        ("tool", 'a={"output": "slow done"}'),
        ("tool", 'b={"output": "fast done"}'),
        ("assistant", "done"),
    ] == stage.said
    assert "waiting" == stage.status


async def test_a_failed_attempt_is_made_again_visibly(autojump_clock):
    async with a_chat_at_work(ScriptedProvider(["Hel", OVERLOADED], ["Hello"])) as stage:
        await trio.sleep(0.5)
        waiting = stage.row.retry_state
        await trio.sleep(5)

    assert (1, 1000, "overloaded", 529) == (
        waiting.attempt,
        waiting.delay_ms,
        waiting.kind,
        waiting.status_code,
    )
    assert [("user", "hello"), ("assistant", "Hello")] == stage.said
    assert ["Hel"] == stage.shown(attempt=1)
    assert stage.row.retry_state is None


async def test_an_interrupt_keeps_what_was_said(autojump_clock):
    async with a_chat_at_work(ScriptedProvider(["Hel", HANGS])) as stage:
        await trio.sleep(1)
        await stage.ask(Interrupt())
        await trio.sleep(1)

    assert [("user", "hello"), ("assistant", "Hel")] == stage.said
    assert "waiting" == stage.status
    assert [Finished()] == stage.ends


async def test_an_interrupt_keeps_the_results_of_tools_that_had_finished(autojump_clock):
    provider = ScriptedProvider([call("a", "slow"), call("b", "fast")], ["done"])
    tools = ScriptedTools().add("slow", HANGS).add("fast", 1.0)
    async with a_chat_at_work(provider, tools=tools) as stage:
        await trio.sleep(2)
        await stage.ask(Interrupt())
        await trio.sleep(1)

    assert [
        ("user", "hello"),
        ("assistant", "slow(a)"),
        ("assistant", "fast(b)"),
        ("tool", 'b={"output": "fast done"}'),
        ("tool", 'a!{"error": "interrupted before the tool produced a result"}'),
    ] == stage.said
    assert "waiting" == stage.status


async def test_a_message_that_interrupts_is_answered_next(autojump_clock):
    async with a_chat_at_work(ScriptedProvider(["Hel", HANGS], ["Better"])) as stage:
        await trio.sleep(1)
        await stage.send("stop", busy=BusyBehaviour.INTERRUPT)
        await trio.sleep(2)

    assert [
        ("user", "hello"),
        ("assistant", "Hel"),
        ("user", "stop"),
        ("assistant", "Better"),
    ] == stage.said
    assert "waiting" not in moves(stage)[:-1]


async def test_a_queued_message_is_the_next_turn(autojump_clock):
    async with a_chat_at_work(ScriptedProvider(["One", 2], ["Two"])) as stage:
        await trio.sleep(1)
        await stage.send("and?")
        await trio.sleep(3)

    assert [
        ("user", "hello"),
        ("assistant", "One"),
        ("user", "and?"),
        ("assistant", "Two"),
    ] == stage.said


async def test_silence_is_a_failed_attempt(autojump_clock):
    async with a_chat_at_work(ScriptedProvider([HANGS], ["Hello"])) as stage:
        await trio.sleep(60.5)
        waiting = stage.row.retry_state
        await trio.sleep(5)

    assert "stream_silence_timeout" == waiting.kind
    assert [("user", "hello"), ("assistant", "Hello")] == stage.said


async def test_a_message_that_steers_enters_between_two_steps(autojump_clock):
    provider = ScriptedProvider([call("a", "slow")], ["as you say"])
    tools = ScriptedTools().add("slow", 3.0)
    async with a_chat_at_work(provider, tools=tools) as stage:
        await trio.sleep(1)
        await stage.send("rather so", busy=BusyBehaviour.STEER)
        await trio.sleep(5)

    assert [
        ("user", "hello"),
        ("assistant", "slow(a)"),
        ("tool", 'a={"output": "slow done"}'),
        ("user", "rather so"),
        ("assistant", "as you say"),
    ] == stage.said


async def test_a_message_that_steers_into_the_last_step_is_answered_all_the_same(autojump_clock):
    provider = ScriptedProvider([call("a", "plan")], ["as you say"])
    tools = ScriptedTools().add("plan", 3.0, ends_turn=True)
    async with a_chat_at_work(provider, tools=tools) as stage:
        await trio.sleep(1)
        await stage.send("rather so", busy=BusyBehaviour.STEER)
        await trio.sleep(5)

    assert [("user", "rather so"), ("assistant", "as you say")] == stage.said[-2:]
    assert "waiting" == stage.status


class Kept(PlainPrompts):
    """For which chats something was kept until it was forgotten."""

    def __init__(self):
        self.forgotten = []

    def forget(self, chat):
        self.forgotten.append(chat)


@pytest.mark.parametrize("answer", [["Hello"], [HANGS]], ids=["at rest", "stopped in mid-work"])
async def test_once_a_chat_is_left_what_is_kept_stays_for_its_next_turn(autojump_clock, answer):
    prompts = Kept()
    async with a_chat_at_work(ScriptedProvider(answer), prompts=prompts) as stage:
        await trio.sleep(1)
        stage.life.cancel(Shutdown())
        await trio.sleep(1)

        assert [] == prompts.forgotten
