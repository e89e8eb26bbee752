"""The feed of one chat: what its watchers have been told, and the log that they are told it in.

News comes from three sides, and none of them waits: what this process commits comes as a change
that says everything (`note_commit`), what others commit comes as a hint (`note_hint`), and what is
said in an attempt that runs here comes piece by piece. A change is told if it is exactly the next
snapshot after the one that is known. In all other cases, when it is late, lost or of another
process, the store is read: by one reader at a time, in a task that lives only while something is to
be read.

The pieces of an attempt are told while its place in the history is the newest that is known: never
before its `preview_reset`, never after the message that comes of it.

A new watcher is told what is stored, as of a mark: a snapshot, a position of the log, and how many
pieces of the running attempt come before it. They get all that comes before the mark from the store
and from the attempt itself, and read on in the log behind it.

An attempt that runs in another process is followed there, for as long as it runs and the chat is
watched here.
"""

from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

import trio

from actors.law.ids import ChatId, EpisodeKey
from actors.law.states import Status
from actors.law.store.hints import ChatMoved
from actors.law.store.ports import Applied
from actors.streams.feeds.diff import (
    Position,
    SnapshotChange,
    ToldState,
    Versions,
    change_of_commit,
    change_of_hint,
    change_of_snapshot,
    diff,
    first_events,
    told_of,
)
from actors.streams.feeds.events import ApprovalsChanged, Event, PendingApprovals
from actors.streams.feeds.log import (
    Beginning,
    Cursor,
    EventLog,
    FeedCounts,
    FeedEnd,
    LogMark,
    PendingWatcher,
    common_position,
)
from actors.streams.feeds.ports import (
    EncodeEvent,
    LocalPreviews,
    PieceLog,
    RemotePreviews,
    SnapshotReading,
)
from actors.streams.feeds.reading import EncodedSnapshot, read_chat
from actors.streams.previews import Preview

# Two commits of this process may be heard of in the wrong order. The first one is waited for so
# long, then the store is read.
LATE_SECONDS = 0.02
CHANGES_AHEAD_MAX = 16  # that wait for one before them; if there are more, the store is read
MARKS_MAX = 64  # of snapshots told during a read; if the snapshot read is older, it is read again
AT_WORK = (Status.RUNNING, Status.INTERRUPTING)  # when there may be pieces


@dataclass(frozen=True, slots=True)
class FeedContext:
    """The store, the previews and the ways to start and end work that all feeds of chats share."""

    reading: SnapshotReading
    encode: EncodeEvent
    attempts: LocalPreviews
    start: Callable[["ChatFeed", Callable[[], Awaitable[object]]], None]  # a task for a feed
    fail: Callable[["ChatFeed", Exception], None]  # ends a feed because of an error in it
    elsewhere: RemotePreviews | None = None  # None: there is one process
    counts: FeedCounts = field(default_factory=FeedCounts)


