"""A server behind HTTP: how it is reached, and how much of what it sends is read, how fast.

Nothing of the environment takes part, no proxy that a variable names. Redirects are followed within
the server's own origin only.
"""

import logging
import math
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field

import httpx2
import trio

from adapters.models.providers.dial import tls_context
from adapters.models.providers.http import USER_AGENT
from adapters.tools.mcp.oauth.guard import GuardedTransport, Network
from adapters.tools.mcp.tolerance import StreamMender

CONNECT_SECONDS_MAX = 10.0
CALL_SECONDS_MAX = 60.0
# Of one answer; then it is broken off. What models are told of it is far less.
ANSWER_BYTES_MAX = 8 * 1024 * 1024
# A sender of more than a mebibyte in one go has to wait so long: none may keep us from the rest.
PAUSE_BYTES, PAUSE_SECONDS = 1024 * 1024, 0.01
LINE_BYTES = 16 * 1024  # for as many a line of messages counts, however short it is

TIMEOUT = httpx2.Timeout(CONNECT_SECONDS_MAX, read=CALL_SECONDS_MAX + CONNECT_SECONDS_MAX)


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """A server behind HTTP. Its URL may hold secrets, too.

    `allowed` is None for an address that an administrator has set. One that a workspace names may
    lead into no networks of ours but these.
    """

    url: str = field(repr=False)
    headers: Mapping[str, str] = field(repr=False, default_factory=dict)
    is_sse: bool = False
    allowed: tuple[Network, ...] | None = None


@dataclass(eq=False, slots=True)
class Visit:
    """The facts of a session over HTTP: the `token` that was shown there, and the `status` of the
    last answer, if it was a refusal, with its `WWW-Authenticate`."""

    token: str = field(default="", repr=False)
    status: int = 0
    challenge: str = field(default="", repr=False)


class AnswerTooLarge(httpx2.TransportError):
    """An answer that is too long, or that hides how long it is."""


def silence_sdk_logs() -> None:
    """Silence the logs of the SDK and its client, which write down what servers say, and whole
    addresses."""
    logging.getLogger("mcp").setLevel(logging.CRITICAL)
    logging.getLogger("httpx2").setLevel(logging.WARNING)


def http_client(
    address: ServerAddress, visit: Visit, timeout: httpx2.Timeout = TIMEOUT
) -> httpx2.AsyncClient:
    ours = {"user-agent": USER_AGENT, "accept-encoding": "identity"}
    if address.allowed is None:
        way: httpx2.AsyncBaseTransport = httpx2.AsyncHTTPTransport(
            verify=tls_context(), trust_env=False
        )
    else:
        way = GuardedTransport(address.allowed)
    return httpx2.AsyncClient(
        transport=BoundedTransport(way, visit),
        headers={**ours, **address.headers},
        timeout=timeout,
        trust_env=False,
    )


class BoundedTransport(httpx2.AsyncBaseTransport):
    """A transport that lets through answers of at most ANSWER_BYTES_MAX. A stream of events has no
    end; there the reader bounds each event."""

    def __init__(self, inner: httpx2.AsyncBaseTransport, visit: Visit) -> None:
        self._inner = inner
        self._visit = visit

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await self._inner.handle_async_request(request)
        if request.method == "POST":
            self._visit.status = response.status_code if response.is_error else 0
            self._visit.challenge = response.headers.get("www-authenticate", "")
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            await response.aclose()
            raise AnswerTooLarge("the server packed its answer although it was told not to")
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        is_stream = response.headers.get("content-type", "").startswith("text/event-stream")
        response.stream = _Measured(response.stream, is_stream=is_stream)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


class ReadingPace:
    """The pace at which a sender is read: what has come is added, and before more is read it may
    have to wait."""

    def __init__(self) -> None:
        self._bytes = 0

    def add(self, data: bytes, lines: int = 0) -> None:
        self._bytes += len(data) + lines * LINE_BYTES

    async def rest(self) -> None:
        """Wait as long as what was added demands."""
        pauses, self._bytes = divmod(self._bytes, PAUSE_BYTES)
        await trio.sleep(pauses * PAUSE_SECONDS)


class _Measured(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream, *, is_stream: bool) -> None:
        self._inner = inner
        self._most = math.inf if is_stream else ANSWER_BYTES_MAX
        self._is_stream = is_stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size, pace = 0, ReadingPace()
        mending = StreamMender()
        async for chunk in self._inner:
            size += len(chunk)
            if size > self._most:
                raise AnswerTooLarge(f"the server's answer has more than {self._most} bytes")
            lines = chunk.count(b"\n") + chunk.count(b"\r")
            pace.add(chunk, lines if self._is_stream else 0)
            await pace.rest()
            yield mending.feed(chunk)
        yield mending.rest()

    async def aclose(self) -> None:
        await self._inner.aclose()
