"""The composition root: configuration, database, schema, chats, probes; and the way back.

What is opened first is closed last, so the probes answer from the first moment to the last: while
the database starts and while the daemon stops, `/livez` says 200 and `/readyz` what is missing. The
daemon is ready when it can hold chats, which is when its first lease has begun.

A signal cuts a start short. Once chats may be run it ends the daemon in good order: not ready,
chats handed on, the jobs beside them done, everything committed, connections closed.
"""

import gc
import os
import signal
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from math import inf

import trio

from actors.supervisor.actor import Supervisor
from adapters.daemon.composing import basis_of, dial_of, open_chats
from adapters.daemon.edge import Beside, Entrance, open_edge
from adapters.daemon.processes.membership import Herald, Membership, Parent
from adapters.daemon.relaying import open_relaying, open_stand
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
from adapters.postgres.database import Database, lost_at_start, migrate, open_database
from adapters.postgres.pulse import Pulse, RoomCheck
from adapters.settings import Config
from runtime.children import run_child
from runtime.clock import now
from runtime.ends import Broken, Cause, Crashed
from runtime.log import emit
from runtime.scope import CausedScope

# The same signal so soon after the first is the first: whoever signals a group of processes and
# then each of its members (timeout, a terminal, an init system) means one stop.
ECHO_SECONDS = 1.0

# That may be garbage: then it is looked for, which holds everything up for some 3 ms. At Python's
# own 700 that is a tenth of all that a busy daemon does.
NEW_OBJECTS_MAX = 50_000

MODELS_SAID_MAX = 20  # in the line that says that it is ready; the rest is left out
NO_MODEL = (
    "none: chats get the built-in rehearsal; for a real one set ANTHROPIC_API_KEY, OPENAI_API_KEY"
    " or another provider's key, or add a provider"
)


@dataclass(frozen=True, slots=True)
class Signalled(Cause):
    """The operating system, or whoever runs it, told us to stop."""

    name: str


class Curtain:
    """The end of the daemon, told once; what it does depends on whether the chats are running."""

    def __init__(self) -> None:
        self.start = CausedScope()  # and whatever comes after it, but then nobody cancels it
        self.cause: Signalled | None = None
        self.fallen = trio.Event()
        self.is_up = False

    def fall(self, cause: Signalled) -> None:
        self.cause = cause
        self.fallen.set()
        if not self.is_up:
            self.start.cancel(cause)

    def rise(self) -> None:
        """From now on the end is waited for, and nothing is cut short."""
        self.is_up = True


@dataclass(frozen=True, slots=True)
class Frame:
    """What stands from the first probe to the last."""

    config: Config
    number: int | None  # among the processes of one parent, from 1
    dial: Dial
    entrance: Entrance
    server: HttpServer
    curtain: Curtain
    herald: Herald
    nursery: trio.Nursery
    doors: Listeners
    shared: DescriptorShares

    @property
    def listening(self) -> str:
        return self.doors.address

    @property
    def access_url(self) -> str:
        scheme = "http" if self.config.tls_cert is None else "https"
        return self.config.access_url or f"{scheme}://{self.listening}"


async def serve(config: Config, member: Membership | None = None) -> None:
    """The daemon's life, until a signal ends it. CannotStart if it does not begin. `member`: it is
    one of several, and their parent has made its sockets."""
    # What is wrong with the environment is said at once, but only plugins know their models.
    models_of_environment(config.environ, is_whole=not config.plugins)
    dial = dial_of(config.environ)
    tls = None
    if config.tls_cert is not None and config.tls_key is not None:
        tls = tls_of(config.tls_cert, config.tls_key)
    # Every client and every chat at work may have a connection of its own.
    shared = shares_of(raise_descriptor_limit(), database_max=config.connections)
    parent = None if member is None else Parent(member)
    herald = Systemd(os.environ) if parent is None else parent
    if member is None:
        doors = Listeners(await listen(config.host, config.port))
    else:
        doors = Listeners((), [socket.socket(fileno=each) for each in member.sockets])
    entrance, curtain = Entrance(Probes()), Curtain()
    own = OwnAddress(config.access_url)
    server = HttpServer(entrance.answer, tls=tls, own=own, connections_max=shared.places)
    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(heed, signals, curtain)
            nursery.start_soon(herald.run)
            if parent is not None:
                nursery.start_soon(outlive, parent, curtain)
            if member is None or member.is_alone:
                doors.open(server, nursery)
            frame = Frame(
                config,
                None if member is None else member.number,
                dial,
                entrance,
                server,
                curtain,
                herald,
                nursery,
                doors,
                shared,
            )
            end = await run_child(curtain.start, partial(work, frame))
            await server.drain(doors.listeners)
            nursery.cancel_scope.cancel()
    if isinstance(end, Crashed | Broken):
        raise (None if curtain.is_up else lost_at_start(end.error)) or end.error
    assert curtain.cause is not None, f"only a signal ends the daemon, not {end}"
    emit("daemon.stopped", "info", cause=curtain.cause.name)


