"""A store on PostgreSQL for tests: opened on a database that is migrated once in a run.

async with open_store(conninfo) as store:
    await store.ledger.apply(...)
    store.told                      the hints, in order
    await store.execute("SELECT …") past the store, on a connection of its own
"""

import atexit
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache

import msgspec
import psycopg
import trio
from psycopg.conninfo import make_conninfo

from actors.chat.histories import KnownHistories
from actors.law.chat import ApprovalDecision, Verdict
from actors.law.ids import ChatId, FileId, Holder
from actors.law.requests import DynamicTool, NewChat
from actors.law.states import Status
from adapters.postgres.codec import rows
from adapters.postgres.codec.parts import unescaped
from adapters.postgres.committing import Committer
from adapters.postgres.driver.connection import DatabaseConnection
from adapters.postgres.driver.pool import Pool
from adapters.postgres.driver.turns import Patience
from adapters.postgres.leases import PostgresLeases
from adapters.postgres.ledger import PostgresLedger
from adapters.postgres.migrating import migrate
from adapters.postgres.queries import SQL
from adapters.postgres.reading import Reading
from tests.contracts.worlds import Rows, Telling
from tests.patience import PATIENCE_SECONDS

LEASE_SECONDS = 30.0
PRISTINE = "pristine"
TABLES = (  # what refers to them goes with them
    "legal_holds",
    "erasures",
    "housekeeping",
    "ai_providers",
    "model_configs",
    "offered_models",
    "settings",
    "deliveries",
    "webhooks",
    "groups",
    "spend_limits",
    "spend_counters",
    "spend_reservations",
    "push_keys",
    "mcp_servers",
    "chats",
    "spend_days",
    "files",
    "workers",
    "workspaces",
    "users",
)


@cache
def migrated_database(server: str) -> str:
    """The conninfo of a database with our schema. Tests share it, and empty it as they begin."""
    return a_copy(server, "migrated")


def a_copy(server: str, name: str) -> str:
    """The conninfo of a database of this name with our schema, and nobody in it."""
    _make_pristine(server)
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {PRISTINE} STRATEGY file_copy")
    return make_conninfo(server, dbname=name)


@cache
def _make_pristine(server: str) -> None:
    """What is migrated once in a run, and then only copied."""
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {PRISTINE} TEMPLATE template0 STRATEGY file_copy")
    trio.run(migrate, make_conninfo(server, dbname=PRISTINE))


def empty(conninfo: str, *, alone: bool = False) -> None:
    """Empty a database for the next test; `alone` ends all other connections to it before.

    One connection for each database is kept for that. A new one would take the server thirty times
    as long, nearly all of it to look up the tables.
    """
    try:
        _empty(conninfo, alone)
    except psycopg.OperationalError:  # the last test has ended the server, or all connections
        forget(conninfo)
        _empty(conninfo, alone)


def _empty(conninfo: str, alone: bool) -> None:
    if conninfo not in _KEPT:
        _KEPT[conninfo] = psycopg.connect(conninfo, autocommit=True)
    _KEPT[conninfo].execute(f"{_END_OTHERS}; {_EMPTY}" if alone else _EMPTY)


def forget(conninfo: str) -> None:
    """Close the connection that is kept for emptying a database, if there is one."""
    if (kept := _KEPT.pop(conninfo, None)) is not None:
        kept.close()


@atexit.register
def _forget_all() -> None:
    for conninfo in list(_KEPT):
        forget(conninfo)


_KEPT: dict[str, psycopg.Connection] = {}
_EMPTY = "; ".join(f"DELETE FROM {table}" for table in TABLES)
_END_OTHERS = """
    SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid()"""


