"""The waits of libpq, done by trio.

libpq never waits here: it says what it waits for, and these functions wait for it. They are the
only places of this package where a task sleeps on a database socket.
"""

import select
from collections.abc import Callable
from typing import Protocol

import trio
from psycopg import OperationalError
from psycopg.pq import PollingStatus
from psycopg.pq.abc import PGcancelConn, PGconn

_OK, _READING, _FAILED = PollingStatus.OK, PollingStatus.READING, PollingStatus.FAILED


class _Opening(Protocol):
    @property
    def socket(self) -> int: ...
    def get_error_message(self) -> str: ...


async def handshake(opening: _Opening, poll: Callable[[], int]) -> None:
    """Drive PGconn.connect_poll or PGcancelConn.poll to its end; the socket may change."""
    while (status := poll()) != _OK:
        if status == _FAILED:
            raise OperationalError(opening.get_error_message())
        if status == _READING:
            await trio.lowlevel.wait_readable(opening.socket)
        else:
            await trio.lowlevel.wait_writable(opening.socket)


async def flush(pgconn: PGconn) -> None:
    """Send what libpq has buffered. Reads meanwhile: a server that is itself stuck on writing
    to us would never read the rest (https://www.postgresql.org/docs/current/libpq-async.html)."""
    while pgconn.flush():
        async with trio.open_nursery() as either:

            async def readable() -> None:
                await trio.lowlevel.wait_readable(pgconn.socket)
                either.cancel_scope.cancel()

            either.start_soon(readable)
            await trio.lowlevel.wait_writable(pgconn.socket)
            either.cancel_scope.cancel()
        if is_readable(pgconn.socket):
            pgconn.consume_input()


async def cancel_on_server(pgconn: PGconn) -> None:
    """Ask the server to stop what `pgconn` is running, over a connection of its own.

    When this returns, the signal has been sent: it cannot hit a statement sent later.
    """
    asking: PGcancelConn = pgconn.cancel_conn()
    try:
        asking.start()
        await handshake(asking, asking.poll)
    finally:
        asking.finish()


def is_readable(fd: int) -> bool:
    """Return whether there is something to read, or the peer hung up: one poll(), no waiting."""
    polling = select.poll()
    polling.register(fd, select.POLLIN)
    return bool(polling.poll(0))
