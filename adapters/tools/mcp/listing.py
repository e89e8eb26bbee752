"""The tools of a server, as it lists them: checked, bounded, named for us.

Servers are not trusted: a list has an end, a schema a size, and a name is made fit for providers.
What is left out is written down, and the rest is there.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import UUID

from actors.chat.turn.ports import LocalTool
from actors.law.parts.json_text import well_formed
from actors.law.parts.prompt import ToolDefinition
from adapters.tools.mcp.http import CALL_SECONDS_MAX, CONNECT_SECONDS_MAX
from adapters.tools.mcp.servers import McpServer
from runtime.log import emit

if TYPE_CHECKING:
    from mcp.client.client import Client
    from mcp.types import Tool as ListedTool
import re
from collections.abc import Mapping

from actors.law.parts.json_text import parsed
from actors.law.parts.message import JsonText
from adapters.tools.mcp.servers import ServerConfig

NAME_CHARACTERS_MAX = 64  # of a tool, at every provider; what is longer is cut
STEM_CHARACTERS = NAME_CHARACTERS_MAX - 6  # of a name: those that share them share their numbers
SEPARATOR = "__"

INTENT = "model_intent"
INTENT_SAYS = (
    "What this call is for, in under 100 characters, as in: Looking up the customer's orders."
    " It is shown to the user."
)
_STRANGE = re.compile(r"[^A-Za-z0-9_-]")
PAGES_MAX = 50  # of a list; what comes after is left out
TOOLS_MAX = 500  # of a server; likewise
SCHEMA_BYTES_MAX = 64 * 1024  # of a tool; with a bigger one it is left out
SCHEMAS_BYTES_MAX = 1024 * 1024  # of all tools of a server; those beyond are left out
DESCRIPTION_CHARACTERS_MAX = 8_192  # what is longer is cut

# A reconnection, the call, and a little for what comes of it.
DEADLINE_SECONDS = CONNECT_SECONDS_MAX + CALL_SECONDS_MAX + 5.0


def tool_name(slug: str, tool: str) -> str:
    """Return the name by which models call a tool: the server's slug and the tool's own name."""
    return _STRANGE.sub("_", f"{slug}{SEPARATOR}{tool}")[:NAME_CHARACTERS_MAX]


def distinct(name: str, taken: Mapping[str, object], numbers: dict[str, int] | None = None) -> str:
    """Return `name`, with a number behind it if another tool has that name already. `numbers` are
    kept from call to call, so that none is tried twice: strangers choose the names."""
    if name not in taken:
        return name
    numbers, stem = {} if numbers is None else numbers, name[:STEM_CHARACTERS]
    while True:
        number = numbers[stem] = numbers.get(stem, 1) + 1
        end = f"_{number}"
        if (found := name[: NAME_CHARACTERS_MAX - len(end)] + end) not in taken:
            return found


def is_allowed(tool: str, config: ServerConfig) -> bool:
    """Return whether a tool is allowed, by its own name. What is denied stays denied, whatever else
    is said."""
    if tool in config.tool_deny_list:
        return False
    return not config.tool_allow_list or tool in config.tool_allow_list


def offered_schema(schema: Mapping[str, Any], *, with_intent: bool) -> JsonText:
    """Return the schema as providers take it: an object, with its properties."""
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
    """Return the schema of what is taken for a tool with an intent: its arguments wrapped, or by
    themselves."""
    alone = parsed(offered_schema(schema, with_intent=False))
    wrapped = {"type": "object", "properties": {"properties": alone}, "required": ["properties"]}
    return JsonText(json.dumps({"anyOf": [wrapped, alone]}, ensure_ascii=False))


def arguments_of(args: str | None, *, with_intent: bool) -> dict[str, Any] | None:
    """Return the arguments that the server is sent, or None if they are no object."""
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


@dataclass(frozen=True, slots=True)
class ToolServer:
    """The server that tools come from. `id` is None for one that a workspace names."""

    id: UUID | None
    name: str  # for people
    slug: str  # before its tools' names
    allows: Callable[[str], bool]
    with_intent: bool = False


@dataclass(frozen=True, slots=True)
class ServerTool:
    """A tool, and the server that it comes from."""

    source: ToolServer
    name: str  # at the server
    local: LocalTool

    @property
    def offered_name(self) -> str:
        """Return the name by which models call it."""
        return self.local.tool.name

    def renamed(self, name: str) -> "ServerTool":
        return replace(self, local=replace(self.local, tool=replace(self.local.tool, name=name)))


def tool_server_of(server: McpServer) -> ToolServer:
    config = server.config
    allows = partial(is_allowed, config=config)
    return ToolServer(server.id, config.display_name, config.slug, allows, config.model_intent)


def workspace_server(name: str) -> ToolServer:
    """Return the source of the tools of a server that a workspace calls by this name."""
    return ToolServer(None, name, name, allows=lambda tool: True)


async def tools_of(client: "Client", source: ToolServer) -> Sequence[ServerTool]:
    """Return the tools of a server that are allowed, in the server's order."""
    found: list[ServerTool] = []
    size = 0
    for listed in await _listed(client):
        if not source.allows(listed.name):
            continue
        try:
            tool = _offered(listed, source)
        except ValueError:  # such a schema would make every request to a provider unreadable
            what = f"the schema of {listed.name[:80]}: NaN and Infinity are not JSON"
            emit("mcp.left_out", "warning", server=source.slug, what=what)
            continue
        own = len(tool.local.tool.schema.encode())
        if own > SCHEMA_BYTES_MAX:
            _left_out(source, f"the schema of {listed.name[:80]}", own, SCHEMA_BYTES_MAX)
            continue
        size += own
        if size > SCHEMAS_BYTES_MAX:
            _left_out(source, "the schemas of all tools", size, SCHEMAS_BYTES_MAX)
            break
        found.append(tool)
    return found


