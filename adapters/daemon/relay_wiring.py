"""Wiring of the relay: where other processes find this one, and how it follows theirs."""

import random
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import trio

from actors.streams.relay.relays import Relays, open_relays
from adapters.daemon.chat_wiring import Basis, ChatServices
from adapters.http.host.bounds import CONNECTIONS_MAX, GRACE_SECONDS
from adapters.http.host.listeners import listen
from adapters.http.host.server import HttpServer, Serve
from adapters.models.providers.dial import direct_dial, tls_context
from adapters.relay.dialler import Dialler, ProcessAddresses
from adapters.relay.listener import (
    ADVICE,
    NoAddress,
    RelayGate,
    RelayHost,
    first_address,
    own_address,
    own_url,
)
from adapters.relay.protocol import PURPOSE, RelayTickets
from adapters.settings import Config, HostAddress
from runtime.log import emit

LEAVE_SECONDS = GRACE_SECONDS + 1.0  # for the last peers to leave; then they are cut off


@dataclass(frozen=True, slots=True)
class RelayListener:
    """The address at which other processes find this one, and what lets them in."""

    url: str  # "" if it has none
    host: RelayHost
    tickets: RelayTickets


@dataclass(frozen=True, slots=True)
class RelayServices:
    """Both directions of the relay: chats of others that are followed here, and ours there."""

    relays: Relays
    host: RelayHost

    def statistics(self) -> Mapping[str, Any]:
        return {"relays": self.relays.statistics(), "relayed": self.host.statistics()}


@asynccontextmanager
async def open_relay_listener(
    config: Config,
    basis: Basis,
    behind: Serve,
    nursery: trio.Nursery,
    *,
    number: int = 1,
    connections_max: int = CONNECTIONS_MAX,
) -> AsyncIterator[RelayListener]:
    """Let other processes find this one for the length of the block, and follow its chats.

    `behind` answers requests that are not about the relay; `number` is ours among the processes of
    one parent.
    """
    tickets = RelayTickets(basis.vault.derived(PURPOSE))
    own = RelayHost(basis.previews, tickets, basis.worker)
    first = await first_address(config)
    if isinstance(first, NoAddress):
        emit("relay.nowhere", "warning", why=first.why, advice=ADVICE)
        yield RelayListener("", own, tickets)
        return
    ours = own_address(first, number)
    listeners = await listen(ours.host, ours.port, subject="relay_listen", advice=ADVICE)
    server = HttpServer(RelayGate(behind, own).answer, connections_max=connections_max)
    nursery.start_soon(server.serve, listeners)
    host, port = listeners[0].socket.getsockname()[:2]
    try:
        yield RelayListener(
            own_url(HostAddress(host, port), config.relay_url, number), own, tickets
        )
    finally:
        with trio.move_on_after(LEAVE_SECONDS, shield=True):
            await server.drain(listeners)


@asynccontextmanager
async def open_relay(
    config: Config, basis: Basis, chats: ChatServices, listener: RelayListener
) -> AsyncIterator[RelayServices]:
    """Follow chats of other processes for the length of the block."""
    addresses = ProcessAddresses(chats.store.pool, lease_seconds=config.lease_seconds)
    me = basis.worker
    peers = Dialler(addresses.find, listener.tickets, me=me, dial=direct_dial(tls_context()))
    async with open_relays(peers, me=me, chance=random.random) as relays:
        yield RelayServices(relays, listener.host)
