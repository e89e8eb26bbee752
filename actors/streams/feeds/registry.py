"""The feeds of this process: one for each chat, or list of chats, that is watched here.

A feed lives as long as it is watched. One that fails ends, and neither the other feeds nor the task
that told it the news hear of it: its watchers come again and get a new one.

Hints may get lost, so every now and then one statement asks for all watched chats together which of
them have moved on.
"""

from collections.abc import AsyncIterator, Callable, Hashable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Annotated, Generic, Protocol, TypeVar

import trio

from actors.law.ids import ChatId, UserId, chat_name
from actors.law.store.hints import ChatMoved, HintsLost, News, OpenApprovalsChanged, ReadersChanged
from actors.law.store.ports import Applied, Bus
from actors.streams.feeds.chat_feed import ChatFeed, FeedContext
from actors.streams.feeds.diff import Position
from actors.streams.feeds.log import EventLog, FeedCounts, FeedEnd
from actors.streams.feeds.owner_feed import LISTED, ListEvents, OwnerFeed
from actors.streams.feeds.ports import EncodeEvent, RemotePreviews, SnapshotReading
from actors.streams.feeds.shared_news import FindReaders, SharedNews
from actors.streams.feeds.subscription import ChatSubscription, OwnerSubscription
from actors.streams.previews import Preview, Previews
from runtime.children import Body, Child, Children, open_children
from runtime.ends import Broken, Crashed, End
from runtime.log import emit
from runtime.restart import Restart
from runtime.statistics import CounterMetric, GaugeMetric

FEEDS_MAX = 65_536  # chats watched here; a watcher of one more is turned away
READERS_MAX = 65_536  # owners whose lists are read at once; there are fewer watchers than that
POLL_SECONDS = 10.0  # between two questions whether watched chats have moved on unheard
POLL_CHATS_MAX = 4_096  # in one question


class FeedsFull(Exception):
    """No more chats can be watched here."""


class Feed(Protocol):
    """A feed of any kind, as far as a registry has to know it."""

    log: EventLog

    def end(self, why: FeedEnd) -> None: ...


class Subscription(Protocol):
    """A subscription of any kind, as far as a registry has to know it."""

    def close(self) -> None: ...


K = TypeVar("K", bound=Hashable)
F = TypeVar("F", bound=Feed)
W = TypeVar("W", bound=Subscription)


class FeedRegistry(Generic[K, F]):
    """The feeds of one kind that are watched here, and what they have counted together."""

    def __init__(
        self,
        make: Callable[[K], F],
        children: Children,
        *,
        note_broken: Callable[[K, Exception], None],
    ) -> None:
        self._make = make
        self._children = children
        self._note_broken = note_broken
        self._feeds: dict[K, F] = {}
        self._is_leaving = False
        self._readers_count = 0
        self.broken_count = 0

    def __len__(self) -> int:
        return len(self._feeds)

    @property
    def feeds(self) -> Mapping[K, F]:
        return self._feeds

    @property
    def watchers_count(self) -> int:
        return sum([feed.log.cursors_count for feed in self._feeds.values()])

    @contextmanager
    def watch(self, key: K, subscribe: Callable[[F], W]) -> Iterator[W]:
        """Keep the feed of `key`, which `subscribe` reads, as long as the block runs."""
        feed = self._feeds.get(key) or self._open(key)
        watcher = subscribe(feed)
        try:
            yield watcher
        finally:
            watcher.close()
            if feed.log.cursors_count == 0:
                feed.end(FeedEnd.LEAVING)
                self._forget(key, feed)

    def tell(self, key: K, news: Callable[[F], None]) -> None:
        """Tell the feed of `key` the news, if there is one. Its failure is not the teller's."""
        feed = self._feeds.get(key)
        if feed is not None:
            try:
                news(feed)
            except Exception as error:  # noqa: BLE001  it ends this feed, and nothing else
                self.fail(key, feed, error)

    def fail(self, key: K, feed: F, error: Exception) -> None:
        """End a feed because of an error in it; the next watcher begins with a new one."""
        self._note_broken(key, error)
        self.broken_count += 1
        feed.end(FeedEnd.UNREADABLE)
        self._forget(key, feed)

    def start(self, key: K, feed: F, body: Body, *, name: str) -> None:
        """Run `body` for a feed, which ends if `body` fails."""

        def ended(_: str, end: End) -> None:
            if isinstance(end, Crashed | Broken):
                self.fail(key, feed, end.error)

        self._readers_count += 1
        name = f"reading {self._readers_count} of {name}"
        self._children.start(Child(name=name, body=body, when_ended=ended))

    def leave(self) -> None:
        """End all feeds, and those of watchers who come after them: the process ends."""
        self._is_leaving = True
        for feed in self._feeds.values():
            feed.end(FeedEnd.LEAVING)

    def _open(self, key: K) -> F:
        feed = self._feeds[key] = self._make(key)
        if self._is_leaving:
            feed.end(FeedEnd.LEAVING)
        return feed

    def _forget(self, key: K, feed: F) -> None:
        if self._feeds.get(key) is feed:
            del self._feeds[key]


