"""News of chats for those with whom they are shared, and who watch their lists here; and that a
chat is shared with them, or is no more.

The database is asked once who may read the chats of all news that has come meanwhile, and only if
a socket of such a reader is open here.
"""

from collections import deque
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping

import trio

from actors.law.ids import ChatId, UserId
from actors.law.store.hints import ListChange, ReadersChanged
from actors.streams.feeds.log import FeedCounts
from actors.streams.feeds.owner_feed import CHATS_AT_ONCE_MAX, ListNews, change_of
from runtime.log import emit

NEWS_MAX = 4_096  # of all chats that wait for that question; more than these are lost, and counted

FindReaders = Callable[
    [Collection[ChatId], Collection[UserId]],
    Awaitable[Mapping[ChatId, Collection[UserId]]],
]
"""Returns those of these users with whom each of these chats is shared; never its owner."""


class SharedNews:
    """Passes news on to the readers of a chat. `run` it; `note` may be called from anywhere."""

    def __init__(
        self,
        find_readers: FindReaders,
        *,
        watching: Callable[[], Collection[UserId]],
        tell: Callable[[UserId, ListChange, ChatId], None],
        counts: FeedCounts,
    ) -> None:
        self._find_readers = find_readers
        self._watching = watching
        self._tell = tell
        self._counts = counts
        self._news: deque[ListNews | ReadersChanged] = deque()
        self._more = trio.lowlevel.ParkingLot()

    def note(self, news: ListNews | ReadersChanged) -> None:
        """Have the news told to those who may read the chat, or may read it no more."""
        if not _concerned(news, self._watching()):
            return
        if len(self._news) >= NEWS_MAX:
            self._news.popleft()
            self._counts.lost += 1
        self._news.append(news)
        self._more.unpark()

    async def run(self) -> None:
        """Pass news on until cancelled. What the store does not answer for is lost, and counted."""
        while True:
            while not self._news:
                await self._more.park()
            count = min(len(self._news), CHATS_AT_ONCE_MAX)
            group = [self._news.popleft() for _ in range(count)]
            try:
                chats, watching = {news.chat for news in group}, set(self._watching())
                readers = await self._find_readers(chats, watching)
            except Exception as error:  # noqa: BLE001  the edge of a unit of work
                self._counts.lost += len(group)
                emit("watch.unread", "warning", news=len(group), error=error)
                continue
            for news in group:
                for user, change in _told(news, readers.get(news.chat, ()), watching):
                    self._tell(user, change, news.chat)


def _concerned(news: ListNews | ReadersChanged, watching: Collection[UserId]) -> bool:
    """Return whether any of those who watch could have to be told."""
    if isinstance(news, ReadersChanged) and news.user is not None:
        return news.user in watching
    return bool(watching)


def _told(
    news: ListNews | ReadersChanged, readers: Collection[UserId], watching: Collection[UserId]
) -> Iterator[tuple[UserId, ListChange]]:
    """Yield who is told what."""
    if isinstance(news, ReadersChanged):
        named = watching if news.user is None else {news.user}.intersection(watching)
        for user in named:
            if user != news.owner_id:
                yield user, ListChange.SHARED if user in readers else ListChange.UNSHARED
        return
    change = change_of(news)
    if change is not None:
        yield from ((user, change) for user in readers)
