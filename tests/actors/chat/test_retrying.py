"""Attempts that fail and are made again: the budget, the pauses, what stands in the store."""

from dataclasses import replace
from datetime import timedelta
from random import Random

import pytest
import trio

from actors.chat.api import drain
from actors.chat.turn.retries import DEATHS_MAX, FAILURES_MAX
from actors.law.parts.deltas import AnswerFailed
from actors.law.requests import Interrupt, RetryTurn
from runtime.ends import Finished
from tests.actors.chat.stage import a_chat_at_work, moves, run_time
from tests.fakes.scripted import (
    HANGS,
    NO_CREDIT,
    OVERLOADED,
    ScriptedProvider,
    ScriptedTools,
    call,
)

HELLO = ("user", "hello")


async def test_a_pause_is_stored_and_gone_when_the_next_attempt_begins(autojump_clock):
    async with a_chat_at_work(ScriptedProvider([OVERLOADED], [HANGS])) as stage:
        await trio.sleep(0.5)
        during, attempt = stage.row.retry_state, stage.row.generation_attempt
        await trio.sleep(1)

        assert (1, 1, 1000) == (attempt, during.attempt, during.delay_ms)
        assert (2, None) == (stage.row.generation_attempt, stage.row.retry_state)


async def test_each_attempt_has_an_episode_of_its_own(autojump_clock):
    provider = ScriptedProvider(["a", OVERLOADED], ["b", OVERLOADED], ["c", HANGS])
    async with a_chat_at_work(provider) as stage:
        await trio.sleep(4)

        assert [["a"], ["b"], ["c"]] == [stage.shown(attempt) for attempt in (1, 2, 3)]


async def test_a_provider_that_asks_for_a_longer_pause_gets_it(autojump_clock):
    patient = replace(OVERLOADED.failure, retry_after_seconds=90)
    provider = ScriptedProvider([AnswerFailed(patient)], ["Hello"])
    async with a_chat_at_work(provider) as stage:
        await trio.sleep(89)
        before = len(provider.prompts)
        await trio.sleep(2)

        assert [1, 2] == [before, len(provider.prompts)]
        assert "waiting" == stage.status


async def test_the_last_attempt_ends_the_turn_with_its_error(autojump_clock):
    provider = ScriptedProvider([OVERLOADED])
    async with a_chat_at_work(provider) as stage:
        await trio.sleep(3600)

        assert FAILURES_MAX == len(provider.prompts)
        error = stage.row.last_error
        assert ("error", "overloaded", 529) == (stage.status, error.kind, error.status_code)
        assert stage.row.holder is None
        assert [Finished()] == stage.ends


async def test_failures_in_other_processes_count(autojump_clock):
    provider = ScriptedProvider([OVERLOADED])
    async with a_chat_at_work(provider, failures=FAILURES_MAX - 2) as stage:
        await trio.sleep(0.5)
        waiting = stage.row.retry_state
        await trio.sleep(100)

        assert (FAILURES_MAX - 1, 60_000) == (waiting.attempt, waiting.delay_ms)
        assert 2 == len(provider.prompts)
        assert ("error", "overloaded") == (stage.status, stage.row.last_error.kind)


async def test_attempts_that_were_handed_over_do_not_count(autojump_clock):
    provider = ScriptedProvider([OVERLOADED], ["Hello"])
    async with a_chat_at_work(provider, attempt=10 * FAILURES_MAX) as stage:
        await trio.sleep(0.5)
        waiting = stage.row.retry_state
        await trio.sleep(1)

        assert (1, 1000) == (waiting.attempt, waiting.delay_ms)
        assert ("waiting", ("assistant", "Hello")) == (stage.status, stage.said[-1])


async def test_deaths_of_processes_below_their_budget_cost_nothing(autojump_clock):
    provider = ScriptedProvider([OVERLOADED], ["Hello"])
    async with a_chat_at_work(provider, attempt=9, deaths=DEATHS_MAX - 1) as stage:
        await trio.sleep(5)

        assert ("waiting", ("assistant", "Hello")) == (stage.status, stage.said[-1])
        assert 0 == stage.row.process_deaths_count


async def test_a_step_in_which_too_many_processes_died_is_not_tried_again(autojump_clock, caplog):
    provider = ScriptedProvider(["Hello"])
    async with a_chat_at_work(provider, attempt=DEATHS_MAX + 1, deaths=DEATHS_MAX) as stage:
        await trio.sleep(1)

        assert [] == provider.prompts
        assert ("error", None) == (stage.status, stage.row.holder)
        assert "5 times in a row the process that ran it ended" in stage.row.last_error.message
        assert "Send a message to try again" in stage.row.last_error.message
        assert [("chat.deadly", "ERROR")] == [(r.message, r.levelname) for r in caplog.records]


async def test_a_message_gives_such_a_chat_another_chance(autojump_clock):
    provider = ScriptedProvider(["Hello"])
    async with a_chat_at_work(provider, deaths=DEATHS_MAX) as stage:
        await trio.sleep(1)
        await stage.send("and now?")

        assert ("running", 0) == (stage.status, stage.row.process_deaths_count)


async def test_a_pause_ends_when_a_user_wants_the_next_attempt_now(autojump_clock):
    patient = replace(OVERLOADED.failure, retry_after_seconds=600)
    provider = ScriptedProvider([AnswerFailed(patient)], ["Hello"])
    async with a_chat_at_work(provider) as stage:
        await trio.sleep(1)
        await stage.ask(RetryTurn())
        await trio.sleep(1)

        assert 2 == len(provider.prompts)
        assert [HELLO, ("assistant", "Hello")] == stage.said
        assert "waiting" == stage.status


