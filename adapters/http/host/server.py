"""The server: listeners, a place for each connection, requests and sockets, and the way out.

`HttpServer(answer).serve(listeners)` runs until cancelled, or until `drain(listeners)` ends it in
good order: no new connection is let in, idle ones are closed, requests under way get their answers.

Whatever one connection does, the others do not notice.
"""

import errno
import os
import select
import socket
import ssl
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import Annotated

import trio

from adapters.http.endpoints import HttpResponse, SocketClosed, Upgrade
from adapters.http.host import bounds
from adapters.http.host.capacity import ConnectionPlaces, SpareDescriptor
from adapters.http.host.conversation import GONE, Conversation
from adapters.http.host.responses import (
    refusal,
    server_full,
    turned_away_response,
    write_at_once,
)
from adapters.http.host.tls import secured
from adapters.http.host.websockets import WebSocket, check_upgrade, upgrade_headers
from adapters.http.origins import OwnAddress
from adapters.http.refusals import HttpError
from adapters.http.requests import ClientConnection, HttpRequest
from runtime.log import emit
from runtime.statistics import CounterMetric, GaugeMetric

Serve = Callable[[HttpRequest], Awaitable[HttpResponse | Upgrade]]

INTERNAL_ERROR = 1011  # what a socket is closed with when its server crashed
GOING_AWAY = 1001
NO_DESCRIPTORS = (errno.EMFILE, errno.ENFILE)  # of this process, of this machine

NO_ADDRESS = OwnAddress()  # then only pages from the host that they ask are ours


@dataclass(frozen=True, slots=True)
class ServerStatistics:
    """Connections that are open now, and counts since the start."""

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
    beside: Annotated[
        int,
        GaugeMetric(
            "Connections without a place that are open in the hope that they are an admin's."
        ),
    ]
    gave_way_count: Annotated[
        int, CounterMetric("Idle connections that were closed because another one needed a place.")
    ]
    turned_away_count: Annotated[
        int, CounterMetric("Connections that were told at once that the server is full.")
    ]


@dataclass(slots=True)
class _Counts:
    connections_peak: int = 0
    accepted: int = 0
    answers: int = 0
    sockets: int = 0
    cut: int = 0
    crashed: int = 0
    starved: int = 0


