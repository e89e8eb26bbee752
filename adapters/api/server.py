"""A small HTTP/1.1 server on h11: a head comes in, an answer goes out, whoever is slow is cut off.

`Server(answer).serve(listeners)` runs until cancelled, or until `drain(listeners)` ends it in good
order: nobody new is let in, idle connections are closed, requests under way get their answers.

Bodies of requests are read and thrown away: nothing here takes one.
"""

import errno
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import h11
import trio

HEAD_BYTES_MAX = 16 * 1024  # a longer head is answered 431
BODY_BYTES_MAX = 64 * 1024  # after more the connection is closed behind the answer
CONNECTIONS_MAX = 256  # the next ones wait in the listener's backlog
IDLE_SECONDS = 30.0  # between two requests; then the connection is closed
REQUEST_SECONDS = 10.0  # from a request's first byte to its last; then 408
ANSWER_SECONDS = 10.0  # to make an answer; then 503
SEND_SECONDS = 10.0  # for a client to take its answer; then the connection is cut
LINGER_SECONDS = 1.0  # after the last answer, for the client to read it before we hang up
CLOSE_SECONDS = 1.0  # nothing is sent any more, so nothing can hold it up
GRACE_SECONDS = 5.0  # for answers under way when the server drains
READ_BYTES = 16 * 1024
BUSY_SECONDS = 0.1  # without descriptors: wait, then try again
OUT_OF_DESCRIPTORS = {errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS}


@dataclass(frozen=True, slots=True)
class Request:
    """A request's head."""

    method: str
    path: str
    query: str


@dataclass(frozen=True, slots=True)
class Answer:
    """A status, a JSON document, and headers beside the usual ones."""

    status: int
    document: dict[str, Any]
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class ServerStatistics:
    """Connections now, answers since the start."""

    connections: int
    answers: int


@dataclass(slots=True, eq=False)
class _Client:
    """One connection, and whether it is between two requests."""

    stream: trio.abc.HalfCloseableStream
    protocol: h11.Connection = field(
        default_factory=lambda: h11.Connection(h11.SERVER, max_incomplete_event_size=HEAD_BYTES_MAX)
    )
    idle: bool = True


