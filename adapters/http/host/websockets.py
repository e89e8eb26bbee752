"""WebSockets: how a connection becomes one (RFC 6455, 4.2), how it lives, and its frames.

The stream of a socket is read by one task, `listen`. Any task may write to it, one at a time.
Clients may only show that they are there and that they go, unless a handler listens to them
(`hear`).
"""

import base64
import binascii
import struct
from collections.abc import Callable

import trio
from wsproto.connection import Connection, ConnectionState, ConnectionType
from wsproto.events import BytesMessage, CloseConnection, Ping, Pong, TextMessage
from wsproto.frame_protocol import CloseReason
from wsproto.utilities import generate_accept_token

from adapters.http.endpoints import SocketClosed
from adapters.http.host.bounds import (
    FRAME_SECONDS,
    GOODBYE_SECONDS,
    PING_SECONDS,
    READ_BYTES,
    REASON_BYTES_MAX,
)
from adapters.http.host.responses import write_at_once
from adapters.http.origins import OwnAddress
from adapters.http.refusals import HttpError, foreign_origin
from adapters.http.requests import HttpRequest

GONE = (trio.BrokenResourceError, trio.ClosedResourceError)
GOODBYE_POSSIBLE = (ConnectionState.OPEN, ConnectionState.REMOTE_CLOSING)

VERSION = "13"
KEY_BYTES = 16

_TEXT, _BINARY, _LAST = 0x1, 0x2, 0x80
_SHORT_MAX, _MEDIUM_MAX = 125, 0xFFFF

# What a client is told of bytes that are no frames, in sentences of ours: the library says more, in
# the notation of Python and as long as what was sent.
_GOODBYES: dict[int, str] = {
    CloseReason.PROTOCOL_ERROR: "these bytes are no frames of a WebSocket",
    CloseReason.INVALID_FRAME_PAYLOAD_DATA: "the text is not UTF-8",
    CloseReason.MESSAGE_TOO_BIG: "the message is too long",
}


class WebSocket:
    """One WebSocket. Fulfils `adapters.http.endpoints.Socket`."""

    __slots__ = (
        "_begun",
        "_gone",
        "_heard",
        "_heard_bytes_max",
        "_hears_text",
        "_pings",
        "_pong_missing",
        "_protocol",
        "_rest",
        "_stream",
        "_turn",
    )

    def __init__(self, stream: trio.abc.Stream, begun: bytes = b"") -> None:
        self._stream = stream
        self._protocol = Connection(ConnectionType.SERVER, trailing_data=begun)
        self._turn = trio.Lock()
        self._gone = trio.Event()
        self._rest = b""  # of frames that went in part
        self._pings = 0
        self._pong_missing = False
        self._heard: Callable[[bytes], bool] | None = None
        self._heard_bytes_max = 0
        self._hears_text = False
        self._begun = bytearray()  # a message that goes on

    def hear(self, heard: Callable[[bytes], bool], *, bytes_max: int, text: bool = False) -> None:
        self._heard, self._heard_bytes_max, self._hears_text = heard, bytes_max, text

    async def send(self, frames: bytes) -> None:
        await trio.lowlevel.checkpoint_if_cancelled()
        if self._gone.is_set() or self._protocol.state is not ConnectionState.OPEN:
            raise SocketClosed
        if not await self._write(frames):
            raise SocketClosed

    def send_at_once(self, frames: bytes) -> int:
        if self._gone.is_set() or self._protocol.state is not ConnectionState.OPEN:
            return 0
        if self._rest or self._turn.locked():
            return 0
        taken = write_at_once(self._stream, frames)
        if 0 < taken < len(frames):
            self._rest = frames[taken:]
        return taken

    async def close(self, code: int, reason: str = "") -> None:
        if await self._say_goodbye(code, reason):
            with trio.move_on_after(GOODBYE_SECONDS):
                await self._gone.wait()
            self.cut()

    async def until_closed(self) -> None:
        await self._gone.wait()

    def cut(self) -> None:
        """End the socket without a goodbye: nothing is sent or heard any more."""
        self._gone.set()

    async def listen(self) -> None:
        """Read until the other side has gone, or shows no sign of life."""
        await self._handle_events()  # those that came with the request
        while not self._gone.is_set():
            with trio.move_on_after(PING_SECONDS) as silence:
                try:
                    data = await self._stream.receive_some(READ_BYTES)
                except GONE:
                    data = b""
                if not data:
                    return self.cut()
                self._protocol.receive_data(bytes(data))
            if silence.cancelled_caught:
                await self._ask_for_life()
            else:
                await self._handle_events()

    async def _ask_for_life(self) -> None:
        if self._pong_missing:
            await self._say_goodbye(CloseReason.GOING_AWAY, "liveness probe failed")
            return self.cut()
        self._pings += 1
        self._pong_missing = True
        await self._say(Ping(payload=b"%d" % self._pings))

    async def _handle_events(self) -> None:
        for event in self._protocol.events():
            match event:
                case Pong():
                    self._pong_missing = False
                case Ping():
                    await self._say(event.response())
                case CloseConnection():
                    # Their goodbye, answered as it is, or ours to bytes that are no frames.
                    reason = _GOODBYES.get(event.code, event.reason or "")
                    await self._say_goodbye(event.code, reason)
                    return self.cut()
                case BytesMessage(data) if not self._hears_text and self._take(event, data):
                    pass
                case TextMessage(text) if self._hears_text and self._take(event, text.encode()):
                    pass
                case _:
                    await self._say_goodbye(CloseReason.POLICY_VIOLATION, "unexpected data message")
                    return self.cut()

    def _take(self, event: BytesMessage | TextMessage, data: bytes | bytearray) -> bool:
        """Take a message, or a piece of one. Return False if no handler listens, or it cannot
        make sense of it."""
        if self._heard is None:
            return False
        self._begun += data
        if len(self._begun) > self._heard_bytes_max:
            return False
        if not event.message_finished:
            return True
        message, self._begun = bytes(self._begun), bytearray()
        return self._heard(message)

    async def _say(self, event: Ping | Pong) -> None:
        if self._protocol.state is ConnectionState.OPEN:
            await self._write(self._protocol.send(event))

    async def _say_goodbye(self, code: int, reason: str) -> bool:
        """Send a goodbye. Return False if one of the sides has sent one before, or is gone."""
        if self._gone.is_set() or self._protocol.state not in GOODBYE_POSSIBLE:
            return False
        reason = reason.encode()[:REASON_BYTES_MAX].decode(errors="ignore")
        return await self._write(self._protocol.send(CloseConnection(code, reason)))

    async def _write(self, data: bytes) -> bool:
        """Write whole frames. Return False if the client did not take all of them: then it is cut
        off, since half a frame is none."""
        if self._rest:
            data, self._rest = self._rest + data, b""
        unsent = memoryview(data)
        if not self._turn.locked():
            unsent = unsent[write_at_once(self._stream, data) :]
        if not unsent:
            return True
        whole = False
        try:
            with trio.move_on_after(FRAME_SECONDS):
                async with self._turn:
                    if not self._gone.is_set():  # the task before may have cut it
                        await self._stream.send_all(unsent)
                        whole = True
        except GONE:
            return False  # `listen` hears of it as well
        finally:
            if not whole:
                self.cut()
        return whole


