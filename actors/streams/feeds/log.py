"""The log of a feed: encoded events in order, and cursors into it. Nothing is kept per watcher.

A reader that has read everything waits at the end; when all do, the log is emptied. A slow reader
reads more at once when it comes back. A frame that many readers are about to read is packed once:
the last few frames are kept. A reader that waits need not even be woken for a piece of an answer,
if the piece can be sent without waiting: waking would be a third of what a piece costs.
"""

from collections.abc import Callable, Iterator, Sequence
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
FRAME_BYTES_MAX = 4 * 1024 * 1024 - 1024  # likewise: what clients read at once, less a head
# Of events that some reader has still to read. Beyond it the older half is dropped: a reader that
# has not read it is lost, and begins anew with what the chat is now.
LOG_EVENTS_MAX = 16_384
LOG_BYTES_MAX = 8 * 1024 * 1024
FRAMES_KEPT = 4  # of packed frames; the oldest is dropped
AT_ONCE_MAX = 64  # readers that are sent to in one go; if more wait, they are woken instead

Pack = Callable[[Sequence[bytes]], bytes]  # makes one frame of many events
# Sends a frame without waiting, and returns how many of its bytes have gone. 0: it cannot be sent
# now. Fewer than all: the rest goes before the next frame, even if that is empty.
SendAtOnce = Callable[[bytes], int]


@dataclass(slots=True)
class FeedCounts:
    """The counts of all feeds of one kind, since the start of the process."""

    appended: int = 0  # events that were put into logs
    packed: int = 0  # frames that were made of them
    dropped: int = 0  # events that some reader had not read
    reads: int = 0  # of chats
    lost: int = 0  # news of lists that came too fast or could not be read


class FeedEnd(Enum):
    """The reason why a watcher is told no more."""

    GONE = auto()  # the chat does not exist any more
    UNREADABLE = auto()  # the store cannot be read, or the feed has failed
    TOO_SLOW = auto()  # this watcher fell behind too often
    LEAVING = auto()  # the process ends: watchers go to another one


@dataclass(eq=False, slots=True)
class Cursor:
    """The place of a reader: it has read, or never wanted, the events before `position`."""

    position: int
    pack: Pack | None = None  # if these two are set, frames may be sent while the reader waits
    at_once: SendAtOnce | None = None
    is_midway: bool = False  # the rest of a frame that was sent so is still to go


@dataclass(eq=False, slots=True)
class EventLog:
    """The events of one feed that some reader has still to read."""

    events: list[bytes] = field(default_factory=list)
    start: int = 0  # the position of the first of them
    bytes_count: int = 0
    counts: FeedCounts = field(default_factory=FeedCounts)
    _cursors: set[Cursor] = field(default_factory=set)
    # The readers that wait at the end. Not a ParkingLot, which costs twice as much for every event.
    _readers: dict[Task, Cursor] = field(default_factory=dict)
    _frames: dict[tuple[int, int, Pack], bytes] = field(default_factory=dict)

    @property
    def end(self) -> int:
        return self.start + len(self.events)

    @property
    def cursors_count(self) -> int:
        return len(self._cursors)

    def open_cursor(self) -> Cursor:
        """Open a cursor that reads what is appended from now on."""
        cursor = Cursor(self.end)
        self._cursors.add(cursor)
        return cursor

    def close_cursor(self, cursor: Cursor) -> None:
        self._cursors.discard(cursor)
        self._empty_if_read()

    def append(self, event: bytes) -> None:
        """Append an event that others may follow: readers take all of them in one go."""
        self._add(event)
        if self._readers:
            self.wake()

    def append_now(self, event: bytes) -> None:
        """Append an event that none follows soon, and send it now to the readers that wait."""
        self._add(event)
        if not self._readers:
            return
        if len(self._readers) > AT_ONCE_MAX:
            return self.wake()
        if late := [task for task, cursor in self._readers.items() if not self._send_to(cursor)]:
            for task in late:
                del self._readers[task]
                reschedule(task)
        self._empty_if_read()

    def _send_to(self, cursor: Cursor) -> bool:
        """Send a waiting reader all that there is. Return False if it has to be woken instead."""
        if cursor.pack is None or cursor.at_once is None or self.is_lost(cursor):
            return False
        before = cursor.position
        frame = self.take(cursor, cursor.pack)
        assert frame is not None, "a reader that waits at the end has not read what is added"
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
            self.start += 1  # no reader is to get it
            return
        self.events.append(event)
        self.bytes_count += len(event)
        self.counts.appended += 1
        if self.bytes_count > LOG_BYTES_MAX or len(self.events) > LOG_EVENTS_MAX:
            self._drop_half()

    def wake(self) -> None:
        """Wake all readers, so that they look again."""
        readers, self._readers = self._readers, {}
        for reader in readers:
            reschedule(reader)

    def is_lost(self, cursor: Cursor) -> bool:
        """Return whether events that this reader has not read have been dropped."""
        return cursor.position < self.start

    def take(self, cursor: Cursor, pack: Pack) -> bytes | None:
        """Take the next frame for this reader. None if it has read everything."""
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

    async def wait_for_more(self, cursor: Cursor) -> None:
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
        self.counts.packed += 1
        if len(self._cursors) < 2:
            return  # no other reader will want it
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
        self.counts.dropped += count
        self.bytes_count -= sum(map(len, self.events[:count]))
        del self.events[:count]
        self.start += count


def batch_length(events: Sequence[bytes], begin: int) -> int:
    """Return how many events from `begin` on make one frame: at least one, however large it is."""
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
    """The end of the log at the moment when a snapshot had been told."""

    snapshot_version: int
    position: int
    attempt: PieceLog | None
    pieces_told: int  # of the attempt


@dataclass(eq=False, slots=True)
class Beginning:
    """The events that a new watcher gets first. Those who come at once with the same share it.

    A frame is packed when a watcher is about to read it, and the last few frames are kept: so a
    long attempt is never held a second time as frames.
    """

    events: Sequence[bytes]
    position: int  # of the log, where the watcher reads on
    _frames: dict[tuple[int, Pack], tuple[bytes, int]] = field(default_factory=dict)

    def frames(self, pack: Pack) -> Iterator[bytes]:
        """Yield the events as frames."""
        begin = 0
        while begin < len(self.events):
            frame, begin = self._frame(begin, pack)
            yield frame

    def _frame(self, begin: int, pack: Pack) -> tuple[bytes, int]:
        """Return the frame that begins with this event, and where the next one begins."""
        found = self._frames.get((begin, pack))
        if found is None:
            end = begin + batch_length(self.events, begin)
            found = pack(self.events[begin:end]), end
            if len(self._frames) >= FRAMES_KEPT:
                del self._frames[next(iter(self._frames))]
            self._frames[begin, pack] = found
        return found


@dataclass(eq=False, slots=True)
class PendingWatcher:
    """A watcher who comes. The log is kept from `mark` on until it is known where they begin."""

    have: Position
    mark: LogMark | None  # None: nothing was known of the chat when they came
    answered: trio.Event = field(default_factory=trio.Event)
    beginning: Beginning | None = None  # None when answered: the feed has ended


def common_position(haves: Sequence[Position]) -> Position:
    """Return the position that all of these are at or behind."""
    return Position(
        min((have.message_id for have in haves), default=0),
        min((have.history_version for have in haves), default=0),
    )
