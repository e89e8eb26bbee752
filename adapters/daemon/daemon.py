"""The composition root: configuration, database, schema, chats and probes are put together here.

Parts that are opened first are closed last, so the probes answer from the first moment to the last:
while the database starts and while the daemon stops, `/livez` says 200 and `/readyz` what is
missing. The daemon is ready when it can hold chats, which is when its first lease has begun.

A signal cuts a start short. Once chats may be run it ends the daemon in good order: not ready,
chats handed on, the jobs beside them done, everything committed, connections closed.
"""

import gc
import os
import signal
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from math import inf

import trio

from actors.supervisor.actor import Supervisor
from adapters.chats.changes.overview import ForgeTokensCheck
from adapters.daemon.chat_wiring import basis_of, dial_of, open_chats
from adapters.daemon.entry import RelayEdge, RequestEntry
from adapters.daemon.listening.daemons import announced
from adapters.daemon.membership import Membership, ParentLine, ReadinessNotifier
from adapters.daemon.relay_wiring import open_relay, open_relay_listener
from adapters.daemon.route_wiring import open_routes
from adapters.daemon.systemd import Systemd
from adapters.http.health import Probes
from adapters.http.host.capacity import SCARCE, DescriptorShares, raise_descriptor_limit, shares_of
from adapters.http.host.listeners import Listeners, listen
from adapters.http.host.server import HttpServer
from adapters.http.host.tls import tls_of
from adapters.http.origins import OwnAddress
from adapters.models.provider_config import models_of_environment
from adapters.models.providers.dial import Dial
from adapters.models.snapshot import CatalogueSnapshot, ModelSource
from adapters.plugins.plugins import open_plugins
from adapters.plugins.providers import plugin_models
from adapters.postgres import embedded
from adapters.postgres.database import (
    Database,
    DatabaseProbe,
    DiskRoomCheck,
    migrate,
    open_database,
    refusal_at_start,
)
from adapters.settings import Config
from runtime.children import run_child
from runtime.clock import now
from runtime.ends import Broken, Cause, Crashed
from runtime.log import emit
from runtime.scope import CausedScope

# The same signal so soon after the first counts as the first: programs that signal a group of
# processes and then each of its members (timeout, a terminal, an init system) mean one stop.
ECHO_SECONDS = 1.0

# As many new objects are made before garbage is collected, which holds everything up for some 3 ms.
# At Python's own 700 that would be a tenth of all that a busy daemon does.
NEW_OBJECTS_MAX = 50_000

MODELS_LOGGED_MAX = 20  # in the line that says that it is ready; the rest is left out
NO_MODEL = (
    "none: chats get the built-in rehearsal; for a real one set ANTHROPIC_API_KEY, OPENAI_API_KEY"
    " or another provider's key, or run `promptcorner providers add`"
)


@dataclass(frozen=True, slots=True)
class StopSignal(Cause):
    """A signal, or the end of the parent, that tells the daemon to stop."""

    name: str


class DaemonShutdown:
    """The end of the daemon, triggered once; it cuts a start short, but not chats that run."""

    def __init__(self) -> None:
        self.start = CausedScope()  # holds all that comes after the start as well
        self.cause: StopSignal | None = None
        self.triggered = trio.Event()
        self.is_started = False

    def trigger(self, cause: StopSignal) -> None:
        """Begin the end."""
        self.cause = cause
        self.triggered.set()
        if not self.is_started:
            self.start.cancel(cause)

    def protect_chats(self) -> None:
        """Cancel nothing at the trigger from now on: the daemon waits for it and ends in order."""
        self.is_started = True


@dataclass(frozen=True, slots=True)
class DaemonParts:
    """The parts of a daemon that exist from before the database is opened until its very end."""

    config: Config
    number: int | None  # among the processes of one parent, from 1
    dial: Dial
    entry: RequestEntry
    server: HttpServer
    shutdown: DaemonShutdown
    notifier: ReadinessNotifier
    nursery: trio.Nursery
    listeners: Listeners
    descriptors: DescriptorShares

    @property
    def listening(self) -> str:
        return self.listeners.address

    @property
    def access_url(self) -> str:
        scheme = "http" if self.config.tls_cert is None else "https"
        return self.config.access_url or f"{scheme}://{self.listening}"


