"""Inboxes as they are watched: one reading for all watchers of a user, whenever there may be news.

A hint says only that a chat of the user has changed, or that something was filed; what is new is
read. Nothing is read for users whom no socket of this process watches. A watcher is told of notices
that came after it, each once, in the order in which they came.
"""

from collections import deque
from collections.abc import Collection, Iterator, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Annotated, NoReturn, Protocol
from uuid import UUID

import trio

from actors.law.ids import UserId
from actors.law.store.hints import (
    ChatMoved,
    HintsLost,
    InboxChanged,
    ListChange,
    News,
    ReadersChanged,
)
from actors.law.store.ports import Bus
from adapters.chats.notices.wording import NoticeRow
from runtime.log import emit
from runtime.statistics import CounterMetric, GaugeMetric

WATCHERS_MAX = 16_384  # of this process; one more is turned away
UNSENT_MAX = 10  # notices that wait for a slow client; then the oldest is dropped, and counted
LOOK_SECONDS = 30.0  # between two readings for the case that a hint was lost
RETRY_SECONDS = 1.0  # when the database does not answer
NEWSWORTHY = (ListChange.STATUS, ListChange.ACTION, ListChange.CREATED)


class InboxReading(Protocol):
    """The store of inboxes, as far as watchers need it."""

    async def news(self, user: UserId) -> tuple[Sequence[NoticeRow], int]:
        """Return what came lately, the newest first, and how many the user has not read."""
        ...


class WatchersFull(Exception):
    """No more inboxes can be watched here."""


@dataclass(eq=False, slots=True)
class InboxWatcher:
    """A watcher of an inbox: notices that wait for it, each with the number of unread ones.

    `told` are those of the last reading; watchers that came at other moments know of others.
    """

    told: Set[UUID]
    unsent: deque[tuple[NoticeRow, int]] = field(default_factory=deque)
    has_ended: bool = False
    more: trio.Event = field(default_factory=trio.Event)

    async def next(self) -> tuple[NoticeRow, int] | None:
        """Wait for a notice and return it, or None at the end."""
        while not self.unsent:
            if self.has_ended:
                return None
            self.more = trio.Event()
            await self.more.wait()
        return self.unsent.popleft()

    def wake(self) -> None:
        self.more.set()


@dataclass(frozen=True, slots=True)
class InboxFeedsStatistics:
    users: Annotated[int, GaugeMetric("Users whose inbox is watched here.")]
    watchers: Annotated[int, GaugeMetric("Streams of inboxes that are open here.")]
    readings_count: Annotated[int, CounterMetric("Times that a watched inbox was read.")]
    told_count: Annotated[int, CounterMetric("Notices that were told to watchers.")]
    dropped_count: Annotated[int, CounterMetric("Notices that a watcher was too slow for.")]


class InboxFeeds:
    """The inboxes that are watched here. `run` it; call the others from anywhere."""

    def __init__(self, reading: InboxReading) -> None:
        self._reading = reading
        self._inboxes: dict[UserId, set[InboxWatcher]] = {}  # those that are watched
        self._doubted: dict[UserId, None] = {}
        self._more = trio.Event()
        self._watchers_count = 0
        self._readings_count = 0
        self._told_count = 0
        self._dropped_count = 0

    @contextmanager
    def follow(self, bus: Bus) -> Iterator[None]:
        """Hear of news for the length of the block."""
        with bus.follow(self.note_news, ChatMoved, ReadersChanged, InboxChanged):
            yield

    @contextmanager
    def watching(self, user: UserId, known: Collection[UUID]) -> Iterator[InboxWatcher]:
        """Watch the inbox of a user. They are told of what came after the `known` notices."""
        if self._watchers_count >= WATCHERS_MAX:
            raise WatchersFull(f"{WATCHERS_MAX} inboxes are watched here already")
        watcher = InboxWatcher(frozenset(known))
        inbox = self._inboxes.setdefault(user, set())
        inbox.add(watcher)
        self._watchers_count += 1
        self._doubt(user)
        try:
            yield watcher
        finally:
            self._watchers_count -= 1
            inbox.discard(watcher)
            if not inbox and self._inboxes.get(user) is inbox:
                del self._inboxes[user]

    def note_news(self, news: News) -> None:
        """Read the inbox of the user whom the news may be for, if it is watched here."""
        match news:
            case ChatMoved(owner_id=user, became=became) if became in NEWSWORTHY:
                self._doubt(user)
            case ReadersChanged(user=UUID() as user):
                self._doubt(UserId(user))
            case InboxChanged(user=user):
                self._doubt(user)
            case HintsLost():
                self._doubt_all()
            case _:
                pass

    def leave(self) -> None:
        """End all watchers: the process stops."""
        for watcher in [one for inbox in self._inboxes.values() for one in inbox]:
            watcher.has_ended = True
            watcher.wake()

    async def run(self) -> NoReturn:
        """Read inboxes of which there may be news, until cancelled."""
        while True:
            with trio.move_on_after(LOOK_SECONDS):
                await self._more.wait()
            self._more = trio.Event()
            if not self._doubted:
                self._doubt_all()
            while self._doubted:
                user = next(iter(self._doubted))
                del self._doubted[user]
                await self._read(user)

    def statistics(self) -> InboxFeedsStatistics:
        return InboxFeedsStatistics(
            len(self._inboxes),
            self._watchers_count,
            self._readings_count,
            self._told_count,
            self._dropped_count,
        )

    async def _read(self, user: UserId) -> None:
        inbox = self._inboxes.get(user)
        if inbox is None:
            return
        present = list(inbox)
        self._readings_count += 1
        try:
            rows, unread = await self._reading.news(user)
        except Exception as error:  # noqa: BLE001  the edge of a unit of work: it is repeated
            emit("inbox.unread", "warning", user=str(user), error=error)
            self._doubt(user)
            await trio.sleep(RETRY_SECONDS)
            return
        known = frozenset(row.id for row in rows)
        for watcher in present:
            for row in reversed(rows):
                if row.id not in watcher.told:
                    self._tell(watcher, row, unread)
            watcher.told = known

    def _tell(self, watcher: InboxWatcher, row: NoticeRow, unread: int) -> None:
        if len(watcher.unsent) >= UNSENT_MAX:
            watcher.unsent.popleft()
            self._dropped_count += 1
        watcher.unsent.append((row, unread))
        self._told_count += 1
        watcher.wake()

    def _doubt(self, user: UserId) -> None:
        if user in self._inboxes:
            self._doubted[user] = None
            self._more.set()

    def _doubt_all(self) -> None:
        for user in self._inboxes:
            self._doubt(user)
