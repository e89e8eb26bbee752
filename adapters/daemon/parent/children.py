"""Knowledge of the parent about one of its processes, through all restarts. Nothing here waits."""

import signal
import socket
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf

from adapters.daemon.parent.starting import StartedProcess

SILENCE_SECONDS = 30.0  # without a beat are a silence
SILENCES_MAX = 2  # in a row; after one alone, this process may have slept itself
TOLD_EARLY = (-signal.SIGTERM, -signal.SIGINT)


class ProcessEnded(Exception):
    """The end of a process that was not told to stop."""


@dataclass(eq=False, slots=True)
class ChildProcess:
    """One of the processes. Moments are on the clock of this machine."""

    number: int
    sockets: Sequence[socket.socket]
    process: StartedProcess | None = None  # of the last start; None if it could not be started
    line: socket.socket | None = None  # our end, as long as it has not hung up
    runs: bool = False
    is_up: bool = False  # since its last start
    has_been_ready: bool = False
    code: int = 0  # of its last end
    starts_at: float = inf
    silent_at: float = inf
    restarted_at: Sequence[float] = field(default=())
    _silences: int = 0

    @property
    def last_words(self) -> str:
        if self.process is None:
            return "could not be started"
        if self.code < 0:
            return f"was ended by {signal.Signals(-self.code).name}"
        return f"ended with exit code {self.code}"

    @property
    def ended_well(self) -> bool:
        """Tell whether its last end needs no restart.

        A process that is stopped before it handles signals has no chats to hand on.
        """
        return self.code == 0 or (self.code in TOLD_EARLY and not self.is_up)

    @property
    def next_moment(self) -> float:
        """Return when something is due, if nothing is heard of it before."""
        return min(self.starts_at, self.silent_at)

    def begin(self, process: StartedProcess, line: socket.socket, now: float) -> None:
        """Note that it has been started."""
        self.process, self.line, self.runs = process, line, True
        self._silences, self.silent_at = 0, now + SILENCE_SECONDS

    def hear(self, now: float) -> None:
        """Note a sign of life."""
        self._silences, self.silent_at = 0, now + SILENCE_SECONDS

    def hang_up(self, now: float) -> None:
        """Note that it says nothing any more: it is ending, which may take a while."""
        self._close_line()
        self._silences = SILENCES_MAX - 1
        self.silent_at = now + SILENCES_MAX * SILENCE_SECONDS

    def is_silent(self, now: float) -> bool:
        """Tell whether it has been silent for too long, and note each silence."""
        if now < self.silent_at:
            return False
        self._silences += 1
        is_over = self._silences >= SILENCES_MAX
        self.silent_at = inf if is_over else now + SILENCE_SECONDS
        return is_over

    def end(self, code: int) -> None:
        """Note that it has ended, or could not be started."""
        self._close_line()
        self.runs, self.silent_at, self.code = False, inf, code

    def _close_line(self) -> None:
        if self.line is not None:
            self.line.close()
            self.line = None
