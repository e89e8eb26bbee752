"""An attempt of another process, as far as it has come here: the same bytes, in the same order."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import trio

from actors.law.ids import EpisodeKey
from actors.streams.episodes.buffer import EPISODE_BYTES_MAX
from actors.streams.episodes.listeners import PieceListener, end_listener

MIRRORED_BYTES_MAX = 256 << 20  # of all mirrors; beyond it they stay as they are, beginnings


@dataclass(slots=True)
class Room:
    """What all mirrors of a process may hold together."""

    bytes_max: int = MIRRORED_BYTES_MAX
    bytes_count: int = 0
    pieces_count: int = 0  # that have come, since the start
    dropped_count: int = 0  # that found no room
    failed_count: int = 0  # listeners that failed and were ended


@dataclass(eq=False, slots=True)
class Mirror:
    """Fulfils `actors.streams.subscribers.ports.Attempt`."""

    key: EpisodeKey
    room: Room
    encoded: list[bytes] = field(default_factory=list)
    listener: PieceListener | None = None
    bytes_count: int = 0
    is_full: bool = False
    is_forgotten: bool = False  # nobody follows it any more
    caught_up: trio.Event = field(default_factory=trio.Event)
    _wanted: int = 0  # pieces there were when it was followed

    def stands(self, seq: int) -> None:
        self._wanted = seq
        self._look()

    def add(self, pieces: Sequence[bytes]) -> None:
        alone = len(pieces) == 1
        for piece in pieces:
            if not self._has_room(len(piece)):
                self.is_full = True
                self.room.dropped_count += 1
                continue
            self.encoded.append(piece)
            self.bytes_count += len(piece)
            self.room.bytes_count += len(piece)
            self.room.pieces_count += 1
            listener = self.listener
            if listener is not None:
                try:
                    listener.hear(piece, alone)
                except Exception as error:  # noqa: BLE001  it ends the listener, not the link
                    self.listener = None
                    self.room.failed_count += 1
                    end_listener(listener.fail, error)
                    if self.is_forgotten:
                        return
        self._look()

    def forget(self) -> None:
        """Nobody follows it any more."""
        self.listener, self.is_forgotten = None, True
        self.room.bytes_count -= self.bytes_count
        self.bytes_count = 0
        self.caught_up.set()

    def _has_room(self, size: int) -> bool:
        fits = self.bytes_count + size <= EPISODE_BYTES_MAX
        return fits and not self.is_full and self.room.bytes_count + size <= self.room.bytes_max

    def _look(self) -> None:
        if self.is_full or len(self.encoded) >= self._wanted:
            self.caught_up.set()