async def test_after_it_failures_are_counted_anew(autojump_clock):
    provider = ScriptedProvider([OVERLOADED])
    async with a_chat_at_work(provider, failures=FAILURES_MAX - 2) as stage:
        await trio.sleep(0.5)
        await stage.ask(RetryTurn())
        await trio.sleep(0.5)

        assert (1, 1000) == (stage.row.retry_state.attempt, stage.row.retry_state.delay_ms)
        assert "running" == stage.status


async def test_each_step_has_a_budget_of_its_own(autojump_clock):
    asks = [[call(f"c{n}", "read")] for n in range(3)]
    scripts = [script for ask in asks for script in ([OVERLOADED], ask)]
    provider = ScriptedProvider(*scripts, ["done"])
    tools = ScriptedTools().add("read")
    async with a_chat_at_work(provider, tools=tools, failures=FAILURES_MAX - 2) as stage:
        await trio.sleep(200)

        assert "waiting" == stage.status
        assert ("assistant", "done") == stage.said[-1]


async def test_the_next_attempt_is_made_when_watchers_were_told_it_would_be(autojump_clock):
    """The pause is announced when a part of it is over: the store was away for 0.3 s."""
    provider = ScriptedProvider([OVERLOADED], ["Hello"])
    async with a_chat_at_work(provider, prepare=lambda store: store.fail("commit", 2)) as stage:
        await trio.sleep(0.5)
        told = stage.row.retry_state.retrying_at
        await trio.sleep(0.49)
        before = len(provider.prompts)
        await trio.sleep(0.02)

        assert run_time() - timedelta(seconds=0.01) == told
        assert [1, 2] == [before, len(provider.prompts)]


async def test_chats_that_fail_together_do_not_ask_again_together(autojump_clock):
    rng, delays = Random(7), set()
    for _ in range(8):
        async with a_chat_at_work(ScriptedProvider([OVERLOADED]), chance=rng.random) as stage:
            await trio.sleep(0.2)
            delays.add(stage.row.retry_state.delay_ms)

    assert 8 == len(delays)
    assert 1000 <= min(delays) < 1200 < 1300 < max(delays) <= 1500


async def test_what_cannot_help_is_not_tried_again(autojump_clock):
    provider = ScriptedProvider(["Hel", NO_CREDIT])
    async with a_chat_at_work(provider) as stage:
        await trio.sleep(1)

        assert 1 == len(provider.prompts)
        assert ("error", "auth", 401) == (
            stage.status,
            stage.row.last_error.kind,
            stage.row.last_error.status_code,
        )
        assert [HELLO] == stage.said


@pytest.mark.parametrize("error", [OSError("connection reset by peer"), trio.TooSlowError("eof")])
async def test_a_provider_that_raises_what_may_pass_is_asked_again(autojump_clock, error):
    async with a_chat_at_work(ScriptedProvider([error], ["Hello"])) as stage:
        await trio.sleep(0.5)
        waiting = stage.row.retry_state
        await trio.sleep(5)

        assert ("timeout", 1) == (waiting.kind, waiting.attempt)
        assert [HELLO, ("assistant", "Hello")] == stage.said


async def test_a_provider_that_raises_anything_else_ends_the_turn_visibly(autojump_clock):
    provider = ScriptedProvider([KeyError("choices")])
    async with a_chat_at_work(provider) as stage:
        await trio.sleep(100)

        assert ("error", "generic") == (stage.status, stage.row.last_error.kind)
        assert 1 == len(provider.prompts)


async def test_an_interrupt_in_a_pause_keeps_what_the_failed_attempt_had_said(autojump_clock):
    async with a_chat_at_work(ScriptedProvider(["Hel", OVERLOADED])) as stage:
        await trio.sleep(0.5)
        await stage.ask(Interrupt())
        await trio.sleep(0.1)

        assert [HELLO, ("assistant", "Hel")] == stage.said
        assert ("waiting", None) == (stage.status, stage.row.retry_state)


async def test_a_queued_message_does_not_shorten_the_pause(autojump_clock):
    provider = ScriptedProvider([OVERLOADED], ["Hello"])
    async with a_chat_at_work(provider) as stage:
        await trio.sleep(0.5)
        await stage.send("and?")
        await trio.sleep(0.4)
        before = len(provider.prompts)
        await trio.sleep(5)

        assert 1 == before
        assert ("assistant", "Hello") == stage.said[1]


async def test_who_drains_does_not_wait_for_the_end_of_a_pause(autojump_clock):
    async with a_chat_at_work(ScriptedProvider([OVERLOADED])) as stage:
        await trio.sleep(0.5)
        drain(stage.actor.address)
        await trio.sleep(0.1)

        assert ("running", None) == (stage.status, stage.row.holder)
        assert 1 == stage.row.retry_state.attempt
        assert [Finished()] == stage.ends


async def test_a_plain_retry_is_four_writes(autojump_clock):
    async with a_chat_at_work(ScriptedProvider([OVERLOADED], ["Hello"])) as stage:
        await trio.sleep(5)

        assert 4 == stage.row.snapshot_version  # created, failed, tried again, answered
        assert 0 == stage.balky.asked["view"]
        assert ["running"] * 3 + ["waiting"] == moves(stage)
