"""How fast does housekeeping erase archived chats, and what do chats at work notice of it?

On paper: a batch is five statements in two or three trips, whatever it removes. The server deletes
a message with the rows that refer to it by an index each, and adds up what it had cost. The floor
is one bare DELETE of as many chats of the same kind, which the database lets cascade; it holds its
locks for all of its time and cannot be cut short.

On a busy machine the rate says little, so the processor time of a message is measured as well: with
50 µs one processor deletes 20,000 messages in a second, and half of that is the goal.

While chats are at work the housekeeper has a two-hundredth of the time, in batches of 5 ms. So a
commit meets one now and then: the slow hundredth of all commits should be as slow as without it.
100 chats commit a step each, rest for a while, and go on. Short rounds with and without
housekeeping stand side by side, in one order and the other, on the same database; the figure is the
median of their ratios, because other programs of the machine disturb single rounds.
"""

import os
import time
from pathlib import Path
from statistics import median
from uuid import UUID, uuid4

import trio

from actors.law.ids import ChatId, Holder, RunnerId, UserId, WorkerId
from actors.law.requests import Acquire, CreateChat, NewChat
from actors.law.store.ports import Applied
from actors.upkeep.housekeeping import Housekeeper
from adapters.chats.housekeeping.chores import Erasing, Retention
from adapters.chats.housekeeping.erasing import Eraser
from adapters.chats.housekeeping.lease import PostgresHousekeeping
from adapters.postgres.driver.pool import Pool
from bench.commit import STEP, Bench, a_store, short_way
from bench.report import Target

QUESTION = "how fast are archived chats erased, and what do chats at work notice of it?"
TARGETS = (
    Target(
        "messages_per_second", "messages erased in a second, while no chat works", at_least=20e3
    ),
    Target("processor_us", "processor time of a message, of server and daemon, in µs", at_most=25),
    Target("to_bare_delete", "the same to a bare DELETE that cascades", at_least=0.5),
    Target(
        "p99_ratio", "100 chats at work: p99 of a commit beside housekeeping / alone", at_most=1.1
    ),
)
CHATS, MESSAGES_EACH = 2_000, 50
AT_WORK = 100
STEPS_EACH = 8
REST_SECONDS = 0.15  # of a chat between two steps: its model answers
ROUNDS = 4
WARM_SECONDS = 2.0  # for a housekeeper to find how much fits into a batch
PAIRS = 12  # of rounds at work, with housekeeping and without

_FILL = """
WITH made AS (
    INSERT INTO chats (id, owner_id, status, archived, updated_at, snapshot_version,
                       history_version)
    SELECT gen_random_uuid(), %(owner)s, 'waiting', true, now() - interval '90 days', 1, 1
      FROM generate_series(1, %(chats)s::int)
    RETURNING id
)
INSERT INTO messages (chat_id, role, content, visibility, revision, cost_micros, cost_source)
SELECT made.id, 'assistant', json_build_array(json_build_object('type', 'text', 'text',
           repeat('a sentence of an answer ', 20))), 'both', 1, 10, 'bench'
  FROM made, generate_series(1, %(messages)s::int)
"""
_BARE = "DELETE FROM chats WHERE archived"
_BEGIN = (
    "INSERT INTO erasures (id, why, root_id, owner_id)"
    " SELECT gen_random_uuid(), 'retention', id, owner_id FROM chats WHERE archived"
)


async def _fill(pool: Pool, owner: UserId) -> None:
    async with pool.connection() as connection:
        await connection.run(
            [("SET LOCAL session_replication_role = replica", ()), _filling(owner)], seconds=300
        )
        await connection.run([("ANALYZE chats", ()), ("ANALYZE messages", ())], seconds=300)


def _filling(owner: UserId) -> tuple[str, dict[str, object]]:
    return _FILL, {"owner": owner, "chats": CHATS, "messages": MESSAGES_EACH}


def _keeper(pool: Pool, *, begins: bool = True) -> Housekeeper:
    """Return a housekeeper that erases; one that also begins to, by the rule of retention."""
    eraser = Eraser(pool, tell=lambda _: None, removed=lambda _: None)
    chores = [Retention(eraser), Erasing(eraser)] if begins else [Erasing(eraser)]
    return Housekeeper(PostgresHousekeeping(pool), chores, id=uuid4())


def _processor_seconds(postmaster: int) -> float:
    """Return the processor time of this process and of those of the server, so far."""
    ticks = 0
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        if int(fields[1]) == postmaster:
            ticks += int(fields[11]) + int(fields[12])
    return time.process_time() + ticks / os.sysconf("SC_CLK_TCK")


async def _postmaster(pool: Pool) -> int:
    async with pool.connection() as connection:
        [(home,)] = await connection.execute("SHOW data_directory")
    return int((Path(home) / "postmaster.pid").read_text().split()[0])


