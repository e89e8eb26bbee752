"""Reading while others write: every answer is one snapshot, and waits for nobody."""

import trio

from actors.law import requests as ask
from actors.law.chat import Role
from actors.law.store.ports import fence_of
from adapters.postgres.driver.connection import DatabaseConnection
from tests.actors.law.chats import ANN, HOLDER, assistant, call, result, step, tool
from tests.contracts.given import a_chat, a_held_chat, applied
from tests.patience import PATIENCE_SECONDS

QUEUE_ONE = (
    "WITH c AS (UPDATE chats SET snapshot_version = snapshot_version + 1,"
    "                            queue_version = snapshot_version + 1 WHERE id = %(chat)s)"
    " INSERT INTO queued_messages (chat_id, content, position, created_by)"
    " SELECT id, '[]', 1, owner_id FROM chats WHERE id = %(chat)s"
)


async def view(store, chat):
    seen = await store.reading.view(chat)
    return seen.chat, seen.queue


async def test_an_answer_is_one_snapshot_whatever_is_written_in_its_midst(store):
    """A writer who has the queue locked moves the chat after the reader has seen its columns."""
    chat, answers = await a_chat(store), []
    before = (await store.rows(chat)).chat
    connection = await DatabaseConnection.open(store.conninfo)

    async def look():
        answers.append(await view(store, chat))

    async with connection.transaction() as tx, trio.open_nursery() as nursery:
        await tx.run([("LOCK TABLE queued_messages IN ACCESS EXCLUSIVE MODE", ())])
        nursery.start_soon(look)
        await store.until("SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event = 'relation'")
        await tx.run([(QUEUE_ONE, {"chat": chat})])
        await tx.commit()

    connection.close()
    assert [(before, ())] == answers
    assert 1 == len((await store.rows(chat)).queue)


async def test_a_reader_does_not_wait_for_a_writer(store):
    chat = await a_held_chat(store)
    before = await store.reading.view(chat)
    connection = await DatabaseConnection.open(store.conninfo)

    async with connection.transaction() as tx:
        await tx.run([("UPDATE chats SET snapshot_version = 9 WHERE id = %(id)s", {"id": chat})])
        with trio.fail_after(PATIENCE_SECONDS):
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
    """From a user's message to `waiting`: what is asked of the server, counted by its own ids.

    Its own work draws ids as well, now and then.
    """
    assert min([await ids_of_a_turn(store) for _ in range(5)]) <= 3


async def ids_of_a_turn(store):
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

    return await next_xid(store) - before


async def next_xid(store):
    [(xid,)] = await store.execute("SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint")
    return xid
