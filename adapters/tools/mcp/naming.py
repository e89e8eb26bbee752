"""What the tools of servers are called here, and what their arguments are wrapped in. Pure."""

import json
import re
from collections.abc import Mapping
from typing import Any

from actors.law.parts.json_text import parsed
from actors.law.parts.message import JsonText
from adapters.tools.mcp.servers import Configured

NAME_CHARACTERS_MAX = 64  # of a tool, at every provider; what is longer is cut
SEPARATOR = "__"

INTENT = "model_intent"
INTENT_SAYS = (
    "What this call is for, in under 100 characters, as in: Looking up the customer's orders."
    " It is shown to the user."
)
_STRANGE = re.compile(r"[^A-Za-z0-9_-]")


def tool_name(slug: str, tool: str) -> str:
    return _STRANGE.sub("_", f"{slug}{SEPARATOR}{tool}")[:NAME_CHARACTERS_MAX]


def distinct(name: str, taken: Mapping[str, object]) -> str:
    """`name`, or with a number if another tool is called so already."""
    number, found = 2, name
    while found in taken:
        end = f"_{number}"
        found, number = name[: NAME_CHARACTERS_MAX - len(end)] + end, number + 1
    return found


def is_allowed(tool: str, config: Configured) -> bool:
    """By its own name. What is denied stays denied, whatever else is said."""
    if tool in config.tool_deny_list:
        return False
    return not config.tool_allow_list or tool in config.tool_allow_list


def offered_schema(schema: Mapping[str, Any], *, with_intent: bool) -> JsonText:
    """As providers take it: an object, with its properties."""
    shown = {**schema, "type": "object"}
    if not isinstance(shown.get("properties"), dict):
        shown["properties"] = {}
    if not shown.get("required", True):
        del shown["required"]
    if with_intent:
        intent = {"type": "string", "description": INTENT_SAYS}
        shown = {
            "type": "object",
            "properties": {INTENT: intent, "properties": shown},
            "required": [INTENT, "properties"],
        }
    return JsonText(json.dumps(shown, ensure_ascii=False, separators=(",", ":")))


def accepted_schema(schema: Mapping[str, Any]) -> JsonText:
    """What is taken of a tool with an intent: its arguments wrapped, or by themselves."""
    alone = parsed(offered_schema(schema, with_intent=False))
    wrapped = {"type": "object", "properties": {"properties": alone}, "required": ["properties"]}
    return JsonText(json.dumps({"anyOf": [wrapped, alone]}, ensure_ascii=False))


def arguments_of(args: str | None, *, with_intent: bool) -> dict[str, Any] | None:
    """What the server is sent; None: it is no object."""
    try:
        said = parsed(args or "{}")
    except ValueError:
        return None
    if not isinstance(said, dict):
        return None
    if not with_intent:
        return said
    inner = said.get("properties")
    if isinstance(inner, dict):
        return inner
    return {key: value for key, value in said.items() if key != INTENT}