class HttpServer:
    """Serves connections with `answer`, which may raise HttpError. Another error of it ends the
    connection."""

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
        self._places = ConnectionPlaces(connections_max)
        self._spare = SpareDescriptor()
        self._turned_away = 0  # connections that read why
        self._connections = 0
        self._conversations: set[Conversation] = set()
        self._sockets: set[WebSocket] = set()
        self._draining = False
        self._ended = trio.lowlevel.ParkingLot()  # where `drain` waits
        self._counts = _Counts()

    async def serve(self, listeners: Sequence[trio.SocketListener]) -> None:
        """Serve the connections of these listeners until cancelled or drained."""
        with self._spare:
            async with trio.open_nursery() as nursery:
                for listener in listeners:
                    nursery.start_soon(self._accept, listener, nursery)

    async def hang_up_sockets(self) -> None:
        """Close every socket with the code for a server that stops: clients connect elsewhere."""
        async with trio.open_nursery() as nursery:
            for socket in self._sockets:
                nursery.start_soon(socket.close, GOING_AWAY, "the server is stopping")

    async def drain(self, listeners: Sequence[trio.SocketListener]) -> None:
        """Let no connection in, and end those that are open within GRACE_SECONDS."""
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
            connections_max=self._places.places_max,
            connections_peak=counts.connections_peak,
            sockets=len(self._sockets),
            accepted_count=counts.accepted,
            answers_count=counts.answers,
            sockets_count=counts.sockets,
            cut_count=counts.cut,
            crashed_count=counts.crashed,
            starved_count=counts.starved,
            beside=self._places.beside,
            gave_way_count=self._places.gave_way_count,
            turned_away_count=self._places.turned_away_count,
        )

    async def _accept(self, listener: trio.SocketListener, nursery: trio.Nursery) -> None:
        if listener.socket.fileno() < 0:
            return  # it was closed before anybody could come
        with _second_handle(listener) as waiting:
            while True:
                try:
                    self._let_in(await listener.accept(), nursery)
                except trio.ClosedResourceError:
                    return  # draining
                except OSError as error:  # no descriptors, or a client that left meanwhile
                    self._counts.starved += 1
                    if error.errno in NO_DESCRIPTORS:
                        self._places.make_room()
                        await self._accept_to_refuse(listener, nursery)
                    await trio.sleep(bounds.BUSY_SECONDS)
                    continue
                for stream in _accepted_at_once(waiting, self._places.at_once - 1):
                    self._let_in(stream, nursery)

    def _let_in(self, stream: trio.SocketStream, nursery: trio.Nursery) -> None:
        client = self._places.enter(_host_of(stream), partial(_is_unread, stream))
        if client is None:
            self._turn_away(stream, nursery)
        else:
            nursery.start_soon(self.converse, stream, client)

    async def _accept_to_refuse(self, listener: trio.SocketListener, nursery: trio.Nursery) -> None:
        """Tell the next client that the server is full, with the descriptor kept for this."""
        with self._spare.lent(), trio.move_on_after(bounds.BUSY_SECONDS):
            try:
                stream = await listener.accept()
            except (OSError, trio.ClosedResourceError):
                return  # there is none all the same, or we are draining
            self._places.turned_away_count += 1
            self._say_full(stream)
            await trio.aclose_forcefully(stream)

    def _turn_away(self, stream: trio.SocketStream, nursery: trio.Nursery) -> None:
        """Send a connection away at once; without a task for it if there are many of them."""
        self._say_full(stream)
        if self._turned_away >= bounds.TURNED_AWAY_MAX:
            stream.socket.close()
            return
        self._turned_away += 1
        nursery.start_soon(self._see_out, stream)

    async def _see_out(self, stream: trio.SocketStream) -> None:
        try:
            with trio.move_on_after(bounds.LINGER_SECONDS):
                await _hang_up(stream)
        except GONE:
            pass
        finally:
            self._turned_away -= 1
            await trio.aclose_forcefully(stream)

    def _say_full(self, stream: trio.SocketStream) -> None:
        """Write a 503 in the clear. A client that expects TLS is told nothing."""
        if self._tls is None:
            write_at_once(stream, turned_away_response())

    async def converse(
        self,
        stream: trio.abc.HalfCloseableStream,
        client: ClientConnection | None = None,
    ) -> None:
        """Serve one connection until either side ends it. Errors of the connection end here, and
        are written to the log."""
        client = client or self._places.enter()
        assert client is not None, "a connection without a listener finds a place"
        self._connections += 1
        self._counts.accepted += 1
        self._counts.connections_peak = max(self._counts.connections_peak, self._connections)
        try:
            with client.scope:
                await self._talk(stream, client)
        except GONE:
            pass  # the client is gone
        except trio.TooSlowError:
            self._counts.cut += 1
        except Exception as error:  # noqa: BLE001  the others go on; Cancelled must pass
            self._counts.crashed += 1
            emit("connection.crashed", "error", peer=client.host, error=error)
        finally:
            with trio.move_on_after(bounds.CLOSE_SECONDS, shield=True):
                await trio.aclose_forcefully(stream)
            self._connections -= 1
            self._places.leave(client)
            self._ended.unpark_all()

    async def _talk(
        self, transport: trio.abc.HalfCloseableStream, client: ClientConnection
    ) -> None:
        self._places.mark_idle(client)
        stream: trio.abc.Stream = transport
        if self._tls is not None:
            client.scheme = "https"
            with trio.fail_after(bounds.BESIDE_SECONDS if client.is_beside else inf):
                stream = await secured(transport, self._tls)
        upgraded = await self._answer_requests(stream, client)
        if upgraded is not None:
            await self._serve_socket(stream, *upgraded)
        self._places.mark_idle(client)
        await _hang_up(transport)

    async def _answer_requests(
        self, stream: trio.abc.Stream, client: ClientConnection
    ) -> tuple[Upgrade, bytes] | None:
        """Answer one request after the other. Return the upgrade that one of them asked for, with
        what the client has sent behind it; None if the connection ends."""
        conversation = Conversation(stream, client)
        self._conversations.add(conversation)
        try:
            while not self._draining:
                self._places.mark_idle(client)
                # One without a place has to say at once what it wants.
                with trio.move_on_after(bounds.BESIDE_SECONDS if client.is_beside else inf) as wait:
                    request = await conversation.request()
                if wait.cancelled_caught:
                    request = server_full()
                self._places.mark_serving(client)
                if request is None:
                    return None
                answer = await self._make_answer(request)
                if isinstance(answer, Upgrade) and isinstance(request, HttpRequest):
                    return answer, await conversation.switch(upgrade_headers(request))
                assert isinstance(answer, HttpResponse), "only a request becomes a socket"
                # Where one that is no request ends cannot be known: nothing behind it is read.
                is_last = isinstance(request, HttpError) or client.is_beside
                closing = self._draining or is_last
                may_go_on = await conversation.send(answer, closing=closing)
                self._counts.answers += 1
                if not may_go_on:
                    return None
        finally:
            self._conversations.discard(conversation)
        return None

    async def _make_answer(self, request: HttpRequest | HttpError) -> HttpResponse | Upgrade:
        if isinstance(request, HttpError):
            return refusal(request)
        try:
            with trio.move_on_after(bounds.ANSWER_SECONDS):
                answer = await self._answer(request)
                if isinstance(answer, Upgrade):
                    check_upgrade(request, self._own)
                    await request.read_body(0)
                return answer
            late = f"no answer in {bounds.ANSWER_SECONDS:g} s"
            raise HttpError(503, "Request took too long.", detail=late)
        except HttpError as refused:
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
        except Exception as error:  # noqa: BLE001  told to the client and to the log
            self._counts.crashed += 1
            emit("socket.crashed", "error", error=error)
            await socket.close(INTERNAL_ERROR)


