"""The supervisor with real chat actors: whatever happens, a turn is answered once."""

from contextlib import asynccontextmanager

import pytest
import trio

from actors.chat.actor import ChatActor
from actors.chat.turn.deps import TurnDeps
from actors.law.parts.message import TextPart
from actors.law.requests import CompleteRequiresAction, DynamicResult, Interrupt
from actors.law.states import Status
from actors.streams.previews import Previews
from actors.supervisor.decide import FAULT
from actors.supervisor.deps import SupervisorLimits
from adapters.postgres.bus import Switchboard
from runtime.ends import Finished
from tests.actors.law.chats import ANN, send
from tests.actors.supervisor.stage import Cable, Process, a_new_chat, a_store, supervising
from tests.fakes.scripted import (
    MemoryJournal,
    OneModel,
    PlainPrompts,
    ScriptedProvider,
    ScriptedTools,
    TwoMicros,
    call,
)


class RealProcess(Process):
    """Its chat actors are the real ones; they reach the store by the same cable."""

    provider: ScriptedProvider

    def live(self, me, held):
        world = TurnDeps(
            ledger=self.cable,
            reading=self.cable,
            models=OneModel(self.provider),
            prompts=PlainPrompts(),
            tools=ScriptedTools(),
            journal=MemoryJournal(),
            prices=TwoMicros(),
            previews=self.previews,
        )
        return ChatActor(me, held, world)


@asynccontextmanager
async def a_process(store, bus, *script, **limits):
    process = RealProcess(store, Cable(store), bus, SupervisorLimits(**limits))
    process.provider = ScriptedProvider(list(script) or ["Hello"])
    process.previews = Previews(lambda key, said: repr(said.piece).encode())
    async with supervising(process):
        yield process


@pytest.fixture
def bus():
    return Switchboard()


@pytest.fixture
def store(bus):
    return a_store(bus)


def said(store, chat):
    return [
        (message.body.role.value, part.text)
        for message in store.chats[chat].history
        for part in message.body.parts
        if isinstance(part, TextPart)
    ]


def rests(store, chat):
    row = store.chats[chat].chat
    return (Status.WAITING, None, None) == (row.status, row.last_error, row.holder)


HELLO, ANSWER = ("user", "hello"), ("assistant", "Hello")


async def test_a_turn_is_answered_and_its_place_is_free(store, bus, autojump_clock):
    async with a_process(store, bus) as process:
        chat = await a_new_chat(store)
        await trio.sleep(1)

        assert [HELLO, ANSWER] == said(store, chat)
        assert rests(store, chat)
        assert 0 == process.slots.statistics().roots


async def test_turn_after_turn(store, bus, autojump_clock):
    async with a_process(store, bus) as process:
        chat = await a_new_chat(store)
        for _ in range(9):
            await trio.sleep(1)
            await store.apply(chat, [send("hello")])
        await trio.sleep(1)

        assert [HELLO, ANSWER] * 10 == said(store, chat)
        assert rests(store, chat)
        assert 10 == process.supervisor.statistics().taken_count


async def test_a_chat_of_this_process_is_interrupted_at_once(store, bus, autojump_clock):
    async with a_process(store, bus, "Hel", 100, "lo"):
        chat = await a_new_chat(store)
        await trio.sleep(1)

        await store.apply(chat, [Interrupt()])
        await trio.sleep(0.01)

        assert [HELLO, ("assistant", "Hel")] == said(store, chat)
        assert rests(store, chat)


async def test_a_step_that_ends_in_time_is_kept_when_the_process_stops(store, bus, autojump_clock):
    async with a_process(store, bus, 10, "Hello") as process:
        chat = await a_new_chat(store)
        await trio.sleep(1)
        process.drain()
        await trio.sleep(9.5)

        assert [Finished()] == process.ends
        assert [HELLO, ANSWER] == said(store, chat)
        assert rests(store, chat)


async def test_a_step_that_does_not_is_made_again_by_a_neighbour(store, bus, autojump_clock):
    async with a_process(store, bus, "Hal", 100, drain_seconds=3) as one:
        chat = await a_new_chat(store)
        await trio.sleep(1)
        async with a_process(store, bus, poll_seconds=3600):
            one.drain()
            await trio.sleep(3.1)

            assert [HELLO, ANSWER] == said(store, chat)
            assert rests(store, chat)
            assert [Finished()] == one.ends


@pytest.mark.parametrize("fault", ["cut", "stuck"])
async def test_a_process_that_loses_its_lease_writes_nothing_more(
    fault, store, bus, autojump_clock
):
    async with a_process(store, bus, "Hal", 40, "lo") as one:
        chat = await a_new_chat(store)
        await trio.sleep(1)
        async with a_process(store, bus):
            one.cable.state = fault
            await trio.sleep(35)
            one.cable.state = "whole"
            await trio.sleep(100)

            assert [HELLO, ANSWER] == said(store, chat)
            assert rests(store, chat)


async def test_a_store_that_is_away_for_a_moment_costs_nothing(store, bus, autojump_clock):
    async with a_process(store, bus, 5, "Hello") as process:
        chat = await a_new_chat(store)
        await trio.sleep(4)
        process.cable.state = "cut"
        await trio.sleep(10)
        process.cable.state = "whole"
        await trio.sleep(60)

        assert [HELLO, ANSWER] == said(store, chat)
        assert rests(store, chat)


