"""The feed of one user's list of chats: the news of their chats, and the log that it is told in.

News of a chat is told together with the chat as a list shows it. That is read once for all news of
it that has come meanwhile, however many watchers there are. There is no beginning and nothing is
told again: a watcher has read the list, and is told what happens from now on.
"""

from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol, assert_never

from actors.law.ids import ChatId, UserId
from actors.law.store.hints import (
    ChatMoved,
    ContextChanged,
    DiffStatusChanged,
    ListChange,
    SummaryChanged,
    TitleChanged,
)
from actors.streams.feeds.log import EventLog, FeedCounts, FeedEnd
from runtime.children import Body
from runtime.log import emit

ListNews = ChatMoved | TitleChanged | SummaryChanged | ContextChanged | DiffStatusChanged
LISTED = (  # news that lists may show
    ChatMoved,
    TitleChanged,
    SummaryChanged,
    ContextChanged,
    DiffStatusChanged,
)
NEWS_MAX = 4_096  # of one owner that wait to be told; more than these are lost, and counted
CHATS_AT_ONCE_MAX = 64  # read in one go; the news of the others waits for the next


class ListEvents(Protocol):
    """The store of lists, as far as their feeds ask it."""

    async def events(self, news: Sequence[tuple[ListChange, ChatId]]) -> Sequence[bytes]:
        """Encode each of these with its chat as a list shows it; leave out chats that are gone."""
        ...


class OwnerFeed:
    """The feed of one owner. Its reader is a task that lives only while there is news to tell."""

    def __init__(
        self,
        owner: UserId,
        listing: ListEvents,
        start: Callable[["OwnerFeed", Body], None],
        counts: FeedCounts,
    ) -> None:
        self.owner = owner
        self.log = EventLog(counts=counts)
        self.ended: FeedEnd | None = None
        self._counts = counts
        self._listing = listing
        self._start = start
        self._news: deque[tuple[ListChange, ChatId]] = deque()
        self._is_reading = False

    def note_news(self, news: ListNews) -> None:
        """Have the news told, if lists show the chat otherwise than before."""
        change = change_of(news)
        if change is not None:
            self.note_change(change, news.chat)

    def note_change(self, became: ListChange, chat: ChatId) -> None:
        """Have it told what became of a chat."""
        if len(self._news) >= NEWS_MAX:
            self._news.popleft()
            self._counts.lost += 1
        self._news.append((became, chat))
        if not self._is_reading and self.ended is None:
            self._is_reading = True
            self._start(self, self._read)

    def end(self, why: FeedEnd) -> None:
        """Tell no more; what is in the log can still be read."""
        self.ended = self.ended or why
        self.log.wake()

    async def _read(self) -> None:
        try:
            while self._news and self.ended is None:
                group = self._take_group()
                try:
                    events = await self._listing.events(group)
                except Exception as error:  # noqa: BLE001  the edge of a unit of work
                    self._counts.lost += len(group)
                    emit("watch.unread", "warning", news=len(group), error=error)
                    continue
                for event in events:
                    self.log.append(event)
        finally:
            self._is_reading = False

    def _take_group(self) -> Sequence[tuple[ListChange, ChatId]]:
        count = min(len(self._news), CHATS_AT_ONCE_MAX)
        return [self._news.popleft() for _ in range(count)]


def change_of(news: ListNews) -> ListChange | None:
    """Return what lists show of the news, or None."""
    match news:
        case ChatMoved(became=became):
            return became
        case TitleChanged():
            return ListChange.TITLE
        case SummaryChanged(became=became):
            return became
        case ContextChanged():
            return ListChange.CONTEXT
        case DiffStatusChanged():
            return ListChange.DIFF
        case _:
            assert_never(news)
