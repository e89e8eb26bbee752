"""Requests and answers by which one process follows attempts of another, and its ports. Pure data.

The process that follows gives each attempt a number, good for one connection, and says how many of
its pieces it has already. It is told how far the attempt has come, and then every later piece, in
order.
"""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from actors.law.ids import EpisodeKey, WorkerId

FOLLOWS_MAX = 16_384  # over one connection; at more, watchers see no pieces of the others
BATCH_BYTES_MAX = 256 * 1024  # of pieces in one message; what is over goes into the next
BATCH_PIECES_MAX = 1_024  # likewise, of one attempt


@dataclass(frozen=True, slots=True)
class Follow:
    """A request for the pieces of an attempt, of which `seq` are there already."""

    number: int
    key: EpisodeKey
    seq: int


@dataclass(frozen=True, slots=True)
class Unfollow:
    """A request for no more pieces."""

    number: int


@dataclass(frozen=True, slots=True)
class PieceCount:
    """The number of pieces there were when the `Follow` came: the first answer to it."""

    number: int
    seq: int


@dataclass(frozen=True, slots=True)
class RelayedPieces:
    """The next pieces behind the first `seq`, encoded as watchers get them."""

    number: int
    seq: int
    pieces: Sequence[bytes]


@dataclass(frozen=True, slots=True)
class FollowEnded:
    """The end of an attempt: no piece follows."""

    number: int


@dataclass(frozen=True, slots=True)
class FollowRefused:
    """A refusal: this connection follows FOLLOWS_MAX attempts already."""

    number: int


RelayRequest = Follow | Unfollow
RelayAnswer = PieceCount | RelayedPieces | FollowEnded | FollowRefused


@dataclass(frozen=True, slots=True)
class NotConnected:
    """The reason why there is no connection to a process now, for its log."""

    why: str
    is_fault: bool = True  # False: the process has stopped, as processes do


class PeerConnection(Protocol):
    """A connection to another process. One task sends, one receives; both are bounded."""

    async def send(self, requests: Sequence[RelayRequest]) -> bool:
        """Send the requests. Return False if the connection is broken."""
        ...

    async def receive(self) -> Sequence[RelayAnswer] | None:
        """Return what has come, in order; it may be nothing. None: the connection is over."""
        ...


class PeerConnector(Protocol):
    """The way to connect to other processes."""

    def connected(
        self, worker: WorkerId
    ) -> AbstractAsyncContextManager[PeerConnection | NotConnected]:
        """Connect to that process, which has to prove that it is the one."""
        ...
