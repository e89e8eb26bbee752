"""Who watches all his chats: one feed for each owner who does here, and cursors into its log.

News of a chat is told together with the chat as a list shows it, which is read once for all that
has become of it meanwhile, however many watch. There is no beginning and nothing is told again: a
watcher has read the list, and is told what happens from now on.
"""

from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Annotated, Protocol

from actors.law.ids import ChatId, UserId
from actors.law.store.hints import (
    Became,
    ChatMoved,
    ContextChanged,
    News,
    SummaryChanged,
    TitleChanged,
)
from actors.law.store.ports import Bus
from actors.streams.feeds.log import Cursor, FeedEnd, Log, Pack
from runtime.children import Body, Child, Children, open_children
from runtime.ends import Broken, Crashed, End
from runtime.log import emit
from runtime.statistics import CounterMetric, GaugeMetric

LISTED = (ChatMoved, TitleChanged, SummaryChanged, ContextChanged)  # news that lists may show
NEWS_MAX = 4_096  # of one owner that wait to be told; more than these are lost, and counted
CHATS_AT_ONCE_MAX = 64  # read in one go; the news of the others waits for the next
READERS_MAX = 65_536  # owners for whom something is read at once; more cannot be watching


class ListEvents(Protocol):
    async def events(self, news: Sequence[tuple[Became, ChatId]]) -> Sequence[bytes]:
        """Each of these, encoded with its chat as it is in a list; what is gone is left out."""
        ...


@dataclass(frozen=True, slots=True)
class OwnersStatistics:
    owners: Annotated[int, GaugeMetric("Users who watch the list of their chats here.", name="")]
    watchers: Annotated[int, GaugeMetric("Streams of users' lists of chats that are open here.")]
    told_count: Annotated[int, CounterMetric("Events that were told to watchers of lists.")]
    lost_count: Annotated[
        int, CounterMetric("News of lists that came too fast or could not be read.")
    ]
    broken_count: Annotated[
        int, CounterMetric("Feeds of lists that ended because of an error in them.")
    ]


class OwnerFeed:
    def __init__(
        self, owner: UserId, listing: ListEvents, start: Callable[["OwnerFeed", Body], None]
    ) -> None:
        self.owner = owner
        self.log = Log()
        self.ended: FeedEnd | None = None
        self.lost_count = 0
        self._listing = listing
        self._start = start
        self._news: deque[tuple[Became, ChatId]] = deque()
        self._reading = False

    def heard(self, news: News) -> None:
        match news:
            case ChatMoved(chat=chat, became=became) if became is not None:
                self._put(became, chat)
            case TitleChanged(chat=chat):
                self._put(Became.TITLE, chat)
            case SummaryChanged(chat=chat):
                self._put(news.became, chat)
            case ContextChanged(chat=chat):
                self._put(Became.CONTEXT, chat)
            case _:
                pass  # lists show it as before

    def end(self, why: FeedEnd) -> None:
        self.ended = self.ended or why
        self.log.wake()

    def _put(self, became: Became, chat: ChatId) -> None:
        if len(self._news) >= NEWS_MAX:
            self._news.popleft()
            self.lost_count += 1
        self._news.append((became, chat))
        if not self._reading and self.ended is None:
            self._reading = True
            self._start(self, self._read)

    async def _read(self) -> None:
        try:
            while self._news and self.ended is None:
                group = self._next_group()
                try:
                    events = await self._listing.events(group)
                except Exception as error:  # noqa: BLE001  the edge of a unit of work
                    self.lost_count += len(group)
                    emit("watch.unread", "warning", news=len(group), error=error)
                    continue
                for event in events:
                    self.log.append(event)
        finally:
            self._reading = False

    def _next_group(self) -> Sequence[tuple[Became, ChatId]]:
        count = min(len(self._news), CHATS_AT_ONCE_MAX)
        return [self._news.popleft() for _ in range(count)]


