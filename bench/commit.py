"""What does a commit cost the client, and how many are there in a second?

On paper: a step's transition by the long way is 2 round trips (BEGIN, lock, queue and tail; write
and COMMIT). The floor is the same statements with fixed values, sent bare: over psycopg's own
connection, and, for information, over our driver, which does without half of that.
What the ledger adds is the law (some 30 us), encoding and decoding of the rows, and a hint.

By the short way it is one statement. One by one each pays a round trip and its own work on the
server; a group pays both once for all that wait. The driver costs some 100 us per round trip, so
a group of 64 should cost each of them only its own encoding, the hand-over to the writer and its
part of the answer.
"""

import os
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from uuid import uuid4

import trio

from actors.law.change import Change
from actors.law.chat import Body, Role, StoredChat
from actors.law.ids import ChatId, Holder, RunnerId, UserId, WorkerId
from actors.law.parts.message import JsonText, TextPart, ToolCallPart
from actors.law.requests import Acquire, CommitStep, CreateChat, NewChat
from actors.law.store.ports import Applied, fence_of
from actors.law.transitions import bundle
from adapters.postgres import embedded
from adapters.postgres.codec import statements, writing
from adapters.postgres.committing import Committer
from adapters.postgres.driver.pool import Pool
from adapters.postgres.driver.turns import Patience
from adapters.postgres.ledger import PostgresLedger
from adapters.postgres.migrating import migrate
from adapters.postgres.reading import Reading
from bench.psycopg_on_trio import Yardsticks
from bench.report import Target

QUESTION = "what does a commit cost the client, and how many are there in a second?"
TARGETS = (
    Target("cpu_ratio", "CPU of a transition / its statements bare on psycopg", at_most=1.3),
    Target("throughput_ratio", "64 committers: transitions / bare on psycopg", at_least=0.9),
    Target("group_throughput_ratio", "64 writers: grouped / one by one", at_least=3),
    Target("group_cpu_ratio", "client CPU of a commit: grouped / one by one", at_most=0.3),
)
CHATS = 64
COMMITS_EACH = 40
ROUNDS = 5  # every way is measured so often, in turn; the best of each counts

HELD, NEXT = 777_000_777, 777_000_778  # versions in a template
SNAPSHOT_COLUMN = 11  # of a locked chat

STEP = CommitStep(
    (
        Body(
            Role.ASSISTANT,
            (TextPart("a sentence of an answer " * 8), ToolCallPart("c1", "f", JsonText("{}"))),
        ),
    )
)


@dataclass(frozen=True, slots=True)
class Cost:
    """Return the CPU time of one commit."""

    cpu_us: float
    wall_us: float


@dataclass
class Bench:
    pool: Pool
    committer: Committer
    ledger: PostgresLedger
    reading: Reading
    yardsticks: Yardsticks
    held: dict[ChatId, StoredChat]
    versions: dict[ChatId, int] = field(default_factory=dict)
    templates: dict[ChatId, bytes] = field(default_factory=dict)

    async def look(self) -> None:
        """Learn what is stored now, and make the changes that are sent without the law."""
        for chat in self.held:
            held = await self.reading.view(chat)
            assert isinstance(held, StoredChat)
            self.held[chat] = held
            self.versions[chat] = held.chat.snapshot_version
            made = bundle(replace(held, chat=replace(held.chat, snapshot_version=NEXT)), [STEP])
            assert isinstance(made, Change)
            self.templates[chat] = writing.write(made, held=HELD, by_holder=True).json


@asynccontextmanager
async def a_store():
    with tempfile.TemporaryDirectory(prefix="promptcorner-bench-") as home:
        os.chmod(home, 0o711)
        async with embedded.use(embedded.ClusterOptions(Path(home))) as cluster:
            await migrate(cluster.conninfo)
            pool = Pool(cluster.conninfo, size=16, patience=Patience(stalled=60))
            committer = Committer(Pool(cluster.conninfo, size=2), tell=lambda _: None)
            ledger = PostgresLedger(pool, committer, tell=lambda _: None, lease_seconds=30)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(committer.run)
                reading = Reading(pool, lease_seconds=30)
                yardsticks = Yardsticks(cluster.conninfo, 16)
                yield Bench(
                    pool, committer, ledger, reading, yardsticks, await _chats(pool, ledger)
                )
                yardsticks.close()
                nursery.cancel_scope.cancel()
            await pool.drain(1)


async def _chats(pool: Pool, ledger: PostgresLedger) -> dict[ChatId, StoredChat]:
    owner = UserId(uuid4())
    async with pool.connection() as connection:
        insert = "INSERT INTO users (id, username) VALUES (%(id)s, 'bench')"
        await connection.execute(insert, {"id": owner})
    held = {}
    for _ in range(CHATS):
        chat = NewChat(ChatId(uuid4()), owner)
        said = (Body(Role.USER, (TextPart("hello"),), created_by=owner),)
        holder = Holder(WorkerId(uuid4()), RunnerId(uuid4()))
        made = await ledger.create(CreateChat(chat, said), [Acquire(holder)])
        assert isinstance(made, Applied)
        held[chat.id] = made.stored
    return held


