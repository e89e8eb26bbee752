"""A client of the host: bytes out, answers in, nothing repaired on the way."""

import json
from dataclasses import dataclass, field

import trio
import trio.testing

from adapters.http.endpoints import json_response
from adapters.http.host.server import HttpServer


async def echo(request):
    """Says what was asked; reads a body of at most 100 bytes."""
    body = await request.read_body(100)
    document = {
        "method": request.method,
        "path": request.path,
        "query": request.query_text,
        "body": body.decode("latin-1"),
    }
    return json_response(200, document)


@dataclass(frozen=True)
class Received:
    status: int
    headers: dict = field(default_factory=dict)
    body: bytes = b""

    @property
    def document(self):
        return json.loads(self.body)


class Client:
    """The other end of a connection."""

    def __init__(self, stream):
        self.stream = stream
        self.buffer = b""

    async def send(self, *pieces):
        for piece in pieces:
            await self.stream.send_all(piece)

    async def head(self):
        """(status, headers) of the next answer."""
        await self._read_until(b"\r\n\r\n")
        head, _, self.buffer = self.buffer.partition(b"\r\n\r\n")
        first, *lines = head.decode().split("\r\n")
        headers = {}
        for name, value in (line.split(": ", 1) for line in lines):
            assert name.lower() not in headers, f"{name} twice"
            headers[name.lower()] = value
        return int(first.split()[1]), headers

    async def answer(self, *, has_body=True):
        """The next answer, to its end."""
        status, headers = await self.head()
        if not has_body or status in (101, 204):
            return Received(status, headers)
        if headers.get("transfer-encoding") == "chunked":
            return Received(status, headers, b"".join([chunk async for chunk in self.chunks()]))
        return Received(status, headers, await self.take(int(headers["content-length"])))

    async def chunks(self):
        while True:
            await self._read_until(b"\r\n")
            size, _, self.buffer = self.buffer.partition(b"\r\n")
            chunk = await self.take(int(size, 16))
            assert b"\r\n" == await self.take(2)
            if not chunk:
                return
            yield chunk

    async def take(self, count):
        while len(self.buffer) < count:
            await self._read()
        taken, self.buffer = self.buffer[:count], self.buffer[count:]
        return taken

    async def rest(self):
        """All that comes until they hang up."""
        while data := await self.stream.receive_some():
            self.buffer += data
        rest, self.buffer = self.buffer, b""
        return rest

    async def is_cut_off(self):
        return await self.rest() == b""

    async def _read_until(self, mark):
        while mark not in self.buffer:
            await self._read()

    async def _read(self):
        data = await self.stream.receive_some()
        assert data, "they hung up in the middle of an answer"
        self.buffer += data


def connect(nursery, answer=echo, *, server=None, pair=trio.testing.memory_stream_pair):
    """A client of a server that answers so."""
    ours, theirs = pair()
    nursery.start_soon((server or HttpServer(answer)).converse, theirs)
    return Client(ours)
