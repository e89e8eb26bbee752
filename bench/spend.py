"""What do limits of spending cost a turn?

On paper: without a limit nothing, because each process knows that there is none. Under one, a turn
has one statement more, which sets money aside before the call; what was set aside is settled by the
statement that stores the step. That one takes longer: it deletes a reservation and adds to four
counters. A call of a model takes seconds, so a tenth more of the database's part is not felt; what
counts is that turns of different users do not wait for each other longer than a write takes, though
they all lock the counters of the deployment.

The statements are counted by the server's log, as in `turn`. The times are those of turns one after
the other, and of 64 chats of one user at once, with and without a limit on one machine in one run:
only their ratio says something.
"""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import trio

from adapters.models.settings import DEFAULT_PRICE
from adapters.models.spend.store import NIL, SpendStore
from bench.fixtures import a_provider
from bench.report import Target
from bench.turn import LOG_ALL, Bench, a_bench
from runtime.clock import now

QUESTION = "what do limits of spending cost a turn?"
TARGETS = (
    Target("statements_off", "more statements of a turn without a limit", at_most=0),
    Target("statements_on", "more statements of a turn under limits", at_most=1),
    Target("alone_ratio", "time of a turn by itself, under limits to without", at_most=1.5),
    Target("together_ratio", "time of turns of 64 chats, under limits to without", at_most=2),
)
TURNS = 60  # one after the other, of each kind
TOGETHER, ROUNDS = 64, 5
LIMIT_MICROS = 10**12
PRICE = {"input": "1", "output": "1"}


async def state_price(bench: Bench) -> None:
    insert = "INSERT INTO settings (name, value) VALUES (%(name)s, %(value)s::json)"
    named = {"name": DEFAULT_PRICE, "value": json.dumps(PRICE)}
    async with bench.chats.store.pool.connection() as connection:
        await connection.execute(insert, named)
    bench.chats.catalogue.forget()


async def limit(bench: Bench, micros: int | None) -> None:
    """Set, or remove, the limits of the deployment and of the user, by day and by month."""
    store: SpendStore = bench.chats.spending.store
    for period in ("day", "month"):
        await store.put_limit("deployment", NIL, period, hard_micros=micros, soft_micros=None)
        await store.put_limit("user", bench.user, period, hard_micros=micros, soft_micros=None)
    bench.chats.catalogue.forget()


@asynccontextmanager
async def prepared(url: str, **settings: str) -> AsyncIterator[Bench]:
    async with a_bench(url, **settings) as bench:
        await state_price(bench)
        await bench.turn(bench.begin)  # connections are open, their first statements said
        yield bench


async def _counted(url: str) -> dict[str, float]:
    """Count the statements of turns: before the first limit, under limits, and without them."""
    async with prepared(url, **LOG_ALL) as bench:
        chat = await bench.turn(bench.begin)

        async def statements() -> float:
            await bench.turn(lambda: bench.go_on(chat))  # counters are made, settings are read
            before = await bench.counted()
            for _ in range(TURNS):
                await bench.turn(lambda: bench.go_on(chat))
            found, _, _ = (await bench.counted()).since(before, TURNS)
            return found

        plain = await statements()
        await limit(bench, LIMIT_MICROS)
        limited = await statements()
        await limit(bench, None)
        off = await statements()
    return {
        "turn_statements": plain,
        "statements_off": off - plain,
        "statements_on": limited - plain,
    }


async def _timed(url: str) -> dict[str, float]:
    """Time turns with and without limits, in turns, so that both find the machine alike."""
    async with prepared(url) as bench:
        chats = [await bench.turn(bench.begin) for _ in range(TOGETHER)]
        seconds = {"alone": [0.0, 0.0], "together": [0.0, 0.0]}
        for _ in range(ROUNDS):
            for kind, micros in enumerate((None, LIMIT_MICROS)):
                await limit(bench, micros)
                await bench.turn(lambda: bench.go_on(chats[0]))
                began = now()
                for chat in chats[: TURNS // ROUNDS]:
                    await bench.turn(lambda chat=chat: bench.go_on(chat))
                middle = now()
                async with trio.open_nursery() as nursery:
                    for chat in chats:
                        nursery.start_soon(bench.turn, lambda chat=chat: bench.go_on(chat))
                seconds["alone"][kind] += middle - began
                seconds["together"][kind] += now() - middle
    figures = {}
    for name, (off, on) in seconds.items():
        turns = TURNS if name == "alone" else ROUNDS * TOGETHER
        figures[f"{name}_off_ms"] = off / turns * 1000
        figures[f"{name}_on_ms"] = on / turns * 1000
        figures[f"{name}_ratio"] = on / off
    return figures


def measure() -> dict[str, float]:
    with a_provider(deltas=20) as url:
        return trio.run(_counted, url) | trio.run(_timed, url)
