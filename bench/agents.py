"""What is there between an agent that settles and its parent's next question to a model?

On paper: the child's commit tells the parent's process of it, by a call in the same process, by a
NOTIFY between two (1 to 2 ms). The wait that hears of it asks the store once how its children stand
(1 ms) and is over; its result is noted in the journal (1 ms), the step is committed (2 ms, its log
flushed to disk), and the model is asked (1 ms). That is 5 to 6 ms on a quiet machine.

A thousand children of a hundred parents that settle at once are a thousand commits, made in groups
of a hundred, and for each parent a look and a note and a commit. That is less than one statement
for each child. Nobody who waits asks for anything meanwhile, and no timer of his fires.

The models are a process of their own (`fake_agents`), which writes down when it is asked; that is
compared with the moment at which the bus told of the child, by the same clock. Chats run in this
process, or parents in this one and children in another. The floor is what no parent can do without,
done by one bare connection: a question, two writes, and a request to the model.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

import trio

from actors.law.chat import Message, Role
from actors.law.ids import ChatId, UserId
from actors.law.parts.message import TextPart, ToolResultPart
from actors.law.states import Status
from actors.law.store.hints import ChatMoved, News
from actors.law.store.ports import Applied
from adapters import settings as config
from adapters.access.changes import ChatSender
from adapters.daemon.chat_wiring import ChatServices, basis_of, dial_of, open_chats
from adapters.models.provider_config import models_of_environment
from adapters.postgres import embedded
from adapters.postgres.driver.connection import DatabaseConnection
from adapters.postgres.driver.pool import Pool
from bench.fake_agents import AgentsControl, fake_agents
from bench.fixtures import a_database, a_user, hello
from bench.report import Target
from bench.turn import LOG_ALL, LOGGED, OF_THE_PROCESS, is_any

QUESTION = "what is there between an agent that settles and its parent's next step?"
PARENTS, CHILDREN = 100, 10  # of each parent, in the burst
TARGETS = (
    Target("here_p99_ms", "child settles -> parent's model is asked, one process, p99", at_most=10),
    Target("across_p99_ms", "the same, child and parent in two processes, p99", at_most=50),
    Target("here_ratio", "its p50 / a question, two writes and a request, bare", at_most=10),
    Target("lost", f"reports of {PARENTS * CHILDREN} children that did not come once", at_most=0),
    Target("statements_per_child", "statements for each child that settles", at_most=1),
    Target("waiting_statements", f"statements of {PARENTS} parents that wait", at_most=0),
    Target(
        "waiting_steps", "steps of tasks of a parent that waits, beside the process's", at_most=0.5
    ),
)
PAIRS, WARM = 100, 40  # parents with one child each; before them those that are not measured
ROUNDS = 6  # the best of them counts: others may work on this machine
FLOORS = 100
GAP_SECONDS = 0.025  # between two children that settle
WAIT_SECONDS = 5.0  # in which nothing may happen
SETTLE_SECONDS = 1.0
PATIENCE_SECONDS = 240.0
LOOK_SECONDS = 0.01


@dataclass
class Stage:
    chats: ChatServices
    user: UserId
    cluster: embedded.Cluster
    director: AgentsControl
    settled: dict[ChatId, float] = field(default_factory=dict)  # when it was told of

    async def begin(self, parents: int, children: int) -> list[ChatId]:
        """Parents that wait, for children that work."""
        sending = ChatSender(self.chats.store.ledger, self.chats.supervisor)
        made = []
        for _ in range(parents):
            applied = await sending.create(hello(self.user, f"family {children}"))
            assert isinstance(applied, Applied), applied
            made.append(applied.chat.id)
        bus, count = self.chats.store.bus, parents * children
        with trio.fail_after(PATIENCE_SECONDS):
            while self.director.waiting() < count:  # noqa: ASYNC110  its own process
                await trio.sleep(LOOK_SECONDS)
            while bus.statistics().following < count:  # noqa: ASYNC110  nobody tells
                await trio.sleep(LOOK_SECONDS)
        await trio.sleep(SETTLE_SECONDS)
        return made

    async def at_rest(self, parents: Sequence[ChatId]) -> None:
        with trio.fail_after(PATIENCE_SECONDS):
            while not all(parent in self.settled for parent in parents):  # noqa: ASYNC110
                await trio.sleep(LOOK_SECONDS)

    def hear(self, news: News) -> None:
        if isinstance(news, ChatMoved) and news.status is Status.WAITING:
            self.settled.setdefault(news.chat, time.monotonic())

    def forget_log(self) -> None:
        """It begins anew by itself, too, once it is long; then what stood in it is not counted."""
        os.truncate(self.cluster.wanted.log, 0)

    def statements(self) -> int:
        """Count the statements for chats since the log was begun."""
        logged = LOGGED.findall(self.cluster.wanted.log.read_bytes())
        return sum(not is_any(line, OF_THE_PROCESS) for line in logged)


@asynccontextmanager
async def a_stage(
    director: AgentsControl, *, elsewhere: bool = False, **log: str
) -> AsyncIterator[Stage]:
    """`elsewhere`: children are run by another process."""
    async with a_database(**log) as cluster:
        pool = Pool(cluster.conninfo, size=1)
        user = await a_user(pool)
        await pool.drain(1)
        here = {"child_chats": "0"} if elsewhere else {}
        async with _chats(cluster.conninfo, director.url, **here) as chats:
            stage = Stage(chats, user, cluster, director)
            with chats.store.bus.follow(stage.hear, ChatMoved):
                yield stage


@asynccontextmanager
async def _chats(conninfo: str, url: str, **settings: str) -> AsyncIterator[ChatServices]:
    environ = {"OPENAI_COMPAT_BASE_URL": url}
    quiet = {"drain_seconds": "0", "summaries": "off"}
    told = config.read_config({**quiet, **settings}, environ)
    asked = open_chats(
        told, basis_of(told, models_of_environment(environ), dial_of(environ)), conninfo
    )
    async with asked as chats:
        while chats.supervisor.slots.worker is None:  # noqa: ASYNC110  nobody tells
            await trio.sleep(LOOK_SECONDS)
        yield chats


# from a child to its parent


async def _here(director: AgentsControl) -> dict[str, float]:
    async with a_stage(director) as stage:
        await _asked(stage, WARM)
        found = []
        for _ in range(ROUNDS):
            floor = {"floor_p50_ms": await _floor(stage)}  # of the same moment: others come and go
            found.append(floor | _shares("here", await _asked(stage, PAIRS), stage.settled))
        best = min(found, key=lambda shares: shares["here_p99_ms"])
        return best | {"here_ratio": best["here_p50_ms"] / best["floor_p50_ms"]}


async def _across(director: AgentsControl) -> dict[str, float]:
    async with a_stage(director, elsewhere=True) as stage:
        with _another(stage.cluster.conninfo, director.url) as log:
            await _asked(stage, WARM)
            found = []
            for _ in range(ROUNDS):
                asked = await _asked(stage, PAIRS)
                told = (line.split() for line in log.read_text().splitlines())
                settled = {ChatId(UUID(child)): float(at) for child, at in told}
                found.append(_shares("across", asked, settled))
            return min(found, key=lambda shares: shares["across_p99_ms"])


async def _asked(stage: Stage, pairs: int) -> dict[ChatId, float]:
    """Return when each parent's model was asked again, by its child."""
    parents, asked = await stage.begin(pairs, 1), {}
    await stage.director.let_go(pairs, gap_seconds=GAP_SECONDS)
    await stage.at_rest(parents)
    for parent in parents:
        history = await stage.chats.store.reading.history(parent)
        [child] = _told(history, "spawn_agent")
        [at] = [part.text for part in history[-1].body.parts if isinstance(part, TextPart)]
        asked[ChatId(UUID(child["chat_id"]))] = float(at)
    return asked


