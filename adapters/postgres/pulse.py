"""Whether the database answers and has our schema: over a connection for nothing else, so that no
load delays it and it takes nobody's place. And whether its disk has room, once some was missing."""

import math
from dataclasses import dataclass

import trio

from adapters.postgres import migrating
from adapters.postgres.driver.connection import Connection
from adapters.postgres.driver.faults import DatabaseFault, DatabaseFull
from adapters.postgres.driver.pool import Pool
from adapters.postgres.queries import SQL
from runtime.clock import now

ANSWER_SECONDS = 2.0  # later counts as not at all
FRESH_SECONDS = 0.25  # whoever asks within, or while another asks, gets the same answer


@dataclass(frozen=True, slots=True)
class Felt:
    """What is wrong with each; None: nothing."""

    database: str | None = None
    schema: str | None = None


class Pulse:
    """Asks over one connection, and makes a new one when it breaks."""

    def __init__(self, conninfo: str) -> None:
        self._conninfo = conninfo
        self._connection: Connection | None = None
        self._turn = trio.Lock()
        self._felt_at = -math.inf
        self._felt = Felt()

    async def database(self) -> str | None:
        """Why the database cannot be used now; None when it can."""
        return (await self._feel()).database

    async def schema(self) -> str | None:
        """Why the schema is not the one this program needs; None when it is."""
        return (await self._feel()).schema

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    async def _feel(self) -> Felt:
        async with self._turn:
            if now() - self._felt_at > FRESH_SECONDS:
                self._felt = await self._ask()
                self._felt_at = now()
            return self._felt

    async def _ask(self) -> Felt:
        try:
            with trio.fail_after(ANSWER_SECONDS):
                if self._connection is None:
                    self._connection = await Connection.open(self._conninfo)
                missing = await migrating.pending(self._connection)
        except migrating.SchemaFault as fault:
            return Felt(schema=str(fault))
        except DatabaseFault as fault:
            return self._away(str(fault))
        except trio.TooSlowError:
            return self._away(f"no answer in {ANSWER_SECONDS:g} s")
        return Felt(schema=f"{len(missing)} steps are missing" if missing else None)

    def _away(self, why: str) -> Felt:
        self.close()
        return Felt(database=why, schema="not known")


class RoomCheck:
    """Asks whether the disk of the database has room, once some was missing. It takes one
    connection of the pool at most: those who ask meanwhile get the same answer."""

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


async def take_room(connection: Connection) -> None:
    """Take a mebibyte of the database's disk, and give it back. Raises `DatabaseFull`."""
    await connection.execute(SQL["take_room"])
