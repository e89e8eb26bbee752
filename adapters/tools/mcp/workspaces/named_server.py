"""The start of a server that a workspace names, as a tool that a model calls. Pure.

A file of the workspace has programs run and addresses asked, and models write files. So where a
command needs consent a start needs it, too: the model calls for it, and a person sees what would be
run. Consent is bound to a digest of exactly that; `${…}` is filled in by then.
"""

import json
import math
import re
import shlex
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Any, assert_never
from urllib.parse import urlsplit, urlunsplit
from uuid import UUID

import trio

from actors.chat.turn.ports import LocalTool
from actors.law.parts.message import JsonText
from actors.law.parts.prompt import ToolDefinition
from actors.tools.approval_rules import START_TOOL, Policy, ServerStart
from adapters.tools.mcp.faults import ServerFault, words_for
from adapters.tools.mcp.listing import (
    ServerTool,
    ToolServer,
    offered_schema,
    tool_name,
    tools_of,
    workspace_server,
)
from adapters.tools.mcp.sdk.loading import LOAD_SECONDS_MAX, load_sdk
from adapters.tools.mcp.sessions import LEAVE_SECONDS, Session, call_in_session, fault_of
from adapters.tools.mcp.tolerance import RawResult
from adapters.tools.mcp.workspaces.config_file import (
    NamedAddress,
    NamedEntry,
    NamedProgram,
    decides_what_is_run,
)
from runtime.clock import now
from runtime.log import emit

if TYPE_CHECKING:
    from mcp.client.client import Client

DISCOVERY_SECONDS = 5.0  # that a turn waits for its tools; then it has none, or those of before
START_SECONDS = 120.0  # to begin, and to fetch what it needs for that; then it counts as broken
IDLE_SECONDS = 900.0  # without use; then it ends, and the next use begins another
# Broken so often within so long it is left alone, until the first of these times is that long ago.
BROKEN_MAX, BROKEN_SECONDS = 3, 600.0

RUNNING_MAX = 256  # of this process; one more is not begun

OpenSession = Callable[[], AbstractAsyncContextManager["Client"]]
DIGEST_CHARACTERS = 40  # of its hexadecimal form: two contents with one digest are out of reach
# To load what speaks with servers, and to list the tools twice: for the answer, and for the turn.
START_SECONDS_MAX = LOAD_SECONDS_MAX + 2 * DISCOVERY_SECONDS + 5.0

NOT_ALLOWED_YET = "it is not started before a person allows it in this chat"
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


class ServerSlots:
    """The places in which servers run, as long as the nursery is open."""

    def __init__(self, nursery: trio.Nursery) -> None:
        self._nursery = nursery
        self.running = 0

    def take(self, life: Callable[[], Awaitable[None]]) -> None:
        """Take a place. ServerFault: there is none."""
        if self.running >= RUNNING_MAX:
            raise ServerFault(
                f"{self.running} servers of workspaces run already, which is the limit"
            )
        self.running += 1
        self._nursery.start_soon(self._live, life)

    async def _live(self, life: Callable[[], Awaitable[None]]) -> None:
        try:
            await life()
        finally:
            self.running -= 1


