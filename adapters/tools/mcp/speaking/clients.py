"""A session with a server of tools: over HTTP, over SSE as it was before, or over a transport of
ours. The official SDK speaks; what it may read is bounded by what it is given to read from.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any

import httpx2
from mcp.client.client import Client
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, Implementation

from adapters.tools.mcp.reaching import ANSWER_BYTES_MAX, TIMEOUT, Address, Visit, http_client
from adapters.tools.mcp.speaking.streams import tolerant

STREAM_SECONDS = 3_600.0  # of silence on the stream of a session that is kept for its turn


@asynccontextmanager
async def reached(place: Address, visit: Visit) -> AsyncIterator[Client]:
    """Entering connects and agrees on a version of the protocol. It has no deadline of its own."""
    if place.is_sse:
        factory = _factory(place, visit)
        transport = sse_client(
            place.url, httpx_client_factory=factory, sse_read_timeout=STREAM_SECONDS
        )
        async with client_over(transport, mode="legacy") as client:
            yield client
        return
    async with http_client(place, visit) as http:
        transport = streamable_http_client(
            place.url, http_client=http, max_sse_event_size=ANSWER_BYTES_MAX
        )
        async with client_over(transport) as client:
            yield client


@asynccontextmanager
async def client_over(transport: Any, mode: Any = "auto") -> AsyncIterator[Client]:
    ours = Implementation(name="promptcorner", version=version("promptcorner"))
    async with Client(tolerant(transport), client_info=ours, cache=None, mode=mode) as client:
        # What came of a call counts, whatever the server had said that it would be.
        client.session.validate_tool_result = _as_it_is  # type: ignore[method-assign]
        yield client


async def _as_it_is(name: str, result: CallToolResult) -> None:
    pass


def _factory(place: Address, visit: Visit) -> Any:
    def make(
        headers: dict[str, str] | None = None,
        timeout: httpx2.Timeout | None = None,
        auth: httpx2.Auth | None = None,
    ) -> httpx2.AsyncClient:
        return http_client(place, visit, timeout or TIMEOUT)

    return make
