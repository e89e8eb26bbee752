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
from adapters.rehearsal.http import response
from adapters.rehearsal.pacing import HangUp, Reset, Send, Stall
from adapters.rehearsal.reading import READ_BYTES, Request, Unread, next_request
from adapters.rehearsal.rehearsal import Exchange, Rehearsal

CONNECTIONS_MAX = 10_000  # one more is answered 503 and closed
BACKLOG = 4096  # connections that wait to be let in, as far as the system allows
SEND_SECONDS = 30.0  # for a client to take what is due; after twice that at most, it is cut off
SILENCE_SECONDS = 3600.0  # a stall that no client ends is ended here
LINGER_SECONDS = 1.0  # after a refusal of what was not read, for the client to read it
CLOSE_SECONDS = 1.0  # nothing is sent any more, so nothing can hold it up
LONG_WAIT_SECONDS = 0.1  # in a longer wait a hang-up is seen at once; else at the next send

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
    await trio.serve_listeners(_Door(rehearsal, controllable).let_in, list(listeners))


@dataclass(slots=True)
class _Door:
    """All connections of one model."""

    rehearsal: Rehearsal
    controllable: bool
    connections: int = 0

    async def let_in(self, stream: trio.SocketStream) -> None:
        self.connections += 1
        try:
            if self.connections > CONNECTIONS_MAX:
                await _refuse(stream, Unread(503, f"{CONNECTIONS_MAX} connections are open"))
            else:
                await self._converse(stream)
        except _GONE:
            return  # nobody is there to be told
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
            if not await _perform(stream, exchange) or request.last:
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


async def _perform(stream: trio.SocketStream, exchange: Exchange) -> bool:
    """Whether the connection may serve another request."""
    try:
        with trio.move_on_after(2 * SEND_SECONDS) as limit:
            ended = await _take_steps(stream, exchange, limit)
    except _GONE:
        ended = "client gone"
    if limit.cancelled_caught:
        ended = "cut off, too slow"
    exchange.ended(ended)
    return ended == "whole"


async def _take_steps(
    stream: trio.SocketStream, exchange: Exchange, limit: trio.CancelScope
) -> str:
    """How the answer ended."""
    due = trio.current_time()
    for step in exchange.steps:
        match step:
            case Send(seconds, data):
                due += seconds
                if due + SEND_SECONDS > limit.deadline:  # not at every step: it has its price
                    limit.deadline = due + 2 * SEND_SECONDS
                if seconds and await _gone_until(stream, due):
                    return "client gone"
                await stream.send_all(data)
            case Stall():
                limit.deadline = due + 2 * SILENCE_SECONDS
                gone = await _gone_until(stream, due + SILENCE_SECONDS)
                return "client gone" if gone else "silent to the end"
            case Reset():
                stream.setsockopt(SOL_SOCKET, SO_LINGER, _AT_ONCE)
                return "reset"
            case HangUp():
                return "hung up"
            case _:
                assert_never(step)
    return "whole"


async def _gone_until(stream: trio.SocketStream, due: float) -> bool:
    """Wait; True, at once, if the client hangs up meanwhile (or speaks, which is no better)."""
    seconds = due - trio.current_time()
    if seconds <= LONG_WAIT_SECONDS:
        await trio.sleep(max(seconds, 0))
        return False
    with trio.move_on_after(seconds):
        await stream.receive_some(1)
        return True
    return False