async def _floor(stage: Stage) -> float:
    """Milliseconds, the median."""
    spent = []
    connection = await DatabaseConnection.open(stage.cluster.conninfo)
    stream = await trio.open_tcp_stream("127.0.0.1", stage.director.port)
    await connection.execute("CREATE TABLE IF NOT EXISTS floor (at timestamptz)")
    for _ in range(FLOORS):
        began = time.monotonic()
        await connection.execute("SELECT 1")
        for _ in range(2):
            await connection.execute("INSERT INTO floor VALUES (now())")
        await stream.send_all(b"POST / HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}")
        await stream.receive_some(4096)
        spent.append((time.monotonic() - began) * 1e3)
    connection.close()
    await stream.aclose()
    return statistics.median(spent)


def _shares(
    name: str, asked: Mapping[ChatId, float], settled: Mapping[ChatId, float]
) -> dict[str, float]:
    gaps = [(at - settled[child]) * 1e3 for child, at in asked.items()]
    cut = statistics.quantiles(gaps, n=100, method="inclusive")
    return {f"{name}_p50_ms": cut[49], f"{name}_p99_ms": cut[98]}


def _told(history: Sequence[Message], tool: str) -> list[dict[str, Any]]:
    """Return what this tool told a parent's model."""
    parts = [part for row in history if row.body.role is Role.TOOL for part in row.body.parts]
    return [json.loads(p.result) for p in parts if isinstance(p, ToolResultPart) and p.name == tool]


