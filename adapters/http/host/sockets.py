"""One WebSocket: what it is sent, that it is alive, and how it ends.

The stream is read by one task, `listen`; written to by whoever has something to say, one at a time.
Clients have nothing to say here, beside that they are there and that they go: unless somebody
listens to them (`hear`).
"""

from collections.abc import Callable

import trio
from wsproto.connection import Connection, ConnectionState, ConnectionType
from wsproto.events import BytesMessage, CloseConnection, Ping, Pong
from wsproto.frame_protocol import CloseReason

from adapters.http.endpoints import SocketClosed
from adapters.http.host.bounds import (
    FRAME_SECONDS,
    GOODBYE_SECONDS,
    PING_SECONDS,
    READ_BYTES,
    REASON_BYTES_MAX,
)
from adapters.http.host.faults import goodbye_of
from adapters.http.host.writing import written_at_once

GONE = (trio.BrokenResourceError, trio.ClosedResourceError)
GOODBYE_POSSIBLE = (ConnectionState.OPEN, ConnectionState.REMOTE_CLOSING)


class WebSocket:
    """Fulfils `adapters.http.endpoints.Socket`, on a stream that has been agreed to be one."""

    __slots__ = (
        "_begun",
        "_gone",
        "_heard",
        "_heard_bytes_max",
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
        self._begun = bytearray()  # a message that goes on

    def hear(self, heard: Callable[[bytes], bool], *, bytes_max: int) -> None:
        self._heard, self._heard_bytes_max = heard, bytes_max

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
        taken = written_at_once(self._stream, frames)
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
        """Nothing is sent or heard any more."""
        self._gone.set()

    async def listen(self) -> None:
        """Until the other side has gone, or shows no sign of life."""
        await self._heed()  # what came along with the request
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
                await self._heed()

    async def _ask_for_life(self) -> None:
        if self._pong_missing:
            await self._say_goodbye(CloseReason.GOING_AWAY, "liveness probe failed")
            return self.cut()
        self._pings += 1
        self._pong_missing = True
        await self._say(Ping(payload=b"%d" % self._pings))

    async def _heed(self) -> None:
        for event in self._protocol.events():
            match event:
                case Pong():
                    self._pong_missing = False
                case Ping():
                    await self._say(event.response())
                case CloseConnection():
                    # Theirs, said back as it is; or the answer to bytes that are no frames.
                    reason = goodbye_of(event.code, event.reason or "")
                    await self._say_goodbye(event.code, reason)
                    return self.cut()
                case BytesMessage() if self._heard is not None and self._take(event):
                    pass
                case _:
                    await self._say_goodbye(CloseReason.POLICY_VIOLATION, "unexpected data message")
                    return self.cut()

    def _take(self, event: BytesMessage) -> bool:
        """A message, or a piece of one. False: it makes no sense to whoever listens."""
        assert self._heard is not None, "somebody listens"
        self._begun += event.data
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
        """Whether they were told; not if one of us said so before."""
        if self._gone.is_set() or self._protocol.state not in GOODBYE_POSSIBLE:
            return False
        reason = reason.encode()[:REASON_BYTES_MAX].decode(errors="ignore")
        return await self._write(self._protocol.send(CloseConnection(code, reason)))

    async def _write(self, data: bytes) -> bool:
        """Whether they took all of it. If not they are cut off: half a frame is none."""
        if self._rest:
            data, self._rest = self._rest + data, b""
        unsent = memoryview(data)
        if not self._turn.locked():
            unsent = unsent[written_at_once(self._stream, data) :]
        if not unsent:
            return True
        whole = False
        try:
            with trio.move_on_after(FRAME_SECONDS):
                async with self._turn:
                    if not self._gone.is_set():  # by whoever had the turn before
                        await self._stream.send_all(unsent)
                        whole = True
        except GONE:
            return False  # `listen` hears of it as well
        finally:
            if not whole:
                self.cut()
        return whole
