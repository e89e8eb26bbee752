"""The start of a server that a workspace names, as a tool that a model calls. Pure.

A file of the workspace has programs run and addresses asked, and models write files. So where a
command needs consent a start needs it, too: the model calls for it, and a person sees what would be
run. Consent is bound to a digest of exactly that; `${…}` is filled in by then.
"""

import json
import re
import shlex
from hashlib import sha256
from typing import Any, assert_never
from urllib.parse import urlsplit, urlunsplit
from uuid import UUID

from actors.chat.turn.ports import LocalTool
from actors.law.parts.message import JsonText
from actors.law.parts.prompt import ToolDefinition
from actors.tools.approvals.policy import START_TOOL, Policy, ServerStart
from adapters.tools.mcp.listing import ServerTool, source_in_workspace
from adapters.tools.mcp.naming import offered_schema, tool_name
from adapters.tools.mcp.speaking.loading import LOAD_SECONDS_MAX
from adapters.tools.mcp.workspaces.named import Elsewhere, Named, Program, decides_what_is_run
from adapters.tools.mcp.workspaces.server import DISCOVERY_SECONDS

DIGEST_CHARACTERS = 40  # of its hexadecimal form: two contents with one digest are out of reach
# To load what speaks with servers, and to list the tools twice: for the answer, and for the turn.
START_SECONDS_MAX = LOAD_SECONDS_MAX + 2 * DISCOVERY_SECONDS + 5.0

NOT_ALLOWED_YET = "it is not started before somebody allows it in this chat"
NEVER_ALLOWED = (
    "it is not started: that needs consent as a command does, and in this chat it is denied"
)
_SAID = {
    Policy.ALLOW: "",
    Policy.ASK: " A person is asked first.",
    Policy.DENY: " In this chat that is denied.",
}
# Characters that count as printable and leave nothing to see, or a blank that is none: fillers of
# Hangul, the empty Braille cell, joiners and selectors of variants.
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
_LOGIN = re.compile(r"//[^/@\s]*@")
_STRANGE = re.compile(r"[^A-Za-z0-9_-]")


def start_of(workspace: UUID, named: Named) -> ServerStart:
    """Return what a person is asked about, with the digest that their consent is bound to."""
    content = json.dumps([str(workspace), _content(named)])
    digest = sha256(content.encode()).hexdigest()[:DIGEST_CHARACTERS]
    shown = JsonText(json.dumps(_shown(named), ensure_ascii=False))
    return ServerStart(_STRANGE.sub("_", named.name), digest, shown)


def start_tool(workspace: UUID, named: Named, consent: Policy = Policy.ASK) -> ServerTool:
    """Return the tool that starts a server. `consent` is what comes of a call of it; where the
    start is allowed the tool is hidden, and stays there for a call that waits to run."""
    says = (
        f"Start the server of tools that the workspace calls {json.dumps(named.name)} in its"
        f" .mcp.json. Its tools are there from the next step on.{_SAID[consent]}"
    )
    local = LocalTool(
        ToolDefinition(
            tool_name(named.name, START_TOOL), says, offered_schema({}, with_intent=False)
        ),
        START_SECONDS_MAX,
        repeatable=True,
        hidden=consent is Policy.ALLOW,
        is_foreign=True,
        start=start_of(workspace, named),
    )
    return ServerTool(source_in_workspace(named.name), "", local)


def why_not_started(consent: Policy) -> str:
    """Return why a server is not started, for people and models; "": it may be."""
    match consent:
        case Policy.ALLOW:
            return ""
        case Policy.ASK:
            return NOT_ALLOWED_YET
        case Policy.DENY:
            return NEVER_ALLOWED
        case _:
            assert_never(consent)


def _content(named: Named) -> list[Any]:
    """All that decides what is started."""
    match named.place:
        case Program(command, args, env):
            return [named.name, "program", command, args, env]
        case Elsewhere(url, headers, is_sse):
            return [named.name, "address", url, headers, is_sse]
        case _:
            assert_never(named.place)


def _shown(named: Named) -> dict[str, Any]:
    """What would be run or asked. Values of variables and headers may be secret, and so may those
    of a query: their names are shown, and the values of those that decide which code is run."""
    match named.place:
        case Program(command, args, env):
            shown: dict[str, Any] = {"command": visible(shlex.join([command, *args]))}
            names, key = [_variable(*each) for each in env], "environment"
        case Elsewhere(url, headers, _):
            shown = {"address": visible(_bare(url))}
            names, key = [name for name, _ in headers], "headers"
        case _:
            assert_never(named.place)
    return {
        "server": visible(named.name),
        **shown,
        **({key: [visible(name) for name in names]} if names else {}),
    }


def _variable(name: str, value: str) -> str:
    """`NAME`; `NAME=value` of one that decides which code is run. Whom a URL logs in as is left
    out, for a password stands beside it."""
    return f"{name}={_LOGIN.sub('//…@', value)}" if decides_what_is_run(name) else name


def visible(text: str) -> str:
    """The text with escapes for what terminals and pages obey or hide: nothing in it can rewrite
    the rest of what a person reads."""
    return "".join(c if _is_seen(c) else c.encode("unicode_escape").decode() for c in text)


def _is_seen(character: str) -> bool:
    return character.isprintable() and not _UNSEEN.match(character)


def _bare(url: str) -> str:
    parts = urlsplit(url)
    query = "&".join(f"{pair.partition('=')[0]}=…" for pair in parts.query.split("&") if pair)
    host = _ascii(parts.netloc.rpartition("@")[2])
    return urlunsplit((parts.scheme, host, parts.path, query, ""))


def _ascii(host: str) -> str:
    """The name of a host as it is looked up: letters of another script that look like those of a
    known name are then seen to be others."""
    try:
        return host.encode("idna").decode()
    except UnicodeError:
        return host.encode("ascii", "backslashreplace").decode()
