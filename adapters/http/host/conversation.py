"""One connection: h11 in the middle, which is strict, and a limit to every wait around it.

Every method is for one task. `GONE` comes out of whatever finds that nobody is there any more.
"""

from collections.abc import AsyncGenerator, AsyncIterator

import h11
import trio

from adapters.http.endpoints import HttpResponse
from adapters.http.host import bounds
from adapters.http.host.answering import BODYLESS, head_of
from adapters.http.host.capacity.places import Visitor
from adapters.http.host.faults import words_of
from adapters.http.host.requests import Peer, Request, request_of
from adapters.http.host.writing import written_at_once
from adapters.http.refusals import HttpError

VERSIONS = (b"1.0", b"1.1")
GONE = (trio.BrokenResourceError, trio.ClosedResourceError)


class Conversation:
    """Reads one request after the other, and sends one answer to each."""

    __slots__ = (
        "_has_body",
        "_peer",
        "_promised",
        "_protocol",
        "_stream",
        "_visitor",
        "idle",
        "method",
    )

    def __init__(self, stream: trio.abc.Stream, peer: Peer, visitor: Visitor) -> None:
        self._stream = stream
        self._peer = peer
        self._visitor = visitor
        self._protocol = h11.Connection(h11.SERVER, max_incomplete_event_size=bounds.HEAD_BYTES_MAX)
        self._has_body = False
        self._promised = 0  # bytes of the body, if that was said
        self.method = ""
        self.idle = True  # between two requests

    async def request(self) -> Request | HttpError | None:
        """The next one; or what to answer to one that is none; None: there are no more."""
        self.method, self.idle = "", True
        if not await self._begun():
            return None
        self.idle = False
        try:
            head = self._protocol.next_event()
            if head is h11.NEED_DATA:
                with trio.move_on_after(bounds.HEAD_SECONDS):
                    head = await self._rest_of_head()
            return self._understood(head)
        except h11.RemoteProtocolError as error:
            return HttpError(error.error_status_hint, "Bad request.", detail=words_of(error))

    async def _begun(self) -> bool:
        if self._protocol.trailing_data[0]:  # sent along with the request before
            await trio.lowlevel.checkpoint()  # however many come along, others have their turn
            return True
        with trio.move_on_after(bounds.IDLE_SECONDS):
            return await self._receive()
        return False

    async def _receive(self) -> bool:
        """False: the other side has nothing more to say."""
        data = await self._stream.receive_some(bounds.READ_BYTES)
        self._protocol.receive_data(bytes(data))
        return bool(data)

    async def _rest_of_head(self) -> h11.Event | type[h11.NEED_DATA | h11.PAUSED]:
        while (event := self._protocol.next_event()) is h11.NEED_DATA:
            await self._receive()
        return event

    def _understood(
        self, head: h11.Event | type[h11.NEED_DATA | h11.PAUSED]
    ) -> Request | HttpError | None:
        if head is h11.NEED_DATA:
            limit = f"the head took longer than {bounds.HEAD_SECONDS:g} s"
            return HttpError(408, "Request timeout.", detail=limit)
        if isinstance(head, h11.ConnectionClosed):
            return None
        assert isinstance(head, h11.Request), f"h11 said {head!r} before a request"
        self.method = head.method.decode("ascii")
        request = request_of(head, self._peer, self.body, self._visitor)
        self._promised = int(request.headers.get("content-length", 0))
        if head.http_version not in VERSIONS:
            return HttpError(505, "Unsupported HTTP version.", detail="1.0 and 1.1 are spoken here")
        chunked = "transfer-encoding" in request.headers
        if chunked and ("content-length" in request.headers or head.http_version < b"1.1"):
            # Two readings of where it ends: whoever stands between us may have the other one.
            return HttpError(400, "Bad request.", detail="Transfer-Encoding does not belong here")
        self._has_body = chunked or self._promised > 0
        if not self._has_body:
            self._protocol.next_event()  # the end of a body that there is not
        return request

    async def body(self, bytes_max: int) -> bytes:
        """Of this request. Refused if it is over the bound, too slow, or broken."""
        too_large = HttpError(
            413, "Request body too large.", detail=f"Maximum request body size is {bytes_max} bytes"
        )
        promised = self._promised
        if promised > bytes_max:
            raise too_large
        if not self._has_body:
            return b""
        seconds = bounds.BODY_SECONDS + (promised or bytes_max) / bounds.BODY_BYTES_PER_SECOND
        pieces, size = [], 0
        try:
            with trio.move_on_after(seconds):
                while piece := await self._piece():
                    pieces.append(piece)
                    size += len(piece)
                    if size > bytes_max:
                        raise too_large
                return b"".join(pieces)
        except h11.RemoteProtocolError as error:
            raise HttpError(400, "Bad request body.", detail=words_of(error)) from None
        except GONE:
            raise HttpError(400, "Bad request body.", detail="the client hung up") from None
        raise HttpError(
            408, "Request timeout.", detail=f"the body took longer than {seconds:.0f} s"
        )

    async def _piece(self) -> bytes:
        """Of the body; nothing: it is over."""
        while True:
            match self._protocol.next_event():
                case h11.NEED_DATA:
                    if self._protocol.they_are_waiting_for_100_continue:
                        await self._stream.send_all(self._protocol.send(_go_on()) or b"")
                    await self._receive()
                case h11.Data() as piece:
                    if piece.data:
                        return bytes(piece.data)
                case h11.EndOfMessage() | h11.PAUSED:
                    return b""
                case event:
                    raise AssertionError(f"h11 said {event!r} in a body")

    async def send(self, answer: HttpResponse, *, closing: bool) -> bool:
        """Whether another request may follow. TooSlowError: they do not take it."""
        protocol = self._protocol
        closing = closing or self._leaves_too_much()
        head = protocol.send(head_of(answer, closing=closing)) or b""
        if isinstance(answer.body, bytes):
            has_body = answer.body and self.method != "HEAD" and answer.status not in BODYLESS
            body = protocol.send(h11.Data(data=answer.body)) if has_body else b""
            end = protocol.send(h11.EndOfMessage())
            await self._push(b"".join((head, body or b"", end or b"")))
        else:
            await self._push(head)
            await self._stream_out(answer.body)
        return await self._may_go_on()

    def _leaves_too_much(self) -> bool:
        """Whether nobody will read the rest of the body. Who is told so before it happens asks
        elsewhere next; who is not would find that we have hung up on his next request."""
        if self._protocol.they_are_waiting_for_100_continue:
            return True
        if self._protocol.their_state is not h11.SEND_BODY:
            return False
        return self._promised > bounds.DISCARD_BYTES_MAX or self._promised == 0  # 0: in chunks

    async def _stream_out(self, body: AsyncIterator[bytes]) -> None:
        try:
            if self.method != "HEAD":
                async for piece in body:
                    if piece:
                        await self._push(self._protocol.send(h11.Data(data=piece)) or b"")
            await self._push(self._protocol.send(h11.EndOfMessage()) or b"")
        finally:
            if isinstance(body, AsyncGenerator):
                with trio.move_on_after(bounds.CLOSE_SECONDS, shield=True):
                    await body.aclose()

    async def _push(self, data: bytes) -> None:
        unsent = memoryview(data)[written_at_once(self._stream, data) :]
        if unsent:
            seconds = bounds.SEND_SECONDS + len(unsent) / bounds.SEND_BYTES_PER_SECOND
            with trio.fail_after(seconds):
                await self._stream.send_all(unsent)

    async def _may_go_on(self) -> bool:
        protocol = self._protocol
        if protocol.our_state is h11.DONE and protocol.their_state is h11.SEND_BODY:
            await self._discard()
        if (protocol.our_state, protocol.their_state) != (h11.DONE, h11.DONE):
            return False
        protocol.start_next_cycle()
        return True

    async def _discard(self) -> None:
        """A body that nobody wanted, if it is small and comes soon."""
        size = 0
        with trio.move_on_after(bounds.LINGER_SECONDS):
            try:
                while size <= bounds.DISCARD_BYTES_MAX and (piece := await self._piece()):
                    size += len(piece)
            except h11.RemoteProtocolError:
                return  # nothing more is read from this one

    async def switch(self, headers: list[tuple[str, str]]) -> bytes:
        """The end of HTTP here; what they have sent behind the request already."""
        reason = b"Switching Protocols"
        agreed = h11.InformationalResponse(status_code=101, headers=headers, reason=reason)
        await self._push(self._protocol.send(agreed) or b"")
        return self._protocol.trailing_data[0]

    async def cut(self) -> None:
        """Whoever waits for them finds that they have gone."""
        await trio.aclose_forcefully(self._stream)


def _go_on() -> h11.InformationalResponse:
    return h11.InformationalResponse(status_code=100, headers=[], reason=b"Continue")
