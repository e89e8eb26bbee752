"""The relay of one process, put together: where it stands, whom it serves, whom it follows."""

import random
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import trio

from actors.streams.relay.relays import Relays, open_relays
from adapters.daemon.composing import Basis, Chats
from adapters.http.host.bounds import CONNECTIONS_MAX, GRACE_SECONDS
from adapters.http.host.listeners import listen
from adapters.http.host.server import HttpServer, Serve
from adapters.models.providers.dial import dialler, tls_context
from adapters.relay.address import Nowhere, own_address, own_url
from adapters.relay.dialling import Addresses, Dialler
from adapters.relay.door import Backstage, Host
from adapters.relay.place import ADVICE, first_address
from adapters.relay.tickets import PURPOSE, Tickets
from adapters.settings import Address, Config
from runtime.log import emit

LEAVE_SECONDS = GRACE_SECONDS + 1.0  # for the last peers to go; then they are cut


@dataclass(frozen=True, slots=True)
class Stand:
    """Where this process is found by the others, and who lets them in."""

    url: str  # "": nowhere
    host: Host
    tickets: Tickets


@dataclass(frozen=True, slots=True)
class Relaying:
    relays: Relays
    host: Host

    def statistics(self) -> Mapping[str, Any]:
        return {"relays": self.relays.statistics(), "relayed": self.host.statistics()}


@asynccontextmanager
async def open_stand(
    config: Config,
    basis: Basis,
    behind: Serve,
    nursery: trio.Nursery,
    *,
    number: int = 1,
    connections_max: int = CONNECTIONS_MAX,
) -> AsyncIterator[Stand]:
    """Let the other processes find this one for the length of the block, and follow what is said
    here. `behind` answers what else is asked; `number` is ours among the processes of one start."""
    tickets = Tickets(basis.vault.derived(PURPOSE))
    own = Host(basis.previews, tickets, basis.worker)
    first = await first_address(config)
    if isinstance(first, Nowhere):
        emit("relay.nowhere", "warning", why=first.why, advice=ADVICE)
        yield Stand("", own, tickets)
        return
    ours = own_address(first, number)
    listeners = await listen(ours.host, ours.port, subject="relay_listen", advice=ADVICE)
    server = HttpServer(Backstage(behind, own).answer, connections_max=connections_max)
    nursery.start_soon(server.serve, listeners)
    host, port = listeners[0].socket.getsockname()[:2]
    try:
        yield Stand(own_url(Address(host, port), config.relay_url, number), own, tickets)
    finally:
        with trio.move_on_after(LEAVE_SECONDS, shield=True):
            await server.drain(listeners)


@asynccontextmanager
async def open_relaying(
    config: Config, basis: Basis, chats: Chats, stand: Stand
) -> AsyncIterator[Relaying]:
    """Follow what is said in the other processes, for the length of the block."""
    addresses = Addresses(chats.store.pool, lease_seconds=config.lease_seconds)
    me = basis.worker
    peers = Dialler(addresses.find, stand.tickets, me=me, dial=dialler(tls_context()))
    async with open_relays(peers, me=me, chance=random.random) as relays:
        yield Relaying(relays, stand.host)
