"""Reading what a chat holds: what the law looks at, and its history."""

from actors.law import requests as ask
from actors.law.chat import KnownFiles, Visibility
from actors.law.closing import unanswered_calls
from actors.law.refusals import ChatNotFound
from tests.actors.law.chats import (
    HOLDER,
    LOCAL,
    assistant,
    call,
    result,
    send,
    step,
    system,
    tool,
    user,
)
from tests.adapters.postgres.stores import new_chat_id, new_file_ids
from tests.contracts.given import a_chat, a_held_chat, applied


async def test_a_view_is_all_that_the_law_looks_at(world):
    files = new_file_ids(2)
    await world.add_files(*files)
    chat = await a_held_chat(world, files=files)
    await applied(
        world.ledger.apply(
            chat,
            [
                step(assistant("old", call("o")), tool(result("o"))),
                step(assistant(call("a"), call("b"))),
                step(tool(result("b")), system("note")),
                send("later"),
                send("first", busy=ask.BusyBehaviour.STEER),
            ],
        )
    )

    view = await world.reading.view(chat)

    rows = await world.rows(chat)
    assert rows.chat == view.chat
    assert rows.queue == view.queue
    assert ["first", "later"] == [row.message.parts[0].text for row in view.queue]
    assert [("a", LOCAL)] == [(open_.id, open_.name) for open_ in unanswered_calls(view.tail)]
    assert (KnownFiles(frozenset(files)), None) == (view.files, view.suffix)


async def test_the_tail_of_a_view_forgets_what_was_edited_away(world):
    chat = await a_held_chat(world)
    [first] = await world.reading.history(chat)
    await applied(world.ledger.apply(chat, [step(assistant(call("a")))]))
    await applied(world.ledger.apply(chat, [ask.EditMessage(first.id, send("new").message)]))

    view = await world.reading.view(chat)

    assert () == view.tail


async def test_a_hidden_answer_answers_nothing(world):
    chat = await a_held_chat(world)
    hidden = tool(result("a"), visibility=Visibility.MODEL)
    await applied(world.ledger.apply(chat, [step(assistant(call("a")), hidden)]))

    view = await world.reading.view(chat)

    assert ["a"] == [open_.id for open_ in unanswered_calls(view.tail)]


async def test_what_is_not_there_is_not_found(world):
    id = new_chat_id()

    assert ChatNotFound(id) == await world.reading.view(id)
    assert () == await world.reading.history(id)


async def test_the_history_is_all_that_stands_hidden_rows_too(world):
    chat = await a_held_chat(world)
    said = [
        system("s", visibility=Visibility.MODEL),
        assistant("a", visibility=Visibility.USER),
        user("c", compressed=True, visibility=Visibility.MODEL),
    ]
    await applied(world.ledger.apply(chat, [step(*said)]))

    history = await world.reading.history(chat)

    assert [user("hello"), *said] == [message.body for message in history]
    assert sorted(m.id for m in history) == [m.id for m in history]


async def test_readers_move_nothing(world):
    chat = await a_chat(world, then=[ask.Acquire(HOLDER)])
    before = await world.rows(chat)

    await world.reading.view(chat)
    await world.reading.history(chat)

    assert before == await world.rows(chat)