async def serve(config: Config, member: Membership | None = None) -> None:
    """Run the daemon until a signal ends it; raise CannotStart if it cannot begin.

    A `member` is one of several processes, whose parent has made its sockets.
    """
    # Mistakes in the environment are refused at once, but only plugins know their models.
    models_of_environment(config.environ, is_whole=not config.plugins)
    dial = dial_of(config.environ)
    tls = None
    if config.tls_cert is not None and config.tls_key is not None:
        tls = tls_of(config.tls_cert, config.tls_key)
    # Every client and every chat at work may have a connection of its own.
    descriptors = shares_of(raise_descriptor_limit(), database_max=config.connections)
    parent = None if member is None else ParentLine(member)
    notifier = Systemd(os.environ) if parent is None else parent
    if member is None:
        listeners = Listeners(await listen(config.host, config.port))
    else:
        listeners = Listeners((), [socket.socket(fileno=each) for each in member.sockets])
    entry, shutdown = RequestEntry(Probes()), DaemonShutdown()
    own = OwnAddress(config.access_url)
    server = HttpServer(entry.answer, tls=tls, own=own, connections_max=descriptors.places)
    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(handle_signals, signals, shutdown)
            nursery.start_soon(notifier.run)
            if parent is not None:
                nursery.start_soon(stop_with_parent, parent, shutdown)
            if member is None or member.is_alone:
                listeners.open(server, nursery)
            parts = DaemonParts(
                config,
                None if member is None else member.number,
                dial,
                entry,
                server,
                shutdown,
                notifier,
                nursery,
                listeners,
                descriptors,
            )
            # The parent of several processes tells where they listen.
            telling = announced(config, parts.listening) if member is None else nullcontext()
            with telling:
                end = await run_child(shutdown.start, partial(run_daemon, parts))
                await server.drain(listeners.listeners)
            nursery.cancel_scope.cancel()
    if isinstance(end, Crashed | Broken):
        raise (None if shutdown.is_started else refusal_at_start(end.error)) or end.error
    assert shutdown.cause is not None, f"only a signal ends the daemon, not {end}"
    emit("daemon.stopped", "info", cause=shutdown.cause.name)


async def run_daemon(parts: DaemonParts) -> None:
    """Open the parts in order, say that the daemon is ready, and wait for the end."""
    config, began = parts.config, now()
    async with open_database(config) as database, open_plugins(config.plugins) as plugins:
        if database.cluster is not None:
            parts.nursery.start_soon(embedded.replace_keepers, database.cluster)
        steps = await migrate(database)
        inner = RequestEntry(parts.entry.probes)
        models = models_of_environment(
            config.environ, plugin_models(plugins), is_whole=plugins.all_loaded
        )
        basis = basis_of(config, models, parts.dial, plugins)
        async with (
            open_probe(database) as probe,
            open_relay_listener(
                config,
                basis,
                inner.answer,
                parts.nursery,
                number=parts.number or 1,
                connections_max=parts.descriptors.peers,
            ) as relay_listener,
            open_chats(config, basis, database.conninfo, url=relay_listener.url) as chats,
            open_relay(config, basis, chats, relay_listener) as relay,
            open_routes(
                config,
                chats,
                parts.entry,
                server=parts.server,
                access_url=parts.access_url,
                relay_edge=RelayEdge(inner, relay, parts.number),
            ),
        ):
            offered = offered_models(await chats.catalogue.snapshot()) or NO_MODEL
            await trio.lowlevel.checkpoint()  # a daemon that was stopped meanwhile never was ready
            tune_garbage_collector()
            parts.entry.probes.ready(
                {
                    "database": probe.database,
                    "schema": probe.schema,
                    "room": DiskRoomCheck(chats.store.pool).missing,
                    "lease": partial(missing_lease, chats.supervisor),
                },
                {
                    "loop": chats.reached.warning,
                    "spending": chats.spending.warnings,
                    "forges": ForgeTokensCheck(chats.forges.tokens, chats.vault).note,
                },
            )
            parts.shutdown.protect_chats()
            try:
                if await first_lease(chats.supervisor, parts.shutdown):
                    parts.listeners.open(parts.server, parts.nursery)
                    log_ready(
                        parts,
                        database,
                        offered,
                        relay=relay_listener.url,
                        migrated=len(steps),
                        seconds=now() - began,
                    )
                    await parts.shutdown.triggered.wait()
            finally:
                parts.entry.probes.stopping()
                parts.notifier.stopping(config.drain_seconds)