@contextmanager
def _another(conninfo: str, url: str) -> Iterator[Path]:
    """Another process on the database; where it writes when it told of what settled there."""
    with tempfile.TemporaryDirectory(prefix="promptcorner-bench-") as home:
        log = Path(home) / "log"
        words = [sys.executable, "-m", "bench.agents", conninfo, url, str(log)]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            yield log
            process.terminate()


async def run_children(conninfo: str, url: str, log: str) -> None:
    with open(log, "w", buffering=1) as lines:  # noqa: ASYNC230  a line at a time, to memory

        def heard(news: News) -> None:
            if isinstance(news, ChatMoved) and news.by_holder and news.status is Status.WAITING:
                lines.write(f"{news.chat} {time.monotonic()}\n")

        # Parents are run by the process that was asked for them; none comes here.
        async with _chats(conninfo, url, root_chats="1") as chats:
            with chats.store.bus.follow(heard, ChatMoved):
                print("ready", flush=True)
                await trio.sleep_forever()


# all at once


async def _burst(director: AgentsControl) -> dict[str, float]:
    """Measure how long the agents take, and count what is lost or told twice."""
    async with a_stage(director) as stage:
        lost, seconds = 0, []
        for _ in range(ROUNDS):
            parents = await stage.begin(PARENTS, CHILDREN)
            began = time.monotonic()
            await stage.director.let_go(PARENTS * CHILDREN)
            await stage.at_rest(parents)
            seconds.append(max(stage.settled[parent] for parent in parents) - began)
            for parent in parents:
                lost += _lost(await stage.chats.store.reading.history(parent))
        return {"lost": lost, "burst_seconds": min(seconds)}


def _lost(history: Sequence[Message]) -> int:
    """Count the children of this parent that were never reported, or twice."""
    spawned = Counter(agent["chat_id"] for agent in _told(history, "spawn_agent"))
    reports = [agent for waited in _told(history, "wait_agent") for agent in waited["agents"]]
    told = Counter(agent["chat_id"] for agent in reports if agent.get("report") == "report")
    return abs(CHILDREN - len(spawned)) + ((spawned - told) + (told - spawned)).total()


async def _counted(director: AgentsControl) -> dict[str, float]:
    """The same, with a server that writes down what it is asked."""
    async with a_stage(director, **LOG_ALL) as stage:
        steps = Steps()
        trio.lowlevel.add_instrument(steps)
        none = await _still(steps)
        parents = await stage.begin(PARENTS, CHILDREN)
        stage.forget_log()
        some = await _still(steps)
        waiting = stage.statements()
        trio.lowlevel.remove_instrument(steps)
        stage.forget_log()
        await stage.director.let_go(PARENTS * CHILDREN)
        await stage.at_rest(parents)
        await trio.sleep(SETTLE_SECONDS)
        return {
            "waiting_statements": waiting,
            "waiting_steps": round(max(0, some - none) / PARENTS, 1),
            "statements_per_child": stage.statements() / (PARENTS * CHILDREN),
        }


async def _still(steps: "Steps") -> int:
    """Count how often any task is woken while there is nothing to do."""
    await trio.sleep(SETTLE_SECONDS)
    before = steps.count
    await trio.sleep(WAIT_SECONDS)
    return steps.count - before


class Steps(trio.abc.Instrument):
    """Counts them: a timer that fires makes at least one."""

    def __init__(self) -> None:
        self.count = 0

    def before_task_step(self, task: trio.lowlevel.Task) -> None:
        self.count += 1


def measure() -> dict[str, float]:
    figures: dict[str, float] = {}
    for part in (_here, _across, _burst, _counted):
        with fake_agents() as director:
            figures |= trio.run(part, director)
    return figures


if __name__ == "__main__":
    trio.run(run_children, *sys.argv[1:])
