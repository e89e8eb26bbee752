"""All feeds of this process: one for each chat that is watched here, as long as it is.

News is handed to the feed that it concerns. Hints may get lost, so every now and then one statement
asks for all watched chats together which of them have moved on.
"""

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Annotated

import trio

from actors.law.ids import ChatId, chat_name
from actors.law.store.hints import AsksChanged, ChatMoved, LookAtEverything, News
from actors.law.store.ports import Applied, Bus
from actors.streams.episodes import Preview, Previews
from actors.streams.feeds.chat_feed import ChatFeed, FeedContext
from actors.streams.feeds.diff import Position
from actors.streams.feeds.log import FeedEnd
from actors.streams.feeds.ports import EncodeEvent, RemoteEpisodes, SnapshotReading
from actors.streams.feeds.subscription import ChatSubscription
from runtime.children import Body, Child, Children, open_children
from runtime.ends import Broken, Crashed, End
from runtime.log import emit
from runtime.restart import Restart
from runtime.statistics import CounterMetric, GaugeMetric

FEEDS_MAX = 65_536  # chats watched here; whoever wants to watch one more is turned away
POLL_SECONDS = 10.0  # between two questions whether watched chats have moved on unheard
POLL_CHATS_MAX = 4_096  # in one question


class FeedsFull(Exception):
    """No more chats can be watched here."""


@dataclass(frozen=True, slots=True)
class FeedsStatistics:
    feeds: Annotated[int, GaugeMetric("Chats that are watched here.", name="")]
    watchers: Annotated[int, GaugeMetric("Streams of chats that are open here.")]
    log_bytes: Annotated[int, GaugeMetric("Bytes of events that some watcher has still to read.")]
    appended_count: Annotated[int, CounterMetric("Events that were put into the logs of feeds.")]
    packed_count: Annotated[int, CounterMetric("Frames that were made of events.")]
    reads_count: Annotated[int, CounterMetric("Times that a chat was read for its watchers.")]
    dropped_count: Annotated[
        int, CounterMetric("Events that were dropped because a watcher was too slow for them.")
    ]
    broken_count: Annotated[int, CounterMetric("Feeds that ended because of an error in them.")]


@dataclass(slots=True)
class _Counts:
    """Of feeds that are over."""

    appended: int = 0
    packed: int = 0
    reads: int = 0
    dropped: int = 0
    broken: int = 0
    started: int = 0  # tasks that read


