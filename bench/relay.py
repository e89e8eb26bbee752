"""What does a piece cost that is said in one process and watched in another?

On paper: here a piece is encoded, put into a log and written to its watcher, some 30 us. Over the
relay the holder notes that there is something (1 us), wakes one task for all chats of that process,
packs what has come (2 us a piece) and writes once; the other process reads, unpacks (20 us a
message, 2 us a piece) and tells its watcher as the holder would. So a piece should cost about twice
as much in all, less where many chats talk, and come half a millisecond later.

Three processes: one holds all chats, and has watchers of its own; one follows them there, and has
watchers as well; the third one is all clients, and measures. A piece says when it was made, by the
machine's monotonic clock.
"""

import json
import re
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from uuid import UUID

import trio

from actors.law.chat import Role
from actors.law.ids import ChatId, EpisodeKey, Holder, RunnerId, WorkerId
from actors.law.parts.message import TextPart
from actors.law.refusals import ChatNotFound
from actors.law.states import Status
from actors.streams.feeds.diff import ChatSnapshot, Position
from actors.streams.feeds.registry import ChatFeeds, open_chat_feeds
from actors.streams.previews import Previews
from actors.streams.relay.relays import open_relays
from adapters.chats.streams.events import encode_event
from adapters.chats.streams.events import encode_piece as as_piece
from adapters.chats.streams.serving import serve_socket
from adapters.http.door import route_not_found
from adapters.http.endpoints import Upgrade
from adapters.http.host.server import HttpServer
from adapters.http.requests import HttpRequest
from adapters.models.providers.dial import direct_dial, tls_context
from adapters.postgres.bus import Switchboard
from adapters.relay.dialler import Dialler
from adapters.relay.listener import RelayGate, RelayHost
from adapters.relay.protocol import RelayTickets
from bench.child_process import child_process, told
from bench.fanout import UPGRADE, Stored
from bench.report import Target

QUESTION = "what does a piece cost that is watched in another process, and how late does it come?"
TARGETS = (
    Target("added_p50_ms", "a piece comes later than at the holder's, p50", at_most=3),
    Target("added_p99_ms", "the same, p99", at_most=25),
    Target("cpu_ratio", "CPU of a piece in both processes / in one", at_most=3),
)
CHATS = 100  # each with one watcher
PAUSE_SECONDS = 0.05  # between two pieces of a chat
TICK_SECONDS = 0.001
SECONDS = 5.0
ROUNDS = 5  # of each way, in turn; the best of each counts
QUIET_SECONDS = 1.0  # after the last piece, for what is on its way
THERE, HERE = WorkerId(UUID(int=7)), WorkerId(UUID(int=8))
KEY = b"k" * 32
MADE_AT = re.compile(rb'"text":"([0-9.]+);')


class HeldThere(Stored):
    async def snapshot(self, chat: ChatId, have: Position) -> ChatSnapshot | ChatNotFound:  # type: ignore[override]
        found = await super().snapshot(chat, have)
        holder = Holder(THERE, RunnerId(chat))
        held = replace(found.chat, status=Status.RUNNING, holder=holder)
        return replace(found, chat=held)


def _key(number: int) -> EpisodeKey:
    return EpisodeKey(ChatId(UUID(int=number + 1)), 1, 1)


async def _serve_watchers(feeds: ChatFeeds, listener: trio.SocketListener) -> None:
    async def answer(request: HttpRequest) -> Upgrade:
        chat = _key(int(request.path.strip("/"))).chat
        return Upgrade(partial(serve_socket, feeds=feeds, chat=chat, have=Position()))

    await HttpServer(answer).serve([listener])


async def _listener() -> trio.SocketListener:
    [listener] = await trio.open_tcp_listeners(0, host="127.0.0.1", backlog=4096)
    return listener


def _port(listener: trio.SocketListener) -> int:
    return int(listener.socket.getsockname()[1])


def _say(said: Mapping[str, float]) -> None:
    print(json.dumps(said), flush=True)


# the processes: they do what they are told on their standard input


