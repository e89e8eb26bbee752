"""How late are words, and what do they cost, when models speak at their pace: 20 ms a delta?

On paper: a delta is one read, one event, one frame and one write: some 25 us, of which the kernel
takes half. A turn is 100 of them, three statements' worth of database and some tasks: 2 ms. So 100
chats need a seventh of a core. 350 chats are 17,500 deltas a second, 500 are 25,000: at 25 us and
one delta a read this is more than half of a core; from there on reads have to bring several deltas.

The daemon has the first core to itself, the model and the clients share the second one, and the
database runs where it likes. The floor (`bench.paced_floor`) is a bare client of the same model on
the first core, before the daemon starts. Chats begin within 2.5 s, take 3 turns each, and rest for
half a second between them. In their last turn some are interrupted half-way.

`python -m bench paced` asks 10, 100, 350 and 500 chats; PACED_CHATS="100,350" others. A row counts
only if model and clients together took less than 80 % of their core: `others_percent`.
"""

import json
import os
import re
import select
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field

import msgspec
import psutil
import trio

from bench.first_token import CHATS_PATH, HEADERS, Requests, a_daemon, events_of, text_part
from bench.fixtures import COMMAND
from bench.paced_model import READ_BYTES
from bench.report import Target

QUESTION = "how late are words, and what do they cost, at the pace of real models?"
LOADS = tuple(map(int, os.environ.get("PACED_CHATS", "10,100,350,500").split(",")))
TARGETS = (
    Target("100_cpu_ratio", "100 chats: the daemon's CPU of a turn / the floor's", at_most=1.5),
    Target("350_first_p50_ms", "350 chats on one core: first words later by, p50", at_most=8),
    Target("350_first_p99_ms", "the same, p99", at_most=40),
    Target("500_first_p50_ms", "500 chats on one core: first words later by, p50", at_most=40),
    Target("500_first_p99_ms", "the same, p99", at_most=200),
    Target("500_delta_p99_ms", "the same: deltas later by, p99", at_most=80),
    Target("500_interrupt_p99_ms", "the same: POST of an interrupt -> waiting, p99", at_most=100),
)
TURNS = 3
SPREAD_SECONDS, PAUSE_SECONDS = 2.5, 0.5
INTERRUPTED_SHARE = 5  # one chat of so many, in its last turn
OPENING = 16  # chats that are made at the same time
PATIENCE_SECONDS = 60.0  # for the chats of one load
SETTLE_SECONDS = 1.0
SERIES = re.compile(
    r"(?m)^promptcorner_(?:chatd_message_stage|loop_trip)_seconds_(sum|count)({[^}]*})? (.+)$"
)
OURS, THEIRS = "0", "1"  # cores
SOCKETS_AT_ONCE = 512


