"""The calls of a turn that is interrupted here, while a process that has lost the chat, and does
not know it yet, is about to run them: none of them begins any more.
"""

import trio

from actors.chat.interruption import interrupt
from actors.chat.turn.deps import TurnDeps, TurnLimits
from actors.chat.turn.tool_batch import run_batch
from actors.chat.turn.work import AtStake, Attempt, HeldChat, LetGo
from actors.law.ids import EpisodeKey
from actors.law.parts.message import JsonText, ToolCallPart
from actors.law.requests import Acquire, Interrupt
from actors.streams.previews import Previews
from adapters.postgres.journal import Journal
from tests.actors.law.chats import OTHER_HOLDER, assistant, step
from tests.contracts.given import a_held_chat, applied
from tests.e2e.pausing import a_pause
from tests.fakes.scripted import OneModel, PlainPrompts, ScriptedProvider, ScriptedTools, TwoMicros
from tests.fakes.watching import pickled

CALLS = tuple(ToolCallPart(id, "push", JsonText("{}")) for id in "ab")
THE_CALLS_ARE_CLOSED = ("messages", "INSERT", "NEW.role = 'tool'")


class Process:
    """One that has tools, and a store that it shares with others."""

    def __init__(self, store):
        self.tools = ScriptedTools().add("push")
        self.world = TurnDeps(
            ledger=store.ledger,
            reading=store.reading,
            models=OneModel(ScriptedProvider()),
            prompts=PlainPrompts(),
            tools=self.tools,
            journal=Journal(store.pool),
            prices=TwoMicros(),
            previews=Previews(pickled),
            limits=TurnLimits(),
        )

    async def run_calls(self, stored):
        """As the step begins that runs them."""
        chat = stored.chat
        key = EpisodeKey(chat.id, chat.history_version, chat.generation_attempt)
        history = await self.world.reading.history(chat.id)
        attempt, at_stake = Attempt(key), AtStake()
        show = self.world.previews.begin(key, attempt).add
        return await run_batch(
            chat, history, CALLS, self.tools, attempt, self.world, at_stake, show=show
        )

    async def end_turn(self, stored):
        assert LetGo() == await interrupt(HeldChat(stored), self.world)


async def a_chat_between_two_processes(store):
    """As its first holder knows it, with open calls; and as its next one takes it over."""
    chat = await a_held_chat(store)
    await applied(store.ledger.apply(chat, [step(assistant(*CALLS))]))
    before = await store.reading.view(chat)
    await applied(store.ledger.apply(chat, [Interrupt(), Acquire(OTHER_HOLDER)]))
    return before, await store.reading.view(chat)


async def test_a_call_of_a_turn_that_was_interrupted_elsewhere_does_not_begin(store):
    before, taken_over = await a_chat_between_two_processes(store)
    first = Process(store)

    await Process(store).end_turn(taken_over)
    await first.run_calls(before)

    assert [] == first.tools.ran


async def test_a_call_does_not_begin_while_its_turn_is_interrupted_elsewhere(store, migrated):
    """The second process has looked into the journal, and has not closed the calls yet."""
    before, taken_over = await a_chat_between_two_processes(store)
    first = Process(store)

    async with a_pause(migrated, THE_CALLS_ARE_CLOSED) as pause, trio.open_nursery() as nursery:
        nursery.start_soon(Process(store).end_turn, taken_over)
        await pause.reached()
        await first.run_calls(before)
        pause.release()

    assert [] == first.tools.ran


async def test_calls_that_began_first_are_not_run_again(store):
    """What they did is kept where the turn is interrupted."""
    before, taken_over = await a_chat_between_two_processes(store)
    first, second = Process(store), Process(store)

    await first.run_calls(before)
    await second.end_turn(taken_over)
    await second.run_calls(before)

    assert (["a", "b"], []) == (sorted(first.tools.ran), second.tools.ran)
    kept = [m.body.parts[0].result for m in (await store.rows(before.chat.id)).messages[2:]]
    assert ['{"output": "push done"}'] * 2 == kept
