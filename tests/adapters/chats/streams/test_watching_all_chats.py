"""The watch socket: what becomes of an owner's chats, each with the chat as a list shows it."""

import json
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
import trio
from trio_websocket import ConnectionClosed

from actors.law.store.hints import ReadersChanged
from adapters.chats.upkeep_stores import SummaryStorage
from adapters.rehearsal.behaviour import Behaviour, ScriptedCall
from tests.adapters.chats.streams.ground import ANN, BOB, PATIENCE_SECONDS, ROOT, a_stage

pytestmark = pytest.mark.slow

HELLO = "hello [[text: good day]]"
STATUS_KINDS = ("status_change", "action_required")


@pytest.fixture
async def stage(fresh):
    async with a_stage(fresh) as stage:
        yield stage


@dataclass
class Listener:
    socket: object = field(repr=False)
    events: list = field(default_factory=list)
    closed: int | None = None
    news: object = field(default_factory=trio.lowlevel.ParkingLot, repr=False)

    async def listen(self):
        try:
            while True:
                frame = await self.socket.get_message()
                assert frame.endswith("}\n"), "a frame is one object and a newline"
                self.events.append(json.loads(frame))
                self.news.unpark_all()
        except ConnectionClosed as closed:
            self.closed = closed.reason.code
            self.news.unpark_all()

    async def until(self, condition):
        with trio.fail_after(PATIENCE_SECONDS):
            while not condition():
                await self.news.park()

    def kinds(self, chat):
        return [event["kind"] for event in self.events if event["chat"]["id"] == str(chat)]

    def was(self, chat, status):
        """Return whether the last change that was told left the chat in a status.

        An event shows the chat as it is when it is read. So `created` may show the end of the first
        turn already, and the news of that end is still to come.
        """
        changes = [
            event["chat"]["status"]
            for event in self.events
            if event["chat"]["id"] == str(chat) and event["kind"] in STATUS_KINDS
        ]
        return changes[-1:] == [status]


@asynccontextmanager
async def a_listener(stage, *, by=ANN, query=""):
    path, streaming = f"{ROOT}/watch{query}", stage.streaming
    lists = streaming.shared_lists if "shared=true" in query else streaming.owners
    others = lists.statistics().watchers
    async with stage.socket(path, by=by) as socket, trio.open_nursery() as nursery:
        listener = Listener(socket)
        nursery.start_soon(listener.listen)
        with trio.fail_after(PATIENCE_SECONDS):  # no event says that the listener is there
            while lists.statistics().watchers <= others:
                await trio.sleep(0.005)
        yield listener
        nursery.cancel_scope.cancel()


async def test_a_turn_of_a_new_chat_is_told_by_its_beginning_and_its_end(stage):
    async with a_listener(stage) as listener:
        chat = await stage.create(HELLO)
        await listener.until(lambda: listener.was(chat, "waiting"))

    assert ["created", "status_change"] == listener.kinds(chat)
    [*_, last] = listener.events
    assert {"kind", "chat"} == set(last)
    assert ([], False, str(ANN)) == (
        last["chat"]["children"],
        last["chat"]["has_unread"],
        last["chat"]["owner_id"],
    )
    assert "files" not in last["chat"]


async def test_what_is_put_away_is_told_as_deleted_and_as_created_when_it_comes_back(stage):
    async with a_listener(stage) as listener:
        chat = await stage.create(HELLO)
        await listener.until(lambda: listener.was(chat, "waiting"))
        for archived in (True, False):
            await stage.ledger.archive_family(chat, archived=archived)
        await listener.until(lambda: len(listener.kinds(chat)) == 4)

    assert ["deleted", "created"] == listener.kinds(chat)[2:]


async def test_a_chat_that_waits_for_its_client_is_told_as_such(fresh):
    calling = Behaviour(tool_calls=(ScriptedCall("ask", "{}"),))
    async with a_stage(fresh, calling) as stage, a_listener(stage) as listener:
        chat = await stage.create("hello", tools=["ask"])
        await listener.until(lambda: listener.was(chat, "requires_action"))

    assert ["created", "action_required"] == listener.kinds(chat)


async def test_a_new_title_is_told(stage):
    async with a_listener(stage) as listener:
        chat = await stage.create(HELLO)
        await listener.until(lambda: listener.was(chat, "waiting"))
        await stage.overviews.retitle(chat, "Weather")
        await listener.until(lambda: "title_change" in listener.kinds(chat))

    titled = [e["chat"]["title"] for e in listener.events if e["kind"] == "title_change"]
    assert "Weather" in titled


