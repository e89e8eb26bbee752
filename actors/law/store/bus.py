"""How news gets about: whoever commits tells, whoever follows hears. Never waits for anybody.

`heard` is called in the teller's task, so it does next to nothing: it hints at an actor, or sets
an event. What it raises is written down and counted, and the teller never knows: it has committed,
or has other things to do. `LookAtEverything` is heard by all.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol

from actors.law.ids import ChatId, UserId
from actors.law.store.answers import Applied
from actors.law.store.hints import Hint, News

Heard = Callable[[News], None]
Seen = Callable[[Applied], None]


class Bus(Protocol):
    def tell(self, hint: Hint) -> None:
        """To all that follow, here and in other processes. It may get lost on the way."""

    def hear(self, news: News) -> None:
        """To all that follow here: what another process told, or would have told."""

    def follow_all(self, heard: Heard) -> AbstractContextManager[None]:
        """Every hint there is, as long as the block runs."""

    def follow_chat(self, chat: ChatId, heard: Heard) -> AbstractContextManager[None]:
        """Where this chat moves."""

    def follow_commits(self, seen: Seen) -> AbstractContextManager[None]:
        """What this process commits, and all it says; each before its hints are told."""

    def follow_owner(self, owner: UserId, heard: Heard) -> AbstractContextManager[None]:
        """Where all chats of this user move."""
