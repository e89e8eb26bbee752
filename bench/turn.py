"""What does a plain turn cost the database: one user message, one model call, no tools?

On paper: the sender's transaction creates (or wakes) the chat, acquires it for this process and
counts the first attempt: four statements for a new chat (BEGIN, the clock, one INSERT of
everything, COMMIT), six for one that is there (BEGIN, lock, queue, tail, write, COMMIT). The actor
reads the history (one), asks what a new chat is called (one), and writes the step, the end of the
turn and the giving back together (one). Each of the two commits is told to other processes by one
NOTIFY. That is nine or ten statements, two writing transactions and two that notify.

The server counts: its log has every statement (BEGIN and COMMIT too, which pg_stat_statements does
not see in this protocol), its transaction ids every transaction that writes or notifies. What the
process asks for whatever chats it has (its beat, its polls) is told apart by its first line.
"""

import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import trio

from actors.law.chat import UserMessage
from actors.law.ids import ChatId, UserId
from actors.law.parts.message import TextPart
from actors.law.requests import SendMessage
from actors.law.states import Status
from actors.law.store.hints import ChatMoved, News
from actors.law.store.ports import Applied
from actors.supervisor.api import hand_over
from adapters import settings as config
from adapters.daemon.chat_wiring import ChatServices, basis_of, dial_of, open_chats
from adapters.models.provider_config import models_of_environment
from adapters.postgres import embedded
from adapters.postgres.driver.connection import DatabaseConnection
from adapters.postgres.driver.pool import Pool
from adapters.postgres.queries import SQL
from bench.fixtures import a_database, a_provider, a_user, environment, hello, server_cpu_seconds
from bench.report import Target
from runtime.clock import now

QUESTION = "what does a plain turn cost the database?"
TARGETS = (
    Target("first_turn_statements", "statements of a new chat's turn", at_most=12),
    Target("next_turn_statements", "statements of a later turn", at_most=12),
    Target("first_turn_writes", "write transactions of a new chat's turn", at_most=3),
    Target("next_turn_writes", "write transactions of a later turn", at_most=3),
    Target("waiting_statements", "statements of 100 chats that wait for a model", at_most=0),
)
TURNS = 100  # one after the other: what one turn costs, shared with nobody
TOGETHER, ROUNDS = 64, 10  # chats at once, turns of each: what a turn costs under load
WAITING = 100
WAITING_SECONDS = 5.0
SETTLE_SECONDS = 0.5  # for the server's own counters, and for hints on their way
OF_THE_PROCESS = ("beat", "leave", "sweep", "acquire", "held", "forget_calls")
LOGGED = re.compile(rb"LOG:  (?:execute [^:]+|statement): (.*)")
LOG_ALL = {"log_statement": "all"}


@dataclass
class Bench:
    chats: ChatServices
    user: UserId
    cluster: embedded.Cluster
    aside: DatabaseConnection

    async def begin(self) -> ChatId:
        """A new chat, acquired in the sender's own transaction."""
        slots = self.chats.supervisor.slots
        claim = slots.claim(is_root=True, now=now())
        assert claim is not None, "there is room"
        applied = await self.chats.store.ledger.create(hello(self.user), claim.requests)
        return self._begun(applied)

    async def go_on(self, chat: ChatId) -> ChatId:
        claim = self.chats.supervisor.slots.claim(is_root=True, now=now())
        assert claim is not None, "there is room"
        more = SendMessage(UserMessage((TextPart("go on"),), self.user))
        return self._begun(await self.chats.store.ledger.apply(chat, [more, *claim.requests]))

    def _begun(self, applied: object) -> ChatId:
        assert isinstance(applied, Applied), applied
        assert hand_over(self.chats.supervisor.address, applied.stored)
        return applied.chat.id

    async def turn(self, begin: Callable[[], Awaitable[ChatId]]) -> ChatId:
        """Run a turn, from the sender's transaction to `waiting`."""
        over: set[ChatId] = set()
        rest = trio.Event()

        def heard(news: News) -> None:
            if isinstance(news, ChatMoved) and news.status is Status.WAITING:
                over.add(news.chat)
                rest.set()

        with self.chats.store.bus.follow(heard, ChatMoved), trio.fail_after(60):
            chat = await begin()
            while chat not in over:
                await rest.wait()
                rest = trio.Event()
        return chat

    async def counted(self) -> "Counts":
        await trio.sleep(SETTLE_SECONDS)
        logged = LOGGED.findall(self.cluster.wanted.log.read_bytes())
        [(xid,)] = await self.aside.execute("SELECT pg_snapshot_xmax(pg_current_snapshot())::text")
        statements = sum(not is_any(line, OF_THE_PROCESS) for line in logged)
        told = sum(is_any(line, ("tell",)) for line in logged)
        return Counts(statements, int(xid), told)


