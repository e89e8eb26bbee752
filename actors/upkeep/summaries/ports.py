"""What summaries ask of the world."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from actors.law.chat import Chat, Message
from actors.law.ids import ChatId


@dataclass(frozen=True, slots=True)
class ListedChat:
    """What a list shows of a chat."""

    title: str
    turns_done: int  # prompts of users that were answered
    turns_summed: int | None  # those that were when it was summed up; None: it never was


class SummaryStore(Protocol):
    """Summaries stand beside the law: no version moves with them, nor the time of the last change.
    Nothing is written over a history that has moved on; watchers are told of what is."""

    async def shown(self, chat: ChatId) -> ListedChat | None:
        """None: it is gone."""
        ...

    async def label(self, chat: Chat, label: str | None) -> bool:
        """How its latest turn ended; whether that was news."""
        ...

    async def summarise(self, chat: Chat, summary: str, *, turns: int) -> bool:
        """What it is about after so many turns; whether that was news."""
        ...


class Histories(Protocol):
    async def history(self, chat: ChatId) -> Sequence[Message]: ...
