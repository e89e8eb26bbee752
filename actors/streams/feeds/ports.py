"""What feeds ask of the world, said as protocols. Adapters implement these."""

from collections.abc import Mapping, Sequence, Set
from typing import Protocol

from actors.law.ids import ChatId, EpisodeKey, WorkerId
from actors.law.refusals import ChatNotFound
from actors.streams.episodes import PieceListener
from actors.streams.feeds.diff import ChatSnapshot, Position
from actors.streams.feeds.events import Event


class SnapshotReading(Protocol):
    async def found(self, chat: ChatId, have: Position) -> ChatSnapshot | ChatNotFound:
        """What is stored, in one snapshot. Of the history at least what is new to one who has
        that much; all of it if he knows a message that has gone."""
        ...

    async def asking(self, chats: Sequence[ChatId]) -> Set[ChatId]:
        """Those of these chats that wait for somebody, or one of whose agents does."""
        ...

    async def moved(self, known: Mapping[ChatId, int]) -> Mapping[ChatId, int]:
        """Of these chats those that are at a newer snapshot than is said here, and at which."""
        ...


class EncodeEvent(Protocol):
    def __call__(self, chat: ChatId, event: Event) -> bytes:
        """An event as watchers get it."""
        ...


class PieceLog(Protocol):
    """What is said in an attempt, as far as it has come."""

    key: EpisodeKey
    encoded: list[bytes]  # as watchers get it; only grows
    listener: PieceListener | None  # hears each piece as it is added


class LocalEpisodes(Protocol):
    def find(self, key: EpisodeKey) -> PieceLog | None:
        """What is said in an attempt, if it runs here, or did a moment ago."""
        ...


class RemoteEpisodes(Protocol):
    def follow(self, key: EpisodeKey, worker: WorkerId) -> PieceLog | None:
        """An attempt that runs in another process, from its beginning; what has been said in it
        follows soon. None: it cannot be followed."""
        ...

    def let_go(self, attempt: PieceLog) -> None:
        """Nobody follows it here any more; nothing happens to one of this process."""
        ...

    async def caught_up(self, attempt: PieceLog) -> None:
        """Wait, not for long, until it has come as far as it had when it was followed."""
        ...
