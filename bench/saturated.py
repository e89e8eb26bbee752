"""What does a turn cost when nothing waits, and what do people see of whom many come at once?

On paper: a turn of 100 deltas that come without a pause is a request, a handful of reads, one trip
to the database at its beginning and one at its end, and some frames: 2 ms. A new chat has two trips
at its beginning, and its watcher's handshake: half as much again.

500 chats are made at the same moment, each with a watcher that opens its stream when the chat is
there; their answers take two seconds. Then each of them has turns, one after the other, whose
answers come without a pause. The daemon runs on one core; the model and the driver on the other
one. The floor is as many bare clients of the model (trio and h11), in the process that measures.
"""

import re
import time
from collections.abc import Sequence

import h11
import psutil
import trio

from bench.first_token import (
    CHATS_PATH,
    Chat,
    Requests,
    a_daemon,
    a_model,
    percentile,
    text_part,
)
from bench.first_words import pin, pin_others
from bench.report import Target

QUESTION = "what does a turn cost when nothing waits, and how is a crowd received?"
CHATS = 500
TARGETS = (
    Target("turn_ratio", "CPU of a later turn, as a multiple of a bare client's", at_most=2.0),
    Target("new_chat_ratio", "CPU of a new chat's turn, as a multiple of a later one", at_most=1.5),
    Target("stream_open_p95_ms", f"{CHATS} chats made at once: a stream is open, p95", at_most=500),
    Target("words_before_end", "share of them whose watcher saw words before the end", at_least=95),
)
TURNS = 4
FLOORS = 3  # answers for each of them
PATIENCE_SECONDS = 200.0
_SENT = re.compile(r"^promptcorner_\w*?(trips|statements|sent_bytes)_total(?:{[^}]*})? (\S+)", re.M)


class Comer(Chat):
    """A chat whose watcher comes as soon as the chat is there."""

    opened_ms: float = 0.0
    text: str = "fast"

    async def come(self, nursery: trio.Nursery) -> None:
        self.begin()
        said = {"organization_id": self.organization, "content": text_part(self.text)}
        made = await self.requests.ask("POST", CHATS_PATH, said)
        self.id = chat_id(made)
        asked = time.monotonic()
        nursery.start_soon(self._watch, asked)
        await self.over.wait()

    async def _watch(self, asked: float) -> None:
        await self.watch(lambda: self._note_open(asked))

    def _note_open(self, asked: float) -> None:
        self.opened_ms = (time.monotonic() - asked) * 1e3


def chat_id(made: bytes) -> str:
    found = re.search(rb'"id":"([0-9a-f-]{36})"', bytes(made))
    assert found is not None
    return found[1].decode()


async def sent(port: int) -> dict[str, float]:
    """Return what was sent to the database so far."""
    page = bytes(await Requests(port).ask("GET", "/metrics")).decode()
    found: dict[str, float] = {}
    for what, value in _SENT.findall(page):
        found[what] = found.get(what, 0.0) + float(value)
    return found


def cpu_seconds(processes: Sequence[psutil.Process]) -> float:
    times = [process.cpu_times() for process in processes]
    return float(sum(each.user + each.system for each in times))


def database_of(daemon: psutil.Process) -> list[psutil.Process]:
    """Return the processes of its embedded server, which are not its children."""
    data = next(word for word in daemon.cmdline() if word.startswith("--data-dir="))
    folder = data.partition("=")[2]
    found = []
    for process in psutil.process_iter(["name", "cmdline", "ppid"]):
        words = process.info["cmdline"] or []
        if process.info["name"] == "postgres" and any(folder in word for word in words):
            found += [process, *process.children()]
    return found


async def _crowd(port: int, nursery: trio.Nursery, text: str) -> tuple[list[Comer], float]:
    me = bytes(await Requests(port).ask("GET", "/api/v2/users/me"))
    found = re.search(rb'"organization_ids":\["([^"]+)"', me)
    assert found is not None
    comers = [Comer(Requests(port), port, found[1].decode()) for _ in range(CHATS)]
    began = time.monotonic()
    async with trio.open_nursery() as coming:
        for comer in comers:
            comer.text = text
            coming.start_soon(comer.come, nursery)
    return comers, time.monotonic() - began


