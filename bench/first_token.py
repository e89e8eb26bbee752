"""What does the whole daemon add: to a first token, to every delta, to an interrupt; and its CPU?

On paper: from the POST to the model's first byte stand the door, the admission (one statement), the
transaction that puts the chat to work (two trips), the history (one trip), and a request to the
model: some 5 ms with nobody else about. From a delta's first byte to the watcher's it is one read,
one event, one write: 0.1 ms. Paced like real models (20 ms between deltas), 500 chats are 25,000
deltas a second, and at 60 us each more than one core can do: reads then bring several events at
once, and cost less. A turn of 100 deltas without any pause is a handful of reads, two commits and
some frames: 2 to 3 ms.

The model is a process of its own that writes into every delta when it was asked and when it sent
it, by the machine's monotonic clock; the clients, in the process that measures, read that clock
when they see it. So both halves of what the daemon adds are measured by one clock, and the model's
own pauses are in neither. The daemon is the real one, with its own database.
"""

import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import msgspec
import psutil
import trio

from bench.fixtures import COMMAND
from bench.report import Target

QUESTION = "what does the whole daemon add to a turn, and what does it cost?"
CHATS = 500
TARGETS = (
    Target("first_token_p50_ms", f"{CHATS} paced chats: added to a first token, p50", at_most=3),
    Target("first_token_p99_ms", "the same, p99", at_most=25),
    Target("interrupt_p99_ms", "POST of an interrupt -> waiting at the watcher, p99", at_most=50),
    Target("turn_cpu_ms", "the daemon's CPU of a turn of 100 deltas, one watcher", at_most=2.8),
)
DELTAS, DELTA_SECONDS = 100, 0.02
SPREAD_SECONDS = DELTAS * DELTA_SECONDS  # chats begin one after the other, as people do
INTERRUPTED = 100  # of the chats under way
PACED_TURNS = 2  # of each chat
FAST_TURNS = 4  # of each chat, without any pause
OPENING = 32  # chats that are made at the same time
READ_BYTES = 65_536
TOKEN = "a-token-of-the-bench-0123456789"
SETTLE_SECONDS = 1.0
PATIENCE_SECONDS = 240.0

HEADERS = f"Host: 127.0.0.1\r\nCoder-Session-Token: {TOKEN}\r\nX-Coder-Bypass-Ratelimit: true\r\n"
CHATS_PATH = "/api/experimental/chats"


# the model


HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
LAST = '{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}'


@dataclass
class Saying:
    """An answer under way."""

    stream: trio.SocketStream
    asked: float
    due: float
    said: int = 0


class Model:
    """Answers whatever it is asked. One task sends what is due, to all of them."""

    def __init__(self) -> None:
        self._saying: list[Saying] = []

    async def converse(self, stream: trio.SocketStream) -> None:
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        rest = b""
        while True:
            while b"\r\n\r\n" not in rest:
                data = await stream.receive_some(READ_BYTES)
                if not data:
                    return
                rest += data
            head, _, rest = rest.partition(b"\r\n\r\n")
            size = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
            while len(rest) < size:
                rest += await stream.receive_some(READ_BYTES)
            body, rest = rest[:size], rest[size:]
            asked = time.monotonic()
            if b'"stream":true' not in body.replace(b" ", b""):
                await stream.send_all(_whole())
            elif b"fast" in body[body.rfind(b'"user"') :]:
                pieces = [_piece(asked) for _ in range(DELTAS)]
                await stream.send_all(HEAD + b"".join(pieces) + _end())
            else:
                await stream.send_all(HEAD)
                self._saying.append(Saying(stream, asked, asked))

    async def pace(self) -> None:
        while True:
            now = time.monotonic()
            for saying in [each for each in self._saying if each.due <= now]:
                over = saying.said == DELTAS
                try:
                    saying.stream.socket._sock.send(_end() if over else _piece(saying.asked))
                except OSError:  # interrupted
                    over = True
                saying.said += 1
                saying.due += DELTA_SECONDS
                if over:
                    self._saying.remove(saying)
            await trio.sleep(0.001)


