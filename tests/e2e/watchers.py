"""Watchers that come back whenever a connection ends, each by its own rules of the protocol."""

import contextlib
import json
from dataclasses import dataclass, field
from urllib.parse import urlencode, urlsplit

import httpx2
import msgspec
import trio
from trio_websocket import ConnectionClosed, HandshakeError, wrap_client_stream

from promptcorner_client.async_client import AsyncClient
from tests.adapters.chats.streams.clients import State
from tests.patience import PATIENCE_SECONDS

HEADER = "Coder-Session-Token"
AGAIN_SECONDS = 0.05
HANDSHAKE_SECONDS_MAX = 20.0
GONE = (httpx2.TransportError, OSError)


@dataclass
class Watcher:
    """What it knows, over however many connections."""

    url: str
    token: str
    chat: str
    state: State = field(default_factory=State)
    came: int = 0
    closed: list = field(default_factory=list)  # the codes that it was told
    news: object = field(default_factory=trio.lowlevel.ParkingLot, repr=False)
    choose_url: object = field(default=None, repr=False)  # of the next connection; None: the same

    async def watch(self):
        """Until it is cancelled."""
        while True:
            self.came += 1
            if self.choose_url is not None:
                self.url = self.choose_url()
            with contextlib.suppress(*GONE):
                await self._connected(f"/api/experimental/chats/{self.chat}/stream")
            await trio.sleep(AGAIN_SECONDS)

    def told_of(self, messages):
        """Stored messages as it is told of them, by their numbers."""
        return {message["id"]: message for message in messages}

    async def until(self, condition, seconds):
        with trio.fail_after(seconds):
            while not condition(self.state):
                await self.news.park()

    @property
    def last_id(self):
        return max(self.state.messages, default=0)

    @property
    def place(self):
        """Of the last piece of the preview."""
        if not self.state.parts:
            return ""
        part = self.state.parts[-1]
        return f"{part['history_version']}.{part['generation_attempt']}.{part['seq']}"

    def _hear(self, event):
        self.state.hear(event)
        self.news.unpark_all()


def without_empty(part):
    return {name: value for name, value in part.items() if value or name == "text"}


class Socket(Watcher):
    """Says which messages it has, as the protocol's own clients do."""

    def _have(self):
        return {"after_id": self.last_id}

    async def _connected(self, path):
        address, target = urlsplit(self.url), f"{path}?{urlencode(self._have())}"
        stream = await trio.open_tcp_stream(address.hostname, address.port)
        try:
            async with stream, trio.open_nursery() as nursery:
                # The library waits for ever for an answer to a handshake that a killed daemon owes.
                with trio.fail_after(HANDSHAKE_SECONDS_MAX):
                    socket = await wrap_client_stream(
                        nursery,
                        stream,
                        address.netloc,
                        target,
                        extra_headers=[(HEADER, self.token)],
                    )
                while True:
                    for event in json.loads(await socket.get_message()):
                        self._hear(event)
        except* ConnectionClosed as closed:
            self.closed += [end.reason.code for end in closed.exceptions if end.reason]
        except* (HandshakeError, trio.TooSlowError):
            pass  # there is nobody, or nobody who is ready


class ResumingSocket(Socket):
    """Says which pieces it has as well."""

    def _have(self):
        return {"after_id": self.last_id, "after_part": self.place}


class Browser(Watcher):
    """Server-sent events: says what it has heard last. Parts have no empty fields."""

    last = ""

    def told_of(self, messages):
        return super().told_of(
            {**message, "content": [without_empty(part) for part in message["content"]]}
            for message in messages
        )

    async def _connected(self, path):
        headers = {HEADER: self.token, **({"last-event-id": self.last} if self.last else {})}
        asked = httpx2.AsyncClient(base_url=self.url, headers=headers, timeout=PATIENCE_SECONDS)
        async with asked as client, client.sse(f"{path}/sse") as stream:
            async for event in stream:
                if event.event == "message" and event.data:
                    self._hear(json.loads(event.data))
                    self.last = event.id or self.last


class OurClient(Watcher):
    """The Python client, which hides that there are connections."""

    async def _connected(self, path):
        ours = AsyncClient(self.url, self.token)
        async with ours as client, client.follow(self.chat) as events:
            async for event in events:
                self._hear(json.loads(msgspec.json.encode(event)))


KINDS = (Socket, ResumingSocket, Browser, OurClient)