async def _erase(pool: Pool) -> float:
    """Let the housekeeper do one pass; messages in a second."""
    keeper, began = _keeper(pool), time.perf_counter()
    async with trio.open_nursery() as nursery:
        ended = keeper.ask()
        nursery.start_soon(keeper.run)
        await ended.wait()
        nursery.cancel_scope.cancel()
    async with pool.connection() as connection:
        [(left,)] = await connection.execute("SELECT count(*) FROM chats WHERE archived")
    assert left == 0, left
    return CHATS * MESSAGES_EACH / (time.perf_counter() - began)


async def _delete_bare(pool: Pool) -> float:
    began = time.perf_counter()
    async with pool.connection() as connection:
        await connection.run([("SET LOCAL statement_timeout = 0", ()), (_BARE, ())], seconds=300)
        await connection.execute("DELETE FROM erasures")
    return CHATS * MESSAGES_EACH / (time.perf_counter() - began)


async def _work(bench: Bench) -> list[float]:
    """Let all chats commit and rest; how long each commit took, in milliseconds."""
    took: list[float] = []

    async def one(chat: ChatId, number: int) -> None:
        await trio.sleep(REST_SECONDS * number / AT_WORK)
        for _ in range(STEPS_EACH):
            began = time.perf_counter()
            await short_way(bench, chat)
            took.append((time.perf_counter() - began) * 1e3)
            await trio.sleep(REST_SECONDS)

    await bench.look()
    async with trio.open_nursery() as nursery:
        for number, chat in enumerate(bench.held):
            nursery.start_soon(one, chat, number)
    return took


async def _at_work(bench: Bench, owner: UserId) -> None:
    """Let there be as many chats at work as the question asks for."""
    for _ in range(AT_WORK - len(bench.held)):
        holder = Holder(WorkerId(uuid4()), RunnerId(uuid4()))
        chat = NewChat(ChatId(uuid4()), owner)
        said = (STEP.messages[0],)
        made = await bench.ledger.create(CreateChat(chat, said), [Acquire(holder)])
        assert isinstance(made, Applied), made
        bench.held[chat.id] = made.stored


async def _beside(bench: Bench, took: list[list[float]]) -> int:
    """Do a round beside a housekeeper. Return how much that erased."""
    keeper = _keeper(bench.pool, begins=False)
    async with trio.open_nursery() as nursery:
        keeper.ask()
        nursery.start_soon(keeper.run)
        await trio.sleep(WARM_SECONDS)
        took.append(await _work(bench))
        nursery.cancel_scope.cancel()
    return keeper.statistics().removed_count.get("erase", 0)


def _p99(took: list[float]) -> float:
    return sorted(took)[int(len(took) * 0.99)]


async def _figures() -> dict[str, float]:
    alone: list[list[float]] = []
    beside: list[list[float]] = []
    speeds, bare, processor = [], [], []
    erased = 0
    async with a_store() as bench:
        async with bench.pool.connection() as connection:
            [(owner,)] = await connection.execute("SELECT id FROM users")
        idle = "UPDATE chats SET worker_id = NULL, runner_id = NULL"
        await _at_work(bench, UserId(UUID(str(owner))))
        await _fill(bench.pool, owner)
        async with bench.pool.connection() as connection:
            await connection.execute(_BEGIN)
            await connection.execute("CHECKPOINT")
        await _work(bench)
        for pair in range(PAIRS):
            for is_beside in (pair % 2 == 0, pair % 2 == 1):
                if is_beside:
                    erased += await _beside(bench, beside)
                else:
                    alone.append(await _work(bench))
        await _delete_bare(bench.pool)
        async with bench.pool.connection() as connection:
            await connection.execute(idle)
        postmaster = await _postmaster(bench.pool)
        for _ in range(ROUNDS):
            await _fill(bench.pool, owner)
            spent = _processor_seconds(postmaster)
            speeds.append(await _erase(bench.pool))
            processor.append(_processor_seconds(postmaster) - spent)
            await _fill(bench.pool, owner)
            bare.append(await _delete_bare(bench.pool))
    return {
        "messages_per_second": max(speeds),
        "bare_messages_per_second": max(bare),
        "processor_us": median(processor) / (CHATS * MESSAGES_EACH) * 1e6,
        "to_bare_delete": max(speeds) / max(bare),
        "p50_alone_ms": median(map(median, alone)),
        "p50_beside_ms": median(map(median, beside)),
        "p99_alone_ms": median(map(_p99, alone)),
        "p99_beside_ms": median(map(_p99, beside)),
        "p99_ratio": median(_p99(b) / _p99(a) for a, b in zip(alone, beside, strict=True)),
        "erased_beside": float(erased),
    }


def measure() -> dict[str, float]:
    return trio.run(_figures)
