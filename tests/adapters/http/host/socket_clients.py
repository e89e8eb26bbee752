"""A WebSocket client that does only what it is told: it answers nothing by itself."""

import struct
from collections import deque

from wsproto.connection import Connection, ConnectionType

from adapters.http.endpoints import Upgrade
from tests.adapters.http.host.clients import Client, connect

KEY = b"dGhlIHNhbXBsZSBub25jZQ=="
ASKING = (
    b"GET /stream HTTP/1.1\r\nHost: here\r\nConnection: keep-alive, Upgrade\r\n"
    b"Upgrade: WebSocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " + KEY + b"\r\n\r\n"
)


def upgrading(serve):
    """An answer of the host that makes a socket of whoever asks."""

    async def answer(request):
        return Upgrade(serve)

    return answer


async def until_closed(socket):
    """Serves by waiting."""
    await socket.until_closed()


class SocketClient:
    def __init__(self, client):
        self.client = client
        self.protocol = Connection(ConnectionType.CLIENT)
        self.heard = deque()

    async def send(self, event):
        await self.client.send(self.protocol.send(event))

    async def send_frame(self, first, payload=b"", *, masked=True, length=None):
        """A frame of these bytes, whatever they mean: the mask is four zeros."""
        size = len(payload) if length is None else length
        mark = 0x80 if masked else 0
        head = (
            bytes((first, mark | size))
            if size < 126
            else struct.pack("!BBQ", first, mark | 127, size)
        )
        await self.client.send(head + (b"\0\0\0\0" if masked else b"") + payload)

    async def next(self):
        """The next thing that is said; None: they have hung up."""
        while not self.heard:
            data = self.client.buffer or await self.client.stream.receive_some()
            self.client.buffer = b""
            if not data:
                return None
            self.protocol.receive_data(bytes(data))
            self.heard.extend(self.protocol.events())
        return self.heard.popleft()

    async def all(self):
        """Everything up to the end; a server may hang up without a word."""
        found = []
        while (event := await self.next()) is not None:
            found.append(event)
        return found


async def connect_socket(nursery, serve=until_closed, *, begun=b"", **how):
    """A client that has become a socket, served by `serve`."""
    client = connect(nursery, upgrading(serve), **how)
    assert isinstance(client, Client)
    await client.send(ASKING + begun)
    status, headers = await client.head()
    assert 101 == status, headers
    return SocketClient(client)