async def first_lease(supervisor: Supervisor, shutdown: DaemonShutdown) -> bool:
    """Wait until this process may hold chats; return False if it is told to stop before that."""
    async with trio.open_nursery() as waiting:

        async def until(event: trio.Event) -> None:
            await event.wait()
            waiting.cancel_scope.cancel()

        waiting.start_soon(until, supervisor.first_lease)
        waiting.start_soon(until, shutdown.triggered)
    return shutdown.cause is None


async def missing_lease(supervisor: Supervisor) -> str | None:
    """Return why this process cannot hold chats, or None if it can. A check of `/readyz`."""
    await trio.lowlevel.checkpoint()  # like other checks
    return None if supervisor.slots.worker else "there is none: this process runs no chats"


def tune_garbage_collector() -> None:
    """Collect garbage seldom, and only among objects that are made from now on.

    Nearly every object goes as soon as nothing refers to it; the collector finds the rest, which
    are cycles. What a daemon consists of stays until its end and is not looked at again. The
    collector was switched off for the start (`adapters/cli`), which makes no garbage of note.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(NEW_OBJECTS_MAX)
    gc.enable()


def log_ready(
    parts: DaemonParts,
    database: Database,
    models: Sequence[str] | str,
    *,
    relay: str,
    migrated: int,
    seconds: float,
) -> None:
    """Say that the daemon is ready: in the log, and to systemd or a parent."""
    where = {} if database.cluster is None else {"data_dir": str(parts.config.data_dir)}
    log_descriptor_shares(parts.descriptors)
    emit(
        "daemon.ready",
        "info",
        listen=parts.listening,
        url=parts.access_url,
        relay=relay or None,
        database=database.name,
        **where,
        migrated=migrated,
        models=models,
        seconds=round(seconds, 3),
    )
    parts.notifier.ready(f"serves at {parts.listening}")


def offered_models(contents: CatalogueSnapshot) -> list[str]:
    """Return the names of the models that are offered, without the rehearsal."""
    return [
        f"{model.provider.name}/{model.model}"
        for model in contents.models.values()
        if model.provider is not None
        and model.is_offered
        and model.source is not ModelSource.REHEARSAL
    ][:MODELS_LOGGED_MAX]


async def handle_signals(signals: AsyncIterator[int], shutdown: DaemonShutdown) -> None:
    """Stop the daemon in good order at the first signal, and at once at the second."""
    came = -inf
    async for number in signals:
        name = signal.Signals(number).name
        if shutdown.cause == StopSignal(name) and now() < came + ECHO_SECONDS:
            continue
        if shutdown.cause is not None:
            emit("daemon.aborted", "warning", cause=name)
            os._exit(128 + number)  # the kernel tells the database's keeper that we are gone
        came = now()
        emit("daemon.stopping", "info", cause=name)
        shutdown.trigger(StopSignal(name))


async def stop_with_parent(parent: ParentLine, shutdown: DaemonShutdown) -> None:
    """Stop when the parent is gone, because nothing else would tell this process to."""
    await parent.until_gone()
    if shutdown.cause is None:
        emit("daemon.stopping", "info", cause="the parent is gone")
        shutdown.trigger(StopSignal("the parent is gone"))


def log_descriptor_shares(shares: DescriptorShares) -> None:
    """Log how many clients there may be, by the limit of open files."""
    is_scarce = shares.limit < SCARCE
    advice = {"advice": "raise it: LimitNOFILE= of systemd, or ulimit -n"} if is_scarce else {}
    emit(
        "descriptors.shared",
        "warning" if is_scarce else "info",
        limit=shares.limit,
        clients=shares.places,
        peers=shares.peers,
        rest=shares.rest,
        **advice,
    )


@asynccontextmanager
async def open_probe(database: Database) -> AsyncIterator[DatabaseProbe]:
    probe = DatabaseProbe(database.conninfo)
    try:
        yield probe
    finally:
        probe.close()
