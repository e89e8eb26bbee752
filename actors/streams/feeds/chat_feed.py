"""The feed of one chat: what its watchers have been told, and the log that it is told in.

News comes from three sides, and none of it waits: what this process commits, as a step that says
everything (`committed`); what others commit, as a hint (`moved`); what is being said in an attempt
that runs here, piece by piece. A step is told if it is exactly the next snapshot after what is
known. Whatever else it may be, late, lost or of another process, the store is read, by one reader
at a time, in a task that lives only while something is to be read.

The pieces of an attempt are told while its place in the history is the newest that is known: never
before its `preview_reset`, never after the message that comes of it.

Whoever comes is told what is stored, as of a mark: a snapshot, a position of the log, and how many
pieces of the running attempt stand before it. He has all that comes before the mark from the store
and from the attempt itself, and reads on in the log behind it.

An attempt that runs in another process is followed there, for as long as it runs and somebody
watches here.
"""

from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import trio

from actors.law.ids import ChatId, EpisodeKey, MessageId, chat_name
from actors.law.refusals import ChatNotFound
from actors.law.states import Status
from actors.law.store.hints import ChatMoved
from actors.law.store.ports import Applied
from actors.streams.episodes import Preview
from actors.streams.feeds.diff import (
    ChatSnapshot,
    Position,
    SnapshotChange,
    Told,
    Versions,
    change_of_commit,
    change_of_hint,
    change_of_snapshot,
    diff,
    first_events,
    is_shown,
    told_of,
)
from actors.streams.feeds.events import ApprovalsChanged, Event, MessageChanged, PendingApprovals
from actors.streams.feeds.log import (
    Beginning,
    Cursor,
    FeedEnd,
    Log,
    LogMark,
    PendingWatcher,
    common_to,
)
from actors.streams.feeds.ports import (
    EncodeEvent,
    LocalEpisodes,
    PieceLog,
    RemoteEpisodes,
    SnapshotReading,
)
from runtime.backoff import delay_seconds
from runtime.log import emit

# Two commits of this process may be heard of in the wrong order: so long the first one is waited
# for, then the store is read.
LATE_SECONDS = 0.02
STEPS_AHEAD_MAX = 16  # that wait for one before them; more than these are read instead
MARKS_MAX = 64  # of snapshots told while somebody reads; whose snapshot is older reads again
READS_MAX = 6  # of one answer, if they fail; then the feed ends
READ_AGAIN_FIRST_SECONDS = 0.1
READ_AGAIN_CAP_SECONDS = 1.0
ENCODED_AT_ONCE = 64  # messages; then other tasks run
AT_WORK = (Status.RUNNING, Status.INTERRUPTING)  # when something may be said


@dataclass(frozen=True, slots=True)
class FeedContext:
    reading: SnapshotReading
    encode: EncodeEvent
    attempts: LocalEpisodes
    start: Callable[["ChatFeed", Callable[[], Awaitable[object]]], None]  # work for it, beside
    broken: Callable[["ChatFeed", Exception], None]  # ends it because of an error in it
    elsewhere: RemoteEpisodes | None = None  # None: there is one process


