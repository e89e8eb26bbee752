"""The times at which a watched workspace is looked at. Pure: times come in, and times go out.

A look follows a call that wrote, or a watcher's wish, at once; but looks begin at least a second
apart, and the next one waits as long as the last one took. While commands run in the workspace it
is looked at every five seconds, and once more when they have ended. Otherwise it is left alone.
"""

from dataclasses import dataclass
from math import inf

INTERVAL_SECONDS = 1.0  # between the beginnings of two looks
POLL_SECONDS = 5.0  # between looks while commands run


@dataclass(slots=True)
class LookSchedule:
    """The times of the next look, and of the next question whether commands run."""

    is_wanted: bool = True  # the first watcher wants to know how it is
    asks_at: float = inf  # whether commands run
    was_busy: bool = False
    began: float = -inf
    ended: float = -inf

    def want(self) -> None:
        """Look as soon as may be."""
        self.is_wanted = True

    def expect_commands(self, now: float) -> None:
        """Ask in a while whether commands run: something has happened in the chats."""
        self.asks_at = min(self.asks_at, now + POLL_SECONDS)

    def note_commands(self, now: float, *, are_running: bool) -> None:
        """Take the answer. While they run, and once after that, there is something to see."""
        if are_running or self.was_busy:
            self.want()
        self.was_busy = are_running
        self.asks_at = now + POLL_SECONDS if are_running else inf

    def note_commands_after_look(self, now: float, *, are_running: bool) -> None:
        """Take the answer right after a look. What ran then may change more and end before it is
        asked again."""
        self.was_busy = are_running
        if are_running:
            self.expect_commands(now)

    def begin(self, now: float) -> None:
        self.is_wanted = False
        self.began = now

    def end(self, now: float) -> None:
        self.ended = now

    @property
    def looks_at(self) -> float:
        """Return when the next look may begin; infinite if none is wanted."""
        if not self.is_wanted:
            return inf
        return max(self.began + INTERVAL_SECONDS, self.ended + (self.ended - self.began))

    @property
    def next_at(self) -> float:
        """Return when something is to be done next; infinite if nothing is."""
        return min(self.looks_at, self.asks_at)
