"""One request from a connection, read by h11, within bounds of size and time."""

from dataclasses import dataclass

import h11
import trio

from adapters.rehearsal.wires.http import CONTINUE, Head

HEAD_BYTES_MAX = 64 * 1024  # a longer head is answered 431
BODY_BYTES_MAX = 32 * 1024 * 1024  # a longer body is answered 413
IDLE_SECONDS = 600.0  # between two requests; then the connection is closed
REQUEST_SECONDS = 60.0  # from a request's first byte to its last; then 408
READ_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class Request:
    head: Head
    body: bytes
    rest: bytes  # what was sent along behind it
    last: bool  # the connection ends behind the answer


@dataclass(frozen=True, slots=True)
class Unread:
    """A request that is not answered as one."""

    status: int
    why: str


async def next_request(stream: trio.SocketStream, rest: bytes) -> Request | Unread | None:
    """None: the connection is over, which nobody minds between two requests."""
    if not rest:
        with trio.move_on_after(IDLE_SECONDS):
            rest = bytes(await stream.receive_some(READ_BYTES))
        if not rest:
            return None
    try:
        with trio.move_on_after(REQUEST_SECONDS):
            return await _read_request(stream, rest)
    except h11.RemoteProtocolError as error:
        return Unread(error.error_status_hint, str(error))
    return Unread(408, f"the request took longer than {REQUEST_SECONDS:g} s")


async def _read_request(stream: trio.SocketStream, received: bytes) -> Request | Unread | None:
    """One request; h11 is only its reader, so each has an h11 of its own."""
    reader = h11.Connection(h11.SERVER, max_incomplete_event_size=HEAD_BYTES_MAX)
    reader.receive_data(received)
    head, pieces, body_bytes = Head("", ""), [], 0
    while True:
        match reader.next_event():
            case h11.NEED_DATA:
                if reader.they_are_waiting_for_100_continue:
                    await stream.send_all(CONTINUE)
                reader.receive_data(bytes(await stream.receive_some(READ_BYTES)))
            case h11.Request() as request:
                if request.http_version != b"1.1":
                    return Unread(505, "HTTP/1.1 is spoken here")
                head = _head(request)
            case h11.Data() as piece:
                body_bytes += len(piece.data)
                if body_bytes > BODY_BYTES_MAX:
                    return Unread(413, f"a body may have {BODY_BYTES_MAX} bytes")
                pieces.append(bytes(piece.data))
            case h11.EndOfMessage():
                last = reader.their_state is not h11.DONE
                return Request(head, b"".join(pieces), bytes(reader.trailing_data[0]), last)
            case h11.ConnectionClosed():
                return None
            case event:
                raise AssertionError(f"h11 said {event!r} in the middle of a request")


def _head(request: h11.Request) -> Head:
    headers = tuple(
        (name.decode("ascii"), value.decode("latin-1")) for name, value in request.headers
    )
    path = request.target.decode("ascii").partition("?")[0]
    return Head(request.method.decode("ascii"), path, headers)
