"""Memory networks under the real HTTP client: a server is a script of what it does.

`Steps` are bytes to send, seconds of silence, and what `ending` says: `Hangup` closes politely,
`Reset` breaks the connection, `Wait` goes on with the next request on the same connection.
"""

from dataclasses import dataclass, field

import h11
import trio
from trio.testing import memory_stream_pair

Hangup, Reset, Wait = "hangup", "reset", "wait"


@dataclass
class Request:
    method: str
    target: str
    headers: dict[str, str]
    body: bytes
    connection: int


@dataclass
class _Line(trio.abc.Stream):
    """Our end. A memory stream cannot be reset, so a broken line says so where it would end."""

    stream: trio.abc.Stream
    broken: bool = False

    async def send_all(self, data):
        await self.stream.send_all(data)

    async def wait_send_all_might_not_block(self):
        await self.stream.wait_send_all_might_not_block()

    async def receive_some(self, max_bytes=None):
        data = await self.stream.receive_some(max_bytes)
        if not data and self.broken:
            raise trio.BrokenResourceError("connection reset")
        return data

    async def aclose(self):
        await self.stream.aclose()


@dataclass
class Network:
    """`answers` holds one script per request, in the order in which requests come."""

    nursery: trio.Nursery
    answers: list = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    dialled: int = 0
    hung_up: int = 0  # connections that our side closed
    refuse: Exception | None = None
    dial_seconds: float = 0.0
    origins: list = field(default_factory=list)

    async def dial(self, origin):
        await trio.sleep(self.dial_seconds)
        if self.refuse is not None:
            raise self.refuse
        ours, theirs = memory_stream_pair()
        self.dialled += 1
        self.origins.append(origin)
        line = _Line(ours)
        self.nursery.start_soon(self._serve, theirs, line, self.dialled)
        return line

    async def _serve(self, stream, line, connection):
        wire = h11.Connection(h11.SERVER)
        while True:
            request = await self._request(stream, wire, connection)
            if request is None:
                self.hung_up += 1
                return
            self.requests.append(request)
            try:
                ending = await self._play(stream, self.answers.pop(0))
            except trio.BrokenResourceError:
                self.hung_up += 1
                return
            if ending != Wait:
                line.broken = ending == Reset
                await stream.aclose()
                return
            wire = h11.Connection(h11.SERVER)

    async def _request(self, stream, wire, connection):
        head, body = None, b""
        while True:
            event = wire.next_event()
            match event:
                case h11.NEED_DATA:
                    try:
                        wire.receive_data(bytes(await stream.receive_some(65536)))
                    except trio.BrokenResourceError:
                        return None
                case h11.Request():
                    head = event
                case h11.Data():
                    body += bytes(event.data)
                case h11.EndOfMessage():
                    headers = {name.decode(): value.decode() for name, value in head.headers}
                    target = head.target.decode()
                    return Request(head.method.decode(), target, headers, body, connection)
                case _:
                    return None

    async def _play(self, stream, steps):
        for step in steps:
            if isinstance(step, bytes):
                await stream.send_all(step)
            elif isinstance(step, str):
                return step
            else:
                await trio.sleep(step)
        return Wait


def head(status=200, content_type="text/event-stream", **headers):
    lines = [f"HTTP/1.1 {status} Whatever", f"Content-Type: {content_type}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def chunk(data):
    return b"%x\r\n%s\r\n" % (len(data), data)


def streamed(body, status=200, content_type="text/event-stream", *, size=None):
    """A whole response: the body in chunks of `size`, or in one."""
    size = size or max(1, len(body))
    pieces = [body[at : at + size] for at in range(0, len(body), size)]
    chunks = b"".join(chunk(piece) for piece in pieces) + b"0\r\n\r\n"
    return head(status, content_type, Transfer_Encoding="chunked") + chunks


def whole(body, status=200, content_type="application/json", **headers):
    return head(status, content_type, Content_Length=len(body), **headers) + body
