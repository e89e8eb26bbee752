"""The HTTP/1.1 client of the model streams: one request, one response, connections kept alive.

h11 writes and reads the heads, `framing` the bodies; TLS is always verified, and there is no way
to switch that off. Redirects are not followed, because a key must never reach another host;
content is never compressed, because a delta must not wait for the next. Reading has no deadline
here: the caller decides how long a provider may be silent.

A call on a kept connection that the peer has closed meanwhile is made again, once, on a new one,
if not a byte of the response had come.
"""

import importlib.metadata
import math
import platform
from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Annotated

import h11
import trio

from actors.law.parts.prompt import Asker
from adapters.models.providers.dial import CLOSE_SECONDS_MAX, Dial, Origin, hang_up, open_connection
from adapters.models.providers.faults import BrokenStream, ConnectionLost, UnsendableRequest
from adapters.models.providers.framing import BodyFraming, BodyUntilClosed, ChunkedBody, SizedBody
from adapters.models.providers.shared_reads import SharedReads, Take, read_now_of
from runtime.statistics import CounterMetric, GaugeMetric

WRITE_SECONDS_MAX = 30.0  # for one piece of a request; then `ConnectionLost`
WRITE_PIECE_BYTES = 256 * 1024
READ_BYTES = 64 * 1024
HEAD_BYTES_MAX = 64 * 1024  # a longer head breaks the response
# A connection that was idle for longer is closed and not used: its peer is about to close it.
IDLE_SECONDS_MAX = 45.0
IDLE_MAX = 256  # connections; one more closes the one that has been idle longest


@dataclass(frozen=True, slots=True)
class ProviderRequest:
    """A request to a provider."""

    origin: Origin
    target: str  # path and query
    headers: tuple[tuple[str, str], ...]
    body: bytes = b""
    method: str = "POST"


@dataclass(frozen=True, slots=True)
class HttpStatistics:
    """Counts of connections to providers and of the calls that used them."""

    idle: Annotated[
        int, GaugeMetric("Connections to the provider that are kept for the next call.")
    ]
    dialled: Annotated[int, CounterMetric("Connections to the provider that were made.")]
    reused: Annotated[int, CounterMetric("Calls of the provider that took a kept connection.")]
    repeated: Annotated[
        int, CounterMetric("Calls that were made again because a kept connection was gone.")
    ]


_BROKEN = (trio.BrokenResourceError, trio.ClosedResourceError)


class _Connection:
    """One stream, one call at a time."""

    def __init__(self, stream: trio.abc.Stream) -> None:
        self.stream = stream
        self.kept = False  # it has served before
        self.heard = False  # a part of the response has come
        self.idle_since = -math.inf

    async def send(self, request: ProviderRequest, wire: h11.Connection) -> None:
        whole = memoryview(_written(request, wire) + request.body)
        for at in range(0, len(whole), WRITE_PIECE_BYTES):
            with trio.move_on_after(WRITE_SECONDS_MAX) as limit:
                await self.stream.send_all(whole[at : at + WRITE_PIECE_BYTES])
            if limit.cancelled_caught:
                raise ConnectionLost(
                    f"{request.origin}: took no data for {WRITE_SECONDS_MAX:g} s, timed out"
                )

    async def head(self, wire: h11.Connection) -> h11.Response:
        """Read the head of the response; informational responses before it are skipped."""
        while True:
            event = wire.next_event()
            if isinstance(event, h11.Response):
                return event
            if event is h11.NEED_DATA:
                data = bytes(await self.stream.receive_some(READ_BYTES))
                self.heard = self.heard or bool(data)
                wire.receive_data(data)