async def _measured(bench: Bench, one: Callable[[Bench, ChatId], Awaitable[None]]) -> Cost:
    """All chats at once, each commit after commit."""

    async def many(chat: ChatId) -> None:
        for _ in range(COMMITS_EACH):
            await one(bench, chat)

    cpu, wall = time.process_time(), time.perf_counter()
    async with trio.open_nursery() as nursery:
        for chat in bench.held:
            nursery.start_soon(many, chat)
    count = len(bench.held) * COMMITS_EACH
    return Cost(
        (time.process_time() - cpu) / count * 1e6, (time.perf_counter() - wall) / count * 1e6
    )


async def transition(bench: Bench, chat: ChatId) -> None:
    """The long way, as anybody takes it who does not hold the chat."""
    applied = await bench.ledger.apply(chat, [STEP])
    assert isinstance(applied, Applied)
    bench.held[chat] = applied.stored


async def bare_transition(bench: Bench, chat: ChatId) -> None:
    """The statements of the long way, over the same driver, with a change made beforehand."""
    async with bench.pool.connection() as connection, connection.transaction() as tx:
        [[(tx.xid, *row)], _, _] = await tx.run(
            [
                statements.lock_chat(chat, lease_seconds=30),
                statements.queue(chat),
                statements.tail(chat),
            ],
            ask_xid=False,
        )
        version = row[SNAPSHOT_COLUMN]
        await tx.commit([writing.write_together([_write(bench, chat, version, version)])])


async def psycopg_transition(bench: Bench, chat: ChatId) -> None:
    """The same statements, bare on psycopg's own connection: the driver that ours replaces."""
    connection = await bench.yardsticks.take()
    async with connection.transaction():
        lock, queue, tail = (
            statements.lock_chat(chat, lease_seconds=30),
            statements.queue(chat),
            statements.tail(chat),
        )
        row = await (await connection.execute(*lock)).fetchone()
        await (await connection.execute(*queue)).fetchall()
        await (await connection.execute(*tail)).fetchall()
        version = row[SNAPSHOT_COLUMN + 1]
        sql, given = writing.write_together([_write(bench, chat, version, version)])
        await (await connection.execute(sql, {"changes": given["changes"].decode()})).fetchall()
    bench.yardsticks.give_back(connection)


async def grouped(bench: Bench, chat: ChatId) -> None:
    await bench.committer.write(chat, _next_write(bench, chat), ())


async def one_by_one(bench: Bench, chat: ChatId) -> None:
    async with bench.pool.connection() as connection:
        await connection.run([writing.write_together([_next_write(bench, chat)])])


def _next_write(bench: Bench, chat: ChatId) -> writing.Write:
    version = bench.versions[chat]
    bench.versions[chat] = version + 1
    return _write(bench, chat, version, version + 1)


def _write(bench: Bench, chat: ChatId, held: int, version: int) -> writing.Write:
    json = bench.templates[chat].replace(b"%d" % HELD, b"%d" % held)
    return writing.Write(json.replace(b"%d" % NEXT, b"%d" % version), writing.Extent.STEPS)


async def short_way(bench: Bench, chat: ChatId) -> None:
    """Commit as a chat actor does: by the law, encoded, in a group."""
    held = bench.held[chat]
    fence = fence_of(held.chat)
    assert fence is not None
    applied = await bench.ledger.commit(held, [STEP], fence=fence)
    assert isinstance(applied, Applied)
    bench.held[chat] = applied.stored


WAYS = (transition, bare_transition, psycopg_transition, grouped, one_by_one, short_way)


async def _best() -> dict[str, Cost]:
    costs: dict[str, list[Cost]] = {way.__name__: [] for way in WAYS}
    async with a_store() as bench:
        for _ in range(ROUNDS):
            for way in WAYS:
                await bench.look()
                costs[way.__name__].append(await _measured(bench, way))
    return {
        name: Cost(min(cost.cpu_us for cost in all), min(cost.wall_us for cost in all))
        for name, all in costs.items()
    }


def measure() -> dict[str, float]:
    best = trio.run(_best)
    figures = {
        "cpu_ratio": best["transition"].cpu_us / best["psycopg_transition"].cpu_us,
        "throughput_ratio": best["psycopg_transition"].wall_us / best["transition"].wall_us,
        "cpu_ratio_to_our_own_driver": best["transition"].cpu_us / best["bare_transition"].cpu_us,
        "group_throughput_ratio": best["one_by_one"].wall_us / best["grouped"].wall_us,
        "group_cpu_ratio": best["grouped"].cpu_us / best["one_by_one"].cpu_us,
    }
    for name, cost in best.items():
        figures[f"{name}_cpu_us"] = cost.cpu_us
        figures[f"{name}_per_second"] = 1e6 / cost.wall_us
    return figures