@dataclass(frozen=True, slots=True)
class Counts:
    statements: int
    transactions: int  # with an id: they wrote something, or notified
    told: int

    def since(self, before: "Counts", turns: int) -> tuple[float, float, float]:
        """(statements, write transactions, notifying ones) of a turn."""
        asking = 1  # the question of `counted` itself
        statements = self.statements - before.statements - asking
        told = self.told - before.told
        writes = self.transactions - before.transactions - told
        return statements / turns, writes / turns, told / turns


def is_any(line: bytes, names: Sequence[str]) -> bool:
    """Return whether this is the first line of a statement with one of these names."""
    firsts = (SQL[name].splitlines()[0].partition("%(")[0] for name in names)
    return any(line.startswith(first.encode()) for first in firsts)


@asynccontextmanager
async def a_bench(url: str, **settings: str) -> AsyncIterator[Bench]:
    async with a_database(**settings) as cluster:
        conninfo = cluster.conninfo
        environ = environment(url)
        aside = await DatabaseConnection.open(conninfo)
        pool = Pool(conninfo, size=1)
        user = await a_user(pool)
        await pool.drain(1)
        told = config.read_config({"drain_seconds": "0", "summaries": "off"}, {})
        asked = open_chats(
            told, basis_of(told, models_of_environment(environ), dial_of(environ)), conninfo
        )
        async with asked as chats:
            while chats.supervisor.slots.worker is None:  # noqa: ASYNC110  nobody tells
                await trio.sleep(0.01)
            yield Bench(chats, user, cluster, aside)
        aside.close()


async def _plain(url: str) -> dict[str, float]:
    async with a_bench(url, **LOG_ALL) as bench:
        await bench.turn(bench.begin)  # connections are open, their first statements said
        begun = await bench.counted()
        chats = [await bench.turn(bench.begin) for _ in range(TURNS)]
        between = await bench.counted()
        for chat in chats:
            await bench.turn(lambda chat=chat: bench.go_on(chat))
        ended = await bench.counted()
        figures = {}
        for name, (statements, writes, told) in {
            "first_turn": between.since(begun, TURNS),
            "next_turn": ended.since(between, TURNS),
        }.items():
            figures[f"{name}_statements"] = statements
            figures[f"{name}_writes"] = writes
            figures[f"{name}_notifications"] = told
        return figures


async def _loaded(url: str) -> dict[str, float]:
    """Many at once: commits are grouped, hints too; nothing is logged."""
    async with a_bench(url) as bench:
        chats = [await bench.turn(bench.begin) for _ in range(TOGETHER)]
        return await _cost(bench, chats)


async def _cost(bench: Bench, chats: list[ChatId]) -> dict[str, float]:
    server, client, began = server_cpu_seconds(bench.cluster), time.process_time(), now()
    for _ in range(ROUNDS):
        async with trio.open_nursery() as nursery:
            for chat in chats:
                nursery.start_soon(bench.turn, lambda chat=chat: bench.go_on(chat))
    turns = ROUNDS * len(chats)
    seconds = now() - began
    server, client = server_cpu_seconds(bench.cluster) - server, time.process_time() - client
    return {
        "loaded_turn_server_cpu_ms": server / turns * 1000,
        "loaded_turn_client_cpu_ms": client / turns * 1000,
        "loaded_turns_per_second": turns / seconds,
    }


async def _waiting(url: str) -> dict[str, float]:
    async with a_bench(url, **LOG_ALL) as bench:
        for _ in range(WAITING):
            await bench.begin()
        await trio.sleep(WAITING_SECONDS)
        begun = await bench.counted()
        await trio.sleep(WAITING_SECONDS)
        statements, _, _ = (await bench.counted()).since(begun, 1)
        return {"waiting_statements": statements}


def measure() -> dict[str, float]:
    with a_provider(deltas=20) as url:
        figures = trio.run(_plain, url) | trio.run(_loaded, url)
    with a_provider(first_token_ms=60_000) as url:
        return figures | trio.run(_waiting, url)
