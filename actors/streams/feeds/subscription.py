"""The subscriptions of watchers: a cursor into the log of a feed, and what comes before it."""

from collections.abc import Iterator

import trio

from actors.streams.feeds.chat_feed import ChatFeed
from actors.streams.feeds.diff import Position
from actors.streams.feeds.log import FeedEnd, Pack, SendAtOnce
from actors.streams.feeds.owner_feed import OwnerFeed

NOTHING = Position()
LOST_MAX = 3  # how often a watcher may fall behind all that is kept; then they are let go
FRAMES_IN_A_ROW_MAX = 8  # without waiting; then other tasks run


class ChatSubscription:
    """A watcher of one chat: `next` gives frames until it says why there is no more.

    One task at a time.
    """

    def __init__(self, feed: ChatFeed, have: Position) -> None:
        self._feed = feed
        self._have: Position | None = have  # until it is known where the watcher begins
        self._cursor = feed.log.open_cursor()
        self._frames: Iterator[bytes] = iter(())  # of the beginning, that are still to come
        self._lost_count = 0
        self._in_a_row = 0

    def may_send(self, pack: Pack, at_once: SendAtOnce) -> None:
        """Let frames be sent by `at_once`, instead of coming out of `next`, while `next` waits."""
        self._cursor.pack, self._cursor.at_once = pack, at_once

    async def next(self, pack: Pack) -> bytes | FeedEnd:
        """Return the next frame, as soon as there is something to tell. An empty one stands for the
        rest of one that has gone in part. If it is cancelled, it has told nothing."""
        feed, cursor = self._feed, self._cursor
        self._in_a_row += 1
        if self._in_a_row > FRAMES_IN_A_ROW_MAX:  # a fast watcher does not hold up the others
            self._in_a_row = 0
            await trio.lowlevel.checkpoint()
        while True:
            if cursor.is_midway:
                cursor.is_midway = False
                return b""
            if self._have is not None:
                await self._begin(self._have, pack)
            frame = next(self._frames, None)
            if frame is not None:
                return frame
            if feed.log.is_lost(cursor):
                self._lost_count += 1
                if self._lost_count == LOST_MAX:
                    return FeedEnd.TOO_SLOW
                self._have = NOTHING
                continue
            frame = feed.log.take(cursor, pack)
            if frame is not None:
                return frame
            if feed.ended is not None:
                return feed.ended
            self._in_a_row = 0
            await feed.log.wait_for_more(cursor)

    def close(self) -> None:
        self._feed.log.close_cursor(self._cursor)

    async def _begin(self, have: Position, pack: Pack) -> None:
        beginning = await self._feed.join(self._cursor, have)
        self._have = None
        if beginning is not None:  # otherwise the feed has ended
            self._frames = beginning.frames(pack)


class OwnerSubscription:
    """A watcher of a user's list of chats: `next` gives frames until it says why there is no more.

    One task at a time. A list has no beginning: the watcher has read it by another way.
    """

    def __init__(self, feed: OwnerFeed) -> None:
        self._feed = feed
        self._cursor = feed.log.open_cursor()

    async def next(self, pack: Pack) -> bytes | FeedEnd:
        log = self._feed.log
        while True:
            if log.is_lost(self._cursor):
                return FeedEnd.TOO_SLOW
            frame = log.take(self._cursor, pack)
            if frame is not None:
                return frame
            if self._feed.ended is not None:
                return self._feed.ended
            await log.wait_for_more(self._cursor)

    def close(self) -> None:
        self._feed.log.close_cursor(self._cursor)
