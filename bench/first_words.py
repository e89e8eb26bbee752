"""How soon does a model have the request, after a user's POST?

On paper, for a chat that the process knows: the door, one trip to the database with the wait of the
server for its disk, two tasks of the event loop, and the writing of the request. At 100 us for the
trip and 500 functions of ours, half of them out of the processor's caches, that is 1 ms, and the
disk's time.

The chats are paced as people are: they begin one after the other in 2.5 s, an answer takes 2 s, and
half a second later comes the next turn. The daemon runs on one core; the model and the driver on
the other one; PostgreSQL where it likes. The floor is the same POST, sent to the model directly.
The wait of the database for its disk is told by what is gone when it does not wait: the database
of a second daemon has `synchronous_commit` off. Its rows are the way without the disk.
"""

import os
import re
import time
from collections.abc import Callable, Sequence

import psutil
import trio

from bench.first_token import (
    Chat,
    Requests,
    a_daemon,
    a_model,
    chats,
    percentile,
)
from bench.fixtures import a_database
from bench.report import Target

QUESTION = "how soon does a model have the request, after a user's POST?"
TARGETS = (
    Target("few_no_disk_p50_ms", "10 chats, without the disk: POST to model, p50", at_most=1.5),
    Target("few_no_disk_p99_ms", "the same, p99", at_most=4),
    Target("many_no_disk_p50_ms", "100 chats, without the disk, p50", at_most=1.5),
    Target("many_no_disk_p99_ms", "the same, p99", at_most=4),
)
FEW, MANY = 10, 100
TURNS = {FEW: 12, MANY: 4}
SPREAD_SECONDS = 2.5
BETWEEN_SECONDS = 0.5
PATIENCE_SECONDS = 120.0
FLOORS = 200
STAGES = ("admit", "commit", "start", "prepare", "all")
_STAGE = re.compile(r'message_stage_seconds_(sum|count)\{stage="(\w+)"\} (\S+)')


class AskingChat(Chat):
    """A chat that keeps when its model had the request."""

    def __init__(self, requests: Requests, port: int, organization: str) -> None:
        super().__init__(requests, port, organization)
        self.asked_ms: list[float] = []

    def _hear_part(self, text: str, now: float) -> None:
        if self.is_new and (stamps := text.partition(";")[0]):
            self.asked_ms.append((float(stamps.split()[0]) - self.posted) * 1e3)
        super()._hear_part(text, now)


async def _paced(made: Sequence[Chat], turns: int) -> list[float]:
    async def live(number: int, chat: Chat) -> None:
        await trio.sleep(SPREAD_SECONDS * number / len(made))
        for _ in range(turns):
            await chat.turn("slowly")
            await trio.sleep(BETWEEN_SECONDS)

    for chat in made:
        assert isinstance(chat, AskingChat)
        chat.asked_ms.clear()
    async with trio.open_nursery() as nursery:
        for number, chat in enumerate(made):
            nursery.start_soon(live, number, chat)
    return [each for chat in made if isinstance(chat, AskingChat) for each in chat.asked_ms]


async def _stages(port: int) -> dict[str, tuple[float, float]]:
    """Return (seconds, count) of each stage so far."""
    page = bytes(await Requests(port).ask("GET", "/metrics")).decode()
    found: dict[str, dict[str, float]] = {}
    for what, stage, value in _STAGE.findall(page):
        found.setdefault(stage, {})[what] = float(value)
    return {stage: (each["sum"], each["count"]) for stage, each in found.items()}


async def _measured(port: int, daemon: psutil.Process) -> dict[str, float]:
    figures: dict[str, float] = {}
    with trio.fail_after(PATIENCE_SECONDS):
        async with chats(port, MANY, AskingChat) as made:
            pin(daemon)
            for name, count in {"few": FEW, "many": MANY}.items():
                before, began = await _stages(port), _cpu(daemon)
                moment = time.monotonic()
                asked = await _paced(made[:count], TURNS[count])
                seconds = time.monotonic() - moment
                figures[f"{name}_core_percent"] = (_cpu(daemon) - began) / seconds * 100
                figures[f"{name}_turn_cpu_ms"] = (_cpu(daemon) - began) / len(asked) * 1e3
                figures[f"{name}_p50_ms"] = percentile(asked, 50)
                figures[f"{name}_p99_ms"] = percentile(asked, 99)
                after = await _stages(port)
                for stage in STAGES:
                    spent, times = (b - a for a, b in zip(before[stage], after[stage], strict=True))
                    figures[f"{name}_{stage}_mean_ms"] = spent / times * 1e3
    return figures


def pin(daemon: psutil.Process) -> None:
    """Keep the threads that a daemon has by now on the first core: its database runs already."""
    for thread in daemon.threads():
        os.sched_setaffinity(thread.id, {0})


def _cpu(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


async def _floor(model: str) -> dict[str, float]:
    """The same request, of a bare client to the model."""
    host, _, port = model.removeprefix("http://").partition("/")[0].partition(":")
    stream = await trio.open_tcp_stream(host, int(port))
    found = []
    for _ in range(FLOORS):
        body = b'{"stream":true,"messages":[{"role":"user","content":"fast"}]}'
        posted = time.monotonic()
        head = b"POST / HTTP/1.1\r\ncontent-length: %d\r\n\r\n" % len(body)
        await stream.send_all(head + body)
        answer = b""
        while not answer.endswith(b"0\r\n\r\n"):
            answer += bytes(await stream.receive_some(65_536))
        asked = re.search(rb'"content":"([0-9.]+) ', answer)
        assert asked is not None
        found.append((float(asked[1]) - posted) * 1e3)
    return {"floor_p50_ms": percentile(found, 50), "floor_p99_ms": percentile(found, 99)}


async def _database_without_disk(ready: Callable[[str], dict[str, float]]) -> dict[str, float]:
    """Measure with a database whose commits do not wait for its disk."""
    async with a_database(synchronous_commit="off") as cluster:
        return await trio.to_thread.run_sync(ready, cluster.conninfo)


def _with(database: str = "") -> dict[str, float]:
    settings = {"DATABASE_URL": database} if database else {}
    mine = os.sched_getaffinity(0)
    with a_model() as model, a_daemon(model, **settings) as (port, daemon):
        pin_others()
        try:
            return trio.run(_floor, model) | trio.run(_measured, port, daemon)
        finally:
            os.sched_setaffinity(0, mine)


def measure() -> dict[str, float]:
    figures = _with()
    for key, value in trio.run(_database_without_disk, _with).items():
        load, _, figure = key.partition("_")
        figures[f"{load}_no_disk_{figure}"] = value
    return figures


def pin_others() -> None:
    """Keep the driver and the models that it has started on the last core."""
    last = max(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {last})
    for child in psutil.Process().children():
        if "bench.first_token" in child.cmdline():
            os.sched_setaffinity(child.pid, {last})
