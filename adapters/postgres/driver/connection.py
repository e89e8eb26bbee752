"""A connection as the store uses it: run statements, read a snapshot, commit and know it.

    rows = await connection.execute(sql, {"chat": chat})
    a, b = await connection.run([(sql_a, {...}), (sql_b, {...})])        one trip
    a, b = await connection.read([(sql_a, {...}), (sql_b, {...})])       one trip, one snapshot
    a, b = await connection.commit([(sql_a, {...}), (sql_b, {...})])     two trips, outcome known

    async with connection.transaction() as tx:
        [rows] = await tx.run([lock_chat])      BEGIN goes along
        ...
        await tx.commit([write, write])         COMMIT goes along; or leave it to the block's end

COMMIT has two outcomes. It is not cancelled once it is sent; if its answer is lost, the server is
asked what became of the transaction (outcome.py). So after `commit` or a `transaction` block:

    no exception          committed
    OutcomeUnknown        the server could not be asked; `error.lost` is what to settle later
    any other exception   not committed, Cancelled included

`run` and `execute` outside a transaction commit too, when they write, but cannot keep this
promise: use them to read, or to write what may be repeated.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Self

import trio
from psycopg import DataError

from adapters.postgres.driver import timeouts as limits
from adapters.postgres.driver.faults import DatabaseFault, DatabaseGone, LostCommit
from adapters.postgres.driver.libpq import CANCEL_SECONDS, LibpqConnection
from adapters.postgres.driver.outcome import committed, era_of, settle
from adapters.postgres.driver.timeouts import Timeouts
from adapters.postgres.driver.traffic import Traffic
from adapters.postgres.driver.values import Parameters, Row, Statement
from adapters.postgres.queries import SQL

READ_COMMITTED = "BEGIN"
SNAPSHOT = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

# How long a ROLLBACK may take; then the connection is closed, which rolls back as well.
ROLLBACK_SECONDS = 5.0

_ASK_XID: Statement = (SQL["ask_xid"], ())
_COMMIT: Statement = ("COMMIT", ())
_ROLLBACK: Statement = ("ROLLBACK", ())


class DatabaseConnection:
    """A connection, usable or closed and never in between. One task uses it at a time."""

    def __init__(self, libpq: LibpqConnection, conninfo: str, era: str) -> None:
        self._libpq = libpq
        self._conninfo = conninfo
        self._era = era

    @classmethod
    async def open(cls, conninfo: str, *, timeouts: Timeouts = limits.DEFAULT) -> Self:
        libpq = await LibpqConnection.open(conninfo, timeouts)
        opened = None
        try:
            opened = cls(libpq, conninfo, await era_of(libpq))
            return opened
        finally:
            if opened is None:
                libpq.close()

    def close(self) -> None:
        self._libpq.close()

    @property
    def traffic(self) -> Traffic:
        return self._libpq.traffic

    @property
    def closed(self) -> bool:
        return self._libpq.closed

    @property
    def backend(self) -> int:
        """The server's process for this connection."""
        return self._libpq.backend

    def is_alive(self) -> bool:
        """Return whether an idle connection is still open, as far as can be told without a trip."""
        return self._libpq.is_alive()

    def __repr__(self) -> str:
        return f"{self._libpq}"

    async def execute(self, sql: str, parameters: Parameters = ()) -> list[Row]:
        """Run one statement, and return its rows."""
        [rows] = await self.run([(sql, parameters)])
        return rows

    async def run(
        self, statements: Sequence[Statement], *, seconds: float | None = None
    ) -> list[list[Row]]:
        """Run all statements in one trip and one transaction, and return the rows of each.
        `seconds` is for all together, in place of what the timeouts say."""
        try:
            return await self._libpq.exchange(
                statements, self._seconds if seconds is None else seconds
            )
        finally:
            if self._libpq.in_transaction:
                with trio.move_on_after(ROLLBACK_SECONDS, shield=True):
                    await self._rollback()

    async def read(self, statements: Sequence[Statement]) -> list[list[Row]]:
        """Run all statements in one trip, on one snapshot of the database, without writing."""
        answers = await self.run([(SNAPSHOT, ()), *statements, _COMMIT])
        return answers[1:-1]

    async def commit(self, statements: Sequence[Statement]) -> list[list[Row]]:
        """Run all statements in one transaction, which is committed when this returns. It takes two
        trips: the rows and the transaction's id come back before COMMIT goes out."""
        async with self.transaction() as tx:
            rows = await tx.run(statements)
        return rows

    async def script(self, sql: str, *, seconds: float | None = None) -> None:
        """Run several statements in one text without parameters: schema and migrations."""
        try:
            await self._libpq.script(sql, self._seconds if seconds is None else seconds)
        finally:
            if self._libpq.in_transaction:
                with trio.move_on_after(ROLLBACK_SECONDS, shield=True):
                    await self._rollback()

    @asynccontextmanager
    async def transaction(self, begin: str = READ_COMMITTED) -> AsyncIterator["Transaction"]:
        """Run a block in a transaction: committed at its end, rolled back if an exception leaves
        it."""
        assert not self._libpq.in_transaction, f"{self}: a transaction inside a transaction"
        tx = Transaction(self._libpq, self._conninfo, self._era, begin)
        try:
            yield tx
            await tx.commit()
        finally:
            if self._libpq.in_transaction:
                with trio.move_on_after(ROLLBACK_SECONDS, shield=True):
                    await self._rollback()

    async def settle(self, lost: LostCommit) -> bool:
        """Return whether `lost` (of OutcomeUnknown) was committed. If it still runs, end it."""
        return await committed(self._libpq, lost)

    async def hear(self) -> list[tuple[str, str]]:
        """Wait for notifications: (channel, payload) of each."""
        return await self._libpq.hear()

    @property
    def _seconds(self) -> float:
        return self._libpq.timeouts.exchange_seconds

    async def _rollback(self) -> None:
        try:
            await self._libpq.exchange([_ROLLBACK], ROLLBACK_SECONDS)
        except DatabaseFault:
            pass
        finally:
            if self._libpq.in_transaction:
                self._libpq.close()


