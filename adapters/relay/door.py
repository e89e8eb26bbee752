"""The listener's side: who comes with a ticket gets what is said here; everybody else, nothing.

It stands at an address of the process's own. What is asked there otherwise is for `behind`: the
probes and the figures of this one process.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Annotated, Protocol

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
from adapters.relay.tickets import HEADER, Tickets
from adapters.relay.wire import WISHES_BYTES_MAX, Garbled, news_encoded, wishes_of
from runtime.clock import wall
from runtime.log import emit
from runtime.statistics import CounterMetric, GaugeMetric

PATH = "/relay"
PEERS_MAX = 256  # processes that follow something here; the next one is told 503
BROKEN = 1011  # of RFC 6455: an error of ours
REPLACED = 4000  # a code of our own: your next connection has taken the place of this one


class Me(Protocol):
    def __call__(self) -> WorkerId | None:
        """The name in which this process holds chats; None: it has none now."""
        ...


@dataclass(frozen=True, slots=True)
class ServedStatistics:
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
    worker: WorkerId
    session: PeerSession
    replaced: trio.Event = field(default_factory=trio.Event)


class Host:
    """Serves episodes to peers."""

    def __init__(self, previews: Previews, tickets: Tickets, me: Me) -> None:
        self._previews = previews
        self._tickets = tickets
        self._me = me
        self._peers: dict[WorkerId, _Peer] = {}
        self._admitted_count = self._refused_count = self._pieces_count = self._broken_count = 0

    def let_in(self, request: HttpRequest) -> Upgrade:
        """Refused as if there were nothing, whoever is none of ours."""
        me, ticket = self._me(), request.headers.get(HEADER, "")
        worker = None
        if me is not None and request.method == "GET" and ticket:
            worker = self._tickets.taken(ticket, me, at=wall().timestamp())
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

    def statistics(self) -> ServedStatistics:
        sessions = [peer.session for peer in self._peers.values()]
        return ServedStatistics(
            peers=len(sessions),
            follows=sum([session.follows for session in sessions]),
            admitted_count=self._admitted_count,
            refused_count=self._refused_count,
            pieces_count=self._pieces_count + sum([each.pieces_count for each in sessions]),
            broken_count=self._broken_count,
        )

    async def _serve(self, peer: _Peer, proof: bytes, socket: Socket) -> None:
        """Of several connections of one process the newest counts: it knows of no other."""
        before = self._peers.get(peer.worker)
        if before is not None:
            before.replaced.set()
        self._peers[peer.worker] = peer

        def heard(message: bytes) -> bool:
            try:
                return all(map(peer.session.handle, wishes_of(message)))
            except Garbled:
                return False

        socket.hear(heard, bytes_max=WISHES_BYTES_MAX)
        try:
            with self._previews.follow(peer.session.note_begin, fail=peer.session.fail):
                await _tell(peer, proof, socket)
        finally:
            peer.session.close()
            self._pieces_count += peer.session.pieces_count
            if self._peers.get(peer.worker) is peer:
                del self._peers[peer.worker]
        if peer.replaced.is_set():
            await socket.close(REPLACED, "you have come again")
        elif peer.session.has_failed:
            self._broken_count += 1
            await socket.close(BROKEN, "an error here; come again")


async def _tell(peer: _Peer, proof: bytes, socket: Socket) -> None:
    """Until either side has gone."""
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_end_with, socket.until_closed, nursery.cancel_scope)
        nursery.start_soon(_end_with, peer.replaced.wait, nursery.cancel_scope)
        try:
            await socket.send(framed_bytes(proof))
            while True:
                await peer.session.wait_until_due()
                if peer.session.has_failed:
                    break
                await socket.send(framed_bytes(news_encoded(peer.session.take())))
                await trio.lowlevel.checkpoint()  # who takes everything does not hold up the others
        except SocketClosed:
            pass
        nursery.cancel_scope.cancel()


async def _end_with(gone: Callable[[], Awaitable[object]], scope: trio.CancelScope) -> None:
    await gone()
    scope.cancel()


class Backstage:
    """What is answered at the address of one process: peers by `host`, all others by `behind`."""

    def __init__(self, behind: Serve, host: Host) -> None:
        self._behind = behind
        self._host = host

    async def answer(self, request: HttpRequest) -> HttpResponse | Upgrade:
        """Fulfils `adapters.http.host.server.Serve`."""
        if request.path != PATH:
            return await self._behind(request)
        return self._host.let_in(request)