def all_distinct(tools: Sequence[ServerTool]) -> Sequence[ServerTool]:
    """Return the tools under distinct names, ordered by name and then by server. The order is
    always the same, so that providers keep prompts in their caches. A server that a workspace names
    never takes a name from one that administrators have set up."""
    taken: dict[str, ServerTool] = {}
    numbers: dict[str, int] = {}
    for tool in sorted(tools, key=_precedence):
        name = distinct(tool.offered_name, taken, numbers)
        taken[name] = tool if name == tool.offered_name else tool.renamed(name)
    return sorted(taken.values(), key=lambda tool: tool.offered_name)


def _precedence(tool: ServerTool) -> tuple[bool, str, str, str]:
    source = tool.source
    return source.id is None, tool.offered_name, str(source.id or source.name), tool.name


async def _listed(client: "Client") -> Sequence["ListedTool"]:
    found: list[ListedTool] = []
    cursor: str | None = None
    for _ in range(PAGES_MAX):
        page = await client.list_tools(cursor=cursor)
        found += page.tools
        cursor = page.next_cursor
        if not cursor or len(found) >= TOOLS_MAX:
            break
    return found[:TOOLS_MAX]


def _offered(listed: "ListedTool", source: ToolServer) -> ServerTool:
    says = well_formed(listed.description or listed.title or "")[:DESCRIPTION_CHARACTERS_MAX]
    plain, with_intent = _plain(listed.input_schema), source.with_intent
    schema = offered_schema(plain, with_intent=with_intent)
    hints = listed.annotations
    harmless = hints is not None and bool(hints.read_only_hint or hints.idempotent_hint)
    local = LocalTool(
        ToolDefinition(tool_name(source.slug, listed.name), says, schema),
        DEADLINE_SECONDS,
        repeatable=harmless,
        is_foreign=True,
        server=source.id,
        accepts=accepted_schema(plain) if with_intent else None,
    )
    return ServerTool(source, listed.name, local)


def _plain(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema without halves of characters, which no provider takes. ValueError: it holds
    a number that JSON does not have, as some servers write it all the same."""
    plain: dict[str, Any] = json.loads(well_formed(json.dumps(schema, allow_nan=False)))
    return plain


def _left_out(source: ToolServer, what: str, size: int, most: int) -> None:
    emit("mcp.left_out", "warning", server=source.slug, what=what, bytes=size, most=most)