class ChatFeeds:
    """Made by `open_chat_feeds`."""

    def __init__(
        self,
        reading: SnapshotReading,
        encode: EncodeEvent,
        *,
        previews: Previews,
        elsewhere: RemoteEpisodes | None,
        children: Children,
    ) -> None:
        self._reading = reading
        self._world = FeedContext(reading, encode, previews, self._start, self._break, elsewhere)
        self._children = children
        self._feeds: dict[ChatId, ChatFeed] = {}
        self._unsure = trio.Event()  # set when hints may have been lost
        self._leaving = False
        self._counts = _Counts()

    @contextmanager
    def subscribe(self, chat: ChatId, have: Position) -> Iterator[ChatSubscription]:
        """A watcher, as long as the block runs. FeedsFull if too many chats are watched."""
        feed = self._feeds.get(chat) or self._open(chat)
        watcher = ChatSubscription(feed, have)
        try:
            yield watcher
        finally:
            watcher.close()
            if feed.log.cursors_count == 0:
                self._close(feed)

    @property
    def is_full(self) -> bool:
        return len(self._feeds) >= FEEDS_MAX

    def leave(self) -> None:
        """The process ends: all watchers are told, and whoever comes after them."""
        self._leaving = True
        for feed in self._feeds.values():
            feed.end(FeedEnd.LEAVING)

    def statistics(self) -> FeedsStatistics:
        feeds, over = list(self._feeds.values()), self._counts
        return FeedsStatistics(
            feeds=len(feeds),
            watchers=sum([feed.log.cursors_count for feed in feeds]),
            log_bytes=sum([feed.log.bytes_count for feed in feeds]),
            appended_count=over.appended + sum([feed.log.appended_count for feed in feeds]),
            packed_count=over.packed + sum([feed.log.packed_count for feed in feeds]),
            reads_count=over.reads + sum([feed.reads_count for feed in feeds]),
            dropped_count=over.dropped + sum([feed.log.dropped_count for feed in feeds]),
            broken_count=over.broken,
        )

    # news

    def committed(self, applied: Applied) -> None:
        feed = self._feeds.get(applied.chat.id)
        if feed is not None:
            self._tell(feed, partial(feed.committed, applied))

    def heard(self, news: News) -> None:
        if isinstance(news, LookAtEverything):
            self._unsure.set()
        elif isinstance(news, ChatMoved):
            feed = self._feeds.get(news.chat)
            if feed is not None:
                self._tell(feed, partial(feed.moved, news))
        elif isinstance(news, AsksChanged):
            for chat in {news.chat, news.root_id}:
                feed = self._feeds.get(chat)
                if feed is not None:
                    self._tell(feed, feed.asks_moved)

    def began(self, attempt: Preview) -> None:
        feed = self._feeds.get(attempt.key.chat)
        if feed is not None:
            self._tell(feed, partial(feed.began, attempt))

    def fail(self, error: Exception) -> None:
        """`began` has failed outside any one feed: feeds that missed an attempt would wait for its
        pieces in vain, so all end, and their watchers come again."""
        for feed in tuple(self._feeds.values()):
            self._break(feed, error)

    async def poll(self) -> None:
        """Until cancelled: ask what nobody has told us."""
        while True:
            with trio.move_on_after(POLL_SECONDS):
                await self._unsure.wait()
            is_unsure, self._unsure = self._unsure.is_set(), trio.Event()
            known = {chat: feed.version for chat, feed in self._feeds.items()}
            for group in _groups(known, POLL_CHATS_MAX):
                await self._ask(group, of_asks=is_unsure)

    async def _ask(self, known: Mapping[ChatId, int], *, of_asks: bool) -> None:
        """What chats ask for consent moves no snapshot of their root: only a hint that was lost is
        to be made up for, and the loss of one is told."""
        try:
            moved = await self._reading.moved(known)
            asking = await self._reading.asking(list(known)) if of_asks else ()
        except Exception as error:  # noqa: BLE001  the edge of a unit of work: it is repeated
            emit("feeds.unasked", "warning", chats=len(known), error=error)
            return
        for chat, version in moved.items():
            feed = self._feeds.get(chat)
            if feed is not None:
                self._tell(feed, partial(feed.heard_of, version))
        for chat in known if of_asks else ():
            feed = self._feeds.get(chat)
            if feed is not None and (feed.has_asks or chat in asking):
                self._tell(feed, feed.asks_moved)

    # feeds

    def _open(self, chat: ChatId) -> ChatFeed:
        if self.is_full:
            raise FeedsFull(f"{FEEDS_MAX} chats are watched here already")
        feed = self._feeds[chat] = ChatFeed(chat, self._world)
        if self._leaving:
            feed.end(FeedEnd.LEAVING)
        return feed

    def _close(self, feed: ChatFeed) -> None:
        """Nobody watches it any more; or nobody can, because it broke."""
        feed.end(FeedEnd.LEAVING)
        if self._feeds.get(feed.chat) is feed:
            del self._feeds[feed.chat]
        counts, log = self._counts, feed.log
        counts.appended += log.appended_count
        counts.packed += log.packed_count
        counts.dropped += log.dropped_count
        counts.reads += feed.reads_count

    def _tell(self, feed: ChatFeed, news: Callable[[], None]) -> None:
        """Whoever tells has other things to do than to mend a feed."""
        try:
            news()
        except Exception as error:  # noqa: BLE001  it ends this feed, and nothing else
            self._break(feed, error)

    def _break(self, feed: ChatFeed, error: Exception) -> None:
        emit("feed.broken", "error", chat=chat_name(feed.chat), error=error)
        self._counts.broken += 1
        feed.end(FeedEnd.UNREADABLE)
        if self._feeds.get(feed.chat) is feed:
            del self._feeds[feed.chat]  # who comes next begins with a new one

    def _start(self, feed: ChatFeed, body: Body) -> None:
        def ended(_: str, end: End) -> None:
            if isinstance(end, Crashed | Broken):
                self._break(feed, end.error)

        self._counts.started += 1
        name = f"reading {self._counts.started} of {chat_name(feed.chat)}"
        self._children.start(Child(name=name, body=body, when_ended=ended))


@asynccontextmanager
async def open_chat_feeds(
    reading: SnapshotReading,
    encode: EncodeEvent,
    previews: Previews,
    bus: Bus,
    *,
    elsewhere: RemoteEpisodes | None = None,
) -> AsyncIterator[ChatFeeds]:
    """Feeds that hear what becomes of chats, as long as the block runs."""
    async with open_children("feeds", capacity=FEEDS_MAX + 1) as children:
        feeds = ChatFeeds(
            reading, encode, previews=previews, elsewhere=elsewhere, children=children
        )
        with (
            bus.follow_commits(feeds.committed),
            bus.follow(feeds.heard, ChatMoved, AsksChanged),
            previews.follow(feeds.began, fail=feeds.fail),
        ):
            children.start(Child(name="poll", body=feeds.poll, restart=Restart()))
            try:
                yield feeds
            finally:
                feeds.leave()


def _groups(known: Mapping[ChatId, int], at_most: int) -> Iterator[Mapping[ChatId, int]]:
    items = iter(known.items())
    while group := dict(islice(items, at_most)):
        yield group
