"""A client has until the deadline to answer its calls; the store's clock says when that is."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
import trio

from actors.chat.api import drain, notify_changed
from actors.chat.turn.work import HeldChat, LeaseTaken, LetGo, WorkObsolete
from actors.chat.waits import await_client
from actors.law.ids import Holder, RunnerId, WorkerId
from actors.law.requests import Acquire, CompleteRequiresAction, DynamicResult, Interrupt
from runtime.ends import Finished
from tests.actors.chat.stage import ANN, a_chat_at_work
from tests.actors.law.chats import NOW, a_chat
from tests.actors.law.chats import State as ChatState
from tests.fakes.scripted import ScriptedProvider, ScriptedTools, call

SECONDS = 300  # REQUIRES_ACTION_SECONDS
ASKED = [("user", "hello"), ("assistant", "ask(c)")]
TIMED_OUT = ("tool", 'c!"timed out"')


def ticking(rate=1.0):
    """The store's clock, which may run at another rate than ours."""
    return lambda: datetime(2030, 1, 1, tzinfo=UTC) + timedelta(seconds=trio.current_time() * rate)


def waiting(**more):
    """A chat that waits for its client, and would then say "done"."""
    provider = more.pop("provider", None) or ScriptedProvider([call("c", "ask")], ["done"])
    return a_chat_at_work(provider, dynamic=("ask",), **{"clock": ticking(), **more})


def answer(output="1"):
    return CompleteRequiresAction((DynamicResult("c", output),), ANN)


async def test_the_client_is_asked_in_the_write_that_stores_its_calls(autojump_clock):
    async with waiting() as stage:
        await trio.sleep(1)

        assert ASKED == stage.said
        assert ("requires_action", 2) == (stage.status, stage.row.snapshot_version)
        due = stage.row.requires_action_deadline_at - stage.store.clock()
        assert SECONDS == pytest.approx(due.total_seconds(), abs=1.1)


async def test_an_answer_in_time_goes_to_the_model(autojump_clock):
    async with waiting() as stage:
        await trio.sleep(SECONDS - 1)
        await stage.ask(answer())
        await trio.sleep(1)

        assert [*ASKED, ("tool", "c=1"), ("assistant", "done")] == stage.said
        assert "waiting" == stage.status


async def test_what_nobody_answers_is_answered_for_him(autojump_clock):
    async with waiting() as stage:
        await trio.sleep(SECONDS + 1)

        assert [*ASKED, TIMED_OUT, ("assistant", "done")] == stage.said


@pytest.mark.parametrize(("rate", "seconds"), [(0.5, 600), (1.0, 300), (2.0, 300)])
async def test_the_wait_ends_when_the_store_says_so_however_our_clock_runs(
    autojump_clock, rate, seconds
):
    async with waiting(clock=ticking(rate)) as stage:
        await trio.sleep(seconds - 1)
        before = stage.status
        await trio.sleep(2)

        assert "requires_action" == before
        deadline = datetime(2030, 1, 1, tzinfo=UTC) + timedelta(seconds=SECONDS)
        assert deadline <= stage.store.chats[stage.chat].updated_at
        assert TIMED_OUT in stage.said


async def test_local_calls_of_the_step_are_done_before_the_client_is_asked(autojump_clock):
    provider = ScriptedProvider([call("a", "read"), call("c", "ask")], ["done"])
    tools = ScriptedTools().add("read", 2)
    async with waiting(provider=provider, tools=tools) as stage:
        await trio.sleep(1)
        during = stage.status
        await trio.sleep(2)

        assert "running" == during
        assert "requires_action" == stage.status
        assert ("tool", 'a={"output": "read done"}') == stage.said[-1]


async def test_waiting_asks_the_store_nothing(autojump_clock):
    async with waiting() as stage:
        await trio.sleep(SECONDS - 1)

        assert 0 == stage.balky.asked["view"]


async def test_an_interrupt_cancels_the_calls_and_the_model_goes_on(autojump_clock):
    async with waiting() as stage:
        await trio.sleep(1)
        await stage.ask(Interrupt())
        await trio.sleep(1)

        cancelled = ("tool", 'c!"interrupted by user"')
        assert [*ASKED, cancelled, ("assistant", "done")] == stage.said


async def test_who_drains_hands_the_wait_on_as_it_is(autojump_clock):
    async with waiting() as stage:
        await trio.sleep(1)
        deadline = stage.row.requires_action_deadline_at
        drain(stage.actor.address)
        await trio.sleep(1)

        assert ("requires_action", None) == (stage.status, stage.row.holder)
        assert deadline == stage.row.requires_action_deadline_at
        assert [Finished()] == stage.ends


async def test_a_store_that_is_away_at_the_deadline_is_waited_for(autojump_clock):
    async with waiting(prepare=lambda store: store.fail("view", 5)) as stage:
        await trio.sleep(SECONDS + 60)

        assert TIMED_OUT in stage.said
        assert "waiting" == stage.status


async def test_an_answer_that_nobody_hinted_at_is_found_at_the_deadline(autojump_clock):
    async with waiting() as stage:
        await trio.sleep(1)
        await stage.store.apply(stage.chat, [answer()])
        await trio.sleep(SECONDS + 1)

        assert [*ASKED, ("tool", "c=1"), ("assistant", "done")] == stage.said


async def test_nobody_ends_the_wait_of_another_holder(autojump_clock):
    async with waiting() as stage:
        await trio.sleep(1)
        other = Holder(WorkerId(uuid4()), RunnerId(uuid4()))
        await stage.store.apply(stage.chat, [Acquire(other)])
        await trio.sleep(SECONDS + 1)

        assert ASKED == stage.said
        assert ("requires_action", other) == (stage.status, stage.row.holder)
        notify_changed(stage.actor.address)
        await trio.sleep(1)
        assert LeaseTaken(other) == stage.actor._cause


# the task alone


async def awaited(stored, found):
    """What the wait comes to if the store then holds `found`."""

    class Store:
        async def view(self, chat):
            return found

        async def commit(self, held, requests, *, fence):
            raise AssertionError(f"written: {requests}")

    class World:
        ledger = reading = Store()

    return await await_client(HeldChat(stored), World())


async def test_a_chat_that_is_gone_is_left(autojump_clock):
    due = a_chat(ChatState.A0, requires_action_deadline_at=NOW + timedelta(seconds=9))

    assert LetGo() == await awaited(due, None)


@pytest.mark.parametrize(
    ("state", "moved"),
    [(ChatState.R0, {}), (ChatState.A0, {"history_version": 99}), (ChatState.A0, {"holder": None})],
    ids=["status", "history_version", "holder"],
)
async def test_what_has_moved_is_not_ended(autojump_clock, state, moved):
    due = {"requires_action_deadline_at": NOW + timedelta(seconds=9)}

    assert WorkObsolete() == await awaited(
        a_chat(ChatState.A0, **due), a_chat(state, **due, **moved)
    )
