"""The causes for which work is told to stop, and the values that say how it ended.

A cause is data: frozen, comparable, storable. The first cause that is given to a scope wins. Other
packages add causes of their own by subclassing `Cause`.
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
    """The holder of this work is stopping in good order."""


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


@dataclass(frozen=True, slots=True)
class Finished:
    """The work came to its own end, whether or not it was told to stop meanwhile."""


@dataclass(frozen=True, slots=True)
class Stopped:
    """The work was told to stop, and did."""

    cause: Cause


@dataclass(frozen=True, slots=True)
class Crashed:
    """The work let out an unexpected error. Doing it again may help."""

    error: Exception


@dataclass(frozen=True, slots=True)
class Broken:
    """An assertion failed: the code is wrong, and doing it again cannot help."""

    error: Exception


End = Finished | Stopped | Crashed | Broken


def end_by_itself(interrupted_by: Cause | None) -> Finished | Stopped:
    """Return the end of work that let no error out."""
    return Finished() if interrupted_by is None else Stopped(interrupted_by)


def end_by_error(error: Exception, requested: Cause | None) -> Stopped | Crashed | Broken:
    """Return the end of work that let `error` out, given why its own scope was told to stop."""
    if holds_assertion(error):
        return Broken(error)
    if requested is not None:  # our own stop explains what broke on the way out
        return Stopped(requested)
    return Crashed(error)


def holds_assertion(error: BaseException) -> bool:
    """Return whether an assertion failed, here or anywhere in a group of errors."""
    if isinstance(error, BaseExceptionGroup):
        return any(holds_assertion(inner) for inner in error.exceptions)
    return isinstance(error, AssertionError)