def _piece(asked: float) -> bytes:
    text = f"{asked:.6f} {time.monotonic():.6f};"
    return _chunk(f'{{"choices":[{{"index":0,"delta":{{"content":"{text}"}}}}]}}')


def _chunk(event: str) -> bytes:
    line = f"data: {event}\n\n".encode()
    return b"%x\r\n%s\r\n" % (len(line), line)


def _end() -> bytes:
    return _chunk(LAST) + _chunk("[DONE]") + b"0\r\n\r\n"


def _whole() -> bytes:
    body = b'{"choices":[{"index":0,"message":{"role":"assistant","content":"Title"},'
    body += b'"finish_reason":"stop"}]}'
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
    return head % len(body) + body


async def serve_model() -> None:
    model = Model()
    [listener] = await trio.open_tcp_listeners(0, host="127.0.0.1", backlog=4096)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(model.pace)
        nursery.start_soon(partial(trio.serve_listeners, model.converse, [listener]))
        print(listener.socket.getsockname()[1], flush=True)


@contextmanager
def a_model() -> Iterator[str]:
    words = [sys.executable, "-m", "bench.first_token"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}/v1"
        finally:
            process.terminate()


# the daemon


@contextmanager
def a_daemon(
    model: str, command: Sequence[str] = COMMAND, **settings: str
) -> Iterator[tuple[int, psutil.Process]]:
    """Start a daemon with `command`; yield its port and its process, and end it in good order."""
    with tempfile.TemporaryDirectory(prefix="promptcorner-bench-") as home:
        os.chmod(home, 0o711)
        log = Path(home) / "log"
        environ = {
            **os.environ,
            "PROMPTCORNER_CONFIG": "/dev/null",
            "PROMPTCORNER_ADMIN_TOKEN": TOKEN,
            "PROMPTCORNER_SUMMARIES": "off",  # they are turns of their own
            "OPENAI_COMPAT_BASE_URL": model,
            **settings,
        }
        words = [*command, "serve", "--listen=127.0.0.1:0", f"--data-dir={home}/data"]
        with log.open("wb") as errors, subprocess.Popen(words, env=environ, stderr=errors) as it:
            try:
                yield _port(log, it), psutil.Process(it.pid)
            finally:
                it.terminate()


def _port(log: Path, process: "subprocess.Popen[bytes]") -> int:
    while process.poll() is None:
        for line in log.read_text().splitlines():
            if line.startswith("{") and '"daemon.ready"' in line:
                return int(json.loads(line)["listen"].rpartition(":")[2])
        time.sleep(0.05)
    raise RuntimeError(f"the daemon did not start\n{log.read_text()}")


# the clients


class Part(msgspec.Struct):
    text: str = ""


class MessagePart(msgspec.Struct):
    part: Part


class Status(msgspec.Struct):
    status: str


class Event(msgspec.Struct):
    type: str
    message_part: MessagePart | None = None
    status: Status | None = None


events_of = msgspec.json.Decoder(list[Event]).decode


