"""Those who are called in a chat's own task when something is said in an attempt of it.

A call takes no time to speak of and waits for nothing. What it raises ends the listener and never
the attempt: the listener hears no more, and its `fail` is called once with the error.
"""

from collections.abc import Callable
from typing import Protocol

from runtime.log import emit

Fail = Callable[[Exception], None]


class PieceListener(Protocol):
    """Hears every piece of an attempt."""

    def hear(self, piece: bytes, alone: bool) -> None:
        """A piece has been added. `alone`: nothing else is said at the same moment."""

    def fail(self, error: Exception) -> None:
        """`hear` has raised `error`: it is not called again."""


class EpisodeFollower(Protocol):
    """Reads an attempt by a cursor of its own, and hears only that there is more to read."""

    def note(self) -> None:
        """There is more to read, or the end."""

    def fail(self, error: Exception) -> None:
        """`note` has raised `error`: it is not called again."""


def end_listener(fail: Fail, error: Exception) -> None:
    """Tell a listener that it has failed. One that fails even there is written down and left."""
    try:
        fail(error)
    except Exception as worse:  # noqa: BLE001  it must not reach the chat either
        emit("listener.broken", "error", error=worse, ended_by=repr(error))
