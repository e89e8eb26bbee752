"""The database that the configuration names: opened, brought up to date, and checked by probes."""

import math
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial

import trio
from psycopg.errors import InsufficientPrivilege

from adapters.postgres import embedded, migrating
from adapters.postgres.driver import server_check
from adapters.postgres.driver.connection import DatabaseConnection
from adapters.postgres.driver.faults import DatabaseFault, DatabaseFull
from adapters.postgres.driver.pool import Pool
from adapters.postgres.queries import SQL
from adapters.settings import Config
from adapters.settings.refusals import CannotStart
from runtime.clock import now
from runtime.threads import read


@dataclass(frozen=True, slots=True)
class Database:
    """The address of the store, and its name in the log."""

    conninfo: str
    name: str
    cluster: embedded.Cluster | None = None  # None: a server of the user's own


@asynccontextmanager
async def open_database(config: Config) -> AsyncIterator[Database]:
    """Open the embedded server, or the one that DATABASE_URL names."""
    if config.database_url is not None:
        await read(server_check.REACHING, partial(server_check.check, config.database_url))
        yield Database(config.database_url, server_check.describe(config.database_url))
        return
    wanted = embedded.ClusterOptions(config.data_dir, config.postgres_user)
    async with embedded.use(wanted) as cluster:
        yield Database(cluster.conninfo, "embedded", cluster)


async def migrate(database: Database) -> Sequence[migrating.Migration]:
    """Bring the schema to what this program needs. Several processes may do so at once."""
    with refusing_start(database):
        return await migrating.migrate(database.conninfo)


def refusal_at_start(error: Exception) -> CannotStart | None:
    """Return a refusal to start if the database alone made the start fail, else None.

    A database that goes away after the migrations makes tasks fail that have already begun, and
    their faults come in a group. That is no bug, and gets the same words as at an earlier moment.
    """
    faults = _leaves(error)
    if not all(isinstance(fault, DatabaseFault) for fault in faults):
        return None
    subject, _, fact = str(faults[0]).partition(": ")
    return CannotStart(subject, fact, "start the daemon again when the database answers")


def _leaves(error: BaseException) -> list[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        return [leaf for inner in error.exceptions for leaf in _leaves(inner)]
    return [error]


@contextmanager
def refusing_start(database: Database) -> Iterator[None]:
    """Turn an error of a block that changes the schema into `CannotStart`: a schema that is not
    ours, a fault of the database, or a user who may not create tables."""
    try:
        yield
    except (migrating.SchemaFault, DatabaseFault) as fault:
        subject, _, fact = str(fault).partition(": ")
        raise CannotStart(subject, fact) from fault
    except InsufficientPrivilege as error:
        raise CannotStart(
            database.name,
            error.diag.message_primary or "permission denied",
            "let the user create tables (GRANT ALL ON SCHEMA public TO ...)",
        ) from error


ANSWER_SECONDS = 2.0  # later counts as not at all
FRESH_SECONDS = 0.25  # a task that asks within, or while another asks, gets the same answer


@dataclass(frozen=True, slots=True)
class DatabaseState:
    """The faults of the database and of its schema. None: there is none."""

    database: str | None = None
    schema: str | None = None


class DatabaseProbe:
    """Checks over a connection of its own whether the database answers and has our schema.

    No load delays it, and it takes no place in the pool. A connection that breaks is replaced.
    """

    def __init__(self, conninfo: str) -> None:
        self._conninfo = conninfo
        self._connection: DatabaseConnection | None = None
        self._turn = trio.Lock()
        self._felt_at = -math.inf
        self._felt = DatabaseState()

    async def database(self) -> str | None:
        """Return why the database cannot be used now, or None if it can."""
        return (await self._feel()).database

    async def schema(self) -> str | None:
        """Return why the schema is not the one that this program needs, or None if it is."""
        return (await self._feel()).schema

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    async def _feel(self) -> DatabaseState:
        async with self._turn:
            if now() - self._felt_at > FRESH_SECONDS:
                self._felt = await self._ask()
                self._felt_at = now()
            return self._felt

    async def _ask(self) -> DatabaseState:
        try:
            with trio.fail_after(ANSWER_SECONDS):
                if self._connection is None:
                    self._connection = await DatabaseConnection.open(self._conninfo)
                missing = await migrating.pending(self._connection)
        except migrating.SchemaFault as fault:
            return DatabaseState(schema=str(fault))
        except DatabaseFault as fault:
            return self._away(str(fault))
        except trio.TooSlowError:
            return self._away(f"no answer in {ANSWER_SECONDS:g} s")
        return DatabaseState(schema=f"{len(missing)} steps are missing" if missing else None)

    def _away(self, why: str) -> DatabaseState:
        self.close()
        return DatabaseState(database=why, schema="not known")


class DiskRoomCheck:
    """Checks whether the disk of the database has room, once some was missing. It takes one
    connection of the pool at most: all that ask meanwhile get the same answer."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._turn = trio.Lock()
        self._found_at = -math.inf
        self._found: str | None = None

    async def missing(self) -> str | None:
        """Return why nothing can be stored. None: there is room, or none was missing."""
        asked_at = now()
        async with self._turn:
            if self._found_at < asked_at:
                self._found = await self._look()
                self._found_at = now()
            return self._found

    async def _look(self) -> str | None:
        pool = self._pool
        if pool.full is None:
            return None
        try:
            with trio.fail_after(ANSWER_SECONDS):
                async with pool.connection() as connection:
                    await take_room(connection)
        except DatabaseFull as fault:
            return f"the disk of the database is full: {fault}"
        except (DatabaseFault, trio.TooSlowError):
            return f"the disk of the database was full, and cannot be asked now: {pool.full}"
        pool.full = None
        return None


async def take_room(connection: DatabaseConnection) -> None:
    """Take a mebibyte of the database's disk, and give it back. Raises `DatabaseFull`."""
    await connection.execute(SQL["take_room"])
