"""A transport, with what servers answer on it made fit for the SDK."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, Protocol, Self

from mcp.client import Transport
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCResponse

from adapters.tools.mcp.tolerant import fit


class Incoming(Protocol):
    """The side of a transport on which a server's messages arrive."""

    async def receive(self) -> SessionMessage | Exception: ...
    async def aclose(self) -> None: ...
    async def __anext__(self) -> SessionMessage | Exception: ...


@asynccontextmanager
async def tolerant(transport: Transport) -> AsyncIterator[tuple["_Tolerant", Any]]:
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
    result = fit(item.message.result)
    return replace(item, message=item.message.model_copy(update={"result": result}))
