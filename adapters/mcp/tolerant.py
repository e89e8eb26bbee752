"""What servers say, as the SDK takes it. The SDK refuses a whole answer for one piece of it that it
does not know; a chat wants the rest. So a list is brought down to what is used of it, tool by tool,
and what came of a call is handed through unread, as a text: results.py reads it.
"""

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from typing import Any, Self

import msgspec
from mcp.client._transport import ReadStream, TransportStreams
from mcp.shared.message import SessionMessage
from mcp.types import CallToolResult, JSONRPCResponse, TextContent

_HINTS = ("readOnlyHint", "idempotentHint")
_KEPT = ("_meta", "resultType")

Result = Mapping[str, Any]


@asynccontextmanager
async def tolerant(
    transport: AbstractAsyncContextManager[TransportStreams],
) -> AsyncIterator[TransportStreams]:
    async with transport as (read, write):
        yield _Tolerant(read), write


def unread(result: CallToolResult) -> Result:
    """What the server said, as it said it."""
    [content] = result.content
    assert isinstance(content, TextContent), "it was handed through as a text"
    said: Result = msgspec.json.decode(content.text)
    return said


class _Tolerant:
    """Fulfils the SDK's `ReadStream`."""

    def __init__(self, inner: ReadStream[SessionMessage | Exception]) -> None:
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


def fit(result: Result) -> Result:
    """Of an answer to whatever was asked. Pure."""
    tools = result.get("tools")
    if isinstance(tools, list):
        return {**result, "tools": list(_tools(tools))}
    if "content" in result or "structuredContent" in result:
        kept = {name: result[name] for name in _KEPT if name in result}
        said = {"type": "text", "text": msgspec.json.encode(result).decode()}
        return {**kept, "content": [said], "isError": bool(result.get("isError"))}
    return result


def _tools(tools: list[Any]) -> Iterator[Result]:
    for tool in tools:
        match tool:
            case {"name": str(name)} if name:
                yield {"name": name, **_described(tool), "inputSchema": _schema(tool)}
            case _:
                pass  # what has no name cannot be called


def _described(tool: Result) -> Result:
    said = tool.get("description") or tool.get("title")
    hints = tool.get("annotations")
    found = {name: hints.get(name) for name in _HINTS} if isinstance(hints, dict) else {}
    return {
        "description": said if isinstance(said, str) else "",
        "annotations": {name: value for name, value in found.items() if isinstance(value, bool)},
    }


def _schema(tool: Result) -> Result:
    schema = tool.get("inputSchema")
    return {**schema, "type": "object"} if isinstance(schema, dict) else {"type": "object"}