def _received(comers: Sequence[Comer], name: str) -> dict[str, float]:
    seen = [comer for comer in comers if comer.first_ms]
    opened = [comer.opened_ms for comer in comers]
    return {
        f"{name}stream_open_p50_ms": percentile(opened, 50),
        f"{name}stream_open_p95_ms": percentile(opened, 95),
        f"{name}words_before_end": len(seen) / len(comers) * 100,
    }


async def _turns(comers: Sequence[Comer], count: int) -> None:
    async def live(comer: Comer) -> None:
        for _ in range(count):
            await comer.turn("fast")

    async with trio.open_nursery() as nursery:
        for comer in comers:
            nursery.start_soon(live, comer)


async def _measured(port: int, daemon: psutil.Process) -> dict[str, float]:
    figures: dict[str, float] = {}
    pin(daemon)
    server = database_of(daemon)
    with trio.fail_after(PATIENCE_SECONDS):
        async with trio.open_nursery() as watchers:
            comers, seconds = await _crowd(port, watchers, "slowly")
            figures |= _received(comers, "")
            figures["crowd_seconds"] = seconds
            before, was = cpu_seconds([daemon]), await sent(port)
            fast, seconds = await _crowd(port, watchers, "fast")
            new_ms = (cpu_seconds([daemon]) - before) / CHATS * 1e3
            now = await sent(port)
            figures |= _received(fast, "fast_") | {"fast_crowd_seconds": seconds}
            figures |= {f"new_chat_{name}": (now[name] - was[name]) / CHATS for name in now}
            await _turns(comers, 1)  # warm
            before, base, began = cpu_seconds([daemon]), cpu_seconds(server), time.monotonic()
            was = await sent(port)
            await _turns(comers, TURNS)
            turns = CHATS * TURNS
            turn_ms = (cpu_seconds([daemon]) - before) / turns * 1e3
            now = await sent(port)
            figures |= {f"turn_{name}": (now[name] - was[name]) / turns for name in now}
            figures["turns_per_second"] = turns / (time.monotonic() - began)
            figures["turn_database_cpu_ms"] = (cpu_seconds(server) - base) / turns * 1e3
            figures |= {"turn_cpu_ms": turn_ms, "new_chat_cpu_ms": new_ms}
            figures["new_chat_ratio"] = new_ms / turn_ms
            watchers.cancel_scope.cancel()
    return figures


async def floor(model: str) -> float:
    """Return the CPU of one answer for as many bare clients as there are chats, in ms."""
    host, _, port = model.removeprefix("http://").partition("/")[0].partition(":")
    body = b'{"stream":true,"messages":[{"role":"user","content":"fast"}]}'
    headers = [("Host", host), ("Content-Length", str(len(body)))]

    async def ask(stream: trio.SocketStream) -> None:
        wire = h11.Connection(h11.CLIENT)
        for _ in range(FLOORS):
            asked = wire.send(h11.Request(method="POST", target="/", headers=headers)) or b""
            asked += wire.send(h11.Data(data=body)) or b""
            asked += wire.send(h11.EndOfMessage()) or b""
            await stream.send_all(asked)
            while not isinstance(event := wire.next_event(), h11.EndOfMessage):
                if event is h11.NEED_DATA:
                    wire.receive_data(bytes(await stream.receive_some(65_536)))
            wire.start_next_cycle()

    streams = [await trio.open_tcp_stream(host, int(port)) for _ in range(CHATS)]
    began = time.process_time()
    async with trio.open_nursery() as nursery:
        for stream in streams:
            nursery.start_soon(ask, stream)
    return (time.process_time() - began) / (CHATS * FLOORS) * 1e3


def measure() -> dict[str, float]:
    with a_model() as model, a_daemon(model) as (port, daemon):
        pin_others()
        bare = trio.run(floor, model)
        figures = trio.run(_measured, port, daemon)
    return figures | {"floor_cpu_ms": bare, "turn_ratio": figures["turn_cpu_ms"] / bare}
