"""Chats of an API with several processes behind it: one asks here and watches there."""

from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import httpx2
import msgspec
import trio
from trio_websocket import ConnectionClosed, HandshakeError, wrap_client_stream

from tests.e2e.processes import EVENTUALLY_SECONDS
from tests.patience import PATIENCE_SECONDS

ADMIN = "a-token-of-the-first-admin-for-these-tests"
HEADER = "Coder-Session-Token"
CHATS = "/api/experimental/chats"

_events = msgspec.json.Decoder(list[msgspec.Raw]).decode


@dataclass
class Seen:
    """What one watcher was told, as it came over the wire."""

    events: list = field(default_factory=list)
    frames: int = 0
    closed: int | None = None
    news: object = field(default_factory=trio.lowlevel.ParkingLot, repr=False)

    async def listen(self, socket):
        try:
            while True:
                for raw in _events((await socket.get_message()).encode()):
                    self.events.append(bytes(raw))
                self.frames += 1
                self.news.unpark_all()
        except ConnectionClosed as closed:
            self.closed = closed.reason.code if closed.reason else None
            self.news.unpark_all()

    async def until(self, condition, seconds=EVENTUALLY_SECONDS):
        with trio.fail_after(seconds):
            while not condition(self):
                assert self.closed is None, f"closed with {self.closed}"
                await self.news.park()

    @property
    def pieces(self):
        return [event for event in self.events if _type(event) == "message_part"]

    @property
    def types(self):
        return [_type(event) for event in self.events]

    @property
    def told(self):
        return [msgspec.json.decode(event) for event in self.events]

    @property
    def statuses(self):
        return [event["status"]["status"] for event in self.told if event["type"] == "status"]

    @property
    def answers(self):
        messages = [event["message"] for event in self.told if event["type"] == "message"]
        return len({m["id"] for m in messages if m["role"] == "assistant"})


def _type(event):
    return msgspec.json.decode(event)["type"]


def pieces(count):
    return lambda seen: len(seen.pieces) >= count


def over(seen):
    """At rest, with an answer."""
    return seen.statuses[-1:] == ["waiting"] and seen.answers > 0


def answered(times):
    return lambda seen: over(seen) and seen.answers >= times


@dataclass
class Site:
    """One address of the API."""

    url: str
    nursery: trio.Nursery
    organization: str = ""

    async def ask(self, method, path, document=None):
        async with httpx2.AsyncClient(
            base_url=self.url, headers={HEADER: ADMIN}, timeout=PATIENCE_SECONDS
        ) as client:
            answer = await client.request(method, path, json=document)
        assert answer.status_code < 300, answer.text
        return answer.json() if answer.content else None

    async def create(self, text):
        if not self.organization:
            me = await self.ask("GET", "/api/v2/users/me")
            [self.organization, *_] = me["organization_ids"]
        said = [{"type": "text", "text": text}]
        made = {"organization_id": self.organization, "content": said}
        return (await self.ask("POST", CHATS, made))["id"]

    async def send(self, chat, text):
        said = {"content": [{"type": "text", "text": text}]}
        await self.ask("POST", f"{CHATS}/{chat}/messages", said)

    async def watch(self, chat, query=""):
        """A watcher, once he is connected."""
        seen = Seen()
        await self.nursery.start(self._watch, chat, query, seen)
        return seen

    async def actors(self):
        return await self.ask("GET", "/debug/actors")

    async def _watch(self, chat, query, seen, task_status):
        address, target = urlsplit(self.url), f"{CHATS}/{chat}/stream{query}"
        stream = await trio.open_tcp_stream(address.hostname, address.port)
        try:
            async with stream, trio.open_nursery() as nursery:
                socket = await wrap_client_stream(
                    nursery, stream, address.netloc, target, extra_headers=[(HEADER, ADMIN)]
                )
                task_status.started()
                await seen.listen(socket)
                nursery.cancel_scope.cancel()
        except* (ConnectionClosed, HandshakeError, OSError):
            pass  # it was killed


@asynccontextmanager
async def sites(*daemons):
    async with trio.open_nursery() as nursery:
        yield [Site("http://" + each.wait_ready()["listen"], nursery) for each in daemons]
        nursery.cancel_scope.cancel()
