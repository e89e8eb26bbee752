"""What a process of several knows of its parent: its number, its sockets, and a line.

Over the line it says that it is ready and still alive; nothing is said the other way, but that the
line ends: then the parent is gone, and nobody would tell the process to stop.
"""

import os
import socket
from collections.abc import MutableMapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

import trio

VARIABLE = "_PROMPTCORNER_MEMBER"  # none of the settings: nobody but the parent says it
BEAT_SECONDS = 5.0
READY, BEAT = b"r", b"b"


class Herald(Protocol):
    """Who is told how the daemon fares: systemd, or a parent."""

    def ready(self, status: str) -> None: ...
    def stopping(self, drain_seconds: float) -> None: ...
    async def run(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Membership:
    """Written by the parent into the environment of a process."""

    number: int  # from 1
    line: int  # a descriptor
    sockets: Sequence[int]  # likewise
    is_alone: bool  # nobody else serves yet: it answers probes from the first moment

    def __str__(self) -> str:
        sockets = ",".join(map(str, self.sockets))
        return f"{self.number}:{self.line}:{sockets}:{int(self.is_alone)}"

    @property
    def descriptors(self) -> tuple[int, ...]:
        return (*self.sockets, self.line)


def membership_of(environ: MutableMapping[str, str]) -> Membership | None:
    """Taken out of the environment: what we start is no member. None: there is no parent."""
    said = environ.pop(VARIABLE, "")
    if not said:
        return None
    number, line, sockets, is_alone = said.split(":")
    found = Membership(int(number), int(line), tuple(map(int, sockets.split(","))), is_alone == "1")
    for descriptor in found.descriptors:
        os.set_inheritable(descriptor, False)
    return found


class Parent:
    """The line, from the side of the process. Fulfils `Herald`."""

    def __init__(self, member: Membership) -> None:
        self._line = socket.socket(fileno=member.line)
        self._line.setblocking(False)

    def ready(self, status: str) -> None:
        self._say(READY)

    def stopping(self, drain_seconds: float) -> None:
        """It told us."""

    async def run(self) -> None:
        """Until cancelled: a beat, for as long as the loop turns."""
        while True:
            self._say(BEAT)
            await trio.sleep(BEAT_SECONDS)

    async def until_gone(self) -> None:
        """Wait until there is no parent any more."""
        while True:
            await trio.lowlevel.wait_readable(self._line)
            try:
                if not self._line.recv(1):
                    return
            except BlockingIOError:
                continue
            except OSError:
                return

    def _say(self, word: bytes) -> None:
        with suppress(OSError):  # full: it does not listen; broken: `until_gone` says so
            self._line.send(word)
