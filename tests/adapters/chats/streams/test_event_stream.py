"""A chat as server-sent events: the same events, an id to go on from, signs of life, an end."""

import json
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
import trio

from adapters.chats.streams import serving as event_stream
from tests.adapters.chats.streams.clients import State, status
from tests.adapters.chats.streams.ground import ANN, CALLER, PATIENCE_SECONDS, ROOT, a_stage

pytestmark = pytest.mark.slow

HELLO = "hello [[text: good day]]"


@pytest.fixture
async def stage(fresh):
    async with a_stage(fresh) as stage:
        yield stage


@dataclass
class Browser:
    """An EventSource: what it was told, and the id that it would come back with."""

    state: State = field(default_factory=State)
    events: list = field(default_factory=list)
    named: list = field(default_factory=list)
    last_id: str = ""
    over: bool = False
    news: object = field(default_factory=trio.lowlevel.ParkingLot, repr=False)

    async def read(self, answer):
        name, data = "message", []
        async for line in answer.aiter_lines():
            kind, _, value = line.partition(": ")
            match kind:
                case "id":
                    self.last_id = value
                case "event":
                    name = value
                case "data":
                    data.append(value)
                case "" if data:
                    self._dispatch(name, json.loads("\n".join(data)))
                    name, data = "message", []
        self.over = True
        self.news.unpark_all()

    def _dispatch(self, name, event):
        if name == "message":
            self.events.append(event)
            self.state.hear(event)
        else:
            self.named.append((name, event))
        self.news.unpark_all()

    async def until(self, condition):
        with trio.fail_after(PATIENCE_SECONDS):
            while not condition():
                await self.news.park()


@asynccontextmanager
async def an_event_stream(stage, chat, query="", *, browser=None, **headers):
    browser = browser or Browser()
    named = {CALLER: str(ANN), **headers}
    path = f"{stage.url}{ROOT}/{chat}/stream/sse{query}"
    async with stage.client.stream("GET", path, headers=named) as answer:
        assert 200 == answer.status_code
        assert "text/event-stream; charset=utf-8" == answer.headers["content-type"]
        async with trio.open_nursery() as nursery:
            nursery.start_soon(browser.read, answer)
            yield browser
            nursery.cancel_scope.cancel()


async def test_an_event_stream_tells_what_a_socket_tells(stage):
    chat = await stage.create(HELLO)
    async with stage.watch(chat) as watcher:
        await watcher.until(status("waiting"))
    async with stage.watch(chat) as watcher, an_event_stream(stage, chat) as browser:
        await watcher.until(status("waiting"))
        await browser.until(lambda: browser.state.status == "waiting")
        await stage.send(chat, HELLO)
        await watcher.until(lambda state: state.statuses[1:] == ["running", "waiting"])
        await browser.until(lambda: len(browser.events) == len(watcher.events))

    assert [sparse(event) for event in watcher.events] == browser.events


def sparse(event):
    """An event without the empty fields of its parts, but for their texts."""
    told = json.loads(json.dumps(event))
    holders = [told.get("message", {}), *told.get("queued_messages", ())]
    lists = [holder["content"] for holder in holders if "content" in holder]
    piece = told.get("message_part")
    for part in [part for parts in lists for part in parts] + ([piece["part"]] if piece else []):
        for name in [name for name in part if name != "text" and part[name] in ("", 0, None)]:
            del part[name]
    return told


async def test_a_piece_of_text_is_a_few_words_and_no_list_of_empty_fields(stage):
    chat = await stage.create_in_pieces()
    async with an_event_stream(stage, chat) as browser:
        await browser.until(lambda: browser.state.preview == "goo")

    pieces = [event["message_part"] for event in browser.events if "message_part" in event]
    assert pieces
    assert [{"type", "text"}] * len(pieces) == [set(piece["part"]) for piece in pieces]


async def test_a_browser_that_comes_back_goes_on_inside_the_message(stage):
    chat = await stage.create_in_pieces()
    async with an_event_stream(stage, chat) as browser:
        await browser.until(lambda: browser.state.preview == "goo")
    kept = browser.state.parts[:1]
    part = kept[0]
    place = f"{part['history_version']}.{part['generation_attempt']}.{part['seq']}"

    again = Browser(state=State(parts=list(kept)))
    headers = {"last-event-id": place}
    async with an_event_stream(stage, chat, browser=again, **headers):
        await again.until(lambda: again.state.preview == "goo")

    assert browser.last_id == again.last_id
    assert browser.last_id.endswith(f".{len(browser.state.parts)}")
    assert {"status", "message_part"} == {event["type"] for event in again.events}


async def test_a_browser_that_comes_back_between_turns_gets_only_what_is_new(stage):
    chat = await stage.create(HELLO)
    async with an_event_stream(stage, chat) as browser:
        await browser.until(lambda: browser.state.status == "waiting")

    headers = {"last-event-id": browser.last_id}
    async with an_event_stream(stage, chat, **headers) as again:
        await again.until(lambda: again.state.status == "waiting")
        assert {} == again.state.messages
        await stage.send(chat, HELLO)
        await again.until(lambda: again.state.statuses[1:] == ["running", "waiting"])

    assert str(max(browser.state.messages)) == browser.last_id
    assert 2 == len(again.state.messages)


async def test_what_was_seen_last_counts_more_than_the_address(stage):
    chat = await stage.create(HELLO)
    async with an_event_stream(stage, chat) as browser:
        await browser.until(lambda: browser.state.status == "waiting")
    first, last = sorted(browser.state.messages)

    headers = {"last-event-id": str(last)}
    async with an_event_stream(stage, chat, f"?after_id={first}", **headers) as again:
        await again.until(lambda: again.state.status == "waiting")
    async with an_event_stream(stage, chat, f"?after_id={first}") as other:
        await other.until(lambda: other.state.status == "waiting")

    assert ([], [last]) == (list(again.state.messages), list(other.state.messages))


async def test_a_silent_chat_shows_signs_of_life(stage, monkeypatch):
    monkeypatch.setattr(event_stream, "BEAT_SECONDS", 0.05)
    chat = await stage.create(HELLO)
    async with an_event_stream(stage, chat) as browser:
        await browser.until(lambda: len(browser.named) >= 2)

    assert {("heartbeat", "{}")} == {(name, json.dumps(said)) for name, said in browser.named}


async def test_an_event_stream_ends_with_a_word_when_the_process_does(stage):
    chat = await stage.create(HELLO)
    async with an_event_stream(stage, chat) as browser:
        await browser.until(lambda: browser.state.status == "waiting")
        stage.streaming.leave()
        await browser.until(lambda: browser.over)

    assert [("end", {"code": 1001, "reason": "the server is stopping"})] == browser.named


async def test_nothing_is_left_of_a_browser_that_hung_up(stage):
    chat = await stage.create(HELLO)
    for _ in range(3):
        async with an_event_stream(stage, chat) as browser:
            await browser.until(lambda: browser.state.status == "waiting")
    await stage.send(chat, HELLO)  # whoever is told something is found to have gone

    with trio.fail_after(PATIENCE_SECONDS):
        while stage.feeds.statistics().feeds:
            await stage.send(chat, HELLO)
            await trio.sleep(0.02)
