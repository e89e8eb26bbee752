"""The endpoint by which the owner of a chat watches and operates its desktop.

It carries RFB as it is, in binary frames: what the screen says to the client, and what the client
says to the screen. Whether a viewer only looks is the client's own affair.
"""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial

import trio

from actors.tools.workspaces import WorkspaceRefusal
from adapters.access.admission import Admission, VisibleChat
from adapters.http.endpoints import ALL, Call, Endpoint, Socket, SocketClosed, Upgrade
from adapters.http.host.websockets import framed_bytes
from adapters.http.refusals import HttpError
from adapters.workspaces.desktop.desktops import Desktops

READ_BYTES = 256 * 1024  # of a screen, for one frame
HEARD_BYTES_MAX = 1024 * 1024  # of one frame of a client; a longer one ends the socket
WAITING_BYTES_MAX = 4 * 1024 * 1024  # that the screen has not taken yet; with more the socket ends
TRY_LATER = 1013
_GONE = (trio.BrokenResourceError, trio.ClosedResourceError)


class DesktopRoutes:
    """The route of the desktop of a chat."""

    def __init__(self, admission: Admission, desktops: Desktops) -> None:
        self._admission = admission
        self._desktops = desktops

    def endpoints(self) -> Sequence[Endpoint]:
        return (
            Endpoint(
                method="GET",
                path="/api/v2/chats/{chat}/stream/desktop",
                handle=self.watch,
                summary="The desktop of the chat's workspace: RFB as it is, in binary frames.",
                tag="streams",
                scope=ALL,
                answers={101: bytes},
                refusals=(426, 500),
                is_socket=True,
            ),
        )

    async def watch(self, call: Call) -> Upgrade:
        chat = await self._admission.as_owner(call)
        if (refused := await self._desktops.refusal(chat)) is not None:
            raise HttpError(400, "The chat has no desktop to watch.", detail=refused.says)
        started = await self._desktops.dial(chat)
        if isinstance(started, WorkspaceRefusal):
            raise HttpError(500, "The desktop cannot be reached.", detail=started.says)
        await trio.aclose_forcefully(started)  # the client may turn out to be no socket
        return Upgrade(partial(self._serve, chat))

    async def _serve(self, chat: VisibleChat, socket: Socket) -> None:
        said = ClientBytes()
        socket.hear(said.add, bytes_max=HEARD_BYTES_MAX)
        async with self._desktops.watching(chat) as watched:
            if isinstance(watched, WorkspaceRefusal):
                await socket.close(TRY_LATER, watched.says)
                return
            async with trio.open_nursery() as nursery:

                async def until_over(work: Callable[[], Awaitable[None]]) -> None:
                    with suppress(*_GONE, SocketClosed):
                        await work()
                    nursery.cancel_scope.cancel()

                nursery.start_soon(until_over, socket.until_closed)
                nursery.start_soon(until_over, partial(_show, watched.stream, socket))
                nursery.start_soon(
                    until_over, partial(said.pass_on, watched.stream, watched.note_use)
                )


class ClientBytes:
    """The bytes that a client has said and the screen has not taken yet."""

    def __init__(self) -> None:
        self._waiting = bytearray()
        self._came = trio.Event()

    def add(self, data: bytes) -> bool:
        """Take bytes. Return False if too many wait already."""
        self._waiting += data
        self._came.set()
        return len(self._waiting) <= WAITING_BYTES_MAX

    async def pass_on(self, screen: trio.SocketStream, note_use: Callable[[], None]) -> None:
        """Tell the screen, until it is gone."""
        while True:
            await self._came.wait()
            self._came = trio.Event()
            data, self._waiting = bytes(self._waiting), bytearray()
            note_use()
            await screen.send_all(data)


async def _show(screen: trio.SocketStream, socket: Socket) -> None:
    """Send what the screen says, until it is gone."""
    while data := await screen.receive_some(READ_BYTES):
        await socket.send(framed_bytes(bytes(data)))
