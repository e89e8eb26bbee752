"""The supervisor with real chat actors: whatever happens, a turn is answered once."""

from contextlib import asynccontextmanager

import pytest
import trio

from actors.chat.actor import ChatActor
from actors.episodes.buffer import Episodes
from actors.machine.requests import Interrupt
from actors.machine.states import Status
from actors.supervisor.decide import FAULT
from actors.supervisor.world import Limits
from actors.turn.world import World
from adapters.bus import Switchboard
from runtime.ends import Finished
from tests.actors.machine.chats import send
from tests.actors.supervisor.stage import Cable, Process, a_new_chat, a_store, supervising
from tests.fakes.scripted import (
    MemoryJournal,
    OneModel,
    PlainPrompts,
    ScriptedProvider,
    ScriptedTools,
    TwoMicros,
)


class RealProcess(Process):
    """Its chat actors are the real ones; they reach the store by the same cable."""

    provider: ScriptedProvider

    def live(self, me, held):
        world = World(
            ledger=self.cable,
            reading=self.cable,
            models=OneModel(self.provider),
            prompts=PlainPrompts(),
            tools=ScriptedTools(),
            journal=MemoryJournal(),
            prices=TwoMicros(),
            episodes=self.episodes,
        )
        return ChatActor(me, held, world)


@asynccontextmanager
async def a_process(store, bus, *script, **limits):
    process = RealProcess(store, Cable(store), bus, Limits(**limits))
    process.provider = ScriptedProvider(list(script) or ["Hello"])
    process.episodes = Episodes(lambda key, said: repr(said.piece).encode())
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


@pytest.mark.slow
async def test_five_hundred_chats_are_all_answered_once(store, bus, autojump_clock):
    async with a_process(store, bus, roots=50, batch=20), a_process(store, bus, roots=30):
        chats = [await a_new_chat(store) for _ in range(500)]
        await trio.sleep(60)

        assert all([HELLO, ANSWER] == said(store, chat) for chat in chats)
        assert all(rests(store, chat) for chat in chats)
