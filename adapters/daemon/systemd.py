"""Messages to systemd: ready, stopping, still alive. Nothing is sent where it does not listen.

    systemd = Systemd(os.environ)
    nursery.start_soon(systemd.run)     says that it is alive, as often as the watchdog wants;
                                        without trio: beat_when_due(), again at next_beat
    systemd.ready("serves at …")        lets units that come after this one start
    systemd.stopping(drain_seconds)     asks systemd to wait longer than it would

Messages are datagrams, sent without waiting, so that systemd never holds up a chat.
https://www.freedesktop.org/software/systemd/man/latest/sd_notify.html
"""

import os
import socket
from collections.abc import Callable, MutableMapping
from math import inf

import trio

from runtime.clock import now
from runtime.log import emit

SOCKET, WATCHDOG, WATCHDOG_PID = "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"
BEAT_SECONDS = 5.0  # where no watchdog asks for more
# A start that brings a large schema up to date takes its time; a longer one has gone wrong.
START_SECONDS_MAX = 3600.0
STOP_SECONDS = 60.0  # beside the drain: for all that is written and closed after it
BEATS_PATIENCE = 3  # may get lost before systemd takes a long start or stop for a dead one
STATUS_MAX = 200  # characters; the rest is left out


class Systemd:
    """The daemon's end of systemd's notification socket."""

    def __init__(self, environ: MutableMapping[str, str], clock: Callable[[], float] = now) -> None:
        """Take systemd's variables out of the environment, so that no child speaks in our name."""
        self._clock = clock
        self._address = _address(environ.pop(SOCKET, ""))
        watchdog, pid = environ.pop(WATCHDOG, ""), environ.pop(WATCHDOG_PID, "")
        ours = watchdog.isdecimal() and int(watchdog) > 0 and pid in ("", str(os.getpid()))
        self._watched = ours and self._address is not None
        self._beat_seconds = int(watchdog) / 1e6 / 2 if self._watched else BEAT_SECONDS
        # Until then each beat asks for more time to start or to stop.
        self._patience_ends = clock() + START_SECONDS_MAX if self._address else -inf
        self.next_beat = inf if self._address is None else -inf
        self._complained = False

    def ready(self, status: str) -> None:
        self._patience_ends = -inf
        self._say("READY=1", _status(status))

    def status(self, status: str) -> None:
        """Set the text that `systemctl status` shows."""
        self._say(_status(status))

    def stopping(self, drain_seconds: float) -> None:
        self._patience_ends = self._clock() + drain_seconds + STOP_SECONDS
        drain = f"hands its chats on, within {drain_seconds:g} s"
        self._say("STOPPING=1", _status(drain), self._more_time())

    async def run(self) -> None:
        """Send the watchdog a beat until cancelled; a loop that stands still sends none."""
        while self._address is not None:
            self.beat_when_due()
            await trio.sleep(max(0.0, self.next_beat - self._clock()))

    def beat_when_due(self) -> None:
        """Send the watchdog its next beat, if it is time for it."""
        moment = self._clock()
        if moment < self.next_beat:
            return
        self.next_beat = moment + self._beat_seconds
        words = ["WATCHDOG=1"] if self._watched else []
        if moment < self._patience_ends:
            words.append(self._more_time())
        if words:
            self._say(*words)

    def _more_time(self) -> str:
        return f"EXTEND_TIMEOUT_USEC={int(BEATS_PATIENCE * self._beat_seconds * 1e6)}"

    def _say(self, *words: str) -> None:
        if self._address is None:
            return
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as speaking:
                speaking.setblocking(False)
                speaking.sendto("\n".join(words).encode(), self._address)
        except OSError as error:
            if not self._complained:
                self._complained = True
                emit("systemd.unreached", "warning", error=error)


def _address(said: str) -> str | None:
    """Return a path, or an abstract name; other kinds of sockets are not supported."""
    if said.startswith("@"):
        return "\0" + said[1:]
    return said if said.startswith("/") else None


def _status(text: str) -> str:
    return "STATUS=" + " ".join(text.split())[:STATUS_MAX]
