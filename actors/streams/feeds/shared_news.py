"""News of chats for those with whom they are shared, and who watch their lists here.

The database is asked once who may read the chats of all news that has come meanwhile, and only if
a socket of such a reader is open here.
"""

from collections import deque
from collections.abc import Awaitable, Callable, Collection, Mapping

import trio

from actors.law.ids import ChatId, UserId
from actors.law.store.hints import ChatMoved, ContextChanged, SummaryChanged, TitleChanged
from actors.streams.feeds.log import FeedCounts
from actors.streams.feeds.owner_feed import CHATS_AT_ONCE_MAX
from runtime.log import emit

NEWS_MAX = 4_096  # of all chats that wait for that question; more than these are lost, and counted

ListNews = ChatMoved | TitleChanged | SummaryChanged | ContextChanged

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
        tell: Callable[[UserId, ListNews], None],
        counts: FeedCounts,
    ) -> None:
        self._find_readers = find_readers
        self._watching = watching
        self._tell = tell
        self._counts = counts
        self._news: deque[ListNews] = deque()
        self._more = trio.lowlevel.ParkingLot()

    def note(self, news: ListNews) -> None:
        """Have the news told to those who may read the chat."""
        if not self._watching():
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
                chats = {news.chat for news in group}
                readers = await self._find_readers(chats, self._watching())
            except Exception as error:  # noqa: BLE001  the edge of a unit of work
                self._counts.lost += len(group)
                emit("watch.unread", "warning", news=len(group), error=error)
                continue
            for news in group:
                for user in readers.get(news.chat, ()):
                    self._tell(user, news)
