"""The log of a feed: encoded events in order, and cursors into it. Nothing is kept per watcher.

Whoever has read everything waits at the end; when all do, the log is emptied. One that is slow
reads more at once when it comes back. What many are about to read alike is packed once: the last
few frames are kept. Who waits need not even be woken for a piece of an answer, if it can be sent
without waiting: that is a third of what a piece costs.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto

import trio
from trio.lowlevel import (
    Abort,
    RaiseCancelT,
    Task,
    current_task,
    reschedule,
    wait_task_rescheduled,
)

from actors.streams.feeds.diff import Position
from actors.streams.feeds.ports import PieceLog

FRAME_EVENTS_MAX = 256  # in one frame; what is over goes into the next
FRAME_BYTES_MAX = (
    4 * 1024 * 1024 - 1024
)  # likewise: what clients read at once, with room for a head
# Of events that somebody has still to read. Beyond it the older half is dropped: whoever has not
# read it is lost, and begins anew with what the chat is now.
LOG_EVENTS_MAX = 16_384
LOG_BYTES_MAX = 8 * 1024 * 1024
FRAMES_KEPT = 4  # of packed frames; the oldest is dropped
AT_ONCE_MAX = 64  # readers who are sent something in one go; if more wait, they are woken instead

Pack = Callable[[Sequence[bytes]], bytes]
# Sends a frame without waiting: how many of its bytes have gone. None of them: not now. Some of
# them: the rest goes before whatever is sent next, even if that is nothing.
AtOnce = Callable[[bytes], int]


class FeedEnd(Enum):
    """Why no more is told."""

    GONE = auto()  # there is no such chat any more
    UNREADABLE = auto()  # the store does not say what it holds
    TOO_SLOW = auto()  # this watcher fell behind too often
    LEAVING = auto()  # the process ends: watch elsewhere


@dataclass(eq=False, slots=True)
class Cursor:
    """A reader's place: what stands before `position` he has read, or never wanted."""

    position: int
    pack: Pack | None = None  # these two: he may be sent frames while he waits
    at_once: AtOnce | None = None
    is_midway: bool = False  # of a frame that was sent so, the rest is still to go