class ChatFeed:
    def __init__(self, chat: ChatId, world: FeedContext) -> None:
        self.chat = chat
        self.log = Log()
        self.ended: FeedEnd | None = None
        self.reads_count = 0
        self._world = world
        self._known: Told | None = None
        self._asks: tuple[PendingApprovals, ...] = ()  # that the watchers have been told
        self._asks_moved = False  # they have, or may have, since they were read
        self._heard_of = 0  # the newest snapshot that anybody spoke of
        self._ahead: dict[int, SnapshotChange] = {}  # by their snapshots; none is the next one
        self._attempt: PieceLog | None = None
        self._told = 0  # pieces of it
        self._joins: list[PendingWatcher] = []
        self._marks: deque[LogMark] = deque(maxlen=MARKS_MAX)
        self._reading = False

    @property
    def version(self) -> int:
        """The snapshot that the watchers have been told; 0: none yet."""
        return 0 if self._known is None else self._known.heads.snapshot_version

    @property
    def has_asks(self) -> bool:
        return bool(self._asks)

    # coming and going

    async def join(self, cursor: Cursor, have: Position) -> Beginning | None:
        """Where whoever holds `cursor` begins; None if the feed ends before that is known. He does
        not wait at the end of the log meanwhile, so it is kept."""
        if self.ended is not None:
            return None
        join = PendingWatcher(have, None if self._known is None else self._mark(self._known.heads))
        self._joins.append(join)
        self._look()
        try:
            await join.answered.wait()
        finally:
            if join in self._joins:
                self._joins.remove(join)
        if join.beginning is not None:
            cursor.position = join.beginning.position
        return join.beginning

    def end(self, why: FeedEnd) -> None:
        """Nothing more is told; what is in the log can still be read."""
        if self.ended is not None:
            return
        self.ended = why
        self._let_go()
        for join in self._joins:
            join.answered.set()
        self.log.wake()

    # news

    def committed(self, applied: Applied) -> None:
        """This process has written a snapshot of the chat."""
        step = change_of_commit(applied)
        if step is None:
            self.heard_of(applied.chat.snapshot_version)
        else:
            self._offer(step)

    def moved(self, hint: ChatMoved) -> None:
        """Somebody has; perhaps this process, and it is known."""
        known, version = self._known, hint.snapshot_version
        step = None if known is None else change_of_hint(hint, known.heads)
        if step is not None:
            self._offer(step)
        elif version not in self._ahead:
            self.heard_of(version)

    def heard_of(self, snapshot_version: int) -> None:
        """There is such a snapshot; nothing else is known of it."""
        self._heard_of = max(self._heard_of, snapshot_version)
        self._look()

    def asks_moved(self) -> None:
        """This chat, or one of its agents, asks for other consent than before."""
        self._asks_moved = True
        self._look()

    def began(self, attempt: Preview) -> None:
        """An attempt at this chat begins here."""
        if self._known is None or self.ended is not None or self._attempt is not None:
            return
        if attempt.key == self._key(self._known):
            self._follow(attempt)

    # telling

    def _offer(self, step: SnapshotChange) -> None:
        version = step.heads.snapshot_version
        self._heard_of = max(self._heard_of, version)
        if len(self._ahead) >= STEPS_AHEAD_MAX:
            self._ahead.clear()
        self._ahead[version] = step
        self._catch_up()
        self._look()

    def _catch_up(self) -> None:
        """Tell what is known to come next."""
        while self._known is not None and self._ahead:
            version = self._known.heads.snapshot_version
            step = self._ahead.pop(version + 1, None)
            if step is None:
                self._ahead = {at: step for at, step in self._ahead.items() if at > version}
                return
            self._tell(self._known, step, {})

    def _tell(self, known: Told, step: SnapshotChange, encoded: dict[MessageId, bytes]) -> None:
        self._known, events = diff(known, step)
        for event in events:
            self.log.append(self._encoded(event, encoded))
        if self._attempt is not None and self._attempt.key != self._key(self._known):
            self._let_go()
        if self._joins:
            self._marks.append(self._mark(step.heads))
        self._follow_newest()

    def _encoded(self, event: Event, encoded: dict[MessageId, bytes]) -> bytes:
        if isinstance(event, MessageChanged) and event.message.id in encoded:
            return encoded[event.message.id]
        return self._world.encode(self.chat, event)

    # the pieces of the running attempt

    def _key(self, known: Told) -> EpisodeKey:
        return EpisodeKey(self.chat, known.heads.history_version, known.heads.generation_attempt)

    def _follow_newest(self) -> None:
        assert self._known is not None, "an attempt has its place in what is known"
        heads = self._known.heads
        if self._attempt is not None or heads.generation_attempt == 0 or self.ended is not None:
            return
        key = self._key(self._known)
        attempt = self._world.attempts.find(key) or self._follow_elsewhere(key, heads)
        if attempt is not None:
            self._follow(attempt)

    def _follow_elsewhere(self, key: EpisodeKey, heads: Versions) -> PieceLog | None:
        elsewhere = self._world.elsewhere
        if elsewhere is None or heads.worker is None or heads.status not in AT_WORK:
            return None
        return elsewhere.follow(key, heads.worker)

    def _follow(self, attempt: PieceLog) -> None:
        self._attempt = attempt
        for piece in attempt.encoded[self._told :]:
            self.hear(piece, alone=False)
        attempt.listener = self

    def hear(self, piece: bytes, alone: bool) -> None:
        """Tell a piece of the running attempt. Called in the task of the chat."""
        self._told += 1
        if alone:
            self.log.say(piece)
        else:
            self.log.append(piece)

    def fail(self, error: Exception) -> None:
        """`hear` has failed: the feed ends, and its watchers come again to a new one."""
        self._world.broken(self, error)

    def _let_go(self) -> None:
        if self._attempt is not None:
            self._attempt.listener = None
            if self._world.elsewhere is not None:
                self._world.elsewhere.let_go(self._attempt)
        self._attempt, self._told = None, 0

    # reading

    def _look(self) -> None:
        """Read, if there is reason to, and nobody does."""
        if not self._reading and self.ended is None and self._is_unsure():
            self._reading = True
            self._world.start(self, self._read)

    def _is_unsure(self) -> bool:
        known = self._known
        if self._joins or known is None or self._asks_moved:
            return True
        return self._heard_of > known.heads.snapshot_version

    async def _read(self) -> None:
        try:
            while self.ended is None and self._is_unsure():
                if self._ahead and not self._joins:
                    await trio.sleep(LATE_SECONDS)
                    if not self._is_unsure():
                        return
                await self._read_once()
        finally:
            self._reading = False

    async def _read_once(self) -> None:
        heard_of, joins, since = self._heard_of, tuple(self._joins), self._behind()
        self._asks_moved = False
        found = await self._found(common_to([*(join.have for join in joins), *since]))
        if not isinstance(found, ChatSnapshot):
            return self.end(found)
        encoded: dict[MessageId, bytes] = {}
        for count, message in enumerate(filter(is_shown, found.messages), 1):
            encoded[message.id] = self._world.encode(self.chat, MessageChanged(message))
            if count % ENCODED_AT_ONCE == 0:
                await trio.lowlevel.checkpoint()
        if self._heard_of == heard_of:  # whoever spoke of a later one was wrong
            self._heard_of = found.chat.snapshot_version
        self._take_in(found, encoded, is_enough=bool(since))
        if found.asks != self._asks:
            self._asks = found.asks
            self.log.append(self._world.encode(self.chat, ApprovalsChanged(found.asks)))
        await self._wait_for_pieces(joins)
        self._answer(found, joins, encoded)
        self._catch_up()

    async def _wait_for_pieces(self, joins: Sequence[PendingWatcher]) -> None:
        """Who has some of an attempt gets only the others, if it is known here how many it has."""
        attempt, elsewhere = self._attempt, self._world.elsewhere
        if attempt is None or elsewhere is None:
            return
        if any(join.have.seq > 0 for join in joins):
            await elsewhere.caught_up(attempt)

    def _behind(self) -> Sequence[Position]:
        """What the watchers have, if there is more that they should be told."""
        if self._known is None:
            return ()
        if self._heard_of <= self._known.heads.snapshot_version and not self._asks_moved:
            return ()
        return (Position(history_version=self._known.heads.history_version),)

    async def _found(self, have: Position) -> ChatSnapshot | FeedEnd:
        failures = 0
        while True:
            self.reads_count += 1
            try:
                found = await self._world.reading.found(self.chat, have)
            except Exception as error:  # noqa: BLE001  the edge of a unit of work: it is repeated
                failures += 1
                emit("feed.unread", "warning", chat=chat_name(self.chat), error=error)
                if failures == READS_MAX:
                    return FeedEnd.UNREADABLE
                await trio.sleep(_pause(failures))
                continue
            return FeedEnd.GONE if isinstance(found, ChatNotFound) else found

    def _take_in(
        self, found: ChatSnapshot, encoded: dict[MessageId, bytes], *, is_enough: bool
    ) -> None:
        """`is_enough`: it was read for the watchers as well, and not only for those who come."""
        version = found.chat.snapshot_version
        if self._known is None:
            self._known = told_of(found)
            self._follow_newest()
        elif version > self._known.heads.snapshot_version and is_enough:
            self._tell(self._known, change_of_snapshot(found, self._known.heads), encoded)
        else:
            self._heard_of = max(self._heard_of, version)

    def _answer(
        self, found: ChatSnapshot, joins: Sequence[PendingWatcher], encoded: dict[MessageId, bytes]
    ) -> None:
        """Let those begin who waited. Whose snapshot cannot be placed any more stays."""
        alike: dict[tuple[Position, LogMark], Beginning] = {}
        for join in joins:
            mark = self._mark_of(found.chat.snapshot_version, join)
            if mark is None or join not in self._joins:
                continue
            key = (join.have, mark)
            if key not in alike:
                alike[key] = self._beginning(found, join.have, mark, encoded)
            join.beginning = alike[key]
            self._joins.remove(join)
            join.answered.set()
        if not self._joins:
            self._marks.clear()

    def _beginning(
        self, found: ChatSnapshot, have: Position, mark: LogMark, encoded: dict[MessageId, bytes]
    ) -> Beginning:
        key = EpisodeKey(self.chat, have.history_version, have.attempt)
        attempt = mark.attempt
        goes_on = attempt is not None and attempt.key == key and 0 < have.seq <= mark.told
        events = [self._encoded(e, encoded) for e in first_events(found, have, goes_on=goes_on)]
        if attempt is not None:
            events += attempt.encoded[have.seq if goes_on else 0 : mark.told]
        return Beginning(events, mark.position)

    def _mark(self, heads: Versions) -> LogMark:
        """Where the log stands now."""
        return LogMark(heads.snapshot_version, self.log.end, self._attempt, self._told)

    def _mark_of(self, snapshot_version: int, join: PendingWatcher) -> LogMark | None:
        """Where the log stood when that snapshot was the newest, as late as possible. None: it has
        been passed over since."""
        assert self._known is not None, "what was found is known"
        if snapshot_version == self._known.heads.snapshot_version:
            return self._mark(self._known.heads)
        marks = [mark for mark in self._marks if mark.snapshot_version == snapshot_version]
        if join.mark is not None and join.mark.snapshot_version == snapshot_version:
            marks.append(join.mark)
        return marks[0] if marks else None


def _pause(failures: int) -> float:
    return delay_seconds(
        failures, first_seconds=READ_AGAIN_FIRST_SECONDS, cap_seconds=READ_AGAIN_CAP_SECONDS
    )
