"""The ports through which actors ask about a family of chats, and the records of the answers."""

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
    """The last message of a child, and whether the child came to the end of its work with it."""

    report: str
    is_whole: bool


@dataclass(frozen=True, slots=True)
class FamilyMember:
    """A chat of a family, as its relatives see it."""

    id: ChatId
    parent_id: ChatId | None
    title: str
    mode: str
    status: Status
    archived: bool
    last_error: ChatError | None
    created_at: datetime
    updated_at: datetime
    last_report: ChildReport | None = None  # None: it has not been asked for, or has not settled

    @property
    def type(self) -> str:
        return self.mode or "general"


@dataclass(frozen=True, slots=True)
class ChildPage:
    """A page of children, and how many there are in all."""

    members: Sequence[FamilyMember]
    total: int


@dataclass(frozen=True, slots=True)
class FamilyCounts:
    """Facts that decide whether a chat may get another child: the type of its client, how many
    children it has, and how many of them are at work."""

    client_type: str
    children: int
    at_work: int
    workspace_id: UUID | None = None  # by now: the chat may have made itself one in this very turn


class FamilyReader(Protocol):
    """A port to the relatives of a chat."""

    async def descendants(self, of: ChatId, wanted: Sequence[ChatId]) -> Sequence[FamilyMember]:
        """Return those of `wanted` that descend from `of`. No chat is its own descendant."""
        ...

    async def with_reports(self, of: ChatId, wanted: Sequence[ChatId]) -> Sequence[FamilyMember]:
        """Return the same as `descendants`, with the last reports of those that have settled."""
        ...

    async def children(self, of: ChatId, *, limit: int, offset: int) -> ChildPage:
        """Return the children that are not archived, the one that moved last first."""
        ...

    async def family_counts(self, of: ChatId, *, besides: Sequence[ChatId]) -> FamilyCounts:
        """Return the counts of a chat's family. Children in `besides` are not counted."""
        ...
