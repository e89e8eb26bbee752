"""Which chats of a list are wanted. Pure data."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from actors.law.ids import ChatId

PAGE_DEFAULT = 50  # chats, where nobody says how many


@dataclass(frozen=True, slots=True, kw_only=True)
class ListFilter:
    """Roots for which all of it holds."""

    mine: bool = True  # those that the caller owns
    theirs: bool = False  # those that others share with him
    archived: bool = False
    unread: bool | None = None  # None: either
    title: str | None = None  # a part of it, as LIKE has it
    search: str | None = None  # words in the title or in one message
    labels: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))  # all of these
    after: ChatId | None = None  # only those that stand behind it
    limit: int = PAGE_DEFAULT
    offset: int = 0