@contextmanager
def on_core(core: str, module: str, *words: object) -> Iterator["subprocess.Popen[str]"]:
    command = ["taskset", "-c", core, sys.executable, "-m", module, *map(str, words)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()


def line_of(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    return process.stdout.readline()


# the clients


class Watchers:
    """Reads the sockets of all watchers in one task, as cheaply as can be."""

    def __init__(self) -> None:
        self._epoll = select.epoll()
        self._chats: dict[int, PacedChat] = {}

    def add(self, chat: "PacedChat", stream: trio.SocketStream) -> None:
        descriptor = stream.socket.fileno()
        self._chats[descriptor] = chat
        self._epoll.register(descriptor, select.EPOLLIN)

    async def run(self) -> None:
        while True:
            await trio.lowlevel.wait_readable(self._epoll.fileno())
            for descriptor, _ in self._epoll.poll(0, SOCKETS_AT_ONCE):
                data = os.read(descriptor, READ_BYTES)
                if not data:
                    self._epoll.unregister(descriptor)
                self._chats[descriptor].read(data, time.monotonic())


@dataclass(eq=False)
class PacedChat:
    """A chat and its watcher."""

    requests: Requests
    port: int
    id: str = ""
    descriptor: int = -1  # of the watcher's socket
    rest: bytes = b""
    posted: float = 0.0
    first_ms: list[float] = field(default_factory=list)
    asked_ms: list[float] = field(default_factory=list)  # until the model had the request
    delta_ms: list[float] = field(default_factory=list)
    interrupt_ms: list[float] = field(default_factory=list)
    turn_ms: list[float] = field(default_factory=list)
    is_new: bool = False  # nothing has been seen of the turn
    waiting_at: float = 0.0
    over: trio.Event = field(default_factory=trio.Event)

    async def create(self, organization: str) -> None:
        said = {"organization_id": organization, "content": text_part("hello")}
        self.id = msgspec.json.decode(await self.requests.ask("POST", CHATS_PATH, said))["id"]

    async def watch(self, watchers: Watchers) -> trio.SocketStream:
        stream = await trio.open_tcp_stream("127.0.0.1", self.port)
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        await stream.send_all(
            f"GET {CHATS_PATH}/{self.id}/stream HTTP/1.1\r\n{HEADERS}Connection: Upgrade\r\n"
            "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode()
        )
        rest = b""
        while b"\r\n\r\n" not in rest:
            rest += await stream.receive_some(READ_BYTES)
        watchers.add(self, stream)
        self.descriptor = stream.socket.fileno()
        self.read(rest.partition(b"\r\n\r\n")[2], time.monotonic())
        return stream

    async def turn(self) -> None:
        self.over, self.is_new, self.posted = trio.Event(), True, time.monotonic()
        said = {"content": text_part("go on")}
        await self.requests.ask("POST", f"{CHATS_PATH}/{self.id}/messages", said)
        await self.over.wait()
        self.turn_ms.append((self.waiting_at - self.posted) * 1e3)

    async def interrupt(self, wait_seconds: float) -> None:
        await trio.sleep(wait_seconds)
        began = time.monotonic()
        await self.requests.ask("POST", f"{CHATS_PATH}/{self.id}/interrupt")
        await self.over.wait()
        self.interrupt_ms.append((self.waiting_at - began) * 1e3)

    def read(self, data: bytes, now: float) -> None:
        data = self.rest + data
        at = 0
        while (whole := _whole_frame(data, at)) is not None:
            is_ping = data[at] & 0x0F == 9
            begin, at = whole
            if is_ping:  # answered with a mask of zeros
                os.write(
                    self.descriptor, bytes([0x8A, 0x80 | at - begin, 0, 0, 0, 0]) + data[begin:at]
                )
                continue
            for event in events_of(data[begin:at]):
                if event.message_part is not None:
                    self._hear(event.message_part.part.text, now)
                elif event.status is not None and event.status.status == "waiting":
                    self.waiting_at = now
                    self.over.set()
        self.rest = data[at:]

    def _hear(self, text: str, now: float) -> None:
        for stamps in text.split(";")[:-1]:
            asked, sent = map(float, stamps.split())
            self.delta_ms.append((now - sent) * 1e3)
            if self.is_new:
                self.is_new = False
                self.asked_ms.append((asked - self.posted) * 1e3)
                self.first_ms.append((asked - self.posted + now - sent) * 1e3)


def _whole_frame(data: bytes, at: int) -> tuple[int, int] | None:
    """(begin, end) of the payload of the frame that begins here, if it is whole."""
    if len(data) < at + 2:
        return None
    length, begin = data[at + 1], at + 2
    if length == 126:
        length, begin = int.from_bytes(data[at + 2 : at + 4], "big"), at + 4
    elif length == 127:
        length, begin = int.from_bytes(data[at + 2 : at + 10], "big"), at + 10
    return (begin, begin + length) if len(data) >= begin + length else None


@asynccontextmanager
async def chats(port: int, count: int) -> AsyncIterator[list[PacedChat]]:
    """Make `count` chats that have ended their first turn, each with its watcher."""
    me = await Requests(port).ask("GET", "/api/v2/users/me")
    [organization, *_] = msgspec.json.decode(me)["organization_ids"]
    made = [PacedChat(Requests(port), port) for _ in range(count)]
    watchers, room = Watchers(), trio.CapacityLimiter(OPENING)
    streams: list[trio.SocketStream] = []

    async def open_one(chat: PacedChat) -> None:
        async with room:
            await chat.create(organization)
            streams.append(await chat.watch(watchers))
        await chat.over.wait()

    async with trio.open_nursery() as reading:
        reading.start_soon(watchers.run)
        async with trio.open_nursery() as nursery:
            for chat in made:
                nursery.start_soon(open_one, chat)
        yield made
        reading.cancel_scope.cancel()
    for stream in streams:
        await trio.aclose_forcefully(stream)


# what is measured


async def _loaded(port: int, count: int, ours: psutil.Process, model: int) -> dict[str, float]:
    others = [psutil.Process(), psutil.Process(model)]
    figures: dict[str, float] = {}
    with trio.fail_after(PATIENCE_SECONDS):
        async with chats(port, count) as made:
            for chat in made:
                chat.first_ms, chat.delta_ms, chat.asked_ms = [], [], []

            async def live(number: int, chat: PacedChat) -> None:
                await trio.sleep(SPREAD_SECONDS * number / count)
                for turn in range(TURNS):
                    async with trio.open_nursery() as nursery:
                        if turn == TURNS - 1 and number % INTERRUPTED_SHARE == 0:
                            nursery.start_soon(chat.interrupt, 0.5 + number / count)
                        await chat.turn()
                    await trio.sleep(PAUSE_SECONDS)

            stages = await told(port)
            used, took, began = cpu_seconds(ours), sum(map(cpu_seconds, others)), time.monotonic()
            async with trio.open_nursery() as nursery:
                for number, chat in enumerate(made):
                    nursery.start_soon(live, number, chat)
            seconds = time.monotonic() - began
            used = cpu_seconds(ours) - used
            took = sum(map(cpu_seconds, others)) - took
            figures |= means_since(stages, await told(port))
    deltas = [each for chat in made for each in chat.delta_ms]
    for name, found in {
        "asked": [each for chat in made for each in chat.asked_ms],
        "first": [each for chat in made for each in chat.first_ms],
        "delta": deltas,
        "interrupt": [each for chat in made for each in chat.interrupt_ms],
    }.items():
        for share in (50, 99):
            figures[f"{name}_p{share}_ms"] = percentile(found, share)
    # Interrupted turns are shorter, so turns are counted by their deltas.
    figures["turn_cpu_ms"] = used / len(deltas) * 100 * 1e3
    figures["daemon_percent"] = used / seconds * 100
    figures["others_percent"] = took / seconds * 100
    return figures


async def told(port: int) -> dict[str, tuple[float, float]]:
    """(sum of seconds, count) of the daemon's own histograms: stages of a message, trips."""
    page = bytes(await Requests(port).ask("GET", "/metrics")).decode()
    found: dict[str, list[float]] = {}
    for kind, name, value in SERIES.findall(page):
        found.setdefault(name, [0.0, 0.0])[kind == "count"] = float(value)
    return {name: (total, count) for name, (total, count) in found.items()}


def means_since(
    before: dict[str, tuple[float, float]], now: dict[str, tuple[float, float]]
) -> dict[str, float]:
    figures = {}
    for name, (total, count) in now.items():
        total_before, count_before = before.get(name, (0.0, 0.0))
        stage = name.partition('stage="')[2].partition('"')[0]
        title = f"stage_{stage}" if stage else "trip"
        figures[f"{title}_mean_ms"] = (total - total_before) / max(count - count_before, 1) * 1e3
    return figures


def percentile(found: Sequence[float], share: int) -> float:
    return statistics.quantiles(found, n=100, method="inclusive")[share - 1]


def cpu_seconds(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def _floor(port: int, count: int) -> dict[str, float]:
    words = (port, count, TURNS, SPREAD_SECONDS, PAUSE_SECONDS)
    with on_core(OURS, "bench.paced_floor", *words) as floor:
        found = json.loads(line_of(floor))
    late = found["late_ms"]
    return {
        "floor_turn_cpu_ms": found["turn_cpu_ms"],
        "floor_first_p50_ms": percentile(late, 50),
        "floor_first_p99_ms": percentile(late, 99),
    }


def let_database_run_anywhere(daemon: psutil.Process) -> None:
    """Free the daemon's children, which the database is among, from its core."""
    for child in daemon.children(recursive=True):
        child.cpu_affinity(list(range(psutil.cpu_count() or 1)))


def measure() -> dict[str, float]:
    figures: dict[str, float] = {}
    os.sched_setaffinity(0, {int(THEIRS)})
    floors = [count for count in LOADS if count == 100] or LOADS[:1]
    with on_core(THEIRS, "bench.paced_model") as model:
        port = int(line_of(model))
        for count in floors:
            figures |= {f"{count}_{name}": each for name, each in _floor(port, count).items()}
        command = ("taskset", "-c", OURS, *COMMAND)
        with a_daemon(f"http://127.0.0.1:{port}/v1", command) as (listens, daemon):
            let_database_run_anywhere(daemon)
            for count in LOADS:
                time.sleep(SETTLE_SECONDS)
                found = trio.run(_loaded, listens, count, daemon, model.pid)
                figures |= {f"{count}_{name}": each for name, each in found.items()}
                print(f"{count} chats: {found}", file=sys.stderr, flush=True)
    for count in floors:
        ratio = figures[f"{count}_turn_cpu_ms"] / figures[f"{count}_floor_turn_cpu_ms"]
        figures[f"{count}_cpu_ratio"] = ratio
    return figures
