"""The ports of feeds: protocols that adapters implement."""

from collections.abc import Mapping, Sequence, Set
from typing import Protocol

from actors.law.ids import ChatId, EpisodeKey, WorkerId
from actors.law.refusals import ChatNotFound
from actors.streams.feeds.diff import ChatSnapshot, Position
from actors.streams.feeds.events import Event
from actors.streams.previews import PieceListener


class SnapshotReading(Protocol):
    """The store of chats, as far as feeds ask it."""

    async def snapshot(self, chat: ChatId, have: Position) -> ChatSnapshot | ChatNotFound:
        """Read a chat in one snapshot. Of its history at least what is new to a watcher who has
        `have`, and all of it if they know a message that has gone."""
        ...

    async def awaiting_consent(self, chats: Sequence[ChatId]) -> Set[ChatId]:
        """Return those of these chats that ask for consent, or one of whose agents does."""
        ...

    async def newer_snapshots(self, known: Mapping[ChatId, int]) -> Mapping[ChatId, int]:
        """Return those of these chats that are at a newer snapshot than this, and at which."""
        ...


class EncodeEvent(Protocol):
    """The encoding of events for watchers."""

    def __call__(self, chat: ChatId, event: Event) -> bytes:
        """Encode an event as watchers get it."""
        ...


class PieceLog(Protocol):
    """The pieces of an attempt, as far as it has come."""

    key: EpisodeKey
    encoded: list[bytes]  # as watchers get it; only grows
    listener: PieceListener | None  # hears each piece as it is added


class LocalPreviews(Protocol):
    """The attempts of this process."""

    def find(self, key: EpisodeKey) -> PieceLog | None:
        """Return an attempt, if it runs here, or did a moment ago."""
        ...


class RemotePreviews(Protocol):
    """The attempts of other processes."""

    def follow(self, key: EpisodeKey, worker: WorkerId) -> PieceLog | None:
        """Follow an attempt of another process from its beginning; the pieces that it has already
        come soon. None: it cannot be followed."""
        ...

    def let_go(self, attempt: PieceLog) -> None:
        """Follow it no more; nothing happens to an attempt of this process."""
        ...

    async def wait_until_caught_up(self, attempt: PieceLog) -> None:
        """Wait, not for long, until it has come as far as it had when it was first followed."""
        ...