def _written(request: ProviderRequest, wire: h11.Connection) -> bytes:
    """Return the head as bytes; the body is sent as it is.

    A header that cannot be written may be a key, so the error does not show it.
    """
    headers = [("Host", request.origin.host_header), *request.headers]
    headers.append(("Content-Length", str(len(request.body))))
    try:
        asked = h11.Request(method=request.method, target=request.target, headers=headers)
    except (h11.LocalProtocolError, UnicodeEncodeError):
        raise UnsendableRequest(
            f"{request.origin}: a header or the path has characters that cannot be sent;"
            " look at the API key and the base URL"
        ) from None
    head = wire.send(asked)
    assert head is not None, "a request is more than a switch of states"
    wire.send(h11.Data(data=request.body))
    wire.send(h11.EndOfMessage())
    return head


class ProviderResponse:
    """A response: its head, and a body that is read piece by piece."""

    def __init__(
        self,
        connection: _Connection,
        head: h11.Response,
        framing: BodyFraming,
        reads: SharedReads | None = None,
    ) -> None:
        self._reads = reads
        self.status = head.status_code
        self.headers: Mapping[str, str] = {
            name.decode("ascii"): value.decode("latin-1") for name, value in head.headers
        }
        self.framing = framing
        self.connection = connection
        self._first = b""

    def begin(self, data: bytes) -> None:
        """Take the part of the body that came together with the head."""
        if data:
            self._first = self.framing.feed(data)

    async def receive(self) -> bytes:
        """Return the piece of the body that one read brings; empty once the body is complete."""
        if self._first:
            first, self._first = self._first, b""
            return first
        stream, framing = self.connection.stream, self.framing
        while not framing.ended:
            try:
                data = await stream.receive_some(READ_BYTES)
            except _BROKEN as error:
                raise ConnectionLost("connection reset in the middle of the response") from error
            if not data:
                framing.close()
            elif piece := framing.feed(bytes(data)):
                return piece
        return b""

    async def each(self, take: Take) -> None:
        """Call `take` with the pieces that come next, in another task, as long as it returns True
        and more can come. Where streams are not read together, this returns at once."""
        stream = read_now_of(self.connection.stream)
        if stream is None or self._reads is None or self.framing.ended:
            return
        assert not self._first, "what came with the head has been received"

        def fed(data: bytes) -> bool:
            piece = self.framing.feed(data)
            return (not piece or take(piece)) and not self.framing.ended

        try:
            await self._reads.each(stream, fed)
        except _BROKEN as error:
            raise ConnectionLost("connection reset in the middle of the response") from error

    async def read(self, bytes_max: int) -> bytes:
        """Return the body; of a longer one its first `bytes_max` bytes, or a little more."""
        pieces: list[bytes] = []
        size = 0
        while size < bytes_max and (piece := await self.receive()):
            pieces.append(piece)
            size += len(piece)
        return b"".join(pieces)

    @property
    def reusable(self) -> bool:
        """Return whether the response is over and its connection may serve another call."""
        if not (self.framing.ended and self.framing.clean) or self._first:
            return False
        return "close" not in self.headers.get("connection", "").lower()