@dataclass(frozen=True, slots=True)
class ChatFeedsStatistics:
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


class ChatFeeds:
    """The feeds of chats. Made by `open_chat_feeds`."""

    def __init__(
        self,
        reading: SnapshotReading,
        encode: EncodeEvent,
        *,
        previews: Previews,
        elsewhere: RemotePreviews | None,
        children: Children,
    ) -> None:
        self._reading = reading
        self._counts = FeedCounts()
        self._context = FeedContext(
            reading, encode, previews, self._start, self._fail, elsewhere, self._counts
        )
        self._registry = FeedRegistry[ChatId, ChatFeed](
            self._make, children, note_broken=_note_broken_chat
        )
        self._is_unsure = trio.Event()  # set when hints may have been lost

    @contextmanager
    def subscribe(self, chat: ChatId, have: Position) -> Iterator[ChatSubscription]:
        """Watch a chat as long as the block runs. FeedsFull if too many chats are watched."""
        with self._registry.watch(chat, lambda feed: ChatSubscription(feed, have)) as watcher:
            yield watcher

    @property
    def is_full(self) -> bool:
        return len(self._registry) >= FEEDS_MAX

    def leave(self) -> None:
        self._registry.leave()

    def statistics(self) -> ChatFeedsStatistics:
        counts = self._counts
        return ChatFeedsStatistics(
            feeds=len(self._registry),
            watchers=self._registry.watchers_count,
            log_bytes=sum([feed.log.bytes_count for feed in self._registry.feeds.values()]),
            appended_count=counts.appended,
            packed_count=counts.packed,
            reads_count=counts.reads,
            dropped_count=counts.dropped,
            broken_count=self._registry.broken_count,
        )

    # news

    def note_commit(self, applied: Applied) -> None:
        self._registry.tell(applied.chat.id, lambda feed: feed.note_commit(applied))

    def note_news(self, news: News) -> None:
        if isinstance(news, HintsLost):
            self._is_unsure.set()
        elif isinstance(news, ChatMoved):
            self._registry.tell(news.chat, lambda feed: feed.note_hint(news))
        elif isinstance(news, OpenApprovalsChanged):
            for chat in {news.chat, news.root_id}:
                self._registry.tell(chat, ChatFeed.note_approvals)

    def note_attempt(self, attempt: Preview) -> None:
        self._registry.tell(attempt.key.chat, lambda feed: feed.note_attempt(attempt))

    def fail(self, error: Exception) -> None:
        """End all feeds: `note_attempt` has failed outside any one of them, and those that missed
        an attempt would wait for its pieces in vain. Their watchers come again."""
        for chat, feed in tuple(self._registry.feeds.items()):
            self._registry.fail(chat, feed, error)

    async def poll(self) -> None:
        """Ask every POLL_SECONDS which chats have moved on unheard, until cancelled."""
        while True:
            with trio.move_on_after(POLL_SECONDS):
                await self._is_unsure.wait()
            is_unsure, self._is_unsure = self._is_unsure.is_set(), trio.Event()
            known = {chat: feed.version for chat, feed in self._registry.feeds.items()}
            for group in _groups(known, POLL_CHATS_MAX):
                await self._ask(group, of_approvals=is_unsure)

    async def _ask(self, known: Mapping[ChatId, int], *, of_approvals: bool) -> None:
        """Ask which of these chats have moved on, and whether their approvals have changed.

        The approvals of a chat move no snapshot of its root. They are asked about only when a hint
        may have been lost, which is told as `HintsLost`.
        """
        try:
            moved = await self._reading.newer_snapshots(known)
            asking = await self._reading.awaiting_consent(list(known)) if of_approvals else ()
        except Exception as error:  # noqa: BLE001  the edge of a unit of work: it is repeated
            emit("feeds.unasked", "warning", chats=len(known), error=error)
            return
        for chat, version in moved.items():
            self._registry.tell(chat, partial(ChatFeed.note_version, snapshot_version=version))
        for chat in known if of_approvals else ():
            feed = self._registry.feeds.get(chat)
            if feed is not None and (feed.has_approvals or chat in asking):
                self._registry.tell(chat, ChatFeed.note_approvals)

    def _make(self, chat: ChatId) -> ChatFeed:
        if self.is_full:
            raise FeedsFull(f"{FEEDS_MAX} chats are watched here already")
        return ChatFeed(chat, self._context)

    def _start(self, feed: ChatFeed, body: Body) -> None:
        self._registry.start(feed.chat, feed, body, name=chat_name(feed.chat))

    def _fail(self, feed: ChatFeed, error: Exception) -> None:
        self._registry.fail(feed.chat, feed, error)


