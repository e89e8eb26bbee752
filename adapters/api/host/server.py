"""All connections: listeners, a place for each, requests and sockets, and the way out.

`Server(answer).serve(listeners)` runs until cancelled, or until `drain(listeners)` ends it in good
order: nobody new is let in, idle connections are closed, requests under way get their answers.

Whatever one connection does, the others do not notice.
"""

import ssl
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Annotated

import trio

from adapters.api.endpoints import Answer, SocketClosed, Upgrade
from adapters.api.host import bounds
from adapters.api.host.answering import refusal
from adapters.api.host.conversation import GONE, Conversation
from adapters.api.host.origins import OwnAddress
from adapters.api.host.requests import Peer, Request
from adapters.api.host.securing import secured
from adapters.api.host.sockets import WebSocket
from adapters.api.host.upgrading import agreed, heed_upgrade
from adapters.api.refused import Refused
from runtime.log import emit
from runtime.statistics import CounterMetric, GaugeMetric

Serve = Callable[[Request], Awaitable[Answer | Upgrade]]

INTERNAL_ERROR = 1011  # what a socket is closed with when its server crashed
GOING_AWAY = 1001

NO_ADDRESS = OwnAddress()  # known of the pages that are ours: they come from the host they ask


@dataclass(frozen=True, slots=True)
class ServerStatistics:
    """What is open now, and what was since the start."""

    connections: Annotated[int, GaugeMetric("Connections of clients that are open.")]
    connections_max: Annotated[
        int, GaugeMetric("Connections of clients that may be open at most.", name="max_connections")
    ]
    connections_peak: Annotated[
        int, GaugeMetric("The most connections of clients that were ever open at once.")
    ]
    sockets: Annotated[int, GaugeMetric("WebSockets that are open.")]
    accepted_count: Annotated[int, CounterMetric("Connections of clients that were accepted.")]
    answers_count: Annotated[int, CounterMetric("Answers that were sent.")]
    sockets_count: Annotated[
        int, CounterMetric("WebSockets that were opened.", name="sockets_opened")
    ]
    cut_count: Annotated[
        int, CounterMetric("Connections that were cut: the client did not take what it was sent.")
    ]
    crashed_count: Annotated[
        int, CounterMetric("Connections that ended because of an error in their handler.")
    ]
    starved_count: Annotated[int, CounterMetric("Connections that the system could not give us.")]


@dataclass(slots=True)
class _Counts:
    connections_peak: int = 0
    accepted: int = 0
    answers: int = 0
    sockets: int = 0
    cut: int = 0
    crashed: int = 0
    starved: int = 0


