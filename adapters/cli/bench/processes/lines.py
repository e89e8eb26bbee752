"""HTTP and WebSocket as their bytes, for a driver that has to be cheap. Pure.

A client library takes several times as long for an event as the daemon does, and would be what is
measured. So only what servers of this API send is understood; anything else is a `BadAnswer`.
"""

import base64
import secrets
from dataclasses import dataclass

HEAD_BYTES_MAX = 64 * 1024  # of an answer; a longer one is refused
BODY_BYTES_MAX = 16 * 1024 * 1024  # of an answer, and of a message of a stream
TEXT, BINARY, CLOSE, PING, PONG, MORE = 1, 2, 8, 9, 10, 0  # opcodes
UPGRADED = 101


class BadAnswer(Exception):
    """Bytes that are no answer, or an answer that is too long."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer that has come whole, and the bytes behind it."""

    status: int
    body: bytes
    rest: bytes
    is_last: bool  # the server closes the connection


def request_head(method: str, path: str, host: str, token: str, body: bytes | None) -> bytes:
    """Return the head of a request. Rate limits are not held against admins who ask so."""
    lines = [f"{method} {path} HTTP/1.1", f"Host: {host}", f"Coder-Session-Token: {token}"]
    lines.append("X-Coder-Bypass-Ratelimit: true")
    if body is not None:
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    return "\r\n".join([*lines, "", ""]).encode()


def upgrade_head(path: str, host: str, token: str) -> bytes:
    """Return the request for a WebSocket."""
    key = base64.b64encode(secrets.token_bytes(16)).decode()
    head = request_head("GET", path, host, token, None)
    upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    return head[:-2] + f"{upgrade}Sec-WebSocket-Key: {key}\r\n\r\n".encode()


def read_answer(data: bytes) -> Answer | None:
    """Return the answer that these bytes begin with, or None if it has not come whole.

    An answer to an upgrade has no body; those that only say that one is to go on are left out.
    """
    while True:
        head, end, rest = data.partition(b"\r\n\r\n")
        if not end:
            if len(data) > HEAD_BYTES_MAX:
                raise BadAnswer("a head that does not end")
            return None
        status, fields = _head(head)
        if status >= 200 or status == UPGRADED:
            break
        data = rest
    is_last = fields.get(b"connection", b"").lower() == b"close"
    if status in (UPGRADED, 204, 304):
        return Answer(status, b"", rest, is_last)
    if fields.get(b"transfer-encoding", b"").lower() == b"chunked":
        found = _unchunked(rest)
        return None if found is None else Answer(status, *found, is_last)
    size = _number(fields.get(b"content-length", b"0"), 10)
    if len(rest) < size:
        return None
    return Answer(status, rest[:size], rest[size:], is_last)


def _head(head: bytes) -> tuple[int, dict[bytes, bytes]]:
    first, *lines = head.split(b"\r\n")
    words = first.split(b" ", 2)
    if len(words) < 2 or not words[0].startswith(b"HTTP/1."):
        raise BadAnswer(f"no HTTP: {first[:60]!r}")
    fields = {}
    for line in lines:
        name, _, value = line.partition(b":")
        fields[name.lower()] = value.strip()
    return _number(words[1], 10), fields


def _unchunked(data: bytes) -> tuple[bytes, bytes] | None:
    """Return a chunked body and what is behind it, or None if it has not come whole."""
    pieces: list[bytes] = []
    at = 0
    while (end := data.find(b"\r\n", at)) >= 0:
        size = _number(data[at:end].partition(b";")[0], 16)
        at = end + 2
        if size == 0:  # trailers are not sent by servers of this API
            return (b"".join(pieces), data[at + 2 :]) if len(data) >= at + 2 else None
        if len(data) < at + size + 2:
            return None
        pieces.append(data[at : at + size])
        at += size + 2
    return None


def _number(digits: bytes, base: int) -> int:
    try:
        number = int(digits, base)
    except ValueError:
        raise BadAnswer(f"no number: {digits[:20]!r}") from None
    if not 0 <= number <= BODY_BYTES_MAX:
        raise BadAnswer(f"{number} bytes, {BODY_BYTES_MAX} are read at the most")
    return number


class FrameReader:
    """The frames of a server, cut from the bytes of a connection."""

    __slots__ = ("_parts", "_rest")

    def __init__(self, rest: bytes = b"") -> None:
        self._rest = rest
        self._parts: list[bytes] = []  # of a message whose end has not come

    def feed(self, data: bytes) -> tuple[list[bytes], bytes, bool]:
        """Return the messages that have come whole, the bytes to send back, whether it is over."""
        data = self._rest + data if self._rest else data
        messages: list[bytes] = []
        reply = b""
        at = 0
        while (found := _frame(data, at)) is not None:
            opcode, is_end, begin, at = found
            if opcode == CLOSE:
                self._rest = b""
                return messages, reply, True
            if opcode == PING:
                reply += masked(PONG, data[begin:at])
            elif opcode in (TEXT, BINARY, MORE):
                self._parts.append(data[begin:at])
                if is_end:
                    messages.append(b"".join(self._parts))
                    self._parts.clear()
        self._rest = data[at:] if at < len(data) else b""
        return messages, reply, False


def _frame(data: bytes, at: int) -> tuple[int, bool, int, int] | None:
    """(opcode, is the last of its message, where its bytes begin and end), or None."""
    if len(data) < at + 2:
        return None
    first, length, begin = data[at], data[at + 1] & 0x7F, at + 2
    if length >= 126:
        begin += 2 if length == 126 else 8
        if len(data) < begin:
            return None
        length = int.from_bytes(data[at + 2 : begin], "big")
        if length > BODY_BYTES_MAX:
            raise BadAnswer(f"a frame of {length} bytes")
    end = begin + length
    return None if len(data) < end else (first & 0x0F, first >= 0x80, begin, end)


def masked(opcode: int, payload: bytes) -> bytes:
    """Return a short frame of a client; its mask is zeros, which leaves the bytes as they are."""
    return bytes([0x80 | opcode, 0x80 | min(len(payload), 125), 0, 0, 0, 0]) + payload[:125]