async def work(frame: Frame) -> None:
    """Everything between the first probe and the last."""
    config, began = frame.config, now()
    async with open_database(config) as database, open_plugins(config.plugins) as plugins:
        if database.cluster is not None:
            frame.nursery.start_soon(embedded.tend, database.cluster)
        steps = await migrate(database)
        inner = Entrance(frame.entrance.probes)
        models = models_of_environment(
            config.environ, plugin_models(plugins), is_whole=plugins.are_whole
        )
        basis = basis_of(config, models, frame.dial, plugins)
        async with (
            open_pulse(database) as pulse,
            open_stand(
                config,
                basis,
                inner.answer,
                frame.nursery,
                number=frame.number or 1,
                connections_max=frame.shared.peers,
            ) as stand,
            open_chats(config, basis, database.conninfo, url=stand.url) as chats,
            open_relaying(config, basis, chats, stand) as relaying,
            open_edge(
                config,
                chats,
                frame.entrance,
                server=frame.server,
                access_url=frame.access_url,
                beside=Beside(inner, relaying, frame.number),
            ),
        ):
            offered = offered_models(await chats.catalogue.snapshot()) or NO_MODEL
            await trio.lowlevel.checkpoint()  # who was stopped meanwhile never was ready
            look_less_for_garbage()
            frame.entrance.probes.ready(
                {
                    "database": pulse.database,
                    "schema": pulse.schema,
                    "room": RoomCheck(chats.store.pool).missing,
                    "lease": partial(missing_lease, chats.supervisor),
                }
            )
            frame.curtain.rise()
            try:
                if await first_lease(chats.supervisor, frame.curtain):
                    frame.doors.open(frame.server, frame.nursery)
                    say_ready(
                        frame,
                        database,
                        offered,
                        relay=stand.url,
                        migrated=len(steps),
                        seconds=now() - began,
                    )
                    await frame.curtain.fallen.wait()
            finally:
                frame.entrance.probes.stopping()
                frame.herald.stopping(config.drain_seconds)


async def first_lease(supervisor: Supervisor, curtain: Curtain) -> bool:
    """Wait until this process may hold chats. False: it was told to stop before that."""
    async with trio.open_nursery() as waiting:

        async def until(event: trio.Event) -> None:
            await event.wait()
            waiting.cancel_scope.cancel()

        waiting.start_soon(until, supervisor.first_lease)
        waiting.start_soon(until, curtain.fallen)
    return curtain.cause is None


async def missing_lease(supervisor: Supervisor) -> str | None:
    """Return why this process cannot hold chats, or None if it can. A check of `/readyz`."""
    await trio.lowlevel.checkpoint()  # like other checks
    return None if supervisor.slots.worker else "there is none: this process runs no chats"


def look_less_for_garbage() -> None:
    """Collect garbage seldom, and only among objects that are made from now on.

    Nearly every object goes as soon as nothing refers to it; the collector finds the rest, which
    are cycles. What a daemon consists of stays until its end and is not looked at again. The
    collector was switched off for the start (`adapters/cli`), which makes no garbage of note.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(NEW_OBJECTS_MAX)
    gc.enable()


def say_ready(
    frame: Frame,
    database: Database,
    models: Sequence[str] | str,
    *,
    relay: str,
    migrated: int,
    seconds: float,
) -> None:
    """To whoever reads the log, and to systemd or a parent."""
    where = {} if database.cluster is None else {"data_dir": str(frame.config.data_dir)}
    say_shares(frame.shared)
    emit(
        "daemon.ready",
        "info",
        listen=frame.listening,
        url=frame.access_url,
        relay=relay or None,
        database=database.name,
        **where,
        migrated=migrated,
        models=models,
        seconds=round(seconds, 3),
    )
    frame.herald.ready(f"serves at {frame.listening}")


def offered_models(contents: CatalogueSnapshot) -> list[str]:
    """By provider and name; the rehearsal is none."""
    return [
        f"{model.provider.name}/{model.model}"
        for model in contents.models.values()
        if model.provider is not None
        and model.is_offered
        and model.source is not ModelSource.REHEARSAL
    ][:MODELS_SAID_MAX]


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


async def outlive(parent: Parent, curtain: Curtain) -> None:
    """Who has no parent any more hands its chats on: nobody else would tell it to stop."""
    await parent.until_gone()
    if curtain.cause is None:
        emit("daemon.stopping", "info", cause="the parent is gone")
        curtain.fall(Signalled("the parent is gone"))


def say_shares(shared: DescriptorShares) -> None:
    """How many clients there may be, which nothing else in the log would explain."""
    is_scarce = shared.limit < SCARCE
    advice = {"advice": "raise it: LimitNOFILE= of systemd, or ulimit -n"} if is_scarce else {}
    emit(
        "descriptors.shared",
        "warning" if is_scarce else "info",
        limit=shared.limit,
        clients=shared.places,
        peers=shared.peers,
        rest=shared.rest,
        **advice,
    )


@asynccontextmanager
async def open_pulse(database: Database) -> AsyncIterator[Pulse]:
    pulse = Pulse(database.conninfo)
    try:
        yield pulse
    finally:
        pulse.close()