@contextmanager
def _second_handle(listener: trio.SocketListener) -> Iterator[socket.socket]:
    """Open the socket of a listener a second time, for what trio does one at a time.

    Both handles have to be closed before the system refuses clients.
    """
    handle = socket.socket(fileno=os.dup(listener.socket.fileno()))
    handle.setblocking(False)
    with handle:
        yield handle


def _accepted_at_once(handle: socket.socket, at_most: int) -> Iterator[trio.SocketStream]:
    """Yield the connections that wait, without a turn of the event loop for each.

    What goes wrong is met again, and dealt with, by the next wait for a connection.
    """
    for _ in range(at_most):
        try:
            connected, _address = handle.accept()
        except OSError:
            return  # none waits any more, or there are no descriptors
        yield trio.SocketStream(trio.socket.from_stdlib_socket(connected))


def _host_of(stream: trio.SocketStream) -> str:
    try:
        return str(stream.socket.getpeername()[0])
    except OSError:  # it has gone already
        return ""


def _is_unread(stream: trio.SocketStream) -> bool:
    """Tell whether the client has sent something that we have not read so far."""
    waiting = select.poll()
    waiting.register(stream.socket.fileno(), select.POLLIN)
    return bool(waiting.poll(0))


async def _hang_up(stream: trio.abc.HalfCloseableStream) -> None:
    """Close our side, then wait for theirs. Closing at once, or while they still send, could
    destroy the answer."""
    with trio.move_on_after(bounds.LINGER_SECONDS_MAX):
        await stream.send_eof()
        while await _still_sends(stream):
            pass


async def _still_sends(stream: trio.abc.HalfCloseableStream) -> bool:
    with trio.move_on_after(bounds.LINGER_SECONDS):
        return bool(await stream.receive_some(bounds.READ_BYTES))
    return False