@dataclass(eq=False, slots=True)
class NamedServer:
    """A server that a workspace names, and its session if one is open.

    `open` opens a session, or says why that is not possible. `disk_mb` is how much of the disk its
    workspace may take; 0 if the server cannot write there.
    """

    workspace: UUID
    named: NamedEntry
    open: OpenSession | str
    slots: ServerSlots
    disk_mb: int = 0
    tools: Sequence[ServerTool] = ()  # as they were last heard
    fault: str = ""  # why it could not be used the last time
    _session: Session | None = None
    _is_late: bool = False
    _broken: list[tuple[float, str]] = field(default_factory=list)  # when, and why

    @property
    def source(self) -> ToolServer:
        return workspace_server(self.named.name)

    @property
    def is_running(self) -> bool:
        return self._session is not None and not self._session.ended.is_set()

    @property
    def is_late(self) -> bool:
        """Return whether it was still starting when it was last asked."""
        return self._is_late

    @property
    def has_come(self) -> bool:
        """Return whether it was late, and is there now or never will be."""
        return self._is_late and self._session is not None and self._session.is_settled

    async def listed(self) -> Sequence[ServerTool]:
        """Return its tools, within DISCOVERY_SECONDS."""
        session, self._is_late = None, False
        try:
            await load_sdk()
            with trio.fail_after(DISCOVERY_SECONDS):
                session = await self.session()
                self.tools = await tools_of(await session.client(), self.source)
            self.fault = ""
        except trio.TooSlowError:
            self._is_late = session is not None and not session.is_settled
            self._failed(f"it was not ready within {DISCOVERY_SECONDS:g} s, and may be later")
        except Exception as error:  # noqa: BLE001  one server is not worth a turn
            self.tools = ()
            self._failed(str(await fault_of(error, session)))
        return self.tools

    async def call(self, tool: str, arguments: dict[str, Any]) -> RawResult:
        """Call a tool. ServerFault: it failed."""
        return await call_in_session(self.session, tool, arguments)

    async def session(self) -> Session:
        """Return the open session, or begin one. ServerFault: it is not begun."""
        if self._session is not None and not self._session.is_over:
            return self._session
        if isinstance(self.open, str):
            raise ServerFault(self.open)
        self._broken = [(at, why) for at, why in self._broken if now() - at < BROKEN_SECONDS]
        if len(self._broken) >= BROKEN_MAX:
            raise ServerFault(
                f"it broke {len(self._broken)} times within {BROKEN_SECONDS:g} s, and is left alone"
                f" for a while; the last time: {self._broken[-1][1]}"
            )
        session = Session(partial(_in_time, self.open), idle_seconds=IDLE_SECONDS)
        self.slots.take(partial(self._live, session))
        self._session = session
        return session

    async def _live(self, session: Session) -> None:
        await session.run()
        if session.error is not None:
            why = words_for(session.error)
            self._broken.append((now(), why))
            self._failed(why)

    def leave(self) -> None:
        if self._session is not None:
            self._session.leave()

    async def wait_ended(self) -> None:
        """Wait until nothing of it is left."""
        if self._session is not None:
            with trio.move_on_after(2 * LEAVE_SECONDS):
                await self._session.ended.wait()

    def _failed(self, why: str) -> None:
        if why != self.fault:
            self.fault = why
            named = self.named.name
            emit("mcp.unusable", "warning", workspace=str(self.workspace), server=named, why=why)


@asynccontextmanager
async def _in_time(way: OpenSession) -> AsyncIterator["Client"]:
    with trio.fail_after(START_SECONDS) as patience:
        async with way() as client:
            patience.deadline = math.inf
            yield client


def start_of(workspace: UUID, named: NamedEntry) -> ServerStart:
    """Return what a person is asked about, with the digest that their consent is bound to."""
    content = json.dumps([str(workspace), _content(named)])
    digest = sha256(content.encode()).hexdigest()[:DIGEST_CHARACTERS]
    shown = JsonText(json.dumps(_visible_target(named), ensure_ascii=False))
    return ServerStart(_STRANGE.sub("_", named.name), digest, shown)


def start_tool(workspace: UUID, named: NamedEntry, consent: Policy = Policy.ASK) -> ServerTool:
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
    return ServerTool(workspace_server(named.name), "", local)


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


def _content(named: NamedEntry) -> list[Any]:
    """Return everything that decides what is started."""
    match named.target:
        case NamedProgram(command, args, env):
            return [named.name, "program", command, args, env]
        case NamedAddress(url, headers, is_sse):
            return [named.name, "address", url, headers, is_sse]
        case _:
            assert_never(named.target)


def _visible_target(named: NamedEntry) -> dict[str, Any]:
    """Return what would be run or asked, as a person sees it. Values of variables and headers may
    be secret, and so may those of a query: their names are shown, and the values of those that
    decide which code is run."""
    match named.target:
        case NamedProgram(command, args, env):
            shown: dict[str, Any] = {"command": visible(shlex.join([command, *args]))}
            names, key = [_variable(*each) for each in env], "environment"
        case NamedAddress(url, headers, _):
            shown = {"address": visible(_bare(url))}
            names, key = [name for name, _ in headers], "headers"
        case _:
            assert_never(named.target)
    return {
        "server": visible(named.name),
        **shown,
        **({key: [visible(name) for name in names]} if names else {}),
    }


def _variable(name: str, value: str) -> str:
    """Return `NAME`, or `NAME=value` for a variable that decides which code is run. The login in a
    URL is left out, because a password stands beside it."""
    return f"{name}={_LOGIN.sub('//…@', value)}" if decides_what_is_run(name) else name


def visible(text: str) -> str:
    """Return the text with escapes for what terminals and pages obey or hide, so that nothing in it
    can rewrite the rest of what a person reads."""
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