class Server:
    """Listeners, connections, and the way out."""

    def __init__(
        self,
        answer: Callable[[Request], Awaitable[Answer]],
        *,
        connections_max: int = CONNECTIONS_MAX,
    ) -> None:
        self._answer = answer
        self._clients: set[_Client] = set()
        self._slots = trio.Semaphore(connections_max)
        self._draining = False
        self._empty = trio.Event()
        self._answers = 0

    async def serve(self, listeners: Sequence[trio.SocketListener]) -> None:
        async with trio.open_nursery() as nursery:
            for listener in listeners:
                nursery.start_soon(self._accept, listener, nursery)

    async def drain(self, listeners: Sequence[trio.SocketListener]) -> None:
        """Let nobody in, let those go who are served; within GRACE_SECONDS."""
        self._draining = True
        for listener in listeners:
            await listener.aclose()
        for client in [client for client in self._clients if client.idle]:
            await trio.aclose_forcefully(client.stream)
        with trio.move_on_after(GRACE_SECONDS):
            while self._clients:
                self._empty = trio.Event()
                await self._empty.wait()

    def statistics(self) -> ServerStatistics:
        return ServerStatistics(connections=len(self._clients), answers=self._answers)

    async def _accept(self, listener: trio.SocketListener, nursery: trio.Nursery) -> None:
        while True:
            await self._slots.acquire()
            try:
                stream = await listener.accept()
            except trio.ClosedResourceError:
                return  # draining
            except OSError as error:
                self._slots.release()
                if error.errno not in OUT_OF_DESCRIPTORS:
                    raise
                await trio.sleep(BUSY_SECONDS)
                continue
            nursery.start_soon(self._occupy_slot, stream)

    async def _occupy_slot(self, stream: trio.SocketStream) -> None:
        try:
            await self.converse(stream)
        finally:
            self._slots.release()

    async def converse(self, stream: trio.abc.HalfCloseableStream) -> None:
        """Serve one connection until either side has enough of it."""
        client = _Client(stream)
        self._clients.add(client)
        try:
            while await self._serve_one(client):
                client.protocol.start_next_cycle()
        except (trio.BrokenResourceError, trio.ClosedResourceError, trio.TooSlowError):
            return  # they have gone, or do not take their answer: there is nobody to tell
        finally:
            self._clients.discard(client)
            self._empty.set()
            with trio.move_on_after(CLOSE_SECONDS, shield=True):
                await trio.aclose_forcefully(stream)

    async def _serve_one(self, client: _Client) -> bool:
        """One request and its answer; whether another may follow."""
        client.idle = True
        if self._draining or not await _wait_request(client):
            return False
        client.idle = False
        request = await _read_request(client)
        answer = request if isinstance(request, Answer) else await self._make_answer(request)
        head_only = isinstance(request, Request) and request.method == "HEAD"
        with trio.fail_after(SEND_SECONDS):
            await client.stream.send_all(self._encode(client, answer, head_only=head_only))
        self._answers += 1
        if client.protocol.our_state is h11.DONE and client.protocol.their_state is h11.DONE:
            return True
        await _hang_up(client.stream)
        return False

    async def _make_answer(self, request: Request) -> Answer:
        with trio.move_on_after(ANSWER_SECONDS):
            return await self._answer(request)
        return refusal(503, f"no answer in {ANSWER_SECONDS:g} s")

    def _encode(self, client: _Client, answer: Answer, *, head_only: bool) -> bytes:
        body = json.dumps(answer.document).encode() + b"\n"
        headers = [
            ("content-type", "application/json"),
            ("content-length", str(len(body))),
            ("cache-control", "no-store"),
            *answer.headers,
        ]
        if self._draining:
            headers.append(("connection", "close"))
        events: list[h11.Event] = [h11.Response(status_code=answer.status, headers=headers)]
        if not head_only:
            events.append(h11.Data(data=body))
        events.append(h11.EndOfMessage())
        return b"".join(client.protocol.send(event) or b"" for event in events)


def refusal(status: int, message: str) -> Answer:
    return Answer(status, {"message": message})


async def _wait_request(client: _Client) -> bool:
    """Wait for the first byte of a request; False when the connection is over."""
    if client.protocol.trailing_data[0]:
        return True  # sent along with the request before
    with trio.move_on_after(IDLE_SECONDS):
        data = await client.stream.receive_some(READ_BYTES)
        client.protocol.receive_data(bytes(data))
        return bool(data)
    return False


async def _read_request(client: _Client) -> Request | Answer:
    """The next request, read to its end; or what to answer to one that is none."""
    try:
        with trio.move_on_after(REQUEST_SECONDS):
            return await _read(client)
    except h11.RemoteProtocolError as error:
        return refusal(error.error_status_hint, str(error))
    return refusal(408, f"the request took longer than {REQUEST_SECONDS:g} s")


async def _read(client: _Client) -> Request | Answer:
    request, body_bytes = Request("", "", ""), 0
    while True:
        match client.protocol.next_event():
            case h11.NEED_DATA:
                if client.protocol.they_are_waiting_for_100_continue:
                    return request  # answered as it is, and the connection closed behind
                data = await client.stream.receive_some(READ_BYTES)
                client.protocol.receive_data(bytes(data))
            case h11.Request() as head:
                path, _, query = head.target.decode("ascii").partition("?")
                request = Request(head.method.decode("ascii"), path, query)
            case h11.Data() as piece:
                body_bytes += len(piece.data)
                if body_bytes > BODY_BYTES_MAX:
                    return refusal(413, f"a body may have {BODY_BYTES_MAX} bytes")
            case h11.EndOfMessage():
                return request
            case h11.ConnectionClosed():
                raise trio.ClosedResourceError
            case event:
                raise AssertionError(f"h11 said {event!r} in the middle of a request")


async def _hang_up(stream: trio.abc.HalfCloseableStream) -> None:
    """Close our side, then wait for theirs: closing at once could destroy the answer."""
    with trio.move_on_after(LINGER_SECONDS):
        await stream.send_eof()
        while await stream.receive_some(READ_BYTES):
            pass
