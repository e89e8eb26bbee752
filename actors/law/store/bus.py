"""The bus: whoever commits tells, and those who follow hear. It never waits for anybody.

A listener is called in the teller's task, so it does next to nothing: it hints at an actor, or sets
an event. What it raises is written down and counted, and the teller never knows of it: the teller
has committed, or has other things to do. Every listener hears `LookAtEverything`.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol

from actors.law.ids import ChatId
from actors.law.store.answers import Applied
from actors.law.store.hints import Hint, News

NewsListener = Callable[[News], None]
CommitListener = Callable[[Applied], None]


class Bus(Protocol):
    def tell(self, hint: Hint) -> None:
        """Tell all that follow, here and in other processes. A hint may get lost on the way."""

    def hear(self, news: News) -> None:
        """Tell all that follow here what another process told, or would have told."""

    def follow(self, listener: NewsListener, *kinds: type[News]) -> AbstractContextManager[None]:
        """Call the listener with all news of these kinds, as long as the block runs."""

    def follow_chat(self, chat: ChatId, listener: NewsListener) -> AbstractContextManager[None]:
        """Call the listener with all news of this chat, as long as the block runs."""

    def follow_commits(self, listener: CommitListener) -> AbstractContextManager[None]:
        """Call the listener with all that this process commits, before it is told as hints."""
