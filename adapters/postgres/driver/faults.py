"""Faults of the database, sorted by what the caller should do about them.

    DatabaseGone      the connection or the server is away: retry, on another connection
    DatabaseBusy      the server could not do it now: retry, the connection is usable
    DatabaseFull      its disk is full: retry, nothing was stored; a human must make room
    DatabaseRefused   it does not let us in: a human must look, unless `retryable`
    PoolExhausted     every connection of ours is lent: retry later, or make the pool larger
    OutcomeUnknown    a COMMIT was sent, and its outcome could not be asked for: settle it
    AnswerLost        it is committed, but what it answered is lost: read again, never repeat it

Everything else that psycopg raises (a constraint, a syntax error, a wrong type) is a bug of ours or
a rule of the schema, and passes as it is.
"""

import re
from dataclasses import dataclass

from psycopg import errors

from actors.law.store.ports import StoreUnavailable


class DatabaseFault(StoreUnavailable):
    """A fault on the database's side, not of the statement. psycopg's error is the `__cause__`."""

    retryable = True


class DatabaseGone(DatabaseFault):
    """There is no connection, or no longer. What was not committed is rolled back."""


class DatabaseBusy(DatabaseFault):
    """A deadlock, a serialization failure, a lock or statement timeout, or a missing resource."""


class DatabaseFull(DatabaseBusy):
    """The server's disk has no room for it. Nothing of the transaction is kept."""


class DatabaseRefused(DatabaseFault):
    """The server answered, and the answer was no: password, database, number of connections."""

    def __init__(self, message: str, *, retryable: bool = False) -> None:
        super().__init__(message)
        self.retryable = retryable


class PoolExhausted(DatabaseFault):
    """No connection came free within the limit."""


@dataclass(frozen=True, slots=True)
class LostCommit:
    """A transaction whose COMMIT was sent and not answered: all that is needed to settle it."""

    xid: int
    backend: int
    era: str

    def __str__(self) -> str:
        return f"postgres/{self.backend}: transaction {self.xid}"


class OutcomeUnknown(DatabaseFault):
    """COMMIT was sent, its answer was lost, and the server could not be asked in time.

    Never retried blindly: `connection.settle(error.lost)`, later, tells what became of it.
    """

    retryable = False

    def __init__(self, message: str, lost: LostCommit) -> None:
        super().__init__(message)
        self.lost = lost


class AnswerLost(DatabaseFault):
    """A commit whose answer was lost and cannot be asked for again. It stands, or may stand."""

    retryable = False


# SQLSTATEs, whole or by class (https://www.postgresql.org/docs/current/errcodes-appendix.html).
_GONE = {
    "08",  # connection exception
    "25P03",  # idle_in_transaction_session_timeout: the server hung up
    "25P04",  # transaction_timeout: likewise
    "26000",  # a prepared statement is no longer known there (a pooler, DISCARD ALL)
    "57P01",  # admin_shutdown
    "57P02",  # crash_shutdown
    "57P03",  # cannot_connect_now
    "57P05",  # idle_session_timeout
}
_FULL = "53100"  # disk_full
_IO_ERROR = "58030"
_BUSY = {
    _IO_ERROR,
    "40",  # serialization failure, deadlock
    "53",  # out of memory, of disk, of connections
    "55P03",  # lock_not_available
    "57014",  # query_canceled: statement_timeout
}

# How the system says it, where the server says no more than that a file could not be written.
_NO_ROOM = re.compile(r"No space left on device|Disk quota exceeded")
# A server that speaks says "SEVERITY:  text" (two spaces, in any language); libpq does not.
_SERVER_SPOKE = re.compile(r"(?:failed: |^)\w+:  (?P<text>.*)", re.DOTALL)
_NO_PASSWORD = re.compile(r"no password supplied|password authentication failed")
_NOT_YET = re.compile(r"starting up|shutting down|recovery|not (yet )?accepting connections")
_TOO_MANY = re.compile(r"too many (clients|connections)|remaining connection slots")


def from_statement(error: errors.Error, subject: str) -> Exception:
    """Return our fault for the error of a statement, or `error` itself if it is a bug."""
    state = error.sqlstate
    text = f"{subject}: {_first_line(error)}"
    if state is None:
        return DatabaseGone(text) if isinstance(error, errors.OperationalError) else error
    if state in _GONE or state[:2] in _GONE or _plan_is_outdated(error):
        return DatabaseGone(text)
    if state == _FULL or (state == _IO_ERROR and _NO_ROOM.search(text)):
        return DatabaseFull(text)
    if state in _BUSY or state[:2] in _BUSY:
        return DatabaseBusy(text)
    return error


def from_connecting(error: errors.Error, subject: str) -> DatabaseFault:
    """Return our fault for a failed attempt to connect. libpq gives no SQLSTATE here, only text."""
    text = str(error)
    message = f"{subject}: {_first_line(error)}"
    spoken = _SERVER_SPOKE.search(text)
    if spoken and _TOO_MANY.search(text):
        return DatabaseRefused(
            f"{message}; raise the server's max_connections or make the pool smaller",
            retryable=True,
        )
    if (spoken and not _NOT_YET.search(text)) or _NO_PASSWORD.search(text):
        return DatabaseRefused(message)
    return DatabaseGone(message)


def _plan_is_outdated(error: errors.Error) -> bool:
    """A table changed under a prepared statement: a new connection makes a new plan."""
    return error.sqlstate == "0A000" and error.diag.source_function == "RevalidateCachedQuery"


def _first_line(error: errors.Error) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
