"""The model behind a socket: h11 reads requests, steps are performed, slow clients are cut off.

async with serve(Behaviour(deltas=100), "127.0.0.1", 0) as running:
    ...                                             # running.url, running.rehearsal
"""

import struct
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from socket import SO_LINGER, SOL_SOCKET
from typing import assert_never

import h11
import trio

from adapters.rehearsal.behaviour import Behaviour
from adapters.rehearsal.metronome import Blocked, Metronome, PlayedAnswer, Reached
from adapters.rehearsal.pacing import HangUp, Reset, Stall
from adapters.rehearsal.rehearsal import CONTROL_PREFIX, Exchange, Rehearsal, answer_control
from adapters.rehearsal.wires.http import CONTINUE, RequestHead, response

CONNECTIONS_MAX = 10_000  # one more is answered 503 and closed
BACKLOG = 4096  # connections that wait to be accepted, as far as the system allows
SEND_SECONDS = 30.0  # for a client to take data that blocks; then it is cut off
SILENCE_SECONDS = 3600.0  # a stall that no client ends is ended here
LINGER_SECONDS = 1.0  # after a refusal of what was not read, for the client to read it
CLOSE_SECONDS = 1.0  # for closing a connection on which nothing is sent any more
HEAD_BYTES_MAX = 64 * 1024  # a longer head is answered 431
BODY_BYTES_MAX = 32 * 1024 * 1024  # a longer body is answered 413
IDLE_SECONDS = 600.0  # between two requests; then the connection is closed
REQUEST_SECONDS = 60.0  # from a request's first byte to its last; then 408
READ_BYTES = 64 * 1024

WHOLE = "whole"  # how most answers end
_GONE = (trio.BrokenResourceError, trio.ClosedResourceError)
_AT_ONCE = struct.pack("ii", 1, 0)


@dataclass(frozen=True, slots=True)
class ReceivedRequest:
    """A request that was read whole."""

    head: RequestHead
    body: bytes
    rest: bytes  # bytes that came behind it
    last: bool  # the connection ends with the answer


@dataclass(frozen=True, slots=True)
class UnreadableRequest:
    """A request that is refused before it was read whole."""

    status: int
    why: str