async def hold() -> None:
    previews = Previews(as_piece)
    running = [previews.begin(_key(number)) for number in range(CHATS)]
    backstage = RelayGate(_nothing, RelayHost(previews, RelayTickets(KEY), lambda: THERE))
    near, relay = await _listener(), await _listener()
    async with (
        open_chat_feeds(HeldThere(), encode_event, previews, Switchboard()) as feeds,
        trio.open_nursery() as nursery,
    ):
        nursery.start_soon(_serve_watchers, feeds, near)
        nursery.start_soon(HttpServer(backstage.answer).serve, [relay])
        _say({"port": _port(near), "relay": _port(relay)})
        async for command in trio.lowlevel.FdStream(sys.stdin.fileno()):
            began = time.process_time()
            said = 0
            if command.strip() == b"go":
                began_at = trio.current_time()
                while (passed := trio.current_time() - began_at) < SECONDS:
                    while said < passed / PAUSE_SECONDS * CHATS:
                        text = f"{time.monotonic():.6f};"
                        running[said % CHATS].add(Role.ASSISTANT, TextPart(text), alone=True)
                        said += 1
                    await trio.sleep(TICK_SECONDS)
                await trio.sleep(QUIET_SECONDS)
            _say({"cpu_seconds": time.process_time() - began, "said": said})
        nursery.cancel_scope.cancel()


async def _nothing(request: HttpRequest) -> Upgrade:
    raise route_not_found()


async def follow(relay: int) -> None:
    async def find(worker: WorkerId) -> str:
        return f"http://127.0.0.1:{relay}"

    peers = Dialler(find, RelayTickets(KEY), me=lambda: HERE, dial=direct_dial(tls_context()))
    far, previews = await _listener(), Previews(as_piece)
    async with (
        open_relays(peers, me=lambda: HERE, chance=lambda: 0.0) as relays,
        open_chat_feeds(
            HeldThere(), encode_event, previews, Switchboard(), elsewhere=relays
        ) as feeds,
        trio.open_nursery() as nursery,
    ):
        nursery.start_soon(_serve_watchers, feeds, far)
        _say({"port": _port(far)})
        async for _ in trio.lowlevel.FdStream(sys.stdin.fileno()):
            _say({"cpu_seconds": time.process_time()})
        nursery.cancel_scope.cancel()


# who measures


@asynccontextmanager
async def _watchers(port: int, late_ms: list[float]) -> AsyncIterator[None]:
    """One for each chat; how late each piece is seen."""

    async def watch(number: int) -> None:
        stream = await trio.open_tcp_stream("127.0.0.1", port)
        await stream.send_all(UPGRADE.format(chat=number).encode())
        await stream.receive_some(65_536)
        opened.release()
        rest = b""
        while data := await stream.receive_some(65_536):
            seen, rest = time.monotonic(), rest + data
            last = None
            for last in MADE_AT.finditer(rest):
                late_ms.append((seen - float(last[1])) * 1e3)
            rest = rest[last.end() :] if last else rest[-256:]

    opened = trio.Semaphore(0)
    async with trio.open_nursery() as nursery:
        for number in range(CHATS):
            nursery.start_soon(watch, number)
            await opened.acquire()
        await trio.sleep(QUIET_SECONDS)
        late_ms.clear()  # what was said before
        yield
        nursery.cancel_scope.cancel()


async def _round(
    holder: "subprocess.Popen[str]", other: "subprocess.Popen[str]", port: int
) -> dict[str, float]:
    late_ms: list[float] = []
    async with _watchers(port, late_ms):
        before = told(other, "cpu")["cpu_seconds"]
        said = await trio.to_thread.run_sync(told, holder, "go")
        follower = told(other, "cpu")["cpu_seconds"] - before
    assert len(late_ms) == said["said"], "every piece is seen once"
    late_ms.sort()
    return {
        "p50_ms": late_ms[len(late_ms) // 2],
        "p99_ms": late_ms[len(late_ms) * 99 // 100],
        "holder_us": said["cpu_seconds"] / said["said"] * 1e6,
        "follower_us": follower / said["said"] * 1e6,
    }


async def _measured() -> dict[str, float]:
    found: dict[str, list[dict[str, float]]] = {"near": [], "far": []}
    with child_process("bench.relay", "hold") as holder:
        ports = told(holder)
        with child_process("bench.relay", "follow", ports["relay"]) as other:
            far = told(other)["port"]
            for _ in range(ROUNDS):
                found["near"].append(await _round(holder, other, ports["port"]))
                found["far"].append(await _round(holder, other, far))
    figures = {
        f"{way}_{name}": min(each[name] for each in rounds)
        for way, rounds in found.items()
        for name in rounds[0]
    }
    near, far_us = figures["near_holder_us"], figures["far_holder_us"] + figures["far_follower_us"]
    figures["added_p50_ms"] = figures["far_p50_ms"] - figures["near_p50_ms"]
    figures["added_p99_ms"] = figures["far_p99_ms"] - figures["near_p99_ms"]
    figures["cpu_ratio"] = far_us / near
    return figures


def measure() -> dict[str, float]:
    return trio.run(_measured)


if __name__ == "__main__":
    if sys.argv[1] == "hold":
        trio.run(hold)
    else:
        trio.run(follow, int(sys.argv[2]))