class OwnerSubscription:
    """`next` until it says why there is no more. One task at a time."""

    def __init__(self, feed: OwnerFeed) -> None:
        self._feed = feed
        self.cursor: Cursor = feed.log.open_cursor()

    async def next(self, pack: Pack) -> bytes | FeedEnd:
        log = self._feed.log
        while True:
            if log.is_lost(self.cursor):
                return FeedEnd.TOO_SLOW
            frame = log.take(self.cursor, pack)
            if frame is not None:
                return frame
            if self._feed.ended is not None:
                return self._feed.ended
            await log.more(self.cursor)


class OwnerFeeds:
    """Made by `open_owner_feeds`."""

    def __init__(self, listing: ListEvents, bus: Bus, children: Children) -> None:
        self._listing = listing
        self._bus = bus
        self._children = children
        self._feeds: dict[UserId, OwnerFeed] = {}
        self._leaving = False
        self._started_count = self._told_count = self._lost_count = self._broken_count = 0

    @contextmanager
    def subscribe(self, owner: UserId) -> Iterator[OwnerSubscription]:
        """A watcher of all chats of this owner, as long as the block runs."""
        feed = self._feeds.get(owner)
        if feed is None:
            feed = self._feeds[owner] = OwnerFeed(owner, self._listing, self._start)
        if self._leaving:
            feed.end(FeedEnd.LEAVING)
        watcher = OwnerSubscription(feed)
        try:
            yield watcher
        finally:
            feed.log.close_cursor(watcher.cursor)
            if feed.log.cursors_count == 0:
                self._close(feed)

    def heard(self, news: News) -> None:
        if isinstance(news, LISTED):
            feed = self._feeds.get(news.owner_id)
            if feed is not None:
                self._tell(feed, news)

    def leave(self) -> None:
        """The process ends: all watchers are told, and whoever comes after them."""
        self._leaving = True
        for feed in self._feeds.values():
            feed.end(FeedEnd.LEAVING)

    def statistics(self) -> OwnersStatistics:
        feeds: Mapping[UserId, OwnerFeed] = self._feeds
        return OwnersStatistics(
            owners=len(feeds),
            watchers=sum([feed.log.cursors_count for feed in feeds.values()]),
            told_count=self._told_count + sum([f.log.appended_count for f in feeds.values()]),
            lost_count=self._lost_count + sum([feed.lost_count for feed in feeds.values()]),
            broken_count=self._broken_count,
        )

    def _tell(self, feed: OwnerFeed, news: News) -> None:
        """In the task of who tells, which has other things to do than to mend a feed."""
        try:
            feed.heard(news)
        except Exception as error:  # noqa: BLE001  it ends this feed, and nothing else
            self._break(feed, error)

    def _break(self, feed: OwnerFeed, error: Exception) -> None:
        emit("watch.broken", "error", owner=str(feed.owner), error=error)
        self._broken_count += 1
        feed.end(FeedEnd.UNREADABLE)
        if self._feeds.get(feed.owner) is feed:
            del self._feeds[feed.owner]  # who comes next begins with a new one

    def _close(self, feed: OwnerFeed) -> None:
        feed.end(FeedEnd.LEAVING)
        if self._feeds.get(feed.owner) is feed:
            del self._feeds[feed.owner]
        self._told_count += feed.log.appended_count
        self._lost_count += feed.lost_count

    def _start(self, feed: OwnerFeed, body: Body) -> None:
        def ended(_: str, end: End) -> None:
            if isinstance(end, Crashed | Broken):
                self._break(feed, end.error)

        self._started_count += 1
        name = f"listing {self._started_count}"
        self._children.start(Child(name=name, body=body, when_ended=ended))


@asynccontextmanager
async def open_owner_feeds(listing: ListEvents, bus: Bus) -> AsyncIterator[OwnerFeeds]:
    """Feeds of owners, as long as the block runs."""
    async with open_children("owners", capacity=READERS_MAX) as children:
        owners = OwnerFeeds(listing, bus, children)
        with bus.follow(owners.heard, *LISTED):
            try:
                yield owners
            finally:
                owners.leave()