async def test_what_came_of_a_turn_and_what_a_chat_is_about_is_told(stage):
    async with a_listener(stage) as listener:
        chat = await stage.create(HELLO)
        await listener.until(lambda: listener.was(chat, "waiting"))
        stored = await stage.chats.store.reading.view(chat)
        summaries = SummaryStorage(stage.chats.store.pool, tell=stage.chats.store.bus.tell)
        await summaries.label(stored.chat, "Said hello")
        await summaries.summarise(stored.chat, "They greet each other.", turns=1)
        await listener.until(lambda: "chat_summary_change" in listener.kinds(chat))

    last = {event["kind"]: event["chat"] for event in listener.events}
    assert "Said hello" == last["summary_change"]["last_turn_summary"]
    assert "They greet each other." == last["chat_summary_change"]["summary"]


async def test_only_the_owner_is_told(stage):
    async with a_listener(stage, by=BOB) as other, a_listener(stage) as listener:
        chat = await stage.create(HELLO)
        await listener.until(lambda: listener.was(chat, "waiting"))

    assert [] == other.events


async def test_two_sockets_of_an_owner_are_told_the_same_and_the_chat_is_read_once(stage):
    async with a_listener(stage) as first, a_listener(stage) as second:
        chat = await stage.create(HELLO)
        for listener in (first, second):
            await listener.until(lambda listener=listener: listener.was(chat, "waiting"))

    assert first.events == second.events
    assert len(first.events) == stage.streaming.owners.statistics().told_count


async def test_who_watches_is_told_to_go_elsewhere_when_the_process_ends(stage):
    async with a_listener(stage) as listener:
        stage.streaming.leave()
        await listener.until(lambda: listener.closed is not None)

    assert 1001 == listener.closed


async def test_who_asks_is_told_of_chats_that_are_shared_with_them_too(stage):
    shared, secret = await stage.create(HELLO), await stage.create(HELLO)
    await share(stage, shared, BOB)
    async with (
        a_listener(stage, by=BOB) as without,
        a_listener(stage, by=BOB, query="?shared=true") as listener,
        a_listener(stage, by=ANN, query="?shared=true") as owner,
    ):
        own = await stage.create(HELLO, by=BOB)
        for chat in (secret, shared):
            await stage.send(chat, HELLO)
        await listener.until(lambda: listener.was(own, "waiting"))
        await listener.until(lambda: listener.was(shared, "waiting"))
        for chat in (secret, shared):
            await owner.until(lambda chat=chat: owner.was(chat, "waiting"))
        await without.until(lambda: without.was(own, "waiting"))

    assert {str(own)} == {event["chat"]["id"] for event in without.events}
    assert {str(own), str(shared)} == {event["chat"]["id"] for event in listener.events}
    assert {str(shared), str(secret)} == {event["chat"]["id"] for event in owner.events}
    told = [event for event in listener.events if event["chat"]["id"] == str(shared)]
    assert {str(ANN)} == {event["chat"]["owner_id"] for event in told}


async def chats_at_rest(stage, count):
    """Create chats whose first turns are over. Later watchers are told only of what comes then."""
    async with a_listener(stage) as owner:
        chats = [await stage.create(HELLO) for _ in range(count)]
        for chat in chats:
            await owner.until(lambda chat=chat: owner.was(chat, "waiting"))
    return chats


async def test_a_user_who_may_not_read_a_chat_any_more_is_told_nothing_of_it(stage):
    chat, other = await chats_at_rest(stage, 2)
    for each in (chat, other):
        await share(stage, each, BOB)
    async with a_listener(stage, by=BOB, query="?shared=true") as listener:
        await stage.execute("DELETE FROM chat_readers WHERE chat_id = %(chat)s", {"chat": chat})
        await stage.send(chat, HELLO)
        await stage.send(other, HELLO)
        await listener.until(lambda: listener.was(other, "waiting"))

    assert [] == listener.kinds(chat)


async def test_a_reader_is_told_that_a_chat_is_shared_with_them_and_that_it_is_not_any_more(stage):
    [chat] = await chats_at_rest(stage, 1)
    async with a_listener(stage, by=BOB, query="?shared=true") as listener:
        await share(stage, chat, BOB)
        stage.chats.store.bus.tell(ReadersChanged(chat, ANN, BOB))
        await listener.until(lambda: ["shared"] == listener.kinds(chat))
        await stage.execute("DELETE FROM chat_readers WHERE chat_id = %(chat)s", {"chat": chat})
        stage.chats.store.bus.tell(ReadersChanged(chat, ANN, BOB))
        await listener.until(lambda: ["shared", "unshared"] == listener.kinds(chat))

    shared, unshared = listener.events
    assert str(ANN) == shared["chat"]["owner_id"]
    assert {"id": str(chat)} == unshared["chat"]


async def test_what_is_neither_shared_nor_not_is_refused(stage):
    answer = await stage.get("watch?shared=perhaps")

    assert (400, "shared") == (answer.status_code, answer.json()["validations"][0]["field"])


async def share(stage, chat, user):
    await stage.execute(
        "INSERT INTO chat_readers (chat_id, subject_id, is_group)"
        " VALUES (%(chat)s, %(user)s, false)",
        {"chat": chat, "user": user},
    )
