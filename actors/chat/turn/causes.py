"""Why a chat, or the work it has in flight, is told to stop. Pure data."""

from dataclasses import dataclass

from actors.law.ids import Holder
from runtime.cause import Cause


@dataclass(frozen=True, slots=True)
class UserInterrupted(Cause):
    """Somebody wants the turn to end: what was said so far is kept."""


@dataclass(frozen=True, slots=True)
class HistoryMoved(Cause):
    """An edit, or another's commit: the work answers a history that no longer stands."""

    history_version: int


@dataclass(frozen=True, slots=True)
class StatusMoved(Cause):
    """The chat is in a state that this kind of work does not belong to."""

    status: str


@dataclass(frozen=True, slots=True)
class LeaseTaken(Cause):
    """Somebody else holds the chat, or nobody does; we may write nothing more."""

    holder: Holder | None


@dataclass(frozen=True, slots=True)
class LeaseExpired(Cause):
    """Our process missed its beats: others may take its chats, so it lets go first."""


@dataclass(frozen=True, slots=True)
class Archived(Cause):
    pass


@dataclass(frozen=True, slots=True)
class Gone(Cause):
    """The chat was deleted."""


@dataclass(frozen=True, slots=True)
class SlowStart(Cause):
    """The provider said nothing at all in time."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Silent(Cause):
    """The provider stopped in mid-answer and said nothing more in time."""

    seconds: float