class Server:
    """Serves with `answer`, which may raise Refused; what else it lets out costs the connection."""

    def __init__(
        self,
        answer: Serve,
        *,
        tls: ssl.SSLContext | None = None,
        own: OwnAddress = NO_ADDRESS,
        connections_max: int = bounds.CONNECTIONS_MAX,
    ) -> None:
        self._answer = answer
        self._tls = tls
        self._own = own
        self._connections_max = connections_max
        self._slots = trio.Semaphore(connections_max)
        self._connections = 0
        self._conversations: set[Conversation] = set()
        self._sockets: set[WebSocket] = set()
        self._draining = False
        self._ended = trio.lowlevel.ParkingLot()  # where `drain` waits
        self._counts = _Counts()

    async def serve(self, listeners: Sequence[trio.SocketListener]) -> None:
        async with trio.open_nursery() as nursery:
            for listener in listeners:
                nursery.start_soon(self._accept, listener, nursery)

    async def hang_up_sockets(self) -> None:
        """Tell every socket that we are going: whoever follows should do so elsewhere."""
        async with trio.open_nursery() as nursery:
            for socket in self._sockets:
                nursery.start_soon(socket.close, GOING_AWAY, "the server is stopping")

    async def drain(self, listeners: Sequence[trio.SocketListener]) -> None:
        """Let nobody in, let those go who are served; within GRACE_SECONDS."""
        self._draining = True
        for listener in listeners:
            await listener.aclose()
        for conversation in [
            conversation for conversation in self._conversations if conversation.idle
        ]:
            await conversation.cut()
        with trio.move_on_after(bounds.GRACE_SECONDS):
            await self.hang_up_sockets()
            while self._connections:
                await self._ended.park()

    def statistics(self) -> ServerStatistics:
        counts = self._counts
        return ServerStatistics(
            connections=self._connections,
            connections_max=self._connections_max,
            connections_peak=counts.connections_peak,
            sockets=len(self._sockets),
            accepted_count=counts.accepted,
            answers_count=counts.answers,
            sockets_count=counts.sockets,
            cut_count=counts.cut,
            crashed_count=counts.crashed,
            starved_count=counts.starved,
        )

    async def _accept(self, listener: trio.SocketListener, nursery: trio.Nursery) -> None:
        while True:
            await self._slots.acquire()
            try:
                stream = await listener.accept()
            except trio.ClosedResourceError:
                return  # draining
            except OSError:  # no descriptors, or a client that left while it was let in
                self._slots.release()
                self._counts.starved += 1
                await trio.sleep(bounds.BUSY_SECONDS)
                continue
            nursery.start_soon(self._occupy_slot, stream)

    async def _occupy_slot(self, stream: trio.SocketStream) -> None:
        try:
            await self.converse(stream, _host_of(stream))
        finally:
            self._slots.release()

    async def converse(self, stream: trio.abc.HalfCloseableStream, host: str = "") -> None:
        """Serve one connection until either side has enough of it. The edge of this unit of work:
        what comes out of it is written down here."""
        self._connections += 1
        self._counts.accepted += 1
        self._counts.connections_peak = max(self._counts.connections_peak, self._connections)
        try:
            await self._talk(stream, host)
        except GONE:
            pass  # there is nobody to tell
        except trio.TooSlowError:
            self._counts.cut += 1
        except Exception as error:  # noqa: BLE001  the others go on; Cancelled must pass
            self._counts.crashed += 1
            emit("connection.crashed", "error", peer=host, error=error)
        finally:
            self._connections -= 1
            self._ended.unpark_all()
            with trio.move_on_after(bounds.CLOSE_SECONDS, shield=True):
                await trio.aclose_forcefully(stream)

    async def _talk(self, transport: trio.abc.HalfCloseableStream, host: str) -> None:
        stream: trio.abc.Stream = transport
        if self._tls is not None:
            stream = await secured(transport, self._tls)
        peer = Peer(host, "http" if self._tls is None else "https")
        upgraded = await self._answer_requests(stream, peer)
        if upgraded is not None:
            await self._serve_socket(stream, *upgraded)
        await _hang_up(transport)

    async def _answer_requests(
        self, stream: trio.abc.Stream, peer: Peer
    ) -> tuple[Upgrade, bytes] | None:
        """One after the other; what becomes of the connection then, if it does not end."""
        conversation = Conversation(stream, peer)
        self._conversations.add(conversation)
        try:
            while not self._draining:
                request = await conversation.request()
                if request is None:
                    return None
                answer = await self._make_answer(request)
                if isinstance(answer, Upgrade) and isinstance(request, Request):
                    return answer, await conversation.switch(agreed(request))
                assert isinstance(answer, Answer), "only a request becomes a socket"
                # Where one that is no request ends, nobody can tell: nothing behind it is read.
                closing = self._draining or isinstance(request, Refused)
                may_go_on = await conversation.send(answer, closing=closing)
                self._counts.answers += 1
                if not may_go_on:
                    return None
        finally:
            self._conversations.discard(conversation)
        return None

    async def _make_answer(self, request: Request | Refused) -> Answer | Upgrade:
        if isinstance(request, Refused):
            return refusal(request)
        try:
            with trio.move_on_after(bounds.ANSWER_SECONDS):
                answer = await self._answer(request)
                if isinstance(answer, Upgrade):
                    heed_upgrade(request, self._own)
                    await request.body(0)
                return answer
            late = f"no answer in {bounds.ANSWER_SECONDS:g} s"
            raise Refused(503, "Request took too long.", detail=late)
        except Refused as refused:
            return refusal(refused, request.headers.get("accept", ""))

    async def _serve_socket(self, stream: trio.abc.Stream, upgrade: Upgrade, begun: bytes) -> None:
        socket = WebSocket(stream, begun)
        self._sockets.add(socket)
        self._counts.sockets += 1
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(socket.listen)
                await self._serve_until_closed(socket, upgrade)
                nursery.cancel_scope.cancel()
        finally:
            self._sockets.discard(socket)
            socket.cut()

    async def _serve_until_closed(self, socket: WebSocket, upgrade: Upgrade) -> None:
        try:
            await upgrade.serve(socket)
            await socket.close(1000)
        except SocketClosed:
            return
        except Exception as error:  # noqa: BLE001  told to the client, and to whoever reads the log
            self._counts.crashed += 1
            emit("socket.crashed", "error", error=error)
            await socket.close(INTERNAL_ERROR)


def _host_of(stream: trio.SocketStream) -> str:
    try:
        return str(stream.socket.getpeername()[0])
    except OSError:  # it has gone already
        return ""


async def _hang_up(stream: trio.abc.HalfCloseableStream) -> None:
    """Close our side, then wait for theirs: closing at once, or while they still send, could
    destroy the answer."""
    with trio.move_on_after(bounds.LINGER_SECONDS_MAX):
        await stream.send_eof()
        while await _still_sends(stream):
            pass


async def _still_sends(stream: trio.abc.HalfCloseableStream) -> bool:
    with trio.move_on_after(bounds.LINGER_SECONDS):
        return bool(await stream.receive_some(bounds.READ_BYTES))
    return False
