"""One connection: h11 in the middle, which is strict, and a limit to every wait around it.

Every method is for one task. Each raises one of `GONE` when the client is not there any more.
"""

import re
from collections.abc import AsyncGenerator, AsyncIterator, Sequence

import h11
import trio

from adapters.http.endpoints import HttpResponse
from adapters.http.host import bounds
from adapters.http.host.responses import BODYLESS, head_of, write_at_once
from adapters.http.refusals import HttpError
from adapters.http.requests import ClientConnection, HttpRequest

VERSIONS = (b"1.0", b"1.1")
GONE = (trio.BrokenResourceError, trio.ClosedResourceError)
FAULT_CHARACTERS_MAX = 100

# From there on h11 shows what it has read, or adds what it had expected.
_SHOWN = re.compile(r"""[:\s(]*(?:\bbytearray\(|\bb?['"]|<|\().*""", re.DOTALL)


class Conversation:
    """Reads one request after the other, and sends one answer to each."""

    __slots__ = (
        "_client",
        "_has_body",
        "_promised",
        "_protocol",
        "_stream",
        "idle",
        "method",
    )

    def __init__(self, stream: trio.abc.Stream, client: ClientConnection) -> None:
        self._stream = stream
        self._client = client
        self._protocol = h11.Connection(h11.SERVER, max_incomplete_event_size=bounds.HEAD_BYTES_MAX)
        self._has_body = False
        self._promised = 0  # bytes of the body, if that was said
        self.method = ""
        self.idle = True  # between two requests

    async def request(self) -> HttpRequest | HttpError | None:
        """Read the next request; or the refusal of bytes that are none. None: there are no more."""
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
            return HttpError(error.error_status_hint, "Bad request.", detail=fault_of(error))

    async def _begun(self) -> bool:
        if self._protocol.trailing_data[0]:  # sent along with the request before
            await trio.lowlevel.checkpoint()  # however many come along, others have their turn
            return True
        with trio.move_on_after(bounds.IDLE_SECONDS):
            return await self._receive()
        if self._client.is_unread():  # it came at the last moment, and we were too busy to read it
            with trio.move_on_after(bounds.HEAD_SECONDS):
                return await self._receive()
        return False

    async def _receive(self) -> bool:
        """Read some bytes. Return False if the other side has nothing more to say."""
        data = await self._stream.receive_some(bounds.READ_BYTES)
        self._protocol.receive_data(bytes(data))
        return bool(data)

    async def _rest_of_head(self) -> h11.Event | type[h11.NEED_DATA | h11.PAUSED]:
        while (event := self._protocol.next_event()) is h11.NEED_DATA:
            await self._receive()
        return event

    def _understood(
        self, head: h11.Event | type[h11.NEED_DATA | h11.PAUSED]
    ) -> HttpRequest | HttpError | None:
        if head is h11.NEED_DATA:
            limit = f"the head took longer than {bounds.HEAD_SECONDS:g} s"
            return HttpError(408, "Request timeout.", detail=limit)
        if isinstance(head, h11.ConnectionClosed):
            return None
        assert isinstance(head, h11.Request), f"h11 said {head!r} before a request"
        self.method = head.method.decode("ascii")
        request = self._request_of(head)
        self._promised = int(request.headers.get("content-length", 0))
        if head.http_version not in VERSIONS:
            return HttpError(505, "Unsupported HTTP version.", detail="1.0 and 1.1 are spoken here")
        chunked = "transfer-encoding" in request.headers
        if chunked and ("content-length" in request.headers or head.http_version < b"1.1"):
            # It can be read to end at two places, and a proxy between us may take the other one.
            return HttpError(400, "Bad request.", detail="Transfer-Encoding does not belong here")
        self._has_body = chunked or self._promised > 0
        if not self._has_body:
            self._protocol.next_event()  # the end of a body that there is not
        return request

    def _request_of(self, head: h11.Request) -> HttpRequest:
        path, _, query = _without_host(head.target.decode("ascii")).partition("?")
        headers = _joined(head.headers)
        return HttpRequest(self.method, path, query, headers, self._client, self.body)

    async def body(self, bytes_max: int) -> bytes:
        """Read the body of this request. It is refused if it is too large, too slow, or broken."""
        promised = self._promised
        if promised > bytes_max:
            raise _too_large(bytes_max)
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
                        raise _too_large(bytes_max)
                return b"".join(pieces)
        except h11.RemoteProtocolError as error:
            raise HttpError(400, "Bad request body.", detail=fault_of(error)) from None
        except GONE:
            raise HttpError(400, "Bad request body.", detail="the client hung up") from None
        raise HttpError(
            408, "Request timeout.", detail=f"the body took longer than {seconds:.0f} s"
        )

    async def _piece(self) -> bytes:
        """Read a piece of the body. An empty one is its end."""
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
        """Send a response. Return whether another request may follow.

        TooSlowError: the client does not take it.
        """
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
        """Return whether the rest of the body will not be read.

        A client that is told so at once sends its next request on another connection. Otherwise it
        would find that we have hung up on that request.
        """
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
        unsent = memoryview(data)[write_at_once(self._stream, data) :]
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
        """Read a body that no handler wanted, if it is small and comes soon."""
        size = 0
        with trio.move_on_after(bounds.LINGER_SECONDS):
            try:
                while size <= bounds.DISCARD_BYTES_MAX and (piece := await self._piece()):
                    size += len(piece)
            except h11.RemoteProtocolError:
                return  # nothing more is read from this one

    async def switch(self, headers: list[tuple[str, str]]) -> bytes:
        """End HTTP on this connection. Return what the client has already sent behind it."""
        reason = b"Switching Protocols"
        agreed = h11.InformationalResponse(status_code=101, headers=headers, reason=reason)
        await self._push(self._protocol.send(agreed) or b"")
        return self._protocol.trailing_data[0]

    async def cut(self) -> None:
        """Close the connection under the task that waits for the client."""
        await trio.aclose_forcefully(self._stream)


def _go_on() -> h11.InformationalResponse:
    return h11.InformationalResponse(status_code=100, headers=[], reason=b"Continue")


def _too_large(bytes_max: int) -> HttpError:
    return HttpError(
        413, "Request body too large.", detail=f"Maximum request body size is {bytes_max} bytes"
    )


def _without_host(target: str) -> str:
    """Return the path of a target. A request to a proxy names the whole address."""
    scheme, separator, rest = target.partition("://")
    if separator and scheme.lower() in ("http", "https"):
        _, slash, path = rest.partition("/")
        return slash + path if slash else "/"
    return target


def _joined(headers: Sequence[tuple[bytes, bytes]]) -> dict[str, str]:
    """Return headers by name, the values of one name joined."""
    joined: dict[str, str] = {}
    for raw_name, raw_value in headers:
        name, value = raw_name.decode("ascii"), raw_value.decode("latin-1")
        if name in joined:
            value = joined[name] + ("; " if name == "cookie" else ", ") + value
        joined[name] = value
    return joined


def fault_of(error: h11.RemoteProtocolError) -> str:
    """Say what is wrong with a request, without showing it."""
    words = _SHOWN.sub("", str(error)).strip()[:FAULT_CHARACTERS_MAX]
    return words[:1].lower() + words[1:] if words else "this is not HTTP/1.1"
