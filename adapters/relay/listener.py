"""The listener of the relay, and the address at which other processes find it.

Each process has such an address of its own. Another process that shows a ticket there is sent the
pieces of the attempts that it follows. All other requests go to a fallback, which answers with the
probes and the metrics of this one process.

Clients use another address: that one may be shared by several processes, be reached by strangers,
and have a proxy before it. Where all processes are on one machine, or on a network that is theirs,
no setting is needed.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Annotated, Protocol
from urllib.parse import urlsplit

import trio

from actors.law.ids import WorkerId
from actors.streams.previews import Previews
from actors.streams.relay.peer_session import PeerSession
from adapters.http.door import route_not_found
from adapters.http.endpoints import HttpResponse, Socket, SocketClosed, Upgrade
from adapters.http.host.server import Serve
from adapters.http.host.websockets import framed_bytes
from adapters.http.refusals import HttpError
from adapters.http.requests import HttpRequest
from adapters.postgres.driver import server_check
from adapters.relay.protocol import (
    HEADER,
    REQUESTS_BYTES_MAX,
    GarbledMessage,
    RelayTickets,
    decode_requests,
    encode_answers,
)
from adapters.settings import Config, HostAddress
from runtime.clock import wall
from runtime.log import emit
from runtime.statistics import CounterMetric, GaugeMetric
from runtime.threads import read

PATH = "/relay"
PEERS_MAX = 256  # processes that follow something here; the next one is told 503
BROKEN = 1011  # of RFC 6455: an error of ours
REPLACED = 4000  # a code of our own: your next connection has taken the place of this one
LOOPBACK = "127.0.0.1"
ADVICE = "set relay_listen to an address of this machine that the other processes reach"


class WorkerName(Protocol):
    """The way to learn under which name this process holds chats."""

    def __call__(self) -> WorkerId | None:
        """Return the name under which this process holds chats. None: it has none now."""
        ...


@dataclass(frozen=True, slots=True)
class RelayHostStatistics:
    """The figures of what this process sends to others."""

    peers: Annotated[int, GaugeMetric("Other processes that follow attempts of this one.")]
    follows: Annotated[int, GaugeMetric("Attempts of this process that others follow.")]
    admitted_count: Annotated[
        int, CounterMetric("Connections of other processes that were let in.")
    ]
    refused_count: Annotated[
        int, CounterMetric("Connections that were not let in because they are none of ours.")
    ]
    pieces_count: Annotated[int, CounterMetric("Pieces that were sent to other processes.")]
    broken_count: Annotated[
        int, CounterMetric("Connections that were ended because of an error in what serves them.")
    ]


@dataclass(slots=True, eq=False)
class _Peer:
    """Another process that follows attempts of this one."""

    worker: WorkerId
    session: PeerSession
    replaced: trio.Event = field(default_factory=trio.Event)


class RelayHost:
    """Serves the other processes that follow attempts of this one."""

    def __init__(self, previews: Previews, tickets: RelayTickets, me: WorkerName) -> None:
        self._previews = previews
        self._tickets = tickets
        self._me = me
        self._peers: dict[WorkerId, _Peer] = {}
        self._admitted_count = self._refused_count = self._pieces_count = self._broken_count = 0

    def admit(self, request: HttpRequest) -> Upgrade:
        """Admit a process that has a ticket. All others are refused as if there were nothing."""
        me, ticket = self._me(), request.headers.get(HEADER, "")
        worker = None
        if me is not None and request.method == "GET" and ticket:
            worker = self._tickets.take(ticket, me, at=wall().timestamp())
        if worker is None:
            self._refused_count += 1
            emit("relay.refused", "debug", peer=request.client.host)
            raise route_not_found()
        if len(self._peers) >= PEERS_MAX and worker not in self._peers:
            raise HttpError(503, "Too many processes.", detail=f"{PEERS_MAX} follow this one")
        self._admitted_count += 1
        peer, proof = _Peer(worker, PeerSession(self._previews)), self._tickets.proof(ticket)

        async def serve(socket: Socket) -> None:
            await self._serve(peer, proof, socket)

        return Upgrade(serve)

    def statistics(self) -> RelayHostStatistics:
        sessions = [peer.session for peer in self._peers.values()]
        return RelayHostStatistics(
            peers=len(sessions),
            follows=sum([session.follows for session in sessions]),
            admitted_count=self._admitted_count,
            refused_count=self._refused_count,
            pieces_count=self._pieces_count + sum([each.pieces_count for each in sessions]),
            broken_count=self._broken_count,
        )

    async def _serve(self, peer: _Peer, proof: bytes, socket: Socket) -> None:
        """Serve a peer. Of several connections of one process the newest counts."""
        before = self._peers.get(peer.worker)
        if before is not None:
            before.replaced.set()
        self._peers[peer.worker] = peer

        def handle(message: bytes) -> bool:
            try:
                return all(map(peer.session.handle, decode_requests(message)))
            except GarbledMessage:
                return False

        socket.hear(handle, bytes_max=REQUESTS_BYTES_MAX)
        try:
            with self._previews.follow(peer.session.note_begin, fail=peer.session.fail):
                await _tell(peer, proof, socket)
        finally:
            peer.session.close()
            self._pieces_count += peer.session.pieces_count
            if self._peers.get(peer.worker) is peer:
                del self._peers[peer.worker]
        if peer.replaced.is_set():
            await socket.close(REPLACED, "another connection of yours has replaced this one")
        elif peer.session.has_failed:
            self._broken_count += 1
            await socket.close(BROKEN, "an error here; come again")


async def _tell(peer: _Peer, proof: bytes, socket: Socket) -> None:
    """Send answers until either side has gone."""
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_end_with, socket.until_closed, nursery.cancel_scope)
        nursery.start_soon(_end_with, peer.replaced.wait, nursery.cancel_scope)
        try:
            await socket.send(framed_bytes(proof))
            while True:
                await peer.session.wait_until_due()
                if peer.session.has_failed:
                    break
                await socket.send(framed_bytes(encode_answers(peer.session.take())))
                await trio.lowlevel.checkpoint()  # a fast peer does not hold up the others
        except SocketClosed:
            pass
        nursery.cancel_scope.cancel()


async def _end_with(gone: Callable[[], Awaitable[object]], scope: trio.CancelScope) -> None:
    await gone()
    scope.cancel()


class RelayGate:
    """The entry at the address of one process: `host` answers other processes of ours, `fallback`
    answers all other requests."""

    def __init__(self, fallback: Serve, host: RelayHost) -> None:
        self._fallback = fallback
        self._host = host

    async def answer(self, request: HttpRequest) -> HttpResponse | Upgrade:
        """Answer a request. Fulfils `adapters.http.host.server.Serve`."""
        if request.path != PATH:
            return await self._fallback(request)
        return self._host.admit(request)


# addresses


@dataclass(frozen=True, slots=True)
class NoAddress:
    """The reason why there is no such address."""

    why: str


def own_host(listen_host: str, database_side: str | None) -> str | NoAddress:
    """Choose the host at which this process listens for other processes of ours.

    `database_side` is our end of a connection to the database; None: it is on this machine.
    """
    listened = _address(listen_host)
    if listened is not None and _is_ours(listened):
        return listen_host
    if listen_host == "localhost" or database_side is None:
        return LOOPBACK
    beside = _address(database_side)
    if beside is not None and _is_ours(beside):
        return database_side
    return NoAddress(f"of this machine only {database_side} is known, which is no private address")


def own_address(first: HostAddress, number: int) -> HostAddress:
    """Return the address of the process with this number, from 1: each has a port of its own.
    Port 0 is any free one."""
    return HostAddress(first.host, first.port and first.port + number - 1)


def own_url(listening: HostAddress, first_url: str | None, number: int) -> str:
    """Return the URL at which others see the process that listens there. `first_url` is the one at
    which they see the first process."""
    if first_url is None:
        return f"http://{listening}"
    parts = urlsplit(first_url)
    if number == 1 or parts.port is None:
        return first_url
    seen = HostAddress(parts.hostname or "", parts.port + number - 1)
    return parts._replace(netloc=str(seen)).geturl()


def _address(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(host.partition("%")[0])
    except ValueError:
        return None


def _is_ours(address: IPv4Address | IPv6Address) -> bool:
    """Return whether an address is on this machine, or in a private network."""
    return not (address.is_global or address.is_unspecified or address.is_multicast)


async def first_address(config: Config) -> HostAddress | NoAddress:
    """Return the address at which others find the first process of this start."""
    if config.relay_listen is not None:
        return config.relay_listen
    database_side = None
    if config.database_url is not None:
        look = partial(server_check.our_end, config.database_url)
        database_side = await read(server_check.REACHING, look)
    host = own_host(config.host, database_side)
    return host if isinstance(host, NoAddress) else HostAddress(host, 0)
