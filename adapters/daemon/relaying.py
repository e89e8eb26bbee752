"""The relay of one process, put together: where it stands, whom it serves, whom it follows."""

import random
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import trio

from actors.law.ids import WorkerId
from actors.streams.relay.relays import Relays, open_relays
from adapters.daemon.composing import Chats
from adapters.http.host.bounds import CONNECTIONS_MAX, GRACE_SECONDS
from adapters.http.host.listening import listen
from adapters.http.host.server import Serve, Server
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
    """Where this process is found by the others."""

    backstage: Backstage
    url: str  # "": nowhere


@dataclass(frozen=True, slots=True)
class Relaying:
    relays: Relays
    host: Host

    def statistics(self) -> Mapping[str, Any]:
        return {"relays": self.relays.statistics(), "relayed": self.host.statistics()}


@asynccontextmanager
async def open_stand(
    config: Config,
    behind: Serve,
    nursery: trio.Nursery,
    *,
    number: int = 1,
    connections_max: int = CONNECTIONS_MAX,
) -> AsyncIterator[Stand]:
    """As long as the block is, others find us there; `behind` answers what else is asked. `number`
    is ours among the processes of one start."""
    backstage, first = Backstage(behind), await first_address(config)
    if isinstance(first, Nowhere):
        emit("relay.nowhere", "warning", why=first.why, advice=ADVICE)
        yield Stand(backstage, "")
        return
    ours = own_address(first, number)
    listeners = await listen(ours.host, ours.port, subject="relay_listen", advice=ADVICE)
    server = Server(backstage.answer, connections_max=connections_max)
    nursery.start_soon(server.serve, listeners)
    host, port = listeners[0].socket.getsockname()[:2]
    try:
        yield Stand(backstage, own_url(Address(host, port), config.relay_url, number))
    finally:
        with trio.move_on_after(LEAVE_SECONDS, shield=True):
            await server.drain(listeners)


@asynccontextmanager
async def open_relaying(config: Config, chats: Chats, stand: Stand) -> AsyncIterator[Relaying]:
    """Others follow what is said here, from now on until the stand is closed; what is said there
    can be followed as long as the block is."""

    def me() -> WorkerId | None:
        return chats.supervisor.slots.worker

    tickets = Tickets(chats.vault.derived(PURPOSE))
    addresses = Addresses(chats.store.pool, lease_seconds=config.lease_seconds)
    peers = Dialler(addresses.find, tickets, me=me, dial=dialler(tls_context()))
    host = stand.backstage.host = Host(chats.episodes, tickets, me)
    async with open_relays(peers, me=me, chance=random.random) as relays:
        yield Relaying(relays, host)