class HttpClient:
    """The client that all providers of the process share."""

    def __init__(self, dial: Dial, reads: SharedReads | None = None) -> None:
        self._dial = dial
        self._reads = reads  # None: each answer is read by its own task
        self._idle: OrderedDict[_Connection, Origin] = OrderedDict()  # longest idle first
        self._statistics = HttpStatistics(0, 0, 0, 0)

    def statistics(self) -> HttpStatistics:
        return replace(self._statistics, idle=len(self._idle))

    def call(self, request: ProviderRequest) -> AbstractAsyncContextManager[ProviderResponse]:
        """Send a request, and wait for the head of the response. Leaving early hangs up."""
        return self._call(request)

    @asynccontextmanager
    async def _call(self, request: ProviderRequest) -> AsyncIterator[ProviderResponse]:
        connection = await self._connected(request.origin)
        reusable = False
        try:
            response = await self._response_on(connection, request)
            if response is None:
                await hang_up(connection.stream)
                self._count(repeated=1)
                connection = await self._new(request.origin)
                response = await self._response_on(connection, request)
                assert response is not None, "a new connection is asked once"
            yield response
            reusable = response.reusable
        finally:
            if reusable:
                self._keep(connection, request.origin)
            else:
                with trio.move_on_after(CLOSE_SECONDS_MAX, shield=True):
                    await trio.aclose_forcefully(connection.stream)
        while len(self._idle) > IDLE_MAX:
            await self._drop_oldest()

    async def aclose(self) -> None:
        """Close the idle connections; calls under way end with their callers."""
        while self._idle:
            await self._drop_oldest()

    async def _response_on(
        self, connection: _Connection, request: ProviderRequest
    ) -> ProviderResponse | None:
        """Send a request; None: the connection was a kept one, and the peer has closed it."""
        wire = h11.Connection(h11.CLIENT, max_incomplete_event_size=HEAD_BYTES_MAX)
        try:
            await connection.send(request, wire)
            head = await connection.head(wire)
        except (*_BROKEN, h11.RemoteProtocolError) as error:
            if connection.kept and not connection.heard:
                return None
            if connection.heard and isinstance(error, h11.RemoteProtocolError):
                raise BrokenStream(f"http: {request.origin} sent no valid response") from error
            raise ConnectionLost(
                f"{request.origin}: connection reset before a response came"
            ) from error
        framing = _framing(head, request.method)
        response = ProviderResponse(connection, head, framing, self._reads)
        response.begin(wire.trailing_data[0])
        return response

    async def _connected(self, origin: Origin) -> _Connection:
        """Return an idle connection, the youngest first, or a new one."""
        await self._drop_stale()
        kept = next((c for c, its in reversed(self._idle.items()) if its == origin), None)
        if kept is None:
            return await self._new(origin)
        del self._idle[kept]
        self._count(reused=1)
        return kept

    async def _new(self, origin: Origin) -> _Connection:
        self._count(dialled=1)
        return _Connection(await open_connection(self._dial, origin))

    def _keep(self, connection: _Connection, origin: Origin) -> None:
        connection.kept, connection.heard = True, False
        connection.idle_since = trio.current_time()
        self._idle[connection] = origin

    async def _drop_stale(self) -> None:
        oldest_allowed = trio.current_time() - IDLE_SECONDS_MAX
        while self._idle and next(iter(self._idle)).idle_since < oldest_allowed:
            await self._drop_oldest()

    async def _drop_oldest(self) -> None:
        connection, _ = self._idle.popitem(last=False)
        await hang_up(connection.stream)

    def _count(self, *, dialled: int = 0, reused: int = 0, repeated: int = 0) -> None:
        was = self._statistics
        self._statistics = HttpStatistics(
            0, was.dialled + dialled, was.reused + reused, was.repeated + repeated
        )


def _framing(head: h11.Response, method: str) -> BodyFraming:
    """Return the framing of a body (RFC 9112, 6.3). h11 has checked that the fields agree."""
    fields = dict(head.headers)
    if method == "HEAD" or head.status_code in (204, 304):
        return SizedBody(0)
    if fields.get(b"content-encoding", b"identity").lower() != b"identity":
        raise BrokenStream("http: the response is compressed, which was not asked for")
    if b"transfer-encoding" in fields:
        return ChunkedBody()
    if b"content-length" in fields:
        return SizedBody(int(fields[b"content-length"]))
    return BodyUntilClosed()


USER_AGENT = (
    f"promptcorner/{importlib.metadata.version('promptcorner')}"
    f" ({platform.system().lower()}/{platform.machine()})"
)


def identity(asker: Asker | None) -> tuple[tuple[str, str], ...]:
    """Return the headers that say who we are and, if it is known, for whom we ask."""
    headers = [("User-Agent", USER_AGENT)]
    if asker is not None:
        headers.append(("X-Promptcorner-Owner-Id", str(asker.owner)))
        headers.append(("X-Promptcorner-Chat-Id", str(asker.chat)))
        if asker.subchat is not None:
            headers.append(("X-Promptcorner-Subchat-Id", str(asker.subchat)))
    return tuple(headers)
