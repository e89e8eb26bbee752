"""A store on PostgreSQL for tests: opened on a database that is migrated once in a run.

async with open_store(conninfo) as store:
    await store.ledger.apply(...)
    store.told                      the hints, in order
    await store.execute("SELECT …") past the store, on a connection of its own
"""

import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache

import psycopg
import trio
from psycopg.conninfo import make_conninfo

from actors.ids import ChatId, FileId
from adapters.postgres.committing import Committer
from adapters.postgres.connection import Connection
from adapters.postgres.leases import Leases
from adapters.postgres.ledger import Ledger
from adapters.postgres.migrating import migrate
from adapters.postgres.pool import Pool
from adapters.postgres.reading import Reading

LEASE_SECONDS = 30.0
TABLES = ("chats", "files", "workers", "users")  # what refers to them goes with them


@cache
def migrated_database(server: str) -> str:
    """The conninfo of a database with our schema. Tests share it: `open_store` empties it."""
    name = "migrated"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE template0")
    conninfo = make_conninfo(server, dbname=name)
    trio.run(migrate, conninfo)
    return conninfo


@dataclass
class Telling:
    """Where hints go. `failing(hint)`: this one cannot be told."""

    told: list = field(default_factory=list)
    tried: list = field(default_factory=list)
    failing: object = None

    def __call__(self, hint):
        self.tried.append(hint)
        if self.failing is not None and self.failing(hint):
            raise ConnectionError("nobody hears")
        self.told.append(hint)


@dataclass
class PostgresStore:
    conninfo: str
    pool: Pool
    telling: Telling
    ledger: Ledger
    reading: Reading
    leases: Leases
    _aside: Connection

    @property
    def told(self):
        return self.telling.told

    async def execute(self, sql, **parameters):
        """Past the store. A statement that the schema refuses raises psycopg's error."""
        return await self._aside.execute(sql, parameters)

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
    aside = await Connection.open(conninfo)
    try:
        if emptied:
            await aside.run([(f"DELETE FROM {table}", ()) for table in TABLES])
        opened = Pool(through or conninfo, size=size, wait_seconds=wait_seconds, **pool)
        telling = Telling()
        committer = Committer(opened, tell=telling)
        ledger = Ledger(opened, committer, tell=telling, lease_seconds=lease_seconds)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(committer.run)
            yield PostgresStore(
                conninfo,
                opened,
                telling,
                ledger,
                Reading(opened, lease_seconds=lease_seconds),
                Leases(opened, lease_seconds=lease_seconds, tell=telling),
                aside,
            )
            nursery.cancel_scope.cancel()
        await opened.drain(seconds=1.0)
    finally:
        aside.close()


def new_chat_id() -> ChatId:
    return ChatId(uuid.uuid4())


def new_file_ids(count: int) -> list[FileId]:
    return sorted(FileId(uuid.uuid4()) for _ in range(count))