def framed(payload: bytes) -> bytes:
    """Frame a whole text message. The same bytes are good for every socket, so make them once."""
    return _head(_TEXT, len(payload)) + payload


def framed_bytes(payload: bytes) -> bytes:
    """Frame a whole message of bytes."""
    return _head(_BINARY, len(payload)) + payload


def _head(kind: int, length: int) -> bytes:
    if length <= _SHORT_MAX:
        return bytes((_LAST | kind, length))
    if length <= _MEDIUM_MAX:
        return struct.pack("!BBH", _LAST | kind, 126, length)
    return struct.pack("!BBQ", _LAST | kind, 127, length)


def wants_socket(request: HttpRequest) -> bool:
    """Return whether a request asks for a WebSocket at all."""
    return (
        request.method == "GET"
        and "websocket" in _words(request.headers.get("upgrade", ""))
        and "upgrade" in _words(request.headers.get("connection", ""))
    )


def check_upgrade(request: HttpRequest, own: OwnAddress) -> None:
    """Refuse a request that may not become a WebSocket."""
    if not wants_socket(request):
        detail = "ask with Connection: Upgrade and Upgrade: websocket"
        raise _other_protocol("This is a WebSocket endpoint.", detail)
    if request.headers.get("sec-websocket-version") != VERSION:
        raise _other_protocol("Unsupported WebSocket version.", f"{VERSION} is spoken here")
    if not _is_key(request.headers.get("sec-websocket-key", "")):
        raise HttpError(400, "Invalid Sec-WebSocket-Key.", detail="must be 16 bytes in base64")
    if foreign := own.foreign_page(request.client.scheme, request.headers):
        raise foreign_origin(foreign)


def _other_protocol(message: str, detail: str) -> HttpError:
    headers = (
        ("upgrade", "websocket"),
        ("connection", "upgrade"),
        ("sec-websocket-version", VERSION),
    )
    return HttpError(426, message, detail=detail, headers=headers)


def upgrade_headers(request: HttpRequest) -> list[tuple[str, str]]:
    """Return the headers of the 101. No extension and no subprotocol is ever agreed to."""
    token = generate_accept_token(request.headers["sec-websocket-key"].encode("ascii"))
    return [
        ("upgrade", "websocket"),
        ("connection", "upgrade"),
        ("sec-websocket-accept", token.decode("ascii")),
    ]


def _words(header: str) -> set[str]:
    return {word.strip().lower() for word in header.split(",")}


def _is_key(key: str) -> bool:
    try:
        return len(base64.b64decode(key, validate=True)) == KEY_BYTES
    except (binascii.Error, ValueError):
        return False
