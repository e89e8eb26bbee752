"""Connections to providers, over TCP and over TLS, which can be read without waiting."""

import os
import ssl

import trio

READ_BYTES = 64 * 1024
CLOSED = -1  # the descriptor of a closed socket


class WaitingStream(trio.abc.Stream):
    """A TCP stream that waits before it reads.

    trio's own reads first, and mostly in vain, because the next piece of a stream has not come yet.
    That is a fifth of what a delta costs.
    """

    has_ended = False  # its end is always told by the socket

    def __init__(self, stream: trio.SocketStream) -> None:
        self._stream = stream
        self.descriptor = stream.socket.fileno()  # asking for it each time is expensive

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        while True:
            if self.descriptor == CLOSED:
                raise trio.ClosedResourceError("socket: we have closed it")
            await trio.lowlevel.wait_readable(self.descriptor)
            try:
                return self.read_now(max_bytes or READ_BYTES)
            except BlockingIOError:  # it was not readable after all
                continue

    def read_now(self, bytes_max: int = READ_BYTES) -> bytes:
        """Return what has come; empty at the end. Raises BlockingIOError if nothing has, and
        trio.BrokenResourceError."""
        try:
            return os.read(self.descriptor, bytes_max)
        except BlockingIOError:
            raise
        except OSError as error:
            raise trio.BrokenResourceError(f"socket: {error}") from error

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        await self._stream.send_all(data)

    def write_now(self, data: bytes) -> int:
        """Write what can be written without waiting, and return how many bytes that was."""
        try:
            return os.write(self.descriptor, data)
        except OSError:
            return 0  # full, or broken: the next who waits hears which

    async def wait_send_all_might_not_block(self) -> None:
        await self._stream.wait_send_all_might_not_block()

    async def aclose(self) -> None:
        self.descriptor = CLOSED  # the number may soon be another's
        await self._stream.aclose()


class EncryptedStream(trio.abc.Stream):
    """TLS over a stream.

    trio's own returns one record at a time, and a provider sends a record for each delta. Here all
    records that have come are one piece. A peer that hangs up without a farewell has ended the
    stream: HTTP knows by itself where a body ends.
    """

    def __init__(
        self, stream: trio.abc.Stream, context: ssl.SSLContext, server_hostname: str
    ) -> None:
        self._stream = stream
        self._socket = stream if isinstance(stream, WaitingStream) else None
        self._come, self._going = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._come, self._going, server_hostname=server_hostname)
        self._unsent = b""  # of what was to go before anything else
        self.has_ended = False  # the peer has said so; the socket may stay open

    @property
    def descriptor(self) -> int:
        """Return the descriptor of the socket below; CLOSED if there is none."""
        return CLOSED if self._socket is None else self._socket.descriptor

    async def do_handshake(self) -> None:
        """Agree with the peer. Raises trio.BrokenResourceError if it cannot prove who it is."""
        refused: ssl.SSLError | None = None
        while refused is None:
            try:
                self._tls.do_handshake()
                break
            except ssl.SSLWantReadError:
                pass
            except ssl.SSLError as error:
                refused = error
                continue
            await self._flush()
            self._take_in(await self._stream.receive_some(READ_BYTES))
        await self._flush()  # a peer that is refused is told why
        if refused is not None:
            raise trio.BrokenResourceError(f"tls: {refused}") from refused

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        """Return what one read of the socket has brought, all of it, whatever `max_bytes` says."""
        await trio.lowlevel.checkpoint_if_cancelled()
        while (data := self._plain()) is None:
            self._take_in(await self._stream.receive_some(READ_BYTES))
        return data

    def read_now(self) -> bytes:
        """Return what has come; empty at the end. Raises BlockingIOError if nothing has, and
        trio.BrokenResourceError."""
        assert self._socket is not None, "only sockets are read at once"
        self._take_in(self._socket.read_now())
        data = self._plain()
        if data is None:
            raise BlockingIOError
        return data

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        if len(data):
            try:
                self._tls.write(data)
            except ssl.SSLError as error:
                raise trio.BrokenResourceError(f"tls: {error}") from error
        await self._flush()

    async def wait_send_all_might_not_block(self) -> None:
        await self._stream.wait_send_all_might_not_block()

    async def aclose(self) -> None:
        await self._stream.aclose()

    def _take_in(self, data: bytes | bytearray) -> None:
        if data:
            self._come.write(data)
        else:
            self._come.write_eof()

    def _plain(self) -> bytes | None:
        """Return all records that have come; empty at the end, None if none is whole yet."""
        pieces: list[bytes] = []
        try:
            while piece := self._tls.read(READ_BYTES):
                pieces.append(piece)
            self.has_ended = True  # the peer's farewell
        except ssl.SSLWantReadError:
            pass
        except (ssl.SSLEOFError, ssl.SSLZeroReturnError):
            self.has_ended = True
        except ssl.SSLError as error:
            if not pieces:
                raise trio.BrokenResourceError(f"tls: {error}") from error
        self._answer_now()
        return b"".join(pieces) if pieces or self.has_ended else None

    def _answer_now(self) -> None:
        """Send what reading led to, such as new keys; what cannot go now goes before the next."""
        if self._going.pending or self._unsent:
            self._unsent += self._going.read()
            sent = 0 if self._socket is None else self._socket.write_now(self._unsent)
            self._unsent = self._unsent[sent:]

    async def _flush(self) -> None:
        data, self._unsent = self._unsent + self._going.read(), b""
        if data:
            await self._stream.send_all(data)
