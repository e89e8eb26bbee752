"""What does an event cost that many watch, and what does a stream cost that is silent?

On paper: an event is encoded once (2 us) and packed once (1 us); what is paid for each watcher is
a task that wakes (5 us), a look into the log (2 us) and one write of bytes that are there already
(8 us). A bare trio-websocket loop wakes the same task and pays for a frame of its own each time,
and for a lock (20 us and more). So a thousand watchers of one chat should cost us less than the
floor, and five hundred chats with one watcher each, where nothing can be shared, about as much.

Each way is a server in a process of its own: the floor is `send_message` of the same text, in the
same portions. The clients are a third process that only reads. A silent stream is what the process
of ours has grown by for each of them: its connection, its tasks, its feed.
"""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Protocol
from uuid import UUID

import psutil
import trio
from trio_websocket import ConnectionClosed, WebSocketRequest, serve_websocket

from actors.law.change import Change
from actors.law.chat import Body, Message, Role
from actors.law.ids import ChatId, EpisodeKey, MessageId, UserId
from actors.law.parts.message import TextPart
from actors.law.requests import CreateChat, NewChat
from actors.law.transitions import create
from actors.streams.feeds.diff import ChatSnapshot, Position
from actors.streams.feeds.registry import open_chat_feeds
from actors.streams.previews import Preview, Previews
from adapters.chats.streams.events import encode_event
from adapters.chats.streams.events import encode_piece as as_piece
from adapters.chats.streams.serving import serve_socket
from adapters.http.endpoints import Upgrade
from adapters.http.host.server import HttpServer
from adapters.http.requests import HttpRequest
from adapters.postgres.bus import Switchboard
from bench.child_process import child_process, told
from bench.report import Target

QUESTION = "what does an event cost that many watch, and a stream that is silent?"
TARGETS = (
    Target("one_chat_ratio", "1 chat, 1,000 watchers: CPU of an event / floor", at_most=1.5),
    Target("many_chats_ratio", "500 chats, 1 watcher each: the same", at_most=1.5),
    Target("idle_kb", "KB of an open stream of a silent chat of its own", at_most=40),
)
SHAPES = {"one_chat": (1, 1_000), "many_chats": (500, 1)}  # chats, watchers of each
SILENT = (1_000, 1)
EVENTS = 60  # of each chat, in a round
ROUNDS = 3  # of each way, in turn; the best of each counts
LOOK_SECONDS = 0.002  # between two looks whether everybody has taken the event before
QUIET_SECONDS = 1.0  # before memory is looked at

ALIVE_SECONDS = 10.0  # between two signs of life of a client: whoever gives none is closed
PONG = bytes([0x8A, 0x80, 0, 0, 0, 0])

TEXT = "Beginners, please. "
AT = datetime(2030, 1, 1, tzinfo=UTC)
NEW = CreateChat(NewChat(ChatId(UUID(int=1)), UserId(UUID(int=2))), (Body(Role.USER, ()),))