class Transaction:
    """The transaction inside `connection.transaction()`."""

    def __init__(self, libpq: LibpqConnection, conninfo: str, era: str, begin: str) -> None:
        self.xid: int | None = None  # None: not known, or nothing written so far
        self._libpq = libpq
        self._conninfo = conninfo
        self._era = era
        self._begin = begin
        self._begun = False
        self._ended = False

    async def run(
        self, statements: Sequence[Statement], *, ask_xid: bool = True
    ) -> list[list[Row]]:
        """Run all statements in one trip. BEGIN goes along with the first.

        As long as the transaction's id is not known, it is asked for in the same trip. A caller
        that has it from a statement (RETURNING pg_current_xact_id()) sets `xid`, and asks for none.
        """
        asking = ask_xid and self.xid is None
        opening = self._opening()
        batch = [*opening, *statements, _ASK_XID] if asking else [*opening, *statements]
        answers = await self._libpq.exchange(batch, self._libpq.timeouts.exchange_seconds)
        if asking:
            [(self.xid,)] = answers.pop()
        return answers[len(opening) :]

    async def commit(self, statements: Sequence[Statement] = ()) -> list[list[Row]] | None:
        """Commit, with last statements in the same trip if their rows do not matter.

        Return their rows; None if the commit stands, but the rows were lost on the way.
        """
        if self._ended:
            assert not statements, "the transaction has ended"
            return []
        if statements and self.xid is None:
            rows = await self.run(statements)  # the id must be known before COMMIT goes out
            await self.commit()
            return rows
        self._ended = True
        if not self._begun:
            return []
        await trio.lowlevel.checkpoint_if_cancelled()
        return await self._commit([*statements, _COMMIT])

    def _opening(self) -> list[Statement]:
        assert not self._ended, "the transaction has ended"
        if self._begun:
            return []
        self._begun = True
        return [(self._begin, ())]

    async def _commit(self, batch: Sequence[Statement]) -> list[list[Row]] | None:
        """Send COMMIT. There is no way back from here, so it is not cancelled before the outcome is
        known."""
        libpq = self._libpq
        assert not libpq.in_failed_transaction, (
            f"{libpq}: a statement failed, and COMMIT was asked for"
        )
        seconds = (
            libpq.timeouts.exchange_seconds if len(batch) > 1 else libpq.timeouts.commit_seconds
        )
        try:
            with trio.move_on_after(seconds + 2 * CANCEL_SECONDS, shield=True):
                return (await libpq.exchange(batch, seconds))[:-1]
        except DatabaseFault as fault:
            if libpq.in_transaction or self.xid is None:
                raise  # the server still waits for a COMMIT, or there is nothing to commit
            broken, lost = fault, LostCommit(self.xid, libpq.backend, self._era)
        except DataError as unreadable:
            if unreadable.sqlstate is not None:
                raise
            return None  # the server has answered everything; only we cannot read the rows
        if await settle(self._conninfo, libpq.timeouts, lost):
            return None
        raise DatabaseGone(f"{broken}; transaction {lost.xid} was not committed") from broken
