"""The stream of the changes in a chat's workspace: the repositories there, as git sees them."""

from collections.abc import Sequence
from functools import partial

import msgspec
import trio

from actors.law.ids import ChatId
from adapters.access.admission import Admission
from adapters.chats.wire.working_trees import (
    GitWatchMessage,
    encode_message,
    messages_of,
    read_request,
)
from adapters.http.endpoints import Call, Endpoint, Socket, SocketClosed, Upgrade
from adapters.http.host.websockets import framed
from adapters.http.refusals import HttpError
from adapters.workspaces.git.trees import TreeWatcher, WatchEnd
from adapters.workspaces.git.watching import CannotWatch, TreesFull, WorkingTrees
from adapters.workspaces.store import WorkspaceRow

NO_WORKSPACE = "Chat has no workspace to watch."  # clients look for these words
REQUEST_BYTES_MAX = 1_024  # of what a client says; more ends the socket
GOING_AWAY, TRY_LATER = 1001, 1013  # close codes of RFC 6455


class WorkingTreeRoutes:
    """The route by which the owner of a chat watches the repositories of its workspace."""

    def __init__(self, admission: Admission, trees: WorkingTrees) -> None:
        self._admission = admission
        self._trees = trees

    def endpoints(self) -> Sequence[Endpoint]:
        return (
            Endpoint(
                method="GET",
                path="/api/v2/chats/{chat}/stream/git",
                handle=self.git,
                summary="What is changed in the repositories of the workspace; one message a look.",
                tag="streams",
                answers={101: GitWatchMessage},
                refusals=(426,),
                is_socket=True,
            ),
        )

    async def git(self, call: Call) -> Upgrade:
        chat = await self._admission.as_owner(call)
        try:
            workspace = await self._trees.workspace_to_watch(chat.id)
        except CannotWatch as why:
            raise HttpError(400, str(why)) from why
        if workspace is None:
            raise HttpError(400, NO_WORKSPACE)
        return Upgrade(partial(self._serve, workspace, chat.id))

    async def _serve(self, workspace: WorkspaceRow, chat: ChatId, socket: Socket) -> None:
        try:
            with self._trees.watching(workspace, chat) as watcher:
                socket.hear(partial(_handle, watcher), bytes_max=REQUEST_BYTES_MAX, text=True)
                why = await _tell(socket, watcher)
        except TreesFull as full:
            await socket.close(TRY_LATER, str(full))
            return
        if why is not None:
            if why is not WatchEnd.LEAVING:
                await socket.send(_frame(GitWatchMessage(type="error", message=f"{why.value}")))
            await socket.close(GOING_AWAY, why.value)


def _handle(watcher: TreeWatcher, message: bytes) -> bool:
    """Take what a client says. Return False if it is no message of this stream."""
    try:
        request = read_request(message)
    except msgspec.DecodeError:
        return False
    if request.type == "refresh":
        watcher.refresh()
    return True


async def _tell(socket: Socket, watcher: TreeWatcher) -> WatchEnd | None:
    """Send what is new. Return why there is no more; None: the client has gone."""
    why: WatchEnd | None = None
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_cancel_when_closed, socket, nursery.cancel_scope)
        try:
            while not isinstance(news := await watcher.next(), WatchEnd):
                for message in messages_of(news):
                    await socket.send(_frame(message))
            why = news
        except SocketClosed:
            pass
        nursery.cancel_scope.cancel()
    return why


async def _cancel_when_closed(socket: Socket, scope: trio.CancelScope) -> None:
    await socket.until_closed()
    scope.cancel()


def _frame(message: GitWatchMessage) -> bytes:
    return framed(encode_message(message) + b"\n")
