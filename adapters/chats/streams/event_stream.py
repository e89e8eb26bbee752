"""A watcher at an event stream: the same events as server-sent events. Signs of life, and the end,
are events with names, so that whoever waits for them can see them.

retry: 1000                                   once, at the beginning
id: 41                                        an event that moves the place to go on from
data: {"type":"message",...}
event: heartbeat                              after 15 seconds without any other
event: end                                    the code and reason of a WebSocket's close
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import ExitStack

import trio

from actors.law.ids import ChatId
from actors.streams.feeds.diff import Position
from actors.streams.feeds.log import FeedEnd
from actors.streams.feeds.registry import ChatFeeds
from actors.streams.feeds.subscription import ChatSubscription
from adapters.chats.streams.packing import as_sse
from adapters.chats.streams.serving import CLOSING, unreadable

BEAT_SECONDS = 15.0  # without anything to tell; then a sign of life
RETRY_MS = 1_000  # how long a browser waits before it opens the stream again

BEAT = b"event: heartbeat\ndata: {}\n\n"


class EventStream(AsyncGenerator[bytes, None]):
    """The body of an answer. `seen` is called when the watcher comes, and when he goes; nobody
    comes before the first piece is asked for."""

    def __init__(
        self, feeds: ChatFeeds, chat: ChatId, have: Position, *, seen: Callable[[], None]
    ) -> None:
        self._feeds = feeds
        self._chat = chat
        self._have = have
        self._seen = seen
        self._held = ExitStack()
        self._watcher: ChatSubscription | None = None
        self._told = False
        self._ended = False

    async def asend(self, _: None) -> bytes:
        if self._ended:
            await self.aclose()
            raise StopAsyncIteration
        if self._watcher is None:
            self._watcher = self._held.enter_context(self._feeds.subscribe(self._chat, self._have))
            self._held.callback(self._seen)
            self._seen()
            return b"retry: %d\n\n" % RETRY_MS
        frame: bytes | FeedEnd = BEAT
        with trio.move_on_after(BEAT_SECONDS):
            frame = await self._watcher.next(as_sse)
        if isinstance(frame, FeedEnd):
            return self._end(frame)
        self._told = self._told or frame is not BEAT
        return frame

    async def athrow(self, *_: object) -> bytes:
        await self.aclose()
        raise StopAsyncIteration

    async def aclose(self) -> None:
        self._ended = True
        self._held.close()

    def _end(self, why: FeedEnd) -> bytes:
        self._ended = True
        untold = why is FeedEnd.UNREADABLE and not self._told
        excuse = as_sse([unreadable(self._chat)]) if untold else b""
        code, reason = CLOSING[why]
        said = b'{"code":%d,"reason":"%s"}' % (code, reason.encode())
        return excuse + b"event: end\ndata: " + said + b"\n\n"