class Requests:
    """A connection for requests, one after the other."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._stream: trio.SocketStream | None = None

    async def ask(self, method: str, path: str, document: object = None) -> msgspec.Raw:
        if self._stream is None:
            self._stream = await trio.open_tcp_stream("127.0.0.1", self._port)
        body = b"" if document is None else msgspec.json.encode(document)
        head = f"{method} {path} HTTP/1.1\r\n{HEADERS}Content-Length: {len(body)}\r\n\r\n"
        await self._stream.send_all(head.encode() + body)
        answer = b""
        while b"\r\n\r\n" not in answer:
            answer += await self._received()
        head_, _, rest = answer.partition(b"\r\n\r\n")
        size = int(head_.lower().partition(b"content-length:")[2].split(b"\r\n")[0] or 0)
        while len(rest) < size:
            rest += await self._received()
        assert head_.split(b" ")[1][:1] == b"2", answer
        return msgspec.Raw(rest)

    async def _received(self) -> bytes:
        assert self._stream is not None
        data = bytes(await self._stream.receive_some(READ_BYTES))
        assert data, "the daemon hung up"
        return data


@dataclass
class Chat:
    """One chat and its watcher."""

    requests: Requests
    port: int
    organization: str
    id: str = ""
    posted: float = 0.0  # when the turn under way was asked for
    first_ms: list[float] = field(default_factory=list)  # added to a first token
    delta_ms: list[float] = field(default_factory=list)  # from the model's socket to the watcher
    is_new: bool = False  # nothing has been seen of the turn
    waiting_at: float = 0.0
    over: trio.Event = field(default_factory=trio.Event)

    async def create(self) -> None:
        said = {"organization_id": self.organization, "content": text_part("fast")}
        made = msgspec.json.decode(await self.requests.ask("POST", CHATS_PATH, said))
        self.id = made["id"]

    async def turn(self, text: str) -> None:
        self.begin()
        await self.requests.ask(
            "POST", f"{CHATS_PATH}/{self.id}/messages", {"content": text_part(text)}
        )
        await self.over.wait()

    def begin(self) -> None:
        self.over, self.is_new, self.posted = trio.Event(), True, time.monotonic()

    async def interrupt(self) -> float:
        """Milliseconds until it is `waiting`."""
        began = time.monotonic()
        await self.requests.ask("POST", f"{CHATS_PATH}/{self.id}/interrupt")
        await self.over.wait()
        return (self.waiting_at - began) * 1e3

    async def watch(self, opened: Callable[[], None] = lambda: None) -> None:
        stream = await trio.open_tcp_stream("127.0.0.1", self.port)
        await stream.send_all(
            f"GET {CHATS_PATH}/{self.id}/stream HTTP/1.1\r\n{HEADERS}Connection: Upgrade\r\n"
            "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode()
        )
        rest = b""
        while b"\r\n\r\n" not in rest:
            rest += await stream.receive_some(READ_BYTES)
        rest = rest.partition(b"\r\n\r\n")[2]
        opened()
        while True:
            now = time.monotonic()
            while (found := _frame(rest)) is not None:
                opcode, payload, rest = found
                if opcode == 9:  # a ping, answered with a mask of zeros
                    await stream.send_all(bytes([0x8A, 0x80 | len(payload), 0, 0, 0, 0]) + payload)
                else:
                    self._hear(payload, now)
            data = await stream.receive_some(READ_BYTES)
            if not data:
                return
            rest += data

    def _hear(self, payload: bytes, now: float) -> None:
        for event in events_of(payload):
            if event.message_part is not None:
                self._hear_part(event.message_part.part.text, now)
            elif event.status is not None and event.status.status == "waiting":
                self.waiting_at = now
                self.over.set()

    def _hear_part(self, text: str, now: float) -> None:
        for stamps in text.split(";")[:-1]:
            asked, sent = map(float, stamps.split())
            self.delta_ms.append((now - sent) * 1e3)
            if self.is_new:
                self.is_new = False
                self.first_ms.append((asked - self.posted + now - sent) * 1e3)


def text_part(text: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": text}]


def _frame(data: bytes) -> tuple[int, bytes, bytes] | None:
    """(opcode, payload, what is behind it) of a frame that is whole."""
    if len(data) < 2:
        return None
    length, at = data[1] & 0x7F, 2
    if length >= 126:
        at = 4 if length == 126 else 10
        if len(data) < at:
            return None
        length = int.from_bytes(data[2:at], "big")
    if len(data) < at + length:
        return None
    return data[0] & 0x0F, data[at : at + length], data[at + length :]


@asynccontextmanager
async def chats(port: int, count: int, kind: type[Chat] = Chat) -> AsyncIterator[list[Chat]]:
    """Make `count` chats that are at rest, each with its watcher."""
    me = await Requests(port).ask("GET", "/api/v2/users/me")
    [organization, *_] = msgspec.json.decode(me)["organization_ids"]
    made = [kind(Requests(port), port, organization) for _ in range(count)]
    room = trio.CapacityLimiter(OPENING)

    async def open_one(chat: Chat, nursery: trio.Nursery) -> None:
        async with room:
            await chat.create()
            nursery.start_soon(chat.watch)
            await chat.over.wait()

    async with trio.open_nursery() as watchers:
        async with trio.open_nursery() as nursery:
            for chat in made:
                nursery.start_soon(open_one, chat, watchers)
        yield made
        watchers.cancel_scope.cancel()


# what is measured


async def _paced(made: Sequence[Chat], daemon: psutil.Process) -> dict[str, float]:
    for chat in made:
        chat.first_ms.clear()
        chat.delta_ms.clear()

    async def live(number: int, chat: Chat) -> None:
        await trio.sleep(SPREAD_SECONDS * number / len(made))
        for _ in range(PACED_TURNS):
            await chat.turn("slowly")

    before = _cpu_seconds(daemon)
    async with trio.open_nursery() as nursery:
        for number, chat in enumerate(made):
            nursery.start_soon(live, number, chat)
    first = [each for chat in made for each in chat.first_ms]
    deltas = [each for chat in made for each in chat.delta_ms]
    return {
        "first_token_p50_ms": percentile(first, 50),
        "first_token_p99_ms": percentile(first, 99),
        "delta_p50_ms": percentile(deltas, 50),
        "delta_p99_ms": percentile(deltas, 99),
        "delta_cpu_us": (_cpu_seconds(daemon) - before) / len(deltas) * 1e6,
    }


async def _interrupted(made: Sequence[Chat]) -> dict[str, float]:
    found: list[float] = []

    async def live(chat: Chat) -> None:
        chat.begin()
        said = {"content": text_part("slowly")}
        await chat.requests.ask("POST", f"{CHATS_PATH}/{chat.id}/messages", said)
        await trio.sleep(SPREAD_SECONDS / 4)
        found.append(await chat.interrupt())

    async with trio.open_nursery() as nursery:
        for number, chat in enumerate(made):
            await trio.sleep(SPREAD_SECONDS / 4 / len(made))
            nursery.start_soon(live, chat, name=f"chat {number}")
    return {
        "interrupt_p50_ms": percentile(found, 50),
        "interrupt_p99_ms": percentile(found, 99),
    }


async def _fast(made: Sequence[Chat], daemon: psutil.Process) -> dict[str, float]:
    async def live(chat: Chat) -> None:
        for _ in range(FAST_TURNS):
            await chat.turn("fast")

    before, began = _cpu_seconds(daemon), time.monotonic()
    async with trio.open_nursery() as nursery:
        for chat in made:
            nursery.start_soon(live, chat)
    turns = len(made) * FAST_TURNS
    return {
        "turn_cpu_ms": (_cpu_seconds(daemon) - before) / turns * 1e3,
        "turns_per_second": turns / (time.monotonic() - began),
    }


async def _measured(port: int, daemon: psutil.Process) -> dict[str, float]:
    figures: dict[str, float] = {}
    with trio.fail_after(PATIENCE_SECONDS):
        async with chats(port, CHATS) as made:
            figures |= await _fast(made, daemon)
            few = await _paced(made[: CHATS // 10], daemon)
            figures |= {f"few_{name}": value for name, value in few.items()}
            figures |= await _paced(made, daemon)
            figures |= await _interrupted(made[:INTERRUPTED])
    return figures


def percentile(found: Sequence[float], share: int) -> float:
    return statistics.quantiles(found, n=100, method="inclusive")[share - 1]


def _cpu_seconds(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def measure() -> dict[str, float]:
    with a_model() as model, a_daemon(model) as (port, daemon):
        return trio.run(_measured, port, daemon)


if __name__ == "__main__":
    trio.run(serve_model)
