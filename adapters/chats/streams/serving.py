"""A watcher at a socket: frames until one side goes."""

from typing import Protocol

import trio

from actors.law.ids import ChatId, UserId
from actors.streams.feeds.diff import Position
from actors.streams.feeds.log import FeedEnd, Pack
from actors.streams.feeds.registry import ChatFeeds, FeedsFull, OwnerFeeds
from adapters.chats.streams.packing import as_frame, as_frames
from adapters.chats.wire.messages import ChatError
from adapters.chats.wire.streams import ChatStreamEvent, encoded
from adapters.http.endpoints import Socket, SocketClosed

# Close codes of RFC 6455.
NORMAL, GOING_AWAY, POLICY, TRY_LATER = 1000, 1001, 1008, 1013
CLOSING = {
    FeedEnd.GONE: (NORMAL, ""),
    FeedEnd.UNREADABLE: (NORMAL, ""),
    FeedEnd.TOO_SLOW: (POLICY, "fell behind too often"),
    FeedEnd.LEAVING: (GOING_AWAY, "the server is stopping"),
}


class Watcher(Protocol):
    async def next(self, pack: Pack) -> bytes | FeedEnd: ...


async def serve_socket(socket: Socket, feeds: ChatFeeds, chat: ChatId, have: Position) -> None:
    """Returns when the socket is closed, or the client does not read."""
    try:
        with feeds.subscribe(chat, have) as watcher:
            watcher.may_send(as_frame, socket.send_at_once)
            excuse = as_frame([unreadable(chat)])
            why = await _tell(socket, watcher, as_frame, excuse=excuse)
    except FeedsFull as full:
        await socket.close(TRY_LATER, str(full))
        return
    if why is not None:
        await socket.close(*CLOSING[why])


async def serve_owner(socket: Socket, owners: OwnerFeeds, owner: UserId) -> None:
    """Returns when the socket is closed, or the client does not read."""
    with owners.subscribe(owner) as watcher:
        why = await _tell(socket, watcher, as_frames)
    if why is not None:
        await socket.close(*CLOSING[why])


async def _tell(
    socket: Socket, watcher: Watcher, pack: Pack, *, excuse: bytes = b""
) -> FeedEnd | None:
    """Why there is nothing more to tell. None: they have gone. `excuse`: what those are told who
    came and could not be told anything."""
    why: FeedEnd | None = None
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_watch_them_go, socket, nursery.cancel_scope)
        try:
            while not isinstance(frame := await watcher.next(pack), FeedEnd):
                await socket.send(frame)
                excuse = b""
            if frame is FeedEnd.UNREADABLE and excuse:
                await socket.send(excuse)
            why = frame
        except SocketClosed:
            pass
        nursery.cancel_scope.cancel()
    return why


async def _watch_them_go(socket: Socket, scope: trio.CancelScope) -> None:
    await socket.until_closed()
    scope.cancel()


def unreadable(chat: ChatId) -> bytes:
    """What a watcher is told who came and could not be told anything."""
    said = ChatError(message="The chat could not be read. Try again.", kind="generic")
    return encoded(ChatStreamEvent(type="error", chat_id=chat, error=said))
