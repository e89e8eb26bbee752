"""Why a piece of work was told to stop. A cause is data: frozen, comparable, storable.

The first cause given to a scope wins. Others add causes of their own by subclassing `Cause`.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cause:
    """Base of every cause. Subclasses name who or what asked, never how it felt."""

    @property
    def code(self) -> str:
        """The word under which this cause is logged, counted and stored."""
        return type(self).__name__


@dataclass(frozen=True, slots=True)
class Shutdown(Cause):
    """Whoever holds this work is stopping in good order."""


@dataclass(frozen=True, slots=True)
class Deadline(Cause):
    """The scope's own time ran out."""

    seconds: float


@dataclass(frozen=True, slots=True)
class SupervisorGone(Cause):
    """The supervisor was cancelled or failed, so its children stop at once."""

    supervisor: str


@dataclass(frozen=True, slots=True)
class ChildGaveUp(Cause):
    """A child that the supervisor needs cannot be restarted, so the supervisor ends."""

    child: str