@dataclass(eq=False, slots=True)
class Log:
    events: list[bytes] = field(default_factory=list)
    start: int = 0  # the position of the first of them
    bytes_count: int = 0
    appended_count: int = 0
    packed_count: int = 0
    dropped_count: int = 0  # events that somebody has not read
    _cursors: set[Cursor] = field(default_factory=set)
    # Those who wait at the end. Not a ParkingLot, which costs twice as much for every event.
    _readers: dict[Task, Cursor] = field(default_factory=dict)
    _frames: dict[tuple[int, int, Pack], bytes] = field(default_factory=dict)

    @property
    def end(self) -> int:
        return self.start + len(self.events)

    @property
    def cursors_count(self) -> int:
        return len(self._cursors)

    def open_cursor(self) -> Cursor:
        """One who reads what is appended from now on."""
        cursor = Cursor(self.end)
        self._cursors.add(cursor)
        return cursor

    def close_cursor(self, cursor: Cursor) -> None:
        self._cursors.discard(cursor)
        self._empty_if_read()

    def append(self, event: bytes) -> None:
        """Others may follow: what is appended in one go is read in one go."""
        self._add(event)
        if self._readers:
            self.wake()

    def say(self, event: bytes) -> None:
        """Append it; nothing follows soon. Who waits has it now, if that is possible."""
        self._add(event)
        if not self._readers:
            return
        if len(self._readers) > AT_ONCE_MAX:
            return self.wake()
        if late := [task for task, cursor in self._readers.items() if not self._sent(cursor)]:
            for task in late:
                del self._readers[task]
                reschedule(task)
        self._empty_if_read()

    def _sent(self, cursor: Cursor) -> bool:
        """Whether somebody who waits for it has all that there is."""
        if cursor.pack is None or cursor.at_once is None or self.is_lost(cursor):
            return False
        before = cursor.position
        frame = self.take(cursor, cursor.pack)
        assert frame is not None, "who waits at the end has not read what is added"
        taken = cursor.at_once(frame)
        if taken == len(frame):
            return True
        if taken == 0:
            cursor.position = before
        else:
            cursor.is_midway = True
        return False

    def _add(self, event: bytes) -> None:
        if not self._cursors:
            self.start += 1  # nobody is owed it
            return
        self.events.append(event)
        self.bytes_count += len(event)
        self.appended_count += 1
        if self.bytes_count > LOG_BYTES_MAX or len(self.events) > LOG_EVENTS_MAX:
            self._drop_half()

    def wake(self) -> None:
        """Let all readers look again."""
        readers, self._readers = self._readers, {}
        for reader in readers:
            reschedule(reader)

    def is_lost(self, cursor: Cursor) -> bool:
        """What he has not read yet has been dropped."""
        return cursor.position < self.start

    def take(self, cursor: Cursor, pack: Pack) -> bytes | None:
        """The next frame for this reader. None: he has read everything."""
        begin, end = cursor.position, self.end
        if begin == end:
            return None
        assert begin >= self.start, "a reader that is lost begins anew"
        end = begin + batch_length(self.events, begin - self.start)
        cursor.position = end
        place = (begin, end, pack)
        frame = self._frames.get(place)
        if frame is None:
            frame = pack(self.events[begin - self.start : end - self.start])
            self._keep(place, frame)
        return frame

    async def more(self, cursor: Cursor) -> None:
        """Wait at the end for something to be appended, or for `wake`."""
        if cursor.position != self.end:
            return
        reader = current_task()
        self._readers[reader] = cursor
        self._empty_if_read()

        def cancelled(_: RaiseCancelT) -> Abort:
            del self._readers[reader]
            return Abort.SUCCEEDED

        await wait_task_rescheduled(cancelled)

    def _keep(self, place: tuple[int, int, Pack], frame: bytes) -> None:
        self.packed_count += 1
        if len(self._cursors) < 2:
            return  # nobody else will want it
        if len(self._frames) >= FRAMES_KEPT:
            del self._frames[next(iter(self._frames))]
        self._frames[place] = frame

    def _empty_if_read(self) -> None:
        if self.events and len(self._readers) >= len(self._cursors):
            self.start = self.end
            self.events.clear()
            self._frames.clear()
            self.bytes_count = 0

    def _drop_half(self) -> None:
        count = max(1, len(self.events) // 2)
        self.dropped_count += count
        self.bytes_count -= sum(map(len, self.events[:count]))
        del self.events[:count]
        self.start += count


def batch_length(events: Sequence[bytes], begin: int) -> int:
    """How many events from `begin` on make up one frame: at least one, however large it is."""
    end = min(len(events), begin + FRAME_EVENTS_MAX)
    if end - begin == 1:
        return 1
    size = 0
    for index in range(begin, end):
        size += len(events[index]) + 1
        if size > FRAME_BYTES_MAX and index > begin:
            return index - begin
    return end - begin


@dataclass(frozen=True, slots=True)
class LogMark:
    """Where the log stands when a snapshot has been told."""

    snapshot_version: int
    position: int
    attempt: PieceLog | None
    told: int  # pieces of it


@dataclass(eq=False, slots=True)
class Beginning:
    """What whoever comes is told first; alike for all who come at once with the same."""

    events: Sequence[bytes]
    position: int  # where he reads on
    _frames: dict[Pack, list[bytes]] = field(default_factory=dict)

    def frames(self, pack: Pack) -> list[bytes]:
        frames = self._frames.get(pack)
        if frames is None:
            frames = self._frames[pack] = []
            begin = 0
            while begin < len(self.events):
                end = begin + batch_length(self.events, begin)
                frames.append(pack(self.events[begin:end]))
                begin = end
        return frames


@dataclass(eq=False, slots=True)
class PendingWatcher:
    """Somebody who comes: he holds the log from `mark` on until he knows where he begins."""

    have: Position
    mark: LogMark | None  # None: nothing was known when he came
    answered: trio.Event = field(default_factory=trio.Event)
    beginning: Beginning | None = None  # None when answered: the feed has ended


def common_to(haves: Sequence[Position]) -> Position:
    """Return what all of those have who want to know."""
    return Position(
        min((have.message_id for have in haves), default=0),
        min((have.history_version for have in haves), default=0),
    )
