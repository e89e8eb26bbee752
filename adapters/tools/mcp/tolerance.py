"""The answers of servers, made fit for the SDK. Pure.

The SDK refuses a whole answer for one piece of it that it does not know; a chat wants the rest. So
a list is brought down to what is used of it, tool by tool, and the result of a call is handed
through unread, as a text, which `chat_tools.results` reads. Halves of characters, which servers
write that cut a text in the middle of one, are replaced: parsers refuse the whole answer for them.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from mcp.types import CallToolResult
import re

_HINTS = ("readOnlyHint", "idempotentHint")
_KEPT = ("_meta", "resultType")

RawResult = Mapping[str, Any]


def raw_result(result: "CallToolResult") -> RawResult:
    """Return what the server said, as it said it."""
    [content] = result.content
    assert content.type == "text", "it was handed through as a text"
    said: RawResult = msgspec.json.decode(content.text)
    return said


def make_fit(result: RawResult) -> RawResult:
    """Return an answer, to whatever was asked, as the SDK takes it."""
    tools = result.get("tools")
    if isinstance(tools, list):
        return {**result, "tools": list(_tools(tools))}
    if "content" in result or "structuredContent" in result:
        kept = {name: result[name] for name in _KEPT if name in result}
        said = {"type": "text", "text": msgspec.json.encode(result).decode()}
        return {**kept, "content": [said], "isError": bool(result.get("isError"))}
    return result


def _tools(tools: list[Any]) -> Iterator[RawResult]:
    for tool in tools:
        match tool:
            case {"name": str(name)} if name:
                yield {"name": name, **_described(tool), "inputSchema": _schema(tool)}
            case _:
                pass  # what has no name cannot be called


def _described(tool: RawResult) -> RawResult:
    said = tool.get("description") or tool.get("title")
    hints = tool.get("annotations")
    found = {name: hints.get(name) for name in _HINTS} if isinstance(hints, dict) else {}
    return {
        "description": said if isinstance(said, str) else "",
        "annotations": {name: value for name, value in found.items() if isinstance(value, bool)},
    }


def _schema(tool: RawResult) -> RawResult:
    schema = tool.get("inputSchema")
    return {**schema, "type": "object"} if isinstance(schema, dict) else {"type": "object"}


_HIGH = rb"\\u[dD][89abAB][0-9a-fA-F]{2}"
_LOW = rb"\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_ESCAPES = re.compile(rb"\\\\|" + _HIGH + _LOW + rb"|(?P<lone>" + _HIGH + rb"|" + _LOW + rb")")
# What the next bytes may make another thing of.
_OPEN = re.compile(rb"(?:" + _HIGH + rb")?(?:\\(?:u[0-9a-fA-F]{0,3})?)?\Z")
_OPEN_BYTES = 11
_UNKNOWN = rb"\ufffd"


def mend(data: bytes) -> bytes:
    """Replace halves of characters; the data stays as long as it was. Nearly all data has none of
    them."""
    if b"\\ud" not in data and b"\\uD" not in data:
        return data
    return _ESCAPES.sub(lambda found: _UNKNOWN if found["lone"] else found[0], data)


class StreamMender:
    """Replaces halves of characters in a stream, which may be cut anywhere. `rest` is its end."""

    def __init__(self) -> None:
        self._open = b""

    def feed(self, data: bytes) -> bytes:
        data = self._open + data
        whole = _whole(data)
        self._open = data[whole:]
        return mend(data[:whole])

    def rest(self) -> bytes:
        data, self._open = self._open, b""
        return mend(data)


def _whole(data: bytes) -> int:
    """Return how far it is known what the data is. Backslashes escape each other in pairs, so a
    backslash before the end may be the second one of a pair: then its pair waits, too."""
    found = _OPEN.search(data, max(0, len(data) - _OPEN_BYTES))
    assert found is not None, "nothing at all fits, too"
    start = found.start()
    backslashes = start - len(data[:start].rstrip(b"\\"))
    return start - backslashes % 2
