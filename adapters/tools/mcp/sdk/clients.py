"""A session with a server of tools: over HTTP, over SSE as it was before, or over a transport of
ours. The official SDK speaks; what it may read is bounded by what it is given to read from.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from importlib.metadata import version
from typing import Any, Protocol, Self

import httpx2
from mcp.client import Transport
from mcp.client.client import Client
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp.types import CallToolResult, Implementation, JSONRPCResponse

from adapters.tools.mcp.http import ANSWER_BYTES_MAX, TIMEOUT, ServerAddress, Visit, http_client
from adapters.tools.mcp.tolerance import make_fit

STREAM_SECONDS = 3_600.0  # of silence on the stream of a session that is kept for its turn


@asynccontextmanager
async def connect(address: ServerAddress, visit: Visit) -> AsyncIterator[Client]:
    """Connect to a server, and give a client for the length of the block. Entering agrees on a
    version of the protocol, and has no deadline of its own."""
    if address.is_sse:
        factory = _factory(address, visit)
        transport = sse_client(
            address.url, httpx_client_factory=factory, sse_read_timeout=STREAM_SECONDS
        )
        async with client_over(transport, mode="legacy") as client:
            yield client
        return
    async with http_client(address, visit) as http:
        transport = streamable_http_client(
            address.url, http_client=http, max_sse_event_size=ANSWER_BYTES_MAX
        )
        async with client_over(transport) as client:
            yield client


@asynccontextmanager
async def client_over(transport: Any, mode: Any = "auto") -> AsyncIterator[Client]:
    ours = Implementation(name="promptcorner", version=version("promptcorner"))
    async with Client(make_tolerant(transport), client_info=ours, cache=None, mode=mode) as client:
        # What came of a call counts, whatever the server had said that it would be.
        client.session.validate_tool_result = _as_it_is  # type: ignore[method-assign]
        yield client


async def _as_it_is(name: str, result: CallToolResult) -> None:
    pass


def _factory(address: ServerAddress, visit: Visit) -> Any:
    def make(
        headers: dict[str, str] | None = None,
        timeout: httpx2.Timeout | None = None,
        auth: httpx2.Auth | None = None,
    ) -> httpx2.AsyncClient:
        return http_client(address, visit, timeout or TIMEOUT)

    return make


class Incoming(Protocol):
    """The side of a transport on which a server's messages arrive."""

    async def receive(self) -> SessionMessage | Exception: ...
    async def aclose(self) -> None: ...
    async def __anext__(self) -> SessionMessage | Exception: ...


@asynccontextmanager
async def make_tolerant(transport: Transport) -> AsyncIterator[tuple["_Tolerant", Any]]:
    async with transport as (read, write):
        yield _Tolerant(read), write


class _Tolerant:
    """Fulfils the SDK's `ReadStream`."""

    def __init__(self, inner: Incoming) -> None:
        self._inner = inner

    @property
    def last_context(self) -> Any:
        return getattr(self._inner, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        return _made_fit(await self._inner.receive())

    async def aclose(self) -> None:
        await self._inner.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        return _made_fit(await self._inner.__anext__())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.aclose()


def _made_fit(item: SessionMessage | Exception) -> SessionMessage | Exception:
    if isinstance(item, Exception) or not isinstance(item.message, JSONRPCResponse):
        return item
    result = make_fit(item.message.result)
    return replace(item, message=item.message.model_copy(update={"result": result}))