class ChatFeed:
    """The feed of one chat."""

    def __init__(self, chat: ChatId, context: FeedContext) -> None:
        self.chat = chat
        self.log = EventLog(counts=context.counts)
        self.ended: FeedEnd | None = None
        self._context = context
        self._told: ToldState | None = None
        self._approvals: tuple[PendingApprovals, ...] = ()  # that the watchers have been told
        self._approvals_may_differ = False  # since they were read
        self._newest_version = 0  # the newest snapshot of which there was news
        self._ahead: dict[int, SnapshotChange] = {}  # by their snapshots; none is the next one
        self._attempt: PieceLog | None = None
        self._pieces_told = 0  # of the attempt
        self._pending: list[PendingWatcher] = []
        self._marks: deque[LogMark] = deque(maxlen=MARKS_MAX)
        self._is_reading = False

    @property
    def version(self) -> int:
        """Return the snapshot that the watchers have been told; 0: none yet."""
        return 0 if self._told is None else self._told.versions.snapshot_version

    @property
    def has_approvals(self) -> bool:
        """Return whether the watchers have been told that calls wait for consent."""
        return bool(self._approvals)

    # coming and going

    async def join(self, cursor: Cursor, have: Position) -> Beginning | None:
        """Place `cursor` where its watcher begins, and return what they are told before that. None
        if the feed ends before that is known. The cursor does not wait at the end of the log
        meanwhile, so the log is kept."""
        if self.ended is not None:
            return None
        mark = None if self._told is None else self._mark(self._told.versions)
        watcher = PendingWatcher(have, mark)
        self._pending.append(watcher)
        self._read_if_unsure()
        try:
            await watcher.answered.wait()
        finally:
            if watcher in self._pending:
                self._pending.remove(watcher)
        if watcher.beginning is not None:
            cursor.position = watcher.beginning.position
        return watcher.beginning

    def end(self, why: FeedEnd) -> None:
        """Tell no more; what is in the log can still be read."""
        if self.ended is not None:
            return
        self.ended = why
        self._let_go()
        for watcher in self._pending:
            watcher.answered.set()
        self.log.wake()

    # news

    def note_commit(self, applied: Applied) -> None:
        """Note that this process has written a snapshot of the chat."""
        change = change_of_commit(applied)
        if change is None:
            self.note_version(applied.chat.snapshot_version)
        else:
            self._offer(change)

    def note_hint(self, hint: ChatMoved) -> None:
        """Note that a process has written a snapshot; it may be this one, and known."""
        told, version = self._told, hint.snapshot_version
        change = None if told is None else change_of_hint(hint, told.versions)
        if change is not None:
            self._offer(change)
        elif version not in self._ahead:
            self.note_version(version)

    def note_version(self, snapshot_version: int) -> None:
        """Note that there is such a snapshot, of which nothing else is known."""
        self._newest_version = max(self._newest_version, snapshot_version)
        self._read_if_unsure()

    def note_approvals(self) -> None:
        """Note that this chat, or one of its agents, asks for other consent than before."""
        self._approvals_may_differ = True
        self._read_if_unsure()

    def note_attempt(self, attempt: Preview) -> None:
        """Follow an attempt at this chat that begins here, if its place is the newest known."""
        if self._told is None or self.ended is not None or self._attempt is not None:
            return
        if attempt.key == self._key(self._told):
            self._follow(attempt)

    # telling

    def _offer(self, change: SnapshotChange) -> None:
        """Tell the change if it is the next one, else keep it until those before it have come."""
        version = change.versions.snapshot_version
        self._newest_version = max(self._newest_version, version)
        if len(self._ahead) >= CHANGES_AHEAD_MAX:
            self._ahead.clear()
        self._ahead[version] = change
        self._tell_next()
        self._read_if_unsure()

    def _tell_next(self) -> None:
        """Tell the changes that come next, as far as they have come."""
        while self._told is not None and self._ahead:
            version = self._told.versions.snapshot_version
            change = self._ahead.pop(version + 1, None)
            if change is None:
                self._ahead = {at: change for at, change in self._ahead.items() if at > version}
                return
            self._tell(self._told, change, partial(self._context.encode, self.chat))

    def _tell(
        self, told: ToldState, change: SnapshotChange, encode: Callable[[Event], bytes]
    ) -> None:
        self._told, events = diff(told, change)
        for event in events:
            self.log.append(encode(event))
        if self._attempt is not None and self._attempt.key != self._key(self._told):
            self._let_go()
        if self._pending:
            self._marks.append(self._mark(change.versions))
        self._follow_newest()

    # the pieces of the running attempt

    def _key(self, told: ToldState) -> EpisodeKey:
        versions = told.versions
        return EpisodeKey(self.chat, versions.history_version, versions.generation_attempt)

    def _follow_newest(self) -> None:
        """Follow the attempt whose place is the newest that is known, here or elsewhere."""
        assert self._told is not None, "an attempt has its place in what is known"
        versions = self._told.versions
        if self._attempt is not None or versions.generation_attempt == 0 or self.ended is not None:
            return
        key = self._key(self._told)
        attempt = self._context.attempts.find(key) or self._follow_elsewhere(key, versions)
        if attempt is not None:
            self._follow(attempt)

    def _follow_elsewhere(self, key: EpisodeKey, versions: Versions) -> PieceLog | None:
        elsewhere = self._context.elsewhere
        if elsewhere is None or versions.worker is None or versions.status not in AT_WORK:
            return None
        return elsewhere.follow(key, versions.worker)

    def _follow(self, attempt: PieceLog) -> None:
        self._attempt = attempt
        for piece in attempt.encoded[self._pieces_told :]:
            self.hear(piece, alone=False)
        attempt.listener = self

    def hear(self, piece: bytes, alone: bool) -> None:
        """Tell a piece of the running attempt. Called in the task of the chat."""
        self._pieces_told += 1
        if alone:
            self.log.append_now(piece)
        else:
            self.log.append(piece)

    def fail(self, error: Exception) -> None:
        """End the feed because `hear` has failed; its watchers come again to a new one."""
        self._context.fail(self, error)

    def _let_go(self) -> None:
        if self._attempt is not None:
            self._attempt.listener = None
            if self._context.elsewhere is not None:
                self._context.elsewhere.let_go(self._attempt)
        self._attempt, self._pieces_told = None, 0

    # reading

    def _read_if_unsure(self) -> None:
        """Start a reader, if there is reason to read and none does."""
        if not self._is_reading and self.ended is None and self._is_unsure():
            self._is_reading = True
            self._context.start(self, self._read)

    def _is_unsure(self) -> bool:
        if self._pending or self._told is None or self._approvals_may_differ:
            return True
        return self._newest_version > self._told.versions.snapshot_version

    async def _read(self) -> None:
        try:
            while self.ended is None and self._is_unsure():
                if self._ahead and not self._pending:
                    await trio.sleep(LATE_SECONDS)
                    if not self._is_unsure():
                        return
                await self._read_once()
        finally:
            self._is_reading = False

    async def _read_once(self) -> None:
        newest, pending, since = self._newest_version, tuple(self._pending), self._behind()
        self._approvals_may_differ = False
        have = common_position([*(watcher.have for watcher in pending), *since])
        context = self._context
        read = await read_chat(context.reading, context.encode, self.chat, have, context.counts)
        if isinstance(read, FeedEnd):
            return self.end(read)
        snapshot = read.snapshot
        if self._newest_version == newest:  # news of a later snapshot was wrong
            self._newest_version = snapshot.chat.snapshot_version
        self._take_in(read, is_enough=bool(since))
        if snapshot.approvals != self._approvals:
            self._approvals = snapshot.approvals
            self.log.append(self._context.encode(self.chat, ApprovalsChanged(snapshot.approvals)))
        await self._wait_for_pieces(pending)
        self._answer(read, pending)
        self._tell_next()

    async def _wait_for_pieces(self, pending: Sequence[PendingWatcher]) -> None:
        """Wait until it is known how many pieces an attempt elsewhere has, if a watcher has some of
        them: then they get only the others."""
        attempt, elsewhere = self._attempt, self._context.elsewhere
        if attempt is None or elsewhere is None:
            return
        if any(watcher.have.seq > 0 for watcher in pending):
            await elsewhere.wait_until_caught_up(attempt)

    def _behind(self) -> Sequence[Position]:
        """Return the position of the watchers, if there is more that they should be told."""
        if self._told is None:
            return ()
        versions = self._told.versions
        if self._newest_version <= versions.snapshot_version and not self._approvals_may_differ:
            return ()
        return (Position(history_version=versions.history_version),)

    def _take_in(self, read: EncodedSnapshot, *, is_enough: bool) -> None:
        """Tell the watchers what they miss. `is_enough`: the snapshot was read for them as well,
        and not only for those who come."""
        snapshot = read.snapshot
        version = snapshot.chat.snapshot_version
        if self._told is None:
            self._told = told_of(snapshot)
            self._follow_newest()
        elif version > self._told.versions.snapshot_version and is_enough:
            change = change_of_snapshot(snapshot, self._told.versions)
            self._tell(self._told, change, read.encoded)
        else:
            self._newest_version = max(self._newest_version, version)

    def _answer(self, read: EncodedSnapshot, pending: Sequence[PendingWatcher]) -> None:
        """Let those who wait begin. One whose snapshot has no mark any more goes on waiting."""
        alike: dict[tuple[Position, LogMark], Beginning] = {}
        for watcher in pending:
            mark = self._mark_of(read.snapshot.chat.snapshot_version, watcher)
            if mark is None or watcher not in self._pending:
                continue
            key = (watcher.have, mark)
            if key not in alike:
                alike[key] = self._beginning(read, watcher.have, mark)
            watcher.beginning = alike[key]
            self._pending.remove(watcher)
            watcher.answered.set()
        if not self._pending:
            self._marks.clear()

    def _beginning(self, read: EncodedSnapshot, have: Position, mark: LogMark) -> Beginning:
        key = EpisodeKey(self.chat, have.history_version, have.attempt)
        attempt = mark.attempt
        goes_on = attempt is not None and attempt.key == key and 0 < have.seq <= mark.pieces_told
        events = list(map(read.encoded, first_events(read.snapshot, have, goes_on=goes_on)))
        if attempt is not None:
            events += attempt.encoded[have.seq if goes_on else 0 : mark.pieces_told]
        return Beginning(events, mark.position)

    def _mark(self, versions: Versions) -> LogMark:
        """Return a mark of the end of the log as it is now."""
        return LogMark(versions.snapshot_version, self.log.end, self._attempt, self._pieces_told)

    def _mark_of(self, snapshot_version: int, watcher: PendingWatcher) -> LogMark | None:
        """Return the mark of that snapshot, the latest there is. None: it has been passed over."""
        assert self._told is not None, "what was read is known"
        if snapshot_version == self._told.versions.snapshot_version:
            return self._mark(self._told.versions)
        marks = [mark for mark in self._marks if mark.snapshot_version == snapshot_version]
        if watcher.mark is not None and watcher.mark.snapshot_version == snapshot_version:
            marks.append(watcher.mark)
        return marks[0] if marks else None
