"""The composition root: configuration, database, schema, pool, probes; and the way back.

What is opened first is closed last, so the probes answer from the first moment to the last: while
the database starts and while the daemon stops, `/livez` says 200 and `/readyz` what is missing.
"""

import errno
import os
import signal
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import assert_never

import trio
from psycopg.errors import InsufficientPrivilege

from adapters.api.probes import Probes
from adapters.api.server import Server
from adapters.config import Config
from adapters.postgres import embedded, migrating
from adapters.postgres.driver import reaching
from adapters.postgres.driver.faults import DatabaseFault
from adapters.postgres.driver.pool import Pool
from adapters.postgres.pulse import Pulse
from adapters.refusals import CannotStart
from runtime.cause import Cause
from runtime.children import run_child
from runtime.clock import now
from runtime.ends import Broken, Crashed, Finished, Stopped
from runtime.log import emit
from runtime.scope import CausedScope

POOL_DRAIN_SECONDS = 5.0  # for what is lent; then its statements are cut off


@dataclass(frozen=True, slots=True)
class Signalled(Cause):
    """The operating system, or whoever runs it, told us to stop."""

    name: str


@dataclass(frozen=True, slots=True)
class Database:
    """Where the store is, and how the log calls it."""

    conninfo: str
    name: str
    cluster: embedded.Cluster | None = None  # None: somebody else's server


async def serve(config: Config) -> None:
    """The daemon's life, until a signal ends it. CannotStart if it does not begin."""
    listeners = await listen(config.host, config.port)
    probes, scope = Probes(), CausedScope()
    server = Server(probes.answer)
    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(heed, signals, scope)
            nursery.start_soon(server.serve, listeners)
            life = partial(work, config, probes, listening=address(listeners), nursery=nursery)
            end = await run_child(scope, life)
            await server.drain(listeners)
            nursery.cancel_scope.cancel()
    match end:
        case Crashed(error) | Broken(error):
            raise error
        case Stopped(Signalled(name)):
            emit("daemon.stopped", "info", cause=name)
        case Stopped() | Finished():
            raise AssertionError(f"only a signal ends the daemon, not {end}")
        case _:
            assert_never(end)


async def work(config: Config, probes: Probes, *, listening: str, nursery: trio.Nursery) -> None:
    """Everything between the first probe and the last, until cancelled."""
    began = now()
    async with open_database(config) as database:
        if database.cluster is not None:
            nursery.start_soon(embedded.tend, database.cluster)
        steps = await migrate(database)
        async with open_pool(config, database), open_pulse(database) as pulse:
            try:
                probes.ready({"database": pulse.database, "schema": pulse.schema})
                emit(
                    "daemon.ready",
                    "info",
                    listen=listening,
                    database=database.name,
                    data_dir=str(config.data_dir),
                    migrated=len(steps),
                    seconds=round(now() - began, 3),
                )
                await trio.sleep_forever()
            finally:
                probes.stopping()


async def heed(signals: AsyncIterator[int], scope: CausedScope) -> None:
    """The first signal stops the daemon in good order, the second at once."""
    async for number in signals:
        name = signal.Signals(number).name
        if scope.requested is not None:
            emit("daemon.aborted", "warning", cause=name)
            os._exit(128 + number)  # the kernel tells the database's keeper that we are gone
        scope.cancel(Signalled(name))


async def listen(host: str, port: int) -> list[trio.SocketListener]:
    try:
        return await trio.open_tcp_listeners(port, host=host)
    except OSError as error:
        taken = error.errno == errno.EADDRINUSE
        fact = "somebody listens there already" if taken else (error.strerror or str(error)).lower()
        raise CannotStart(
            f"listen {host}:{port}", fact, "choose another address with --listen HOST:PORT"
        ) from error


def address(listeners: Sequence[trio.SocketListener]) -> str:
    """HOST:PORT as it became, where port 0 was asked for."""
    host, port = listeners[0].socket.getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


@asynccontextmanager
async def open_database(config: Config) -> AsyncIterator[Database]:
    """The embedded server, or the one that DATABASE_URL names."""
    if config.database_url is not None:
        await trio.to_thread.run_sync(reaching.check, config.database_url, abandon_on_cancel=True)
        yield Database(config.database_url, reaching.describe(config.database_url))
        return
    wanted = embedded.Wanted(config.data_dir, config.postgres_user)
    async with embedded.use(wanted) as cluster:
        yield Database(cluster.conninfo, "embedded", cluster)


@asynccontextmanager
async def open_pool(config: Config, database: Database) -> AsyncIterator[Pool]:
    pool = Pool(database.conninfo, size=config.pool_size)
    try:
        yield pool
    finally:
        with trio.move_on_after(2 * POOL_DRAIN_SECONDS, shield=True):
            await pool.drain(POOL_DRAIN_SECONDS)


@asynccontextmanager
async def open_pulse(database: Database) -> AsyncIterator[Pulse]:
    pulse = Pulse(database.conninfo)
    try:
        yield pulse
    finally:
        pulse.close()


async def migrate(database: Database) -> Sequence[migrating.Migration]:
    """Bring the schema to what this program needs; several may do so at once."""
    with refusing(database):
        return await migrating.migrate(database.conninfo)


@contextmanager
def refusing(database: Database) -> Iterator[None]:
    """What a schema or a server may say to those who want to change it, as a refusal."""
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
