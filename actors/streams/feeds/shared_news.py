"""News of shared chats for their readers who watch their lists here.

Readers are also told when a chat is shared with them and when it is not any more. The database is
asked once who may read the chats of all news that has come meanwhile, and only while a socket of a
user who wants news of shared chats is open here.
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
        """Have the news told to the readers of the chat, and to a user who is not one any more."""
        if not _concerned(news, self._watching()):
            return
        if len(self._news) >= NEWS_MAX:
            self._news.popleft()
            self._counts.lost += 1
        self._news.append(news)
        self._more.unpark()

    async def run(self) -> None:
        """Pass news on until cancelled. If the store does not answer, news is lost and counted."""
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
    """Return whether the news may be for a user who watches."""
    if isinstance(news, ReadersChanged) and news.user is not None:
        return news.user in watching
    return bool(watching)


def _told(
    news: ListNews | ReadersChanged, readers: Collection[UserId], watching: Collection[UserId]
) -> Iterator[tuple[UserId, ListChange]]:
    """Yield each user who is told, with the change that they are told."""
    if isinstance(news, ReadersChanged):
        named = watching if news.user is None else {news.user}.intersection(watching)
        for user in named:
            if user != news.owner_id:
                yield user, ListChange.SHARED if user in readers else ListChange.UNSHARED
        return
    change = change_of(news)
    if change is not None:
        yield from ((user, change) for user in readers)
