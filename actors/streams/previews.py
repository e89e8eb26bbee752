"""The logs of what watchers are shown of attempts: numbered pieces, for all that follow them.

A preview is the log of one attempt. It has one writer; a reader is a cursor into it. Writing never
waits, and nothing is kept per reader: one that is slow reads more at once when it comes back. What
is added is encoded once, and every reader sends the same bytes.

A preview is closed when its attempt ends, and forgotten `retention_seconds` later. Until then it
keeps the turn's own record of the attempt as well: what is kept of an interrupted attempt is read
from that, whole, and not from what watchers were shown.

All previews of a process share `PREVIEWS_BYTES_MAX`. At that bound the pieces of closed previews
are forgotten first, oldest first, but not the records of their attempts. When only running attempts
are left, the next piece of each is refused, and all that follow it. Watchers then see a beginning,
or nothing, until the message is stored; what is committed is the same. A last piece without text
tells them so.

Listeners are called in the task of the chat. An exception of one of them ends that listener and is
counted; the attempt goes on and never hears of it.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Annotated, Protocol

from actors.law.chat import Role
from actors.law.ids import EpisodeKey, chat_name
from actors.law.parts.message import TextPart
from actors.streams.pieces import NumberedPiece, Piece
from runtime.clock import now
from runtime.log import emit
from runtime.statistics import CounterMetric, GaugeMetric

# Encoded: 128,000 pieces of a token each, with all that is said around them. A piece beyond it is
# refused, and all that follow it: what stays is a beginning, whole, and a piece that says so.
PREVIEW_BYTES_MAX = 64 << 20
PIECE_BYTES_MAX = 4 << 20  # of one, encoded; a larger one is refused in the same way
CUT_BYTES_MAX = 1_024  # room in every preview for the piece that says that it is only a beginning
RETENTION_SECONDS = 15.0  # from the end of an attempt until its preview is forgotten
# Encoded, of all in one process; at the bound see above. Each may go beyond it by CUT_BYTES_MAX.
PREVIEWS_BYTES_MAX = 1 << 30
PREVIEWS_MAX = 32_768  # in one process; at the bound the oldest closed ones are forgotten early

OnFailure = Callable[[Exception], None]
EncodePiece = Callable[[EpisodeKey, NumberedPiece], bytes]


class PieceListener(Protocol):
    """A listener that hears every piece of an attempt."""

    def hear(self, piece: bytes, alone: bool) -> None:
        """Take in a piece that has been added. `alone`: no other is added at the same moment."""

    def fail(self, error: Exception) -> None:
        """Take in that `hear` has raised `error`: it is not called again."""


class PreviewFollower(Protocol):
    """A reader of an attempt, with a cursor of its own, that is told when there is more to read."""

    def note(self) -> None:
        """Note that there is more to read, or the end."""

    def fail(self, error: Exception) -> None:
        """Take in that `note` has raised `error`: it is not called again."""


def end_listener(fail: OnFailure, error: Exception) -> None:
    """Tell a listener that it has failed. One that fails even there is written down and left."""
    try:
        fail(error)
    except Exception as worse:  # noqa: BLE001  it must not reach the chat either
        emit("listener.broken", "error", error=worse, ended_by=repr(error))


@dataclass(slots=True)
class PreviewTotals:
    """The space that the previews of a process share, and what they have counted together."""

    bytes_max: int = PREVIEWS_BYTES_MAX
    bytes_count: int = 0
    # Makes room for so many bytes, and returns whether they fit now.
    make_room: Callable[[int], bool] = lambda size: False
    failed_count: int = 0  # listeners that failed and were ended, pieces that could not be encoded


@dataclass(eq=False, slots=True)
class Preview:
    """The log of what watchers are shown of one attempt."""

    key: EpisodeKey
    encode: EncodePiece
    totals: PreviewTotals = field(default_factory=PreviewTotals)
    encoded: list[bytes] = field(default_factory=list)
    bytes_count: int = 0
    dropped_count: int = 0  # pieces refused because it was full, or one could not be encoded
    attempt: object = None  # the turn's own record of the attempt, kept as long as this log
    closed_at: float | None = None
    listener: PieceListener | None = None
    _followers: dict[PreviewFollower, None] = field(default_factory=dict)

    def follow(self, follower: PreviewFollower) -> None:
        """Tell the follower from now on when there is more to read, and at the end."""
        self._followers[follower] = None

    def unfollow(self, follower: PreviewFollower) -> None:
        self._followers.pop(follower, None)

    def add(self, role: Role, piece: Piece, *, alone: bool = False) -> bool:
        """Add a piece. Return False if the preview is closed or full: then no watcher is shown it.
        `alone`: no other piece is to be added at the same moment."""
        if self.closed_at is not None:
            return False
        if self.dropped_count:
            self.dropped_count += 1
            return False
        numbered = NumberedPiece(len(self.encoded) + 1, role, piece)
        try:
            encoded = self.encode(self.key, numbered)
        except Exception as error:  # noqa: BLE001  it costs the watchers the rest, and the turn nothing
            self._note_unencoded(error)
            self._cut(role)
            return False
        if not self._has_room(len(encoded)):
            self.dropped_count += 1
            self._cut(role)
            return False
        self._keep(encoded, alone)
        return True

    def _has_room(self, size: int) -> bool:
        totals = self.totals
        fits_here = self.bytes_count + size <= PREVIEW_BYTES_MAX - CUT_BYTES_MAX
        if size > PIECE_BYTES_MAX or not fits_here:
            return False
        return totals.bytes_count + size <= totals.bytes_max or totals.make_room(size)

    def _cut(self, role: Role) -> None:
        """Tell the watchers that nothing more of the attempt is shown."""
        numbered = NumberedPiece(len(self.encoded) + 1, role, TextPart(""), is_cut=True)
        try:
            encoded = self.encode(self.key, numbered)
        except Exception:  # noqa: BLE001  the piece before it has been noted; watchers are told less
            return
        if len(encoded) <= CUT_BYTES_MAX:
            self._keep(encoded, alone=True)

    def _keep(self, encoded: bytes, alone: bool) -> None:
        self.encoded.append(encoded)
        self.bytes_count += len(encoded)
        self.totals.bytes_count += len(encoded)
        listener = self.listener
        if listener is not None:
            try:
                listener.hear(encoded, alone)
            except Exception as error:  # noqa: BLE001  it ends the listener, and nothing else
                self.listener = None
                self._end_listener(listener.fail, error)
        if self._followers:
            self._tell_followers()

    def close(self) -> None:
        """Close the log: the attempt is over. Readers see the end once they have read the rest."""
        if self.closed_at is None:
            self.closed_at = now()
            self._tell_followers()

    def forget_pieces(self) -> None:
        """Drop the pieces. Readers that have not read them find the end."""
        assert self.closed_at is not None, "a running attempt keeps its pieces"
        self.totals.bytes_count -= self.bytes_count
        self.encoded, self.bytes_count = [], 0

    def _tell_followers(self) -> None:
        for follower in tuple(self._followers):
            try:
                follower.note()
            except Exception as error:  # noqa: BLE001  it ends the follower, and nothing else
                self.unfollow(follower)
                self._end_listener(follower.fail, error)

    def _end_listener(self, fail: OnFailure, error: Exception) -> None:
        self.totals.failed_count += 1
        end_listener(fail, error)

    def _note_unencoded(self, error: Exception) -> None:
        self.totals.failed_count += 1
        self.dropped_count += 1
        emit("piece.unencoded", "error", chat=chat_name(self.key.chat), error=error)


OnPreviewBegun = Callable[[Preview], None]


@dataclass(frozen=True, slots=True)
class PreviewsStatistics:
    open_count: Annotated[int, GaugeMetric("Attempts that run.")]
    closed_count: Annotated[
        int, GaugeMetric("Attempts that ended a moment ago and are still kept.")
    ]
    bytes_count: Annotated[int, GaugeMetric("Bytes of pieces that are kept of all attempts.")]
    bytes_max: Annotated[
        int, GaugeMetric("Bytes of pieces that may be kept of all attempts.", name="max_bytes")
    ]
    forgotten_count: Annotated[int, CounterMetric("Attempts that were forgotten.")]
    emptied_count: Annotated[
        int, CounterMetric("Attempts whose pieces were forgotten early, to make room for others.")
    ]
    dropped_count: Annotated[
        int, CounterMetric("Pieces that were shown to no watcher, of attempts that have ended.")
    ]
    failed_count: Annotated[
        int,
        CounterMetric(
            "Listeners that were ended by an error, and pieces that could not be encoded."
        ),
    ]


class Previews:
    """All previews of this process, of attempts that run or have ended a moment ago."""

    def __init__(
        self,
        encode: EncodePiece,
        *,
        retention_seconds: float = RETENTION_SECONDS,
        previews_max: int = PREVIEWS_MAX,
        bytes_max: int = PREVIEWS_BYTES_MAX,
    ) -> None:
        self._encode = encode
        self._retention_seconds = retention_seconds
        self._previews_max = previews_max
        self._open: dict[EpisodeKey, Preview] = {}
        self._closed: dict[EpisodeKey, Preview] = {}  # in the order of closing
        self._full: dict[EpisodeKey, Preview] = {}  # of these, those that still have their pieces
        self._forgotten_count = self._emptied_count = 0
        self._dropped_count = 0
        self._totals = PreviewTotals(bytes_max, make_room=self._make_room)
        self._followers: dict[object, tuple[OnPreviewBegun, OnFailure]] = {}

    @contextmanager
    def follow(self, began: OnPreviewBegun, *, fail: OnFailure) -> Iterator[None]:
        """Call `began` with every attempt that begins, as long as the block runs, and `fail` with
        what a call raises. Neither waits for anything."""
        place = object()
        self._followers[place] = began, fail
        try:
            yield
        finally:
            del self._followers[place]

    def begin(self, key: EpisodeKey, attempt: object = None) -> Preview:
        """Return the log of an attempt that begins. A key is used once.

        `attempt` is kept as long as the log, for the turn that began it; nothing here looks at it.
        """
        assert key not in self._open, f"{key}: an attempt begins once"
        assert key not in self._closed, f"{key}: an attempt begins once"
        self.sweep()
        preview = self._open[key] = Preview(key, self._encode, self._totals, attempt=attempt)
        for began, fail in tuple(self._followers.values()):
            try:
                began(preview)
            except Exception as error:  # noqa: BLE001  the follower is told, and nothing else ends
                self._totals.failed_count += 1
                end_listener(fail, error)
        return preview

    def end(self, preview: Preview) -> None:
        """Close a preview; it can be read for a while."""
        preview.close()
        if self._open.pop(preview.key, None) is not None:
            self._closed[preview.key] = self._full[preview.key] = preview
            self._dropped_count += preview.dropped_count

    def find(self, key: EpisodeKey) -> Preview | None:
        return self._open.get(key) or self._closed.get(key)

    def sweep(self) -> None:
        """Forget previews that were closed long enough ago, and more if there are too many. A
        reader keeps the one it reads."""
        too_old = now() - self._retention_seconds
        while self._closed:
            key, oldest = next(iter(self._closed.items()))
            assert oldest.closed_at is not None, "it is among the closed ones"
            crowded = len(self._open) + len(self._closed) >= self._previews_max
            if oldest.closed_at > too_old and not crowded:
                return
            del self._closed[key]
            self._full.pop(key, None)
            self._totals.bytes_count -= oldest.bytes_count
            self._forgotten_count += 1

    def _make_room(self, size: int) -> bool:
        totals = self._totals
        while totals.bytes_count + size > totals.bytes_max and self._full:
            self._full.pop(next(iter(self._full))).forget_pieces()
            self._emptied_count += 1
        return totals.bytes_count + size <= totals.bytes_max

    def statistics(self) -> PreviewsStatistics:
        return PreviewsStatistics(
            open_count=len(self._open),
            closed_count=len(self._closed),
            bytes_count=self._totals.bytes_count,
            bytes_max=self._totals.bytes_max,
            forgotten_count=self._forgotten_count,
            emptied_count=self._emptied_count,
            dropped_count=self._dropped_count,
            failed_count=self._totals.failed_count,
        )