@dataclass
class PostgresStore:
    conninfo: str
    pool: Pool
    telling: Telling
    ledger: PostgresLedger
    reading: Reading
    leases: PostgresLeases
    histories: KnownHistories
    _aside: DatabaseConnection

    @property
    def told(self):
        return self.telling.told

    async def execute(self, sql, **parameters):
        """Past the store. A statement that the schema refuses raises psycopg's error."""
        return await self._aside.execute(sql, parameters)

    async def run(self, *statements):
        """Several at once, past the store, without parameters."""
        return await self._aside.run([(sql, ()) for sql in statements])

    async def empty(self, *tables):
        await self.run(*(f"DELETE FROM {table}" for table in tables))

    async def add_users(self, *ids):
        for id in ids:
            await self.execute(
                "INSERT INTO users (id, username) VALUES (%(id)s, %(id)s::uuid::text)", id=id
            )

    async def add_files(self, *ids):
        await self.execute(
            "INSERT INTO files (id, owner_id, name, media_type, size_bytes)"
            " SELECT f, (SELECT min(u.id::text)::uuid FROM users u), 'f', 'text/plain', 1"
            " FROM unnest(%(ids)s::uuid[]) AS f",
            ids=list(ids),
        )

    async def pass_time(self, seconds):
        """The database's clock cannot be set, so what it has written grows older."""
        await self.execute(
            "UPDATE workers SET heartbeat_at = heartbeat_at - %(s)s * interval '1 second'",
            s=seconds,
        )

    async def write_past_the_law(self, chat, **columns):
        if isinstance(columns.get("holder"), Holder):
            holder = columns.pop("holder")
            columns |= {"worker_id": holder.worker, "runner_id": holder.runner}
        columns = {k: v.value if isinstance(v, Status) else v for k, v in columns.items()}
        columns = {k: str(v).lower() if isinstance(v, bool) else v for k, v in columns.items()}
        settings = ", ".join(f"{name} = %({name})s" for name in columns)
        await self.execute(f"UPDATE chats SET {settings} WHERE id = %(id)s", id=chat, **columns)

    async def workers(self):
        return {id for (id,) in await self.execute("SELECT id FROM workers")}

    async def rows(self, chat):
        return (await self.all_rows()).get(chat)

    async def all_rows(self):
        chats, messages, queue, files, decided = await self.run(*_ALL)
        kept = {}
        for created_at, updated_at, *columns in chats:
            new, row = columns[: len(_NEW)], columns[len(_NEW) :]
            chat = rows.chat_of(rows.ChatRow.of(row))
            kept[chat.id] = Rows(
                _new_chat(new),
                chat,
                (created_at, updated_at),
                tuple(
                    rows.message_of(rows.MessageRow.of(row))
                    for id, *row in messages
                    if id == chat.id
                ),
                tuple(
                    rows.queued_of(rows.QueuedRow.of(row)) for id, *row in queue if id == chat.id
                ),
                frozenset(file for id, file in files if id == chat.id),
                tuple(_decided(*row) for id, *row in decided if id == chat.id),
            )
        return kept

    async def until(self, sql):
        """For what the server does in its own time; `sql` says when."""
        with trio.fail_after(PATIENCE_SECONDS):
            while not (await self.execute(f"SELECT ({sql})"))[0][0]:
                await trio.sleep(0.002)

    async def leaves_nothing_behind(self):
        """No connection is lent, no transaction open, every history as new as its newest row."""
        with trio.fail_after(PATIENCE_SECONDS):  # a given-up commit may still have one
            while (now := self.pool.statistics()).lent or now.waiting:
                await trio.sleep(0.002)
        await self.until(_NOBODY_ELSE)
        assert [] == await self.execute(_TORN)
        return True


def _message(row):
    return rows.message_of(rows.MessageRow.of(row))


def _queued(row):
    return rows.queued_of(rows.QueuedRow.of(row))


_NEW = [
    "id",
    "owner_id",
    "title",
    "parent_id",
    "root_id",
    "client_type",
    "plan_mode",
    "mode",
    "workspace_id",
    "labels",
    "mcp_server_ids",
    "dynamic_tools",
    "dynamic_tool_names",
    "approval_policy",
]


