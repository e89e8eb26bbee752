"""Reading while others write: every answer is one snapshot, and waits for nobody."""

import trio

from actors.machine import requests as ask
from actors.machine.chat import Role
from actors.machine.fences import fence_of
from adapters.postgres.driver.connection import Connection
from tests.actors.machine.chats import ANN, HOLDER, assistant, call, result, send, step, tool
from tests.contracts.given import a_chat, a_held_chat, applied

ROUNDS = 40


async def write_rounds(store, chat, done):
    """Odd snapshots of `chat` have an empty queue; even ones one row that names its snapshot."""
    for n in range(ROUNDS):
        made = await applied(store.ledger.apply(chat, [send(f"{2 * n + 2}")]))
        await applied(store.ledger.apply(chat, [ask.DeleteQueued(made.queued_ids[0])]))
    done.set()


async def test_a_view_is_one_snapshot(store):
    chat, done, seen = await a_chat(store), trio.Event(), set()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(write_rounds, store, chat, done)
        while not done.is_set():
            view = await store.reading.view(chat)
            snapshot = view.chat.snapshot_version
            expected = [] if snapshot % 2 else [f"{snapshot}"]
            assert expected == [row.message.parts[0].text for row in view.queue]
            seen.add(snapshot)

    assert len(seen) > 5


async def test_what_is_new_is_one_snapshot(store):
    chat, done, seen = await a_chat(store), trio.Event(), set()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(write_rounds, store, chat, done)
        while not done.is_set():
            new = await store.reading.changes(chat, history_version=1, queue_version=0)
            assert new.queue is not None or new.chat.queue_version == 0
            snapshot = new.chat.snapshot_version
            rows = [] if new.queue is None else [row.message.parts[0].text for row in new.queue]
            assert ([] if snapshot % 2 else [f"{snapshot}"]) == rows
            seen.add(snapshot)

    assert len(seen) > 5


async def test_a_reader_does_not_wait_for_a_writer(store):
    chat = await a_held_chat(store)
    before = await store.reading.view(chat)
    connection = await Connection.open(store.conninfo)

    async with connection.transaction() as tx:
        await tx.run([("UPDATE chats SET snapshot_version = 9 WHERE id = %(id)s", {"id": chat})])
        with trio.fail_after(5):
            view = await store.reading.view(chat)
            history = await store.reading.history(chat)

    connection.close()
    assert before.chat == view.chat
    assert 1 == len(history)


async def test_only_the_last_call_and_its_answers_are_read_for_the_law(store):
    """However long the history is."""
    chat = await a_held_chat(store)
    for n in range(5):
        await applied(
            store.ledger.apply(chat, [step(assistant(call(f"{n}")), tool(result(f"{n}")))])
        )

    view = await store.reading.view(chat)

    assert [Role.ASSISTANT, Role.TOOL] == [body.role for body in view.tail]
    assert [["4"], ["4"]] == [[part.id for part in body.parts] for body in view.tail]


async def test_a_plain_turn_is_a_few_writing_transactions(store):
    """From a user's message to `waiting`: what is asked of the server, counted by its own ids."""
    before = await next_xid(store)
    chat = await a_chat(store, then=[ask.Acquire(HOLDER), ask.RecordGenerationAttempt()])
    view = await store.reading.view(chat)

    await applied(
        store.ledger.commit(
            view,
            [step(assistant("hello", created_by=ANN)), ask.FinishTurn()],
            fence=fence_of(view.chat),
        )
    )

    assert await next_xid(store) - before <= 3


async def next_xid(store):
    [(xid,)] = await store.execute("SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint")
    return xid
