"""Writes of a chat's tasks: each under its fence, asked again while the store is away."""

from dataclasses import dataclass

import pytest
import trio

from actors.chat.turn.commits import begin_attempt, commit, end_turn, end_with_error
from actors.chat.turn.work import HeldChat, LetGo, WorkAdvanced, WorkObsolete
from actors.law.chat import ChatError
from actors.law.requests import (
    CommitStep,
    EnterRequiresAction,
    FinishError,
    RecordGenerationAttempt,
)
from actors.law.store.retry import TRIES_MAX, retry_store
from tests.actors.chat.stage import a_chat_at_work
from tests.actors.law.chats import CHAT, assistant, send
from tests.fakes.balky import Away
from tests.fakes.scripted import HANGS, ScriptedProvider

SAY = CommitStep((assistant("so"),))


@dataclass
class World:
    ledger: object


async def held_in_a_store(*requests):
    """What a task holds, and the world that it writes to; `requests` have been made meanwhile."""
    async with a_chat_at_work(ScriptedProvider([HANGS])) as stage:
        held = HeldChat(await stage.store.view(stage.chat), await stage.store.history(stage.chat))
        await stage.store.apply(stage.chat, requests)
        return held, World(stage.store), stage


async def test_a_write_of_an_attempt_stands_only_while_the_attempt_does(autojump_clock):
    held, world, stage = await held_in_a_store(RecordGenerationAttempt())

    late = await commit(held, [SAY], world, of_attempt=True)
    before = len(stage.rows)
    other = await commit(held, [SAY], world)

    assert isinstance(late, WorkObsolete)
    assert 1 == before
    assert isinstance(other, WorkAdvanced)


async def test_the_turn_of_an_attempt_that_is_over_is_not_ended(autojump_clock):
    held, world, stage = await held_in_a_store(RecordGenerationAttempt())

    assert isinstance(await end_turn(held, (), world), WorkObsolete)
    assert "running" == stage.status


async def test_the_queue_may_move_under_a_write(autojump_clock):
    held, world, stage = await held_in_a_store(send("and?"))

    ended = await end_turn(held, [SAY], world)

    assert isinstance(ended, WorkAdvanced)
    assert ["hello", "so", "and?"] == [row.parts[0].text for row in stage.rows]
    assert [m.body for m in ended.held.history] == stage.rows
    assert not ended.held.attempt_begun


async def test_what_was_said_is_known_without_reading_it(autojump_clock):
    held, world, stage = await held_in_a_store()

    done = await commit(held, [SAY, RecordGenerationAttempt()], world)

    assert tuple(stage.store.chats[stage.chat].messages) == done.held.history
    assert done.held.attempt_begun
    assert 1 == done.held.stored.chat.generation_attempt


async def test_a_chat_that_comes_to_rest_is_left(autojump_clock):
    held, world, stage = await held_in_a_store()
    other, elsewhere, stopped = await held_in_a_store()

    assert LetGo() == await end_turn(held, [SAY], world)
    assert LetGo() == await end_with_error(other, FinishError(ChatError("no")), elsewhere)
    assert [None, None] == [stage.row.holder, stopped.row.holder]


async def test_a_chat_that_is_gone_is_left(autojump_clock):
    held, world, stage = await held_in_a_store()
    del stage.store.chats[stage.chat]

    assert LetGo() == await commit(held, [SAY], world)


async def test_an_attempt_is_counted_once(autojump_clock):
    held, world, _ = await held_in_a_store()

    first = await begin_attempt(held, world)
    again = await begin_attempt(first.held, world)

    assert 2 == again.held.stored.chat.generation_attempt


async def test_what_the_law_refuses_is_a_mistake_of_ours(autojump_clock):
    held, world, _ = await held_in_a_store()

    with pytest.raises(AssertionError, match="no call waits for the client"):
        await commit(held, [EnterRequiresAction()], world)


# patience


class Store:
    def __init__(self, *failures):
        self.failures = list(failures)
        self.asked = 0

    async def ask(self):
        self.asked += 1
        await trio.lowlevel.checkpoint()
        if self.failures:
            raise self.failures.pop(0)
        return "here"


async def test_a_store_that_is_away_for_a_moment_is_asked_again(autojump_clock):
    store, began = Store(*[Away()] * 3), trio.current_time()

    assert "here" == await retry_store(CHAT, "view", store.ask)
    assert 0.1 + 0.2 + 0.4 == pytest.approx(trio.current_time() - began)


async def test_patience_has_an_end(autojump_clock):
    store, began = Store(*[Away()] * 100), trio.current_time()

    with pytest.raises(Away):
        await retry_store(CHAT, "view", store.ask)

    assert TRIES_MAX == store.asked
    assert 20 < trio.current_time() - began < 30


@pytest.mark.parametrize(
    "error", [AssertionError("never"), ExceptionGroup("", [AssertionError("never")])]
)
async def test_a_failed_assertion_is_not_waited_out(autojump_clock, error):
    store = Store(error)

    with pytest.raises((AssertionError, ExceptionGroup)):
        await retry_store(CHAT, "view", store.ask)

    assert 1 == store.asked
