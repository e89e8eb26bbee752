"""The framing of the body of an HTTP/1.1 response: bytes in, body out. No I/O.

h11 reads the heads. Bodies are read here because they are the hot path: a chunk costs about a
microsecond, and all chunks of one read become one piece.
"""

import re
from typing import Protocol

from adapters.models.providers.faults import BrokenStream, ConnectionLost

CHUNK_LINE_BYTES_MAX = 4096  # a longer line, or more trailers, breaks the connection

_SIZE = re.compile(rb"([0-9a-fA-F]{1,15})[ \t]*(?:;[^\r\n]*)?")


class BodyFraming(Protocol):
    """A reader of one body, which knows where it ends."""

    ended: bool  # the body is complete
    clean: bool  # it ended, and nothing came after it: the connection may be used again

    def feed(self, data: bytes) -> bytes:
        """Return the piece of the body that `data` completes; it may be empty."""
        ...

    def close(self) -> None:
        """Note that the peer has hung up. Raises `ConnectionLost` if the body is not complete."""
        ...


class SizedBody:
    """A body whose length the head has told."""

    def __init__(self, size: int) -> None:
        self._left = size
        self.ended = size == 0
        self.clean = self.ended

    def feed(self, data: bytes) -> bytes:
        body = data[: self._left]
        self._left -= len(body)
        self.ended = self._left == 0
        self.clean = self.ended and len(body) == len(data)
        return body

    def close(self) -> None:
        if not self.ended:
            raise ConnectionLost("http: connection closed before the end of the body")


class BodyUntilClosed:
    """A body that ends when the peer hangs up."""

    def __init__(self) -> None:
        self.ended = False
        self.clean = False

    def feed(self, data: bytes) -> bytes:
        return data

    def close(self) -> None:
        self.ended = True


class ChunkedBody:
    """A body that comes in chunks, each with its length before it."""

    def __init__(self) -> None:
        self._rest = b""
        self._left = 0  # of the chunk that is being read, with its line end
        self._trailer_bytes: int | None = None  # not None: the last chunk is behind us
        self.ended = False
        self.clean = False

    def feed(self, data: bytes) -> bytes:
        if self._rest:
            data, self._rest = self._rest + data, b""
        pieces: list[bytes] = []
        at, end = 0, len(data)
        while at < end and not self.ended:
            if self._left:
                at = self._chunk(data, at, pieces)
                continue
            line_end = data.find(b"\r\n", at)
            if line_end < 0:
                self._keep(data[at:])
                break
            self._line(data[at:line_end])
            at = line_end + 2
        else:
            self.clean = self.ended and at == end
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def close(self) -> None:
        if not self.ended:
            raise ConnectionLost("http: connection closed before the last chunk of the body")

    def _chunk(self, data: bytes, at: int, pieces: list[bytes]) -> int:
        """Take what is there of the chunk and of the CRLF behind it."""
        end = at + self._left
        if (
            self._left > 2 and data[end - 2 : end] == b"\r\n"
        ):  # nearly always the whole chunk has come
            pieces.append(data[at : end - 2])
            self._left = 0
            return end
        there = data[at : at + self._left]
        body = there[: max(0, self._left - 2)]
        if body:
            pieces.append(body)
        line_end = b"\r\n"[max(0, 2 - self._left) :]
        if not line_end.startswith(there[len(body) :]):
            raise BrokenStream("http: a chunk is longer than it says")
        self._left -= len(there)
        return at + len(there)

    def _line(self, line: bytes) -> None:
        if self._trailer_bytes is not None:
            self._trailer_bytes += len(line)
            if self._trailer_bytes > CHUNK_LINE_BYTES_MAX:
                raise BrokenStream(f"http: trailers of more than {CHUNK_LINE_BYTES_MAX} bytes")
            self.ended = not line
            return
        size = _SIZE.fullmatch(line)
        if size is None:
            raise BrokenStream("http: the size of a chunk is not a number")
        self._left = int(size[1], 16) + 2
        if self._left == 2:
            self._left, self._trailer_bytes = 0, 0

    def _keep(self, rest: bytes) -> None:
        if len(rest) > CHUNK_LINE_BYTES_MAX:
            raise BrokenStream(f"http: a chunk line of more than {CHUNK_LINE_BYTES_MAX} bytes")
        self._rest = rest
