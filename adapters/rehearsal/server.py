"""The model behind a socket: h11 reads requests, steps are performed, whoever is slow is cut off.

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

import trio

from adapters.rehearsal import control
from adapters.rehearsal.behaviour import Behaviour
from adapters.rehearsal.metronome import Blocked, Metronome, Playing, Reached
from adapters.rehearsal.pacing import HangUp, Reset, Stall
from adapters.rehearsal.reading import READ_BYTES, Request, Unread, next_request
from adapters.rehearsal.rehearsal import Exchange, Rehearsal
from adapters.rehearsal.wires.http import response

CONNECTIONS_MAX = 10_000  # one more is answered 503 and closed
BACKLOG = 4096  # connections that wait to be let in, as far as the system allows
SEND_SECONDS = 30.0  # for a client to take what blocks; then it is cut off
SILENCE_SECONDS = 3600.0  # a stall that no client ends is ended here
LINGER_SECONDS = 1.0  # after a refusal of what was not read, for the client to read it
CLOSE_SECONDS = 1.0  # nothing is sent any more, so nothing can hold it up

WHOLE = "whole"  # how most answers end
_GONE = (trio.BrokenResourceError, trio.ClosedResourceError)
_AT_ONCE = struct.pack("ii", 1, 0)


@dataclass(frozen=True, slots=True)
class Running:
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
) -> AsyncIterator[Running]:
    """Serve until the block is left. Port 0: any free one. OSError if the address is taken."""
    listeners = await trio.open_tcp_listeners(port, host=host, backlog=BACKLOG)
    bound: int = listeners[0].socket.getsockname()[1]
    rehearsal = Rehearsal(behaviour)
    async with trio.open_nursery() as nursery:
        serving = partial(serve_listeners, rehearsal, listeners, controllable=controllable)
        nursery.start_soon(serving)
        yield Running(host, bound, rehearsal)
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
    """All connections of one model."""

    rehearsal: Rehearsal
    controllable: bool
    metronome: Metronome
    connections: int = 0

    async def let_in(self, stream: trio.SocketStream) -> None:
        self.connections += 1
        try:
            if self.connections > CONNECTIONS_MAX:
                await _refuse(stream, Unread(503, f"{CONNECTIONS_MAX} connections are open"))
            else:
                await self._converse(stream)
        except _GONE:
            return  # there is nobody to tell
        finally:
            self.connections -= 1
            with trio.move_on_after(CLOSE_SECONDS, shield=True):
                await trio.aclose_forcefully(stream)

    async def _converse(self, stream: trio.SocketStream) -> None:
        rest = b""
        while True:
            request = await next_request(stream, rest)
            if isinstance(request, Unread):
                await _refuse(stream, request)
            if not isinstance(request, Request):
                return
            exchange = self._exchange(request)
            if not await _perform(exchange, stream, self.metronome) or request.last:
                return
            rest = request.rest

    def _exchange(self, request: Request) -> Exchange:
        if self.controllable and request.head.path.startswith(control.PREFIX):
            return control.answer(self.rehearsal, request.head, request.body)
        return self.rehearsal.answer(request.head, request.body)


async def _refuse(stream: trio.SocketStream, unread: Unread) -> None:
    """Say why, and wait for them to hang up: closing at once could destroy the answer."""
    closing = ("connection", "close")
    with trio.move_on_after(SEND_SECONDS):
        await stream.send_all(response(unread.status, {"message": unread.why}, closing))
        await stream.send_eof()
    with trio.move_on_after(LINGER_SECONDS):
        while await stream.receive_some(READ_BYTES):
            pass


async def _perform(exchange: Exchange, stream: trio.SocketStream, metronome: Metronome) -> bool:
    """Whether the connection may serve another request."""
    playing = Playing(exchange.steps, stream.socket.fileno(), trio.current_time())
    ended = None
    while ended is None:
        reached = await metronome.follow(playing, stream)
        ended = await _take(reached, stream)
    exchange.ended(ended)
    return ended == WHOLE


async def _take(reached: Reached, stream: trio.SocketStream) -> str | None:
    """How the answer ended; None: it goes on."""
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
