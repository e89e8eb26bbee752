"""The attempts that one peer follows here: cursors into the previews of this process.

No piece is kept for a peer: it lies in its preview, and a peer that is slow gets more at once when
it comes back. The task that adds a piece only notes that there is something to read, so neither a
slow peer nor a dead one holds up a chat. If that note fails, the connection is closed, and the peer
comes again.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import trio

from actors.law.ids import EpisodeKey
from actors.streams.previews import Preview, Previews
from actors.streams.relay.exchange import (
    BATCH_BYTES_MAX,
    BATCH_PIECES_MAX,
    FOLLOWS_MAX,
    Follow,
    FollowEnded,
    FollowRefused,
    PieceCount,
    RelayAnswer,
    RelayedPieces,
    RelayRequest,
    Unfollow,
)
from runtime.log import emit

ANSWERS_MAX = 2 * FOLLOWS_MAX  # that a peer has not taken; one that asks for more is cut off


@dataclass(eq=False, slots=True)
class _PreviewCursor:
    """A cursor into one attempt. Without a preview it has not begun, or was forgotten.

    Fulfils `actors.streams.previews.PreviewFollower`.
    """

    session: "PeerSession"
    number: int
    key: EpisodeKey
    seq: int
    preview: Preview | None = None

    def note(self) -> None:
        self.session.note(self.number)

    def fail(self, error: Exception) -> None:
        self.session.fail(error)


class PeerSession:
    """The attempts that one peer follows over one connection.

    `handle` and `note_begin` never wait; `wait_until_due` and then `take` give what is to be sent.
    """

    def __init__(self, previews: Previews) -> None:
        self.pieces_count = 0
        self._previews = previews
        self._cursors: dict[int, _PreviewCursor] = {}
        self._awaited: dict[EpisodeKey, int] = {}  # not begun
        self._answers: list[RelayAnswer] = []
        self._due: dict[int, None] = {}  # in the order in which something came
        self._more = trio.Event()
        self._is_closed = False
        self.has_failed = False

    @property
    def follows(self) -> int:
        return len(self._cursors)

    def handle(self, request: RelayRequest) -> bool:
        """Handle a request. Return False if the peer has lost count, or does not read answers."""
        if self._is_closed or len(self._answers) >= ANSWERS_MAX:
            return False
        match request:
            case Follow():
                return self._follow(request)
            case Unfollow(number=number):
                self._drop(number)
                return True

    def note_begin(self, preview: Preview) -> None:
        """Begin to read an attempt that has been waited for; called with all that begin here."""
        number = self._awaited.pop(preview.key, None)
        if number is not None:
            self._read(number, self._cursors[number], preview)

    def note(self, number: int) -> None:
        """Note that there is something to send of this attempt."""
        self._due[number] = None
        self._more.set()

    def fail(self, error: Exception) -> None:
        """End it because of an error in the task of a chat: the connection is to be closed,
        and the peer comes again for what it has not got."""
        emit("relay.serving_broken", "error", error=error)
        self.has_failed = True
        self.close()
        self._more.set()

    async def wait_until_due(self) -> None:
        """Wait until there is something to send, or until this has failed."""
        if not (self._due or self._answers or self.has_failed):
            self._more = trio.Event()
            await self._more.wait()

    def take(self) -> Sequence[RelayAnswer]:
        """Take as much of what is due as goes into one message, each attempt in its turn."""
        answers, self._answers = self._answers[:FOLLOWS_MAX], self._answers[FOLLOWS_MAX:]
        room = BATCH_BYTES_MAX
        for number in list(self._due):
            del self._due[number]
            room -= self._take_from(number, self._cursors[number], room, answers)
            if room <= 0:
                break
        return answers

    def close(self) -> None:
        """Follow nothing any more, and refuse all further requests."""
        self._is_closed = True
        for number in list(self._cursors):
            self._drop(number)

    def _follow(self, request: Follow) -> bool:
        number, key = request.number, request.key
        if number in self._cursors or key in self._awaited:
            return False
        if len(self._cursors) >= FOLLOWS_MAX:
            self._answer(FollowRefused(number))
            return True
        cursor = self._cursors[number] = _PreviewCursor(self, number, key, request.seq)
        preview = self._previews.find(key)
        if preview is None:
            self._awaited[key] = number
            self._answer(PieceCount(number, 0))
        else:
            self._answer(PieceCount(number, len(preview.encoded)))
            self._read(number, cursor, preview)
        return True

    def _read(self, number: int, cursor: _PreviewCursor, preview: Preview) -> None:
        cursor.preview = preview
        preview.follow(cursor)
        self.note(number)

    def _answer(self, answer: RelayAnswer) -> None:
        self._answers.append(answer)
        self._more.set()

    def _take_from(
        self, number: int, cursor: _PreviewCursor, room: int, answers: list[RelayAnswer]
    ) -> int:
        """Take what fits of one attempt, and return how many bytes that were."""
        preview = cursor.preview
        assert preview is not None, "what is due has begun"
        pieces, size = _fitting(preview.encoded, cursor.seq, room)
        if pieces:
            answers.append(RelayedPieces(number, cursor.seq, pieces))
            cursor.seq += len(pieces)
            self.pieces_count += len(pieces)
        if cursor.seq < len(preview.encoded):
            self._due[number] = None
        elif preview.closed_at is not None:
            answers.append(FollowEnded(number))
            self._drop(number)
        return size

    def _drop(self, number: int) -> None:
        cursor = self._cursors.pop(number, None)
        if cursor is None:
            return  # it has ended meanwhile
        self._due.pop(number, None)
        if cursor.preview is None:
            self._awaited.pop(cursor.key, None)
        else:
            cursor.preview.unfollow(cursor)


def _fitting(encoded: Sequence[bytes], begin: int, room: int) -> tuple[Sequence[bytes], int]:
    """Return the next pieces, at least one however large it is, and their size."""
    size, end = 0, begin
    last = min(len(encoded), begin + BATCH_PIECES_MAX)
    while end < last and (end == begin or size + len(encoded[end]) <= room):
        size += len(encoded[end])
        end += 1
    return encoded[begin:end], size