async def test_a_poisoned_chat_ends_in_its_error_state_and_harms_no_other(
    store, bus, autojump_clock
):
    async with a_process(store, bus) as process:
        process.provider.scripts = [[1, AssertionError("what cannot be")], ["Hello"]]
        poisoned = await a_new_chat(store)
        await trio.sleep(0.5)
        chat = await a_new_chat(store)
        await trio.sleep(100)

        row = store.chats[poisoned].chat
        assert (Status.ERROR, FAULT, None) == (row.status, row.last_error, row.holder)
        assert [HELLO] == said(store, poisoned)
        assert [HELLO, ANSWER] == said(store, chat)
        assert 2 == len(process.provider.prompts)


ASKS = [call("a", "ask")]
WAITS = Status.REQUIRES_ACTION


@asynccontextmanager
async def full_of_waiting(store, bus, count=2, **limits):
    """A process with so many places, and so many chats that had them and wait for their clients."""
    async with a_process(store, bus, roots=count, **limits) as process:
        process.provider.scripts = [*[ASKS] * count, ["Hello"]]
        waiting = [await a_new_chat(store, tools=["ask"]) for _ in range(count)]
        await trio.sleep(0.1)
        yield process, waiting


async def a_waiting_chat(store):
    chat = await a_new_chat(store, tools=["ask"])
    await trio.sleep(0.1)
    return chat


async def test_chats_that_wait_for_others_keep_nobody_from_working(store, bus, autojump_clock):
    async with full_of_waiting(store, bus) as (process, waiting):
        assert [WAITS] * 2 == [store.chats[chat].chat.status for chat in waiting]

        chats = [await a_new_chat(store) for _ in range(5)]
        await trio.sleep(10)

        assert all([HELLO, ANSWER] == said(store, chat) for chat in chats)
        assert [WAITS] * 2 == [store.chats[chat].chat.status for chat in waiting]
        slots = process.slots.statistics()
        assert (0, 2) == (slots.roots, slots.waiting)


async def test_the_place_of_one_that_begins_to_wait_is_taken_at_once(store, bus, autojump_clock):
    async with a_process(store, bus, roots=1, poll_seconds=3600) as process:
        process.provider.scripts = [[1, *ASKS], ["Hello"]]
        await a_new_chat(store, tools=["ask"])
        await trio.sleep(0.5)
        chat = await a_new_chat(store)
        await trio.sleep(0.4)
        assert [HELLO] == said(store, chat)
        await trio.sleep(0.2)

        assert [HELLO, ANSWER] == said(store, chat)


async def test_who_is_answered_goes_on_at_once_although_all_places_are_taken(
    store, bus, autojump_clock
):
    async with full_of_waiting(store, bus) as (process, waiting):
        process.provider.scripts = [[5, "Hello"]] * 2 + [["done"]]
        chats = [await a_new_chat(store) for _ in range(2)]
        await trio.sleep(1)
        assert 0 == process.slots.room().roots

        await store.apply(waiting[0], [CompleteRequiresAction((DynamicResult("a", "1"),), ANN)])
        await trio.sleep(1)
        late = await a_new_chat(store)
        await trio.sleep(1)

        assert rests(store, waiting[0])
        assert [HELLO] == said(store, late)
        await trio.sleep(5)
        assert all(rests(store, chat) for chat in (*chats, late))


async def test_a_chat_that_comes_while_it_waits_takes_no_place(store, bus, autojump_clock):
    async with (
        full_of_waiting(store, bus) as (first, waiting),
        a_process(store, bus, roots=1) as second,
    ):
        first.drain()
        await trio.sleep(5)
        chat = await a_new_chat(store)
        await trio.sleep(1)

        assert {second.worker} == {store.chats[each].chat.holder.worker for each in waiting}
        assert [HELLO, ANSWER] == said(store, chat)


async def test_a_wait_that_nobody_told_of_is_found_when_all_is_compared(autojump_clock):
    deaf, store = Switchboard(), a_store(Switchboard())
    async with a_process(store, deaf, roots=1) as process:
        process.provider.scripts = [ASKS, ["Hello"]]
        await a_new_chat(store, tools=["ask"])
        await trio.sleep(2)
        chat = await a_new_chat(store)
        await trio.sleep(8)
        assert [HELLO] == said(store, chat)
        await trio.sleep(8)

        assert [HELLO, ANSWER] == said(store, chat)


async def test_one_beyond_those_that_may_wait_leaves_its_place_once_it_may(
    store, bus, autojump_clock
):
    async with a_process(store, bus, roots=1, waiting=1) as process:
        process.provider.scripts = [ASKS, ASKS, ["done"], ["Hello"]]
        first, _beyond = [await a_waiting_chat(store) for _ in range(2)]
        assert 0 == process.slots.room().roots

        await store.apply(first, [CompleteRequiresAction((DynamicResult("a", "1"),), ANN)])
        chat = await a_new_chat(store)
        await trio.sleep(20)

        assert [HELLO, ANSWER] == said(store, chat)
        slots = process.slots.statistics()
        assert (0, 1) == (slots.roots, slots.waiting)


@pytest.mark.slow
async def test_five_hundred_chats_are_all_answered_once(store, bus, autojump_clock):
    async with a_process(store, bus, roots=50, batch=20), a_process(store, bus, roots=30):
        chats = [await a_new_chat(store) for _ in range(500)]
        await trio.sleep(60)

        assert all([HELLO, ANSWER] == said(store, chat) for chat in chats)
        assert all(rests(store, chat) for chat in chats)
