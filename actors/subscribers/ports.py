"""What feeds ask of the world, said as protocols. Adapters implement these."""

from collections.abc import Mapping
from typing import Protocol

from actors.episodes.buffer import Episode
from actors.ids import ChatId, EpisodeKey
from actors.machine.refusals import ChatNotFound
from actors.subscribers.diff import Found, Have
from actors.subscribers.events import Event


class Reading(Protocol):
    async def found(self, chat: ChatId, have: Have) -> Found | ChatNotFound:
        """What is stored, in one snapshot. Of the history at least what is new to one who has
        that much; all of it if he knows a message that has gone."""
        ...

    async def moved(self, known: Mapping[ChatId, int]) -> Mapping[ChatId, int]:
        """Of these chats those that are at a newer snapshot than is said here, and at which."""
        ...


class Encode(Protocol):
    def __call__(self, chat: ChatId, event: Event) -> bytes:
        """An event as watchers get it."""
        ...


class Attempts(Protocol):
    def find(self, key: EpisodeKey) -> Episode | None:
        """What is said in an attempt, if it runs here, or did a moment ago."""
        ...
