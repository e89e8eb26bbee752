"""Watchers at a WebSocket or an event stream: frames until one side goes.

An event stream has the same events. Signs of life, and the end, are events with names, so that
clients that wait for them can see them:

retry: 1000                                   once, at the beginning
id: 41                                        an event that moves the place to go on from
data: {"type":"message",...}
event: heartbeat                              after 15 seconds without any other
event: end                                    the code and reason of a WebSocket's close
"""

from collections.abc import AsyncGenerator
from contextlib import AbstractContextManager, ExitStack
from typing import Protocol

import trio

from actors.law.ids import ChatId, UserId
from actors.streams.feeds.diff import Position
from actors.streams.feeds.log import FeedEnd, Pack
from actors.streams.feeds.registry import ChatFeeds, FeedsFull, OwnerFeeds
from actors.streams.feeds.subscription import ChatSubscription
from adapters.chats.streams.events import ChatStreamEvent, as_frame, as_frames, as_sse, encode_json
from adapters.chats.wire.messages import ChatError
from adapters.http.endpoints import Socket, SocketClosed

# Close codes of RFC 6455.
NORMAL, GOING_AWAY, POLICY, TRY_LATER = 1000, 1001, 1008, 1013
CLOSING = {
    FeedEnd.GONE: (NORMAL, ""),
    FeedEnd.UNREADABLE: (NORMAL, ""),
    FeedEnd.TOO_SLOW: (POLICY, "fell behind too often"),
    FeedEnd.LEAVING: (GOING_AWAY, "the server is stopping"),
}
BEAT_SECONDS = 15.0  # without anything to tell; then a sign of life
RETRY_MS = 1_000  # how long a browser waits before it opens the stream again

BEAT = b"event: heartbeat\ndata: {}\n\n"


class Watcher(Protocol):
    """A subscription of any kind."""

    async def next(self, pack: Pack) -> bytes | FeedEnd:
        """Wait for events and return them, packed; or the end of the feed."""
        ...


async def serve_socket(socket: Socket, feeds: ChatFeeds, chat: ChatId, position: Position) -> None:
    """Serve a watcher of one chat until the socket is closed, or the client does not read."""
    try:
        with feeds.subscribe(chat, position) as watcher:
            watcher.may_send(as_frame, socket.send_at_once)
            excuse = as_frame([unreadable(chat)])
            why = await _tell(socket, watcher, as_frame, excuse=excuse)
    except FeedsFull as full:
        await socket.close(TRY_LATER, str(full))
        return
    if why is not None:
        await socket.close(*CLOSING[why])


async def serve_owner(socket: Socket, owners: OwnerFeeds, owner: UserId) -> None:
    """Serve a watcher of a list until the socket is closed, or the client does not read."""
    with owners.subscribe(owner) as watcher:
        why = await _tell(socket, watcher, as_frames)
    if why is not None:
        await socket.close(*CLOSING[why])


async def _tell(
    socket: Socket, watcher: Watcher, pack: Pack, *, excuse: bytes = b""
) -> FeedEnd | None:
    """Send frames, and return why there are no more. None: the client has gone. `excuse` is sent if
    the chat could not be read before the first frame."""
    why: FeedEnd | None = None
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_cancel_when_closed, socket, nursery.cancel_scope)
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


async def _cancel_when_closed(socket: Socket, scope: trio.CancelScope) -> None:
    await socket.until_closed()
    scope.cancel()


def unreadable(chat: ChatId) -> bytes:
    """Return the event for a watcher who could not be told anything."""
    error = ChatError(message="The chat could not be read. Try again.", kind="generic")
    return encode_json(ChatStreamEvent(type="error", chat_id=chat, error=error))


class EventStream(AsyncGenerator[bytes, None]):
    """The body of a response.

    `reading` is entered when the first piece is asked for, and left when the stream ends.
    """

    def __init__(
        self,
        feeds: ChatFeeds,
        chat: ChatId,
        position: Position,
        *,
        reading: AbstractContextManager[None],
    ) -> None:
        self._feeds = feeds
        self._chat = chat
        self._position = position
        self._reading = reading
        self._held = ExitStack()
        self._watcher: ChatSubscription | None = None
        self._has_told = False
        self._has_ended = False

    async def asend(self, _: None) -> bytes:
        if self._has_ended:
            await self.aclose()
            raise StopAsyncIteration
        if self._watcher is None:
            self._watcher = self._held.enter_context(
                self._feeds.subscribe(self._chat, self._position)
            )
            self._held.enter_context(self._reading)
            return b"retry: %d\n\n" % RETRY_MS
        frame: bytes | FeedEnd = BEAT
        with trio.move_on_after(BEAT_SECONDS):
            frame = await self._watcher.next(as_sse)
        if isinstance(frame, FeedEnd):
            return self._end(frame)
        self._has_told = self._has_told or frame is not BEAT
        return frame

    async def athrow(self, *_: object) -> bytes:
        await self.aclose()
        raise StopAsyncIteration

    async def aclose(self) -> None:
        self._has_ended = True
        self._held.close()

    def _end(self, why: FeedEnd) -> bytes:
        self._has_ended = True
        is_untold = why is FeedEnd.UNREADABLE and not self._has_told
        excuse = as_sse([unreadable(self._chat)]) if is_untold else b""
        code, reason = CLOSING[why]
        closing = b'{"code":%d,"reason":"%s"}' % (code, reason.encode())
        return excuse + b"event: end\ndata: " + closing + b"\n\n"
