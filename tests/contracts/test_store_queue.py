"""The ledger and the queue: what waits, in which order, and what becomes of it."""

from actors.law import requests as ask
from actors.law.chat import QUEUE_ROWS_MAX
from actors.law.refusals import QueuedNotFound, QueueFull
from actors.law.states import Status
from tests.actors.law.chats import ANN, BOB, SMART, send, user
from tests.contracts.given import a_chat, applied, stays


async def test_what_waits_is_named_in_the_order_in_which_it_will_be_taken(world):
    chat = await a_chat(world)

    made = await applied(
        world.ledger.apply(chat, [send("b"), send("c"), send("a", busy=ask.BusyBehaviour.STEER)])
    )

    rows = await world.rows(chat)
    assert ["a", "b", "c"] == [row.message.parts[0].text for row in rows.queue]
    assert [row.id for row in rows.queue] == list(made.queued_ids)
    assert rows.queue == made.stored.queue
    assert [made.at] * 3 == [row.created_at for row in rows.queue]
    assert [made.at] * 3 == [row.created_at for row in made.stored.queue]
    assert (2, 1) == (rows.chat.queue_version, rows.chat.history_version)


async def test_promoting_moves_one_row_and_the_queues_version(world):
    chat = await a_chat(world)
    made = await applied(world.ledger.apply(chat, [send("a"), send("b"), send("c")]))
    a, b, c = made.queued_ids

    await applied(world.ledger.apply(chat, [ask.PromoteQueued(c)]))
    moved = await world.rows(chat)
    await applied(world.ledger.apply(chat, [ask.PromoteQueued(c)]))
    same = await world.rows(chat)

    assert [row.id for row in moved.queue] == [c, a, b]
    assert (Status.INTERRUPTING, 3) == (moved.chat.status, moved.chat.queue_version)
    assert (same.queue, same.chat.queue_version) == (moved.queue, 3)


async def test_queued_rows_are_reworded_reordered_and_deleted(world):
    chat = await a_chat(world)
    made = await applied(world.ledger.apply(chat, [send("a", by=BOB), send("b"), send("c")]))
    a, b, c = made.queued_ids

    await applied(world.ledger.apply(chat, [ask.EditQueued(a, send("A", model=SMART).message)]))
    await applied(world.ledger.apply(chat, [ask.ReorderQueued((c, a, b))]))
    await applied(world.ledger.apply(chat, [ask.DeleteQueued(b)]))

    rows = await world.rows(chat)
    assert [(c, "c", ANN, None), (a, "A", BOB, SMART)] == [
        (row.id, row.message.parts[0].text, row.message.created_by, row.message.model_config_id)
        for row in rows.queue
    ]
    assert rows.chat.snapshot_version == rows.chat.queue_version


async def test_a_promoted_message_keeps_its_author_model_and_effort(world):
    chat = await a_chat(world)
    await applied(
        world.ledger.apply(chat, [send("b", by=BOB, model=SMART, effort="high"), ask.FinishTurn()])
    )

    [*_, last] = await world.reading.history(chat)

    assert user("b", by=BOB, model_config_id=SMART, reasoning_effort="high") == last.body
    assert () == (await world.rows(chat)).queue


async def test_a_queued_message_of_another_chat_is_not_found(world):
    mine, other = await a_chat(world), await a_chat(world)
    await applied(world.ledger.apply(mine, [send("m")]))
    made = await applied(world.ledger.apply(other, [send("o")]))
    [theirs] = made.queued_ids

    for request in (ask.DeleteQueued, ask.PromoteQueued):
        async with stays(world, mine), stays(world, other):
            assert QueuedNotFound(theirs) == await world.ledger.apply(mine, [request(theirs)])


async def test_a_full_queue_refuses_one_more(world):
    chat = await a_chat(world)
    await applied(world.ledger.apply(chat, [send(f"{n}") for n in range(QUEUE_ROWS_MAX)]))

    async with stays(world, chat):
        refused = await world.ledger.apply(chat, [send("one more")])

    assert QueueFull(QUEUE_ROWS_MAX) == refused