@dataclass(frozen=True, slots=True)
class OwnerFeedsStatistics:
    owners: Annotated[int, GaugeMetric("Users who watch the list of their chats here.", name="")]
    watchers: Annotated[int, GaugeMetric("Streams of users' lists of chats that are open here.")]
    told_count: Annotated[int, CounterMetric("Events that were told to watchers of lists.")]
    lost_count: Annotated[
        int, CounterMetric("News of lists that came too fast or could not be read.")
    ]
    broken_count: Annotated[
        int, CounterMetric("Feeds of lists that ended because of an error in them.")
    ]


class OwnerFeeds:
    """The feeds of users' lists of chats: of their own, and with `find_readers` also of those that
    others share with them. Made by `open_owner_feeds`."""

    def __init__(
        self, listing: ListEvents, children: Children, find_readers: FindReaders | None = None
    ) -> None:
        self._listing = listing
        self._counts = FeedCounts()
        self._registry = FeedRegistry[UserId, OwnerFeed](
            self._make, children, note_broken=_note_broken_list
        )
        self.shared = find_readers and SharedNews(
            find_readers,
            watching=lambda: self._registry.feeds.keys(),
            tell=lambda user, change, chat: self._registry.tell(
                user, lambda feed: feed.note_change(change, chat)
            ),
            counts=self._counts,
        )

    @contextmanager
    def subscribe(self, owner: UserId) -> Iterator[OwnerSubscription]:
        """Watch all chats of this owner as long as the block runs."""
        with self._registry.watch(owner, OwnerSubscription) as watcher:
            yield watcher

    def leave(self) -> None:
        self._registry.leave()

    def statistics(self) -> OwnerFeedsStatistics:
        return OwnerFeedsStatistics(
            owners=len(self._registry),
            watchers=self._registry.watchers_count,
            told_count=self._counts.appended,
            lost_count=self._counts.lost,
            broken_count=self._registry.broken_count,
        )

    def note_news(self, news: News) -> None:
        if isinstance(news, LISTED):
            self._registry.tell(news.owner_id, lambda feed: feed.note_news(news))
        if isinstance(news, (*LISTED, ReadersChanged)) and self.shared is not None:
            self.shared.note(news)

    def _make(self, owner: UserId) -> OwnerFeed:
        return OwnerFeed(owner, self._listing, self._start, self._counts)

    def _start(self, feed: OwnerFeed, body: Body) -> None:
        self._registry.start(feed.owner, feed, body, name=f"list of user/{feed.owner}")


@asynccontextmanager
async def open_chat_feeds(
    reading: SnapshotReading,
    encode: EncodeEvent,
    previews: Previews,
    bus: Bus,
    *,
    elsewhere: RemotePreviews | None = None,
) -> AsyncIterator[ChatFeeds]:
    """Let chats be watched, as long as the block runs."""
    async with open_children("feeds", capacity=FEEDS_MAX + 1) as children:
        feeds = ChatFeeds(
            reading, encode, previews=previews, elsewhere=elsewhere, children=children
        )
        with (
            bus.follow_commits(feeds.note_commit),
            bus.follow(feeds.note_news, ChatMoved, OpenApprovalsChanged),
            previews.follow(feeds.note_attempt, fail=feeds.fail),
        ):
            children.start(Child(name="poll", body=feeds.poll, restart=Restart()))
            try:
                yield feeds
            finally:
                feeds.leave()


@asynccontextmanager
async def open_owner_feeds(
    listing: ListEvents, bus: Bus, find_readers: FindReaders | None = None
) -> AsyncIterator[OwnerFeeds]:
    """Let users' lists of chats be watched, as long as the block runs."""
    passers = 0 if find_readers is None else 1
    async with open_children("owners", capacity=READERS_MAX + passers) as children:
        feeds = OwnerFeeds(listing, children, find_readers)
        if feeds.shared is not None:
            children.start(Child(name="shared news", body=feeds.shared.run, restart=Restart()))
        with bus.follow(feeds.note_news, *LISTED, ReadersChanged):
            try:
                yield feeds
            finally:
                feeds.leave()


def _note_broken_chat(chat: ChatId, error: Exception) -> None:
    emit("feed.broken", "error", chat=chat_name(chat), error=error)


def _note_broken_list(owner: UserId, error: Exception) -> None:
    emit("watch.broken", "error", owner=str(owner), error=error)


def _groups(known: Mapping[ChatId, int], at_most: int) -> Iterator[Mapping[ChatId, int]]:
    items = iter(known.items())
    while group := dict(islice(items, at_most)):
        yield group
