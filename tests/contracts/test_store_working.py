"""The ledger and a turn: steps, calls of the client, retries, compaction."""

from actors.law import requests as ask
from actors.law.states import Status
from tests.actors.law.chats import (
    DYNAMIC,
    HOLDER,
    RETRY,
    SMART,
    answer,
    assistant,
    call,
    interrupt_with,
    send,
    step,
    submit,
)
from tests.contracts.given import a_held_chat, applied

ACQUIRE = ask.Acquire(HOLDER)


async def test_a_step_and_its_end_are_one_commit(world):
    chat = await a_held_chat(world)
    made = await applied(
        world.ledger.apply(chat, [step(assistant("done")), ask.FinishTurn(), ask.Abandon()])
    )

    assert (Status.WAITING, None) == (made.chat.status, made.chat.holder)
    assert made.chat == (await world.rows(chat)).chat


async def test_a_clients_calls_are_waited_for_and_answered(world):
    chat = await a_held_chat(world, tools=(DYNAMIC,))
    waiting = await applied(
        world.ledger.apply(chat, [step(assistant(call("a", DYNAMIC))), ask.EnterRequiresAction()])
    )
    deadline = (await world.rows(chat)).chat.requires_action_deadline_at
    queued = await applied(world.ledger.apply(chat, [send("later")]))

    answered = await applied(world.ledger.apply(chat, [submit(answer("a"), model=SMART)]))

    assert waiting.chat.requires_action_deadline_at == deadline
    assert 300 == (deadline - waiting.at).total_seconds()
    assert deadline == queued.chat.requires_action_deadline_at
    assert (
        answered.chat.status,
        answered.chat.requires_action_deadline_at,
    ) == (Status.RUNNING, None)
    [*_, last] = await world.reading.history(chat)
    assert (last.body,) == answered.change.added


async def test_a_message_that_interrupts_cancels_the_clients_calls_alone(world):
    chat = await a_held_chat(world, tools=(DYNAMIC,))
    await applied(
        world.ledger.apply(
            chat, [step(assistant(call("a", DYNAMIC), call("b"))), ask.EnterRequiresAction()]
        )
    )

    made = await applied(world.ledger.apply(chat, [interrupt_with("stop")]))

    assert ["a"] == [part.id for body in made.change.added for part in body.parts]
    assert 1 == len((await world.rows(chat)).queue)


async def test_a_retry_state_goes_with_its_attempt(world):
    chat = await a_held_chat(world)
    stored = await applied(world.ledger.apply(chat, [ask.RecordRetryState(RETRY)]))
    again = await applied(world.ledger.apply(chat, [ask.RecordRetryState(RETRY)]))
    kept = (await world.rows(chat)).chat

    attempt = await applied(world.ledger.apply(chat, [ask.RecordGenerationAttempt()]))

    assert stored.chat.snapshot_version == again.chat.retry_state_version
    assert (kept.retry_state, kept) == (RETRY, again.chat)
    gone = (await world.rows(chat)).chat
    assert (gone.retry_state, gone.retry_state_version) == (None, attempt.chat.snapshot_version)


async def test_a_request_for_compaction_frees_the_chat_and_survives_being_taken(world):
    chat = await a_held_chat(world)
    await applied(world.ledger.apply(chat, [step(assistant("hi")), ask.FinishTurn()]))

    asked = await applied(world.ledger.apply(chat, [ask.RequestCompaction()]))
    taken = await applied(world.ledger.apply(chat, [ACQUIRE]))

    assert (asked.chat.holder, asked.chat.compaction_requested_at) == (None, asked.at)
    assert asked.chat.snapshot_version == asked.chat.history_version
    assert asked.at == taken.chat.compaction_requested_at
    assert taken.chat == (await world.rows(chat)).chat
