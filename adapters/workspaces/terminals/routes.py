"""The endpoints of terminals. Only the owner of a workspace may use them.

They take a token that may do everything: a terminal can do what its user's chats can do, and the
scope of a socket would be that of reading.
"""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial

import trio
from msgspec import Struct

from adapters.http.endpoints import (
    ALL,
    Call,
    Endpoint,
    HttpResponse,
    Parameter,
    Socket,
    SocketClosed,
    Upgrade,
    json_response,
    no_content,
    number,
)
from adapters.http.host.websockets import framed_bytes
from adapters.http.refusals import HttpError, forbidden, not_found
from adapters.workspaces.store import OwnedWorkspace, OwnedWorkspaces, OwnerScope
from adapters.workspaces.terminals.sharing import (
    ENDED_BY_USER,
    SharedTerminals,
    TerminalFacts,
    TypedMessages,
    facts_of,
    pass_on,
)
from adapters.workspaces.terminals.terminal import INPUT_BYTES_MAX, WATCHERS_MAX
from adapters.workspaces.terminals.wire import HEARD_BYTES_MAX, TerminalSize

TERMINALS = "/api/v2/workspaces/{workspace}/terminals"
TERMINAL = f"{TERMINALS}/{{terminal}}"
UNKNOWN, FULL = 4404, 1013  # codes of sockets: there is no such terminal; try again later
TOO_MANY_WATCH = f"{WATCHERS_MAX} watch it, which is the most"
STARTED_PER_MINUTE = 30  # of one user; then 429


class WorkspaceTerminals(Struct, frozen=True):
    terminals: Sequence[TerminalFacts]


class TerminalRoutes:
    """Handlers of terminals."""

    def __init__(
        self,
        owned: OwnedWorkspaces,
        shared: SharedTerminals,
        *,
        is_on: bool,
    ) -> None:
        self._owned = owned
        self._terminals = shared.own
        self._shared = shared
        self._is_on = is_on

    def endpoints(self) -> Sequence[Endpoint]:
        return (
            Endpoint(
                method="GET",
                path=TERMINALS,
                handle=self.list,
                summary="The terminals that run in a workspace of yours.",
                tag="workspaces",
                scope=ALL,
                answers={200: WorkspaceTerminals},
            ),
            Endpoint(
                method="POST",
                path=TERMINALS,
                handle=self.start,
                summary="Start a terminal: a shell in the sandbox of the workspace.",
                tag="workspaces",
                scope=ALL,
                body=TerminalSize,
                body_may_be_left_out=True,
                rate_per_minute=STARTED_PER_MINUTE,
                answers={201: TerminalFacts},
                refusals=(409, 503),
            ),
            Endpoint(
                method="DELETE",
                path=TERMINAL,
                handle=self.end,
                summary="End a terminal with all that runs in it.",
                tag="workspaces",
                scope=ALL,
                answers={204: None},
            ),
            Endpoint(
                method="GET",
                path=f"{TERMINAL}/stream",
                handle=self.stream,
                summary="What a terminal writes, and where it is typed into; messages of bytes.",
                tag="workspaces",
                scope=ALL,
                parameters=(
                    Parameter(name="after", type=int, help="the position behind your last byte"),
                ),
                answers={101: bytes},
                refusals=(409, 426),
                is_socket=True,
            ),
        )

    async def list(self, call: Call) -> HttpResponse:
        row = await self._own(call)
        here = [facts_of(each) for each in self._terminals.of(row.id)]
        everywhere = [*here, *await self._shared.elsewhere(row.id)]
        everywhere.sort(key=lambda each: each.created_at)
        return json_response(200, WorkspaceTerminals(everywhere))

    async def start(self, call: Call) -> HttpResponse:
        row = await self._own(call)
        size = call.read(TerminalSize) if call.body else TerminalSize()
        return json_response(201, facts_of(await self._terminals.start(row, size)))

    async def end(self, call: Call) -> HttpResponse:
        row, id = await self._own(call), call.path["terminal"]
        terminal = self._terminals.find(row.id, id)
        if terminal is not None:
            terminal.stop(ENDED_BY_USER)
        elif not await self._shared.end(row.id, id):
            raise not_found()
        return no_content()

    async def stream(self, call: Call) -> Upgrade:
        row, id, after = await self._own(call), call.path["terminal"], number(call, "after")
        terminal = self._terminals.find(row.id, id)
        if terminal is None:
            elsewhere = {each.id: each for each in await self._shared.elsewhere(row.id)}
            if id not in elsewhere:
                raise not_found()
            _check_watchers(elsewhere[id].watchers)
            return Upgrade(partial(self._serve_elsewhere, row, id, after))
        _check_watchers(terminal.watchers)

        async def serve(socket: Socket) -> None:
            socket.hear(terminal.take, bytes_max=HEARD_BYTES_MAX)

            async def watch() -> None:
                if not await terminal.watch(after, _sender(socket)):  # others were faster
                    await socket.close(FULL, TOO_MANY_WATCH)

            await _until_closed(socket, watch)

        return Upgrade(serve)

    async def _serve_elsewhere(
        self, row: OwnedWorkspace, id: str, after: int, socket: Socket
    ) -> None:
        typed = TypedMessages(INPUT_BYTES_MAX)
        socket.hear(typed.add, bytes_max=HEARD_BYTES_MAX)
        async with self._shared.watched(row.id, id, after) as line:
            if line is None:
                why = "there is no such terminal any more, or too many watch it"
                return await socket.close(UNKNOWN, why)
            await _until_closed(socket, partial(pass_on, line, _sender(socket), typed))

    async def _own(self, call: Call) -> OwnedWorkspace:
        """Return the workspace, if it is the caller's own: administrators have no terminal in those
        of others."""
        if not self._is_on:
            raise forbidden("terminals are switched off on this server (terminals = false)")
        row = await self._owned.one(call.uuid("workspace"), OwnerScope(call.user.id))
        if row is None:
            raise not_found()
        return row


def _check_watchers(count: int) -> None:
    if count >= WATCHERS_MAX:
        raise HttpError(409, "Too many watch this terminal.", detail=TOO_MANY_WATCH)


def _sender(socket: Socket) -> Callable[[bytes], Awaitable[None]]:
    async def send(message: bytes) -> None:
        await socket.send(framed_bytes(message))

    return send


async def _until_closed(socket: Socket, serve: Callable[[], Awaitable[None]]) -> None:
    """Serve a socket until the work is done, or its client has gone."""
    async with trio.open_nursery() as nursery:

        async def cancel_when_closed() -> None:
            await socket.until_closed()
            nursery.cancel_scope.cancel()

        nursery.start_soon(cancel_when_closed)
        with suppress(SocketClosed):
            await serve()
        nursery.cancel_scope.cancel()
