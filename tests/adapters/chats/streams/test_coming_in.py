"""Who gets to a stream, what he may say that he has, and what his looking at it leaves behind."""

from functools import partial

import pytest

from actors.law.store.hints import ReadStatusSet
from actors.streams.feeds.diff import Position
from adapters.chats.streams.routes import position_of, position_of_event
from adapters.http.endpoints import Call
from adapters.http.refusals import HttpError
from tests.adapters.chats.streams.clients import status
from tests.adapters.chats.streams.ground import ADA, BOB, UPGRADE, a_stage, eventually

HELLO = "hello [[text: good day]]"


def a_call(query=(), **headers):
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Call(None, {}, tuple(query), named, b"")


@pytest.mark.parametrize(
    ("query", "have"),
    [
        ([], Position()),
        ([("after_id", "41")], Position(41)),
        ([("after_id", "0")], Position()),
        ([("after_id", "-7")], Position()),
        ([("after_id", "")], Position()),
        ([("after_part", "3.1.7")], Position(0, 3, 1, 7)),
        ([("after_part", "3.1.7"), ("after_id", "41")], Position(41, 3, 1, 7)),
    ],
)
def test_what_a_client_has_stands_in_the_query(query, have):
    assert have == position_of(a_call(query))


@pytest.mark.parametrize("name", ["after_id", "after_part"])
@pytest.mark.parametrize("text", ["x", "1.5", "3.1", "9" * 20, "3.1.7.1", " 1", "٣"])
def test_whatever_else_stands_there_is_refused(name, text):
    with pytest.raises(HttpError) as refused:
        position_of(a_call([(name, text)]))

    assert (400, name) == (refused.value.status, refused.value.body.validations[0].field)


@pytest.mark.parametrize(
    ("last", "have"),
    [
        ("41", Position(41)),
        ("3.1.7", Position(0, 3, 1, 7)),
        ("", Position(5)),
        ("of somebody else", Position(5)),
    ],
)
def test_of_an_event_stream_the_last_event_counts_if_it_was_ours(last, have):
    assert have == position_of_event(a_call([("after_id", "5")], last_event_id=last))


# over the wire


@pytest.fixture
async def stage(fresh):
    async with a_stage(fresh) as stage:
        yield stage


@pytest.mark.slow
async def test_only_who_may_read_the_chat_gets_in(stage):
    chat = await stage.create(HELLO)

    async with stage.watch(chat, by=ADA) as admin:
        await admin.until(status("waiting"))
    assert 404 == (await stage.get(f"{chat}/stream", by=BOB, **UPGRADE)).status_code
    assert 404 == (await stage.get(f"{chat}/stream/sse", by=BOB)).status_code


@pytest.mark.slow
async def test_what_is_wrong_is_said_before_the_upgrade(stage):
    chat = await stage.create(HELLO)

    statuses = [
        (await stage.get(f"{chat}/stream")).status_code,
        (await stage.get(f"{chat}/stream?after_id=x", **UPGRADE)).status_code,
        (await stage.get(f"{chat}/stream/sse?after_id=x")).status_code,
        (await stage.get("nonsense/stream/sse")).status_code,
        (await stage.get("watch")).status_code,
    ]
    assert [426, 400, 400, 400, 426] == statuses


@pytest.mark.slow
async def test_a_client_that_says_something_is_sent_away(stage):
    chat = await stage.create(HELLO)
    async with stage.watch(chat) as watcher:
        await watcher.until(status("waiting"))
        await watcher.socket.send_message("hello?")

        assert 1008 == (await watcher.until_closed())[0]


@pytest.mark.slow
async def test_what_the_owner_has_looked_at_is_read_when_he_comes_and_when_he_goes(stage):
    chat = await stage.create(HELLO)

    async def cursor():
        [(id,)] = await stage.execute(
            "SELECT last_read_message_id FROM chats WHERE id = %(id)s", {"id": chat}
        )
        return id

    async with stage.watch(chat, by=ADA) as admin:
        await admin.until(status("waiting"))
    untouched = await cursor()
    async with stage.watch(chat) as watcher:
        await watcher.until(status("waiting"))
        first = await eventually(cursor)
        await stage.send(chat, HELLO)
        await watcher.until(lambda state: len(state.messages) == 4 and state.status == "waiting")
        while_watching = await cursor()

    async def moved():
        return await cursor() != first

    await eventually(moved)
    assert (0, first) == (untouched, while_watching)
    assert max(watcher.state.messages) == await cursor()


@pytest.mark.slow
@pytest.mark.parametrize("where", ["here", "at another process"])
async def test_a_chat_that_its_owner_marks_as_unread_while_they_watch_it_stays_unread(stage, where):
    chat, other = await stage.create(HELLO), await stage.create(HELLO)
    for each in (chat, other):
        async with stage.watch(each, by=ADA) as admin:
            await admin.until(status("waiting"))

    async def cursor(chat):
        [(id,)] = await stage.execute(
            "SELECT last_read_message_id FROM chats WHERE id = %(id)s", {"id": chat}
        )
        return id

    async with stage.watch(chat) as watcher:
        await watcher.until(status("waiting"))
        await eventually(partial(cursor, chat))
        bus = stage.chats.store.bus
        (bus.tell if where == "here" else bus.hear)(ReadStatusSet(chat, is_seen=False))
        await stage.overviews.mark_unread(chat)
        unread = await cursor(chat)
        async with stage.watch(chat, "?seen=false") as again:
            await again.until(status("waiting"))
    async with stage.watch(other) as watcher:
        await watcher.until(status("waiting"))
        await eventually(partial(cursor, other))  # notes are written in their order

    assert unread == await cursor(chat)
    async with stage.watch(chat):
        await eventually(lambda: is_other(cursor(chat), unread))


async def is_other(found, than):
    return await found != than
