"""The composition root: configuration, database, schema, chats, probes; and the way back.

What is opened first is closed last, so the probes answer from the first moment to the last: while
the database starts and while the daemon stops, `/livez` says 200 and `/readyz` what is missing.

A signal cuts a start short. Once chats are run it ends the daemon in good order: not ready, chats
handed on, the jobs beside them done, everything committed, connections closed.
"""

import errno
import os
import resource
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from math import inf

import trio

from adapters.api.host.bounds import BACKLOG
from adapters.api.host.server import Server
from adapters.api.probes import Probes
from adapters.composing import dial_of, open_chats
from adapters.config import Config
from adapters.edge import Entrance
from adapters.models.configured import ModelConfig
from adapters.models.environment import offered
from adapters.postgres import embedded
from adapters.postgres.database import Database, migrate, open_database
from adapters.postgres.pulse import Pulse
from adapters.providers.dial import Dial
from adapters.refusals import CannotStart
from adapters.systemd import Systemd
from runtime.cause import Cause
from runtime.children import run_child
from runtime.clock import now
from runtime.ends import Broken, Crashed
from runtime.log import emit
from runtime.scope import CausedScope

# The same signal so soon after the first is the first: whoever signals a group of processes and
# then each of its members (timeout, a terminal, an init system) means one stop.
ECHO_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Signalled(Cause):
    """The operating system, or whoever runs it, told us to stop."""

    name: str


class Curtain:
    """The end of the daemon, told once; what it does depends on whether the chats are running."""

    def __init__(self) -> None:
        self.start = CausedScope()  # and whatever comes after it, but then nobody cancels it
        self.cause: Signalled | None = None
        self._fallen = trio.Event()
        self._is_up = False

    def fall(self, cause: Signalled) -> None:
        self.cause = cause
        self._fallen.set()
        if not self._is_up:
            self.start.cancel(cause)

    async def rise(self) -> None:
        """The start is over: wait for the end."""
        self._is_up = True
        await self._fallen.wait()


async def serve(config: Config) -> None:
    """The daemon's life, until a signal ends it. CannotStart if it does not begin."""
    models, dial = offered(config.environ), dial_of(config.environ)
    allow_many_connections()
    listeners = await listen(config.host, config.port)
    probes, curtain, systemd = Probes(), Curtain(), Systemd(os.environ)
    server = Server(Entrance(probes).answer)
    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(heed, signals, curtain)
            nursery.start_soon(systemd.run)
            nursery.start_soon(server.serve, listeners)
            life = partial(
                work,
                config,
                probes,
                curtain=curtain,
                systemd=systemd,
                nursery=nursery,
                listening=address(listeners),
                models=models,
                dial=dial,
            )
            end = await run_child(curtain.start, life)
            await server.drain(listeners)
            nursery.cancel_scope.cancel()
    if isinstance(end, Crashed | Broken):
        raise end.error
    assert curtain.cause is not None, f"only a signal ends the daemon, not {end}"
    emit("daemon.stopped", "info", cause=curtain.cause.name)


async def work(
    config: Config,
    probes: Probes,
    *,
    curtain: Curtain,
    systemd: Systemd,
    nursery: trio.Nursery,
    listening: str,
    models: Sequence[ModelConfig],
    dial: Dial,
) -> None:
    """Everything between the first probe and the last."""
    began = now()
    async with open_database(config) as database:
        if database.cluster is not None:
            nursery.start_soon(embedded.tend, database.cluster)
        steps = await migrate(database)
        async with (
            open_pulse(database) as pulse,
            open_chats(config, database.conninfo, models=models, dial=dial),
        ):
            await trio.lowlevel.checkpoint()  # who was stopped meanwhile never was ready
            probes.ready({"database": pulse.database, "schema": pulse.schema})
            emit(
                "daemon.ready",
                "info",
                listen=listening,
                database=database.name,
                data_dir=str(config.data_dir),
                migrated=len(steps),
                models=[str(model) for model in models],
                seconds=round(now() - began, 3),
            )
            systemd.ready(f"serves at {listening}")
            try:
                await curtain.rise()
            finally:
                probes.stopping()
                systemd.stopping(config.drain_seconds)


async def heed(signals: AsyncIterator[int], curtain: Curtain) -> None:
    """The first signal stops the daemon in good order, the second at once."""
    came = -inf
    async for number in signals:
        name = signal.Signals(number).name
        if curtain.cause == Signalled(name) and now() < came + ECHO_SECONDS:
            continue
        if curtain.cause is not None:
            emit("daemon.aborted", "warning", cause=name)
            os._exit(128 + number)  # the kernel tells the database's keeper that we are gone
        came = now()
        emit("daemon.stopping", "info", cause=name)
        curtain.fall(Signalled(name))


def allow_many_connections() -> None:
    """Take all the file descriptors we may: every chat at work may have a connection of its own."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


async def listen(host: str, port: int) -> list[trio.SocketListener]:
    try:
        return await trio.open_tcp_listeners(port, host=host, backlog=BACKLOG)
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
async def open_pulse(database: Database) -> AsyncIterator[Pulse]:
    pulse = Pulse(database.conninfo)
    try:
        yield pulse
    finally:
        pulse.close()