def _columns(name):
    """What a statement of ours selects, without its parameters."""
    selected, _, _ = SQL[name].removeprefix("SELECT ").rpartition(" FROM ")
    return selected.replace("%(lease_seconds)s", "0")


_ALL = (
    f"SELECT created_at, updated_at, {', '.join(_NEW)}, {_columns('chat')} FROM chats",
    f"SELECT chat_id, {_columns('history')} FROM messages ORDER BY id",
    f"SELECT chat_id, {_columns('queue')} FROM queued_messages ORDER BY position, id",
    "SELECT chat_id, file_id FROM chat_files",
    "SELECT chat_id, tool_call_id, tool, verdict, decided_by, words FROM approval_decisions"
    " ORDER BY id",
)


def _decided(call, tool, verdict, by, words):
    return ApprovalDecision(call, tool, Verdict(verdict), by, words)


def _new_chat(columns):
    found = dict(zip(_NEW, columns, strict=True))
    tools = msgspec.json.decode(unescaped(found.pop("dynamic_tools")), type=tuple[DynamicTool, ...])
    assert found.pop("dynamic_tool_names") == [tool.name for tool in tools]
    labels = msgspec.json.decode(found.pop("labels"))
    servers = tuple(found.pop("mcp_server_ids"))
    return NewChat(**found, labels=labels, mcp_server_ids=servers, dynamic_tools=tools)


_NOBODY_ELSE = """
    SELECT count(*) = 0 FROM pg_stat_activity
     WHERE datname = current_database() AND xact_start IS NOT NULL AND pid <> pg_backend_pid()
"""
_TORN = """
    SELECT c.id FROM chats c
     WHERE c.history_version < (SELECT max(revision) FROM messages m WHERE m.chat_id = c.id)
        OR (c.queue_version = 0 AND EXISTS (SELECT FROM queued_messages q WHERE q.chat_id = c.id))
"""


@asynccontextmanager
async def open_store(
    conninfo: str,
    *,
    through: str | None = None,
    size: int = 8,
    wait_seconds: float = 10.0,
    lease_seconds: float = LEASE_SECONDS,
    emptied: bool = True,
    **pool,
) -> AsyncIterator[PostgresStore]:
    """The store on `conninfo`; its own connections go `through` another way, if there is one."""
    if emptied:
        empty(conninfo)
    aside = await DatabaseConnection.open(conninfo)
    try:
        opened = Pool(
            through or conninfo, size=size, patience=Patience(stalled=wait_seconds), **pool
        )
        telling = Telling()
        histories = KnownHistories()
        hear = histories.note_commit
        committer = Committer(opened, tell=telling, on_commit=hear)
        ledger = PostgresLedger(
            opened, committer, tell=telling, lease_seconds=lease_seconds, on_commit=hear
        )
        async with trio.open_nursery() as nursery:
            nursery.start_soon(committer.run)
            store = PostgresStore(
                conninfo,
                opened,
                telling,
                ledger,
                Reading(opened, lease_seconds=lease_seconds),
                PostgresLeases(opened, lease_seconds=lease_seconds, tell=telling),
                histories,
                aside,
            )
            yield store
            nursery.cancel_scope.cancel()
        await opened.drain(seconds=1.0)
    finally:
        aside.close()


async def apply_rule(pool, rule, *, days=None, most=1000):
    """One batch of a rule by which things go when they are old; how many went."""
    asked = {"seconds": rule.age_seconds(days), "most": most}
    async with pool.connection() as connection:
        [(found,)] = await connection.execute(rule.count, {"seconds": asked["seconds"]})
        [(count, _)] = await connection.execute(rule.delete, asked)
    assert count == min(found, most)
    return count


def new_chat_id() -> ChatId:
    return ChatId(uuid.uuid4())


def new_file_ids(count: int) -> list[FileId]:
    return sorted(FileId(uuid.uuid4()) for _ in range(count))