UPGRADE = (
    "GET /{chat} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)


class Way(Protocol):
    """A server of events."""

    async def serve(self, listener: trio.SocketListener) -> None: ...

    def tell(self) -> None:
        """An event in every chat."""

    def is_read(self) -> bool:
        """Return whether every watcher has taken what was told."""


class Ours:
    """The host, feeds and their logs; only the database is left out."""

    def __init__(self, chats: int) -> None:
        self._chats = chats
        self._previews = Previews(as_piece)
        self._running = [self._previews.begin(EpisodeKey(_chat(n), 1, 1)) for n in range(chats)]
        self._log_bytes: Callable[[], int] = lambda: 0

    async def serve(self, listener: trio.SocketListener) -> None:
        async with open_chat_feeds(Stored(), encode_event, self._previews, Switchboard()) as feeds:

            async def answer(request: HttpRequest) -> Upgrade:
                chat = _chat(int(request.path.strip("/")))
                return Upgrade(partial(serve_socket, feeds=feeds, chat=chat, have=Position()))

            self._log_bytes = lambda: feeds.statistics().log_bytes
            await HttpServer(answer).serve([listener])

    def tell(self) -> None:
        for episode in self._running:
            episode.add(Role.ASSISTANT, TextPart(TEXT), alone=True)

    def is_read(self) -> bool:
        return self._log_bytes() == 0


class Stored:
    """A store in which every chat has one message, and an attempt that runs."""

    def __init__(self) -> None:
        made = create(NEW, now=AT)
        assert isinstance(made, Change)
        self._chat = replace(made.chat, generation_attempt=1)
        self._messages = (Message(MessageId(1), 1, AT, False, made.added[0]),)

    async def snapshot(self, chat: ChatId, have: Position) -> ChatSnapshot:
        await trio.lowlevel.checkpoint()
        return ChatSnapshot(replace(self._chat, id=chat), self._messages, 0, (), (), ())

    async def newer_snapshots(self, known: Mapping[ChatId, int]) -> Mapping[ChatId, int]:
        await trio.lowlevel.checkpoint()
        return {}


@dataclass
class Group:
    """The watchers of a chat, of the floor."""

    text: str = ""
    waiting: trio.lowlevel.ParkingLot = field(default_factory=trio.lowlevel.ParkingLot)


class Floor:
    """trio-websocket, and nothing else."""

    def __init__(self, chats: int) -> None:
        self._groups = [Group() for _ in range(chats)]
        self._watchers = 0

    async def serve(self, listener: trio.SocketListener) -> None:
        port = listener.socket.getsockname()[1]
        listener.socket.close()
        await serve_websocket(self._watch, "127.0.0.1", port, ssl_context=None)

    async def _watch(self, request: WebSocketRequest) -> None:
        group = self._groups[int(request.path.strip("/"))]
        socket = await request.accept()
        self._watchers += 1
        try:
            while True:
                await group.waiting.park()
                await socket.send_message(group.text)
        except ConnectionClosed:
            return

    def tell(self) -> None:
        for number, group in enumerate(self._groups):
            group.text = _frame(number)
            group.waiting.unpark_all()

    def is_read(self) -> bool:
        return sum(len(group.waiting) for group in self._groups) == self._watchers


def _chat(number: int) -> ChatId:
    return ChatId(UUID(int=number + 1))


def _frame(number: int) -> str:
    """Return a frame as our own streams make it."""
    episode = Preview(EpisodeKey(_chat(number), 1, 1), as_piece)
    episode.add(Role.ASSISTANT, TextPart(TEXT), alone=True)
    return f"[{episode.encoded[0].decode()}]\n"


# the process of a server: it does what it is told on its standard input


async def serve(name: str, chats: int) -> None:
    way: Way = Ours(chats) if name == "ours" else Floor(chats)
    [listener] = await trio.open_tcp_listeners(0, host="127.0.0.1", backlog=4096)
    commands = trio.lowlevel.FdStream(sys.stdin.fileno())
    async with trio.open_nursery() as nursery:
        nursery.start_soon(way.serve, listener)
        _say({"port": listener.socket.getsockname()[1], "rss": _rss()})
        async for command in commands:
            if command.strip() == b"go":
                _say({"cpu_seconds": await _tell_all(way)})
            else:
                await trio.sleep(QUIET_SECONDS)
                _say({"rss": _rss()})
        nursery.cancel_scope.cancel()


async def _tell_all(way: Way) -> float:
    began = time.process_time()
    for _ in range(EVENTS):
        way.tell()
        while not way.is_read():  # noqa: ASYNC110  nobody tells
            await trio.sleep(LOOK_SECONDS)
    return time.process_time() - began


def _rss() -> int:
    return int(psutil.Process().memory_info().rss)


def _say(said: Mapping[str, float]) -> None:
    print(json.dumps(said), flush=True)


# the process of the clients: they only read


async def watch(port: int, chats: int, watchers: int) -> None:
    async def read(chat: int) -> None:
        stream = await trio.open_tcp_stream("127.0.0.1", port)
        await stream.send_all(UPGRADE.format(chat=chat).encode())
        await stream.receive_some(65536)
        streams.append(stream)
        opened.release()
        while await stream.receive_some(65536):
            pass

    async def live() -> None:
        while True:
            await trio.sleep(ALIVE_SECONDS)
            for stream in streams:
                await stream.send_all(PONG)

    opened = trio.Semaphore(0)
    streams: list[trio.SocketStream] = []
    async with trio.open_nursery() as nursery:
        for number in range(chats * watchers):
            nursery.start_soon(read, number % chats)
            await opened.acquire()
        nursery.start_soon(live)
        print("ready", flush=True)
        await trio.lowlevel.wait_readable(sys.stdin.fileno())  # closed at the end
        nursery.cancel_scope.cancel()


# who measures


@contextmanager
def _watched(way: str, shape: Sequence[int]) -> Iterator[tuple["subprocess.Popen[str]", float]]:
    """A server with its watchers, and how large it was without them."""
    with child_process("bench.fanout", "serve", way, shape[0]) as server:
        first = told(server)
        with child_process("bench.fanout", "watch", int(first["port"]), *shape) as clients:
            assert clients.stdout is not None
            assert clients.stdout.readline().strip() == "ready"
            yield server, first["rss"]


def measure() -> dict[str, float]:
    figures: dict[str, float] = {}
    for name, shape in SHAPES.items():
        delivered = shape[0] * shape[1] * EVENTS
        with _watched("floor", shape) as (floor, _), _watched("ours", shape) as (ours, _):
            spent: dict[str, list[float]] = {"floor": [], "ours": []}
            for _ in range(ROUNDS):
                spent["floor"].append(told(floor, "go")["cpu_seconds"])
                spent["ours"].append(told(ours, "go")["cpu_seconds"])
        for way, found in spent.items():
            figures[f"{name}_{way}_us"] = min(found) / delivered * 1e6
        figures[f"{name}_ratio"] = figures[f"{name}_ours_us"] / figures[f"{name}_floor_us"]
    with _watched("ours", SILENT) as (ours, before):
        figures["idle_kb"] = (told(ours, "rss")["rss"] - before) / SILENT[0] / 1024
    return figures


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        trio.run(serve, sys.argv[2], int(sys.argv[3]))
    else:
        trio.run(watch, *map(int, sys.argv[2:]))
