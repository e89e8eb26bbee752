"""What two processes tell each other of attempts. Pure data.

Whoever follows gives each attempt a number, good for one connection, and says how much of it he has
already. He is told how far it has come, then every piece behind what he has, in order.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from actors.law.ids import EpisodeKey

FOLLOWS_MAX = 16_384  # over one connection; at more, watchers see no pieces of the others
BATCH_BYTES_MAX = 256 * 1024  # of pieces in one message; what is over goes into the next
BATCH_PIECES_MAX = 1_024  # likewise, of one attempt
PIECE_BYTES_MAX = 4 << 20  # one alone may be larger than a batch: as large as its episode


@dataclass(frozen=True, slots=True)
class Follow:
    """Tell me what is said in this attempt; I have so many pieces of it."""

    number: int
    key: EpisodeKey
    seq: int


@dataclass(frozen=True, slots=True)
class Unfollow:
    number: int


@dataclass(frozen=True, slots=True)
class Stands:
    """So many pieces there were when you came; the first answer to a `Follow`."""

    number: int
    seq: int


@dataclass(frozen=True, slots=True)
class Pieces:
    """What comes behind the first `seq` pieces, encoded as watchers get it."""

    number: int
    seq: int
    pieces: Sequence[bytes]


@dataclass(frozen=True, slots=True)
class Ended:
    """Nothing more will be said."""

    number: int


@dataclass(frozen=True, slots=True)
class TooMany:
    """You follow too much here already."""

    number: int


Wish = Follow | Unfollow
News = Stands | Pieces | Ended | TooMany