@dataclass(frozen=True, slots=True)
class RunningRehearsal:
    """A model that is being served."""

    host: str
    port: int
    rehearsal: Rehearsal

    @property
    def url(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"


@asynccontextmanager
async def serve(
    behaviour: Behaviour, host: str = "127.0.0.1", port: int = 0, *, controllable: bool = True
) -> AsyncIterator[RunningRehearsal]:
    """Serve until the block is left.

    Port 0 takes any free one. Raises OSError if the address is taken.
    """
    listeners = await trio.open_tcp_listeners(port, host=host, backlog=BACKLOG)
    bound: int = listeners[0].socket.getsockname()[1]
    rehearsal = Rehearsal(behaviour)
    async with trio.open_nursery() as nursery:
        serving = partial(serve_listeners, rehearsal, listeners, controllable=controllable)
        nursery.start_soon(serving)
        yield RunningRehearsal(host, bound, rehearsal)
        nursery.cancel_scope.cancel()


async def serve_listeners(
    rehearsal: Rehearsal, listeners: Sequence[trio.SocketListener], *, controllable: bool = True
) -> None:
    """Serve until cancelled, then close the listeners."""
    metronome = Metronome()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(metronome.run)
        await trio.serve_listeners(
            _Door(rehearsal, controllable, metronome).let_in, list(listeners)
        )


@dataclass(slots=True)
class _Door:
    """The connections of one model."""

    rehearsal: Rehearsal
    controllable: bool
    metronome: Metronome
    connections: int = 0

    async def let_in(self, stream: trio.SocketStream) -> None:
        self.connections += 1
        try:
            if self.connections > CONNECTIONS_MAX:
                await _refuse(
                    stream, UnreadableRequest(503, f"{CONNECTIONS_MAX} connections are open")
                )
            else:
                await self._converse(stream)
        except _GONE:
            return  # the client is gone
        finally:
            self.connections -= 1
            with trio.move_on_after(CLOSE_SECONDS, shield=True):
                await trio.aclose_forcefully(stream)

    async def _converse(self, stream: trio.SocketStream) -> None:
        rest = b""
        while True:
            request = await next_request(stream, rest)
            if isinstance(request, UnreadableRequest):
                await _refuse(stream, request)
            if not isinstance(request, ReceivedRequest):
                return
            exchange = self._exchange(request)
            if not await _perform(exchange, stream, self.metronome) or request.last:
                return
            rest = request.rest

    def _exchange(self, request: ReceivedRequest) -> Exchange:
        if self.controllable and request.head.path.startswith(CONTROL_PREFIX):
            return answer_control(self.rehearsal, request.head, request.body)
        return self.rehearsal.answer(request.head, request.body)


async def _refuse(stream: trio.SocketStream, unread: UnreadableRequest) -> None:
    """Say why a request is refused, and wait for the client to hang up.

    Closing at once could destroy the answer.
    """
    closing = ("connection", "close")
    with trio.move_on_after(SEND_SECONDS):
        await stream.send_all(response(unread.status, {"message": unread.why}, closing))
        await stream.send_eof()
    with trio.move_on_after(LINGER_SECONDS):
        while await stream.receive_some(READ_BYTES):
            pass


async def _perform(exchange: Exchange, stream: trio.SocketStream, metronome: Metronome) -> bool:
    """Perform an exchange; return whether the connection may serve another request."""
    playing = PlayedAnswer(exchange.steps, stream.socket.fileno(), trio.current_time())
    ended = None
    while ended is None:
        reached = await metronome.follow(playing, stream)
        ended = await _take(reached, stream)
    exchange.ended(ended)
    return ended == WHOLE


async def _take(reached: Reached, stream: trio.SocketStream) -> str | None:
    """Take the step that was reached; return how the answer ended, or None if it goes on."""
    match reached:
        case "end":
            return WHOLE
        case "gone":
            return "client gone"
        case Blocked(rest):
            with trio.move_on_after(SEND_SECONDS) as limit:
                await stream.send_all(rest)
            return "client too slow" if limit.cancelled_caught else None
        case Stall():
            with trio.move_on_after(SILENCE_SECONDS):
                await stream.receive_some(1)
                return "client gone"
            return "silent to the end"
        case Reset():
            stream.setsockopt(SOL_SOCKET, SO_LINGER, _AT_ONCE)
            return "reset"
        case HangUp():
            return "hung up"
        case _:
            assert_never(reached)


async def next_request(
    stream: trio.SocketStream, rest: bytes
) -> ReceivedRequest | UnreadableRequest | None:
    """Read the next request; None: the client has ended the connection between two requests."""
    if not rest:
        with trio.move_on_after(IDLE_SECONDS):
            rest = bytes(await stream.receive_some(READ_BYTES))
        if not rest:
            return None
    try:
        with trio.move_on_after(REQUEST_SECONDS):
            return await _read_request(stream, rest)
    except h11.RemoteProtocolError as error:
        return UnreadableRequest(error.error_status_hint, str(error))
    return UnreadableRequest(408, f"the request took longer than {REQUEST_SECONDS:g} s")


async def _read_request(
    stream: trio.SocketStream, received: bytes
) -> ReceivedRequest | UnreadableRequest | None:
    """Read one request. h11 is only its reader, so each has an h11 of its own."""
    reader = h11.Connection(h11.SERVER, max_incomplete_event_size=HEAD_BYTES_MAX)
    reader.receive_data(received)
    head, pieces, body_bytes = RequestHead("", ""), [], 0
    while True:
        match reader.next_event():
            case h11.NEED_DATA:
                if reader.they_are_waiting_for_100_continue:
                    await stream.send_all(CONTINUE)
                reader.receive_data(bytes(await stream.receive_some(READ_BYTES)))
            case h11.Request() as request:
                if request.http_version != b"1.1":
                    return UnreadableRequest(505, "HTTP/1.1 is spoken here")
                head = _head(request)
            case h11.Data() as piece:
                body_bytes += len(piece.data)
                if body_bytes > BODY_BYTES_MAX:
                    return UnreadableRequest(413, f"a body may have {BODY_BYTES_MAX} bytes")
                pieces.append(bytes(piece.data))
            case h11.EndOfMessage():
                last = reader.their_state is not h11.DONE
                return ReceivedRequest(head, b"".join(pieces), bytes(reader.trailing_data[0]), last)
            case h11.ConnectionClosed():
                return None
            case event:
                raise AssertionError(f"h11 said {event!r} in the middle of a request")


def _head(request: h11.Request) -> RequestHead:
    headers = tuple(
        (name.decode("ascii"), value.decode("latin-1")) for name, value in request.headers
    )
    path = request.target.decode("ascii").partition("?")[0]
    return RequestHead(request.method.decode("ascii"), path, headers)
