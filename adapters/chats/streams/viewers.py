"""The watchers of chats: those who do not own them may lose access, what owners see is remembered.

A watcher is let in once, and a stream may go on for weeks. So every LOOK_SECONDS one statement asks
which watchers of other people's chats may still read them, and also when a list of readers has just
changed. Owners cost nothing, and where all watchers are owners nothing is asked.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Protocol

import trio

from actors.law.ids import ChatId, UserId, chat_name
from actors.law.store.hints import News, ReadStatusSet
from adapters.access.admission import Admission, VisibleChat
from adapters.http.endpoints import Caller
from adapters.postgres.driver.faults import DatabaseFault
from runtime.ends import Cause
from runtime.log import emit
from runtime.statistics import CounterMetric, GaugeMetric

LOOK_SECONDS = 10.0  # between two looks; a change whose hint was lost is noticed by then
WAITING_MAX = 16_384  # chats whose note waits; one more is noted when it is seen the next time


@dataclass(frozen=True, slots=True)
class AccessRevoked(Cause):
    """The watcher may read the chat no more."""


@dataclass(frozen=True, slots=True, eq=False)
class _Viewer:
    """A watcher of a chat that is not theirs."""

    chat: ChatId
    user: UserId
    end: Callable[[], None]


@dataclass(frozen=True, slots=True)
class SharedViewersStatistics:
    guests: Annotated[int, GaugeMetric("Streams of chats that the watcher does not own.", name="")]
    looks_count: Annotated[
        int, CounterMetric("Times that the rights of such watchers were looked at.")
    ]
    ended_count: Annotated[
        int,
        CounterMetric("Streams that were ended because their watcher may read the chat no more."),
    ]


class SharedViewers:
    """The watchers of chats that are not theirs. `run` it; call `look_soon` from anywhere."""

    def __init__(self, admission: Admission) -> None:
        self._admission = admission
        self._viewers: set[_Viewer] = set()
        self._look_soon = trio.Event()
        self._looks_count = 0
        self._ended_count = 0

    @contextmanager
    def watching(self, chat: VisibleChat, who: Caller, end: Callable[[], None]) -> Iterator[None]:
        """Call `end` if the caller loses access to the chat while the block runs."""
        viewer = self._enter(chat, who, end)
        try:
            yield
        finally:
            self._viewers.discard(viewer)

    async def while_allowed(
        self, chat: VisibleChat, who: Caller, body: AsyncGenerator[bytes, None]
    ) -> AsyncIterator[bytes]:
        """Yield the body as long as the caller may read the chat; then it ends early."""
        over = trio.Event()
        viewer = self._enter(chat, who, over.set)
        try:
            async for piece in body:
                if over.is_set():
                    return
                yield piece
        finally:
            self._viewers.discard(viewer)
            await body.aclose()

    def look_soon(self) -> None:
        """Look at once who may still read: a list of readers has been changed."""
        self._look_soon.set()

    async def run(self) -> None:
        """Look again and again, until cancelled. No fault of the database ends it."""
        while True:
            with trio.move_on_after(LOOK_SECONDS):
                await self._look_soon.wait()
            self._look_soon = trio.Event()
            try:
                await self._look()
            except DatabaseFault:
                continue  # all go on until the next look

    def statistics(self) -> SharedViewersStatistics:
        return SharedViewersStatistics(len(self._viewers), self._looks_count, self._ended_count)

    def _enter(self, chat: VisibleChat, who: Caller, end: Callable[[], None]) -> _Viewer:
        viewer = _Viewer(chat.id, who.id, end)
        if not chat.by_owner:
            self._viewers.add(viewer)
        return viewer

    async def _look(self) -> None:
        watching = {(viewer.chat, viewer.user) for viewer in self._viewers}
        if not watching:
            return
        self._looks_count += 1
        revoked = await self._admission.without_access(watching)
        for viewer in [one for one in self._viewers if (one.chat, one.user) in revoked]:
            self._viewers.discard(viewer)
            self._ended_count += 1
            viewer.end()


class ReadMarks(Protocol):
    """The store of what owners have seen."""

    async def mark_read(self, chat: ChatId) -> None:
        """Note that the chat's owner has seen what models have said so far."""
        ...


@dataclass(eq=False, slots=True)
class _Reading:
    """An open stream of an owner. `is_seen` is false while they keep the chat unread."""

    is_seen: bool


class ReadCursors:
    """Notes of what owners have seen, written behind the streams: no stream waits for them.

    `run` it; the others may be called from anywhere.
    """

    def __init__(self, marks: ReadMarks) -> None:
        self._marks = marks
        self._waiting: dict[ChatId, None] = {}
        self._more = trio.lowlevel.ParkingLot()
        self._readings: dict[ChatId, set[_Reading]] = {}

    @contextmanager
    def reading(self, chat: ChatId, *, is_seen: bool) -> Iterator[None]:
        """Note that the owner sees the chat when the block begins and ends, unless they keep it
        unread."""
        reading = _Reading(is_seen)
        self._readings.setdefault(chat, set()).add(reading)
        try:
            if reading.is_seen:
                self.note_seen(chat)
            yield
        finally:
            if reading.is_seen:
                self.note_seen(chat)
            others = self._readings[chat]
            others.discard(reading)
            if not others:
                del self._readings[chat]

    def note_set(self, news: News) -> None:
        """Tell the open streams of a chat whether its owner has seen it or keeps it unread, as they
        have said at this process or another."""
        if not isinstance(news, ReadStatusSet):
            return
        if not news.is_seen:
            self._waiting.pop(news.chat, None)
        for reading in self._readings.get(news.chat, ()):
            reading.is_seen = news.is_seen

    def note_seen(self, chat: ChatId) -> None:
        """Note that the owner has seen the chat as it is now."""
        if len(self._waiting) < WAITING_MAX:
            self._waiting[chat] = None
            self._more.unpark()

    async def run(self) -> None:
        """Write the notes, until cancelled. One that fails is written the next time."""
        while True:
            while not self._waiting:
                await self._more.park()
            chat = next(iter(self._waiting))
            del self._waiting[chat]
            try:
                await self._marks.mark_read(chat)
            except Exception as error:  # noqa: BLE001  the edge of a unit of work
                emit("read_cursor.missed", "warning", chat=chat_name(chat), error=error)
