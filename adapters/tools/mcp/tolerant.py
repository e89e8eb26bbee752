"""What servers say, as the SDK takes it. The SDK refuses a whole answer for one piece of it that it
does not know; a chat wants the rest. So a list is brought down to what is used of it, tool by tool,
and what came of a call is handed through unread, as a text: results.py reads it. Pure.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from mcp.types import CallToolResult

_HINTS = ("readOnlyHint", "idempotentHint")
_KEPT = ("_meta", "resultType")

Result = Mapping[str, Any]


def unread(result: "CallToolResult") -> Result:
    """What the server said, as it said it."""
    [content] = result.content
    assert content.type == "text", "it was handed through as a text"
    said: Result = msgspec.json.decode(content.text)
    return said


def fit(result: Result) -> Result:
    """Of an answer to whatever was asked."""
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
