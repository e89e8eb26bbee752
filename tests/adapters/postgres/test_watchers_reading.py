"""What watchers read of a chat on PostgreSQL: one statement, everything as other readers see it."""

import pytest

from actors.law import requests as ask
from actors.law.refusals import ChatNotFound
from actors.law.states import Status
from actors.streams.feeds.diff import Position
from adapters.chats.streams.reading import WatcherReading
from tests.actors.law.chats import DYNAMIC, assistant, call, edit, send, step, system, user
from tests.adapters.postgres.stores import new_chat_id
from tests.contracts.given import a_held_chat, applied

TRAIL_MAX = 16


@pytest.fixture
def reading(store):
    return WatcherReading(store.pool, lease_seconds=30.0)


async def test_a_chat_is_read_as_everybody_reads_it(store, reading):
    chat = await a_held_chat(store)
    said = [step(assistant("a\x00\ue000", call("a")), system("note")), send("later"), send("last")]
    await applied(store.ledger.apply(chat, said))

    found = await reading.snapshot(chat, Position())

    view = await store.reading.view(chat)
    assert view.chat == found.chat
    assert await store.reading.history(chat) == found.messages
    assert view.queue == found.queue
    assert [row.created_at for row in view.queue] == [row.created_at for row in found.queue]
    assert (0, (), ()) == (found.gone_at, found.statuses, found.calls)


async def test_only_what_is_new_is_read_unless_something_has_gone(store, reading):
    chat = await a_held_chat(store)
    await applied(store.ledger.apply(chat, [step(assistant("a"))]))
    await applied(store.ledger.apply(chat, [ask.FinishTurn()]))
    await applied(store.ledger.apply(chat, [send("b")]))
    first, answer, last = await store.reading.history(chat)

    newer = await reading.snapshot(chat, Position(history_version=answer.revision))
    behind = await reading.snapshot(chat, Position(message_id=first.id))
    await applied(store.ledger.apply(chat, [edit("c", id=last.id)]))
    whole = await reading.snapshot(chat, Position(answer.id, answer.revision))
    known = await reading.snapshot(chat, Position(history_version=whole.gone_at))

    assert ((last,), (answer, last)) == (newer.messages, behind.messages)
    assert [first.id, answer.id] == [message.id for message in whole.messages[:2]]
    assert whole.chat.snapshot_version == whole.gone_at
    assert () == known.messages


async def test_the_last_changes_of_status_are_kept(store, reading):
    chat = await a_held_chat(store)
    for _ in range(TRAIL_MAX):
        await applied(store.ledger.apply(chat, [ask.FinishTurn()]))
        await applied(store.ledger.apply(chat, [send("again")]))

    found = await reading.snapshot(chat, Position())

    newest = found.chat.snapshot_version
    expected = [
        (newest - age, Status.WAITING if age % 2 else Status.RUNNING)
        for age in reversed(range(TRAIL_MAX))
    ]
    assert expected == list(found.statuses)


async def test_calls_that_a_client_has_to_answer_are_read_with_their_arguments(store, reading):
    chat = await a_held_chat(store, tools=[DYNAMIC])
    asked = [step(user("u"), assistant(call("a", DYNAMIC), call("b"))), ask.EnterRequiresAction()]
    await applied(store.ledger.apply(chat, asked))

    found = await reading.snapshot(chat, Position(message_id=2**62))

    assert ((), ["a"]) == (found.messages, [open_.id for open_ in found.calls])


async def test_a_chat_that_is_not_there_is_not_found(store, reading):
    id = new_chat_id()

    assert ChatNotFound(id) == await reading.snapshot(id, Position())


async def test_of_many_chats_those_are_named_that_have_moved_on(store, reading):
    chats = [await a_held_chat(store) for _ in range(3)]
    known = dict.fromkeys(chats, 1)
    await applied(store.ledger.apply(chats[1], [ask.FinishTurn()]))

    assert {chats[1]: 2} == await reading.newer_snapshots({**known, new_chat_id(): 1})
    assert {} == await reading.newer_snapshots({})
