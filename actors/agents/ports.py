"""What is asked about a family of chats."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from actors.law.chat import ChatError
from actors.law.ids import ChatId
from actors.law.states import Status


@dataclass(frozen=True, slots=True)
class ChildReport:
    """What a child has said last, and whether it came to the end of its work with it."""

    report: str
    is_whole: bool


@dataclass(frozen=True, slots=True)
class FamilyMember:
    """A member of a family, as its relatives see it."""

    id: ChatId
    parent_id: ChatId | None
    title: str
    mode: str
    status: Status
    archived: bool
    last_error: ChatError | None
    created_at: datetime
    updated_at: datetime
    said: ChildReport | None = None  # None: it has not been asked for, or has not settled

    @property
    def type(self) -> str:
        return self.mode or "general"


@dataclass(frozen=True, slots=True)
class ChildPage:
    """A page of them, and how many there are."""

    shown: Sequence[FamilyMember]
    total: int


@dataclass(frozen=True, slots=True)
class FamilyCounts:
    """What is asked of a chat before it gets another child: of what client it is, and how many
    children it has, and has at work."""

    client_type: str
    children: int
    at_work: int
    workspace_id: UUID | None = None  # by now: the chat may have made itself one in this very turn


class FamilyReader(Protocol):
    async def descendants(self, of: ChatId, wanted: Sequence[ChatId]) -> Sequence[FamilyMember]:
        """Those of `wanted` whose line of parents leads to `of`; no chat is its own descendant."""
        ...

    async def standing(self, of: ChatId, wanted: Sequence[ChatId]) -> Sequence[FamilyMember]:
        """The same, and what those have said that have settled: one question for all."""
        ...

    async def children(self, of: ChatId, *, limit: int, offset: int) -> ChildPage:
        """Those that are not archived, the one that moved last first."""
        ...

    async def household(self, of: ChatId, *, besides: Sequence[ChatId]) -> FamilyCounts:
        """`besides`: children that are not counted."""
        ...
