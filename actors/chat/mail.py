"""What a chat actor can be told. Pure data."""

from dataclasses import dataclass

from actors.chat.turn.work import Outcome
from actors.law.chat import StoredChat


@dataclass(frozen=True, slots=True)
class LookAgain:
    """The store has news. A hint: may be lost, doubled or late."""


@dataclass(frozen=True, slots=True)
class Look:
    """What the store was found to hold. None: no such chat."""

    stored: StoredChat | None


@dataclass(frozen=True, slots=True)
class WorkEnded:
    """The work in flight has come to its end."""

    outcome: Outcome


@dataclass(frozen=True, slots=True)
class NothingAtStake:
    """The work in flight would lose nothing if it were stopped. A hint: that may have changed."""


@dataclass(frozen=True, slots=True)
class DrainNow:
    """The process is stopping: finish the step in flight and go no further."""


ChatMail = LookAgain | Look | WorkEnded | NothingAtStake | DrainNow
