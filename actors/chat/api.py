"""The mail of a chat actor, and the functions by which others send it."""

from dataclasses import dataclass

from actors.chat.turn.work import Outcome
from actors.law.chat import StoredChat
from runtime.mailbox import Address


@dataclass(frozen=True, slots=True)
class LookAgain:
    """A hint that the store has news of the chat. May be lost, doubled or late."""


@dataclass(frozen=True, slots=True)
class ChatRead:
    """The answer of the store to a look at the chat. None: there is no such chat."""

    stored: StoredChat | None


@dataclass(frozen=True, slots=True)
class WorkEnded:
    """The end of the work in flight."""

    outcome: Outcome


@dataclass(frozen=True, slots=True)
class NothingAtStake:
    """A hint that the work in flight would lose nothing if it were stopped. That may have changed
    by the time it is read."""


@dataclass(frozen=True, slots=True)
class DrainNow:
    """The process is stopping: finish the step in flight and go no further."""


ChatMail = LookAgain | ChatRead | WorkEnded | NothingAtStake | DrainNow


def notify_changed(chat: Address[ChatMail]) -> bool:
    """Hint that the store has news. A hint may be lost; the poll behind it finds the news."""
    return chat.hint(LookAgain())


def drain(chat: Address[ChatMail]) -> None:
    """Let the actor finish the step in flight, if it would lose anything, give the chat back, and
    end."""
    chat.cast(DrainNow())
