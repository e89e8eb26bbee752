"""What systemd is told, and may hear: ready, stopping, still alive. Silent where nobody listens.

    systemd = Systemd(os.environ)
    nursery.start_soon(systemd.run)     still alive, as often as it wants to hear it
    systemd.ready("serves at …")        units that come after this one may start
    systemd.stopping(drain_seconds)     it is to wait longer than it would

The words are datagrams, sent without waiting: systemd is never the reason why a chat stands still.
https://www.freedesktop.org/software/systemd/man/latest/sd_notify.html
"""

import os
import socket
from collections.abc import MutableMapping
from math import inf

import trio

from runtime.clock import now
from runtime.log import emit

SOCKET, WATCHDOG, WATCHDOG_PID = "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"
BEAT_SECONDS = 5.0  # where no watchdog asks for more
# A start that brings a large schema up to date takes its time; a longer one has gone wrong.
START_SECONDS_MAX = 3600.0
STOP_SECONDS = 60.0  # beside the drain: for what is written and closed after it
BEATS_PATIENCE = 3  # that may get lost before systemd takes a long start or stop for a dead one
STATUS_MAX = 200  # characters; the rest is left out


class Systemd:
    """The daemon's side of the conversation."""

    def __init__(self, environ: MutableMapping[str, str]) -> None:
        """Takes its variables out of the environment: nobody whom we start speaks in our name."""
        self._address = _address(environ.pop(SOCKET, ""))
        watchdog, pid = environ.pop(WATCHDOG, ""), environ.pop(WATCHDOG_PID, "")
        ours = watchdog.isdecimal() and int(watchdog) > 0 and pid in ("", str(os.getpid()))
        self._watched = ours and self._address is not None
        self._beat_seconds = int(watchdog) / 1e6 / 2 if self._watched else BEAT_SECONDS
        # Until then a start, or a stop, is given more time at every beat.
        self._patience_ends = now() + START_SECONDS_MAX if self._address else -inf
        self._complained = False

    def ready(self, status: str) -> None:
        self._patience_ends = -inf
        self._say("READY=1", _status(status))

    def status(self, status: str) -> None:
        """What `systemctl status` shows."""
        self._say(_status(status))

    def stopping(self, drain_seconds: float) -> None:
        self._patience_ends = now() + drain_seconds + STOP_SECONDS
        drain = f"hands its chats on, within {drain_seconds:g} s"
        self._say("STOPPING=1", _status(drain), self._more_time())

    async def run(self) -> None:
        """Until cancelled: a beat for the watchdog, for as long as the loop turns."""
        while self._address is not None:
            words = ["WATCHDOG=1"] if self._watched else []
            if now() < self._patience_ends:
                words.append(self._more_time())
            if words:
                self._say(*words)
            await trio.sleep(self._beat_seconds)

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
    """A path, or a name that is none of the file system's; anything else is not for us."""
    if said.startswith("@"):
        return "\0" + said[1:]
    return said if said.startswith("/") else None


def _status(text: str) -> str:
    return "STATUS=" + " ".join(text.split())[:STATUS_MAX]
