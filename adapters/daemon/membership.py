"""The place of a process among several: its number, its sockets, and a line to its parent.

Over the line the process says that it is ready and still alive. The parent says nothing; the line
ends when the parent is gone, and then the process stops.
"""

import os
import socket
from collections.abc import MutableMapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

import trio

VARIABLE = "_PROMPTCORNER_MEMBER"  # no setting: only the parent sets it
BEAT_SECONDS = 5.0
READY, BEAT = b"r", b"b"


class ReadinessNotifier(Protocol):
    """The receiver of news about the state of the daemon: systemd, or a parent process."""

    def ready(self, status: str) -> None: ...
    def stopping(self, drain_seconds: float) -> None: ...
    async def run(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Membership:
    """The place of a process among several, which the parent writes into its environment."""

    number: int  # from 1
    line: int  # a descriptor
    sockets: Sequence[int]  # likewise
    is_alone: bool  # no other process serves yet: it answers probes from the first moment

    def __str__(self) -> str:
        sockets = ",".join(map(str, self.sockets))
        return f"{self.number}:{self.line}:{sockets}:{int(self.is_alone)}"

    @property
    def descriptors(self) -> tuple[int, ...]:
        return (*self.sockets, self.line)


def membership_of(environ: MutableMapping[str, str]) -> Membership | None:
    """Take the membership out of the environment, or return None if there is no parent.

    It is taken out because programs that we start are no members.
    """
    said = environ.pop(VARIABLE, "")
    if not said:
        return None
    number, line, sockets, is_alone = said.split(":")
    found = Membership(int(number), int(line), tuple(map(int, sockets.split(","))), is_alone == "1")
    for descriptor in found.descriptors:
        os.set_inheritable(descriptor, False)
    return found


class ParentLine:
    """The process's end of the line. Fulfils `ReadinessNotifier`."""

    def __init__(self, member: Membership) -> None:
        self._line = socket.socket(fileno=member.line)
        self._line.setblocking(False)

    def ready(self, status: str) -> None:
        self._say(READY)

    def stopping(self, drain_seconds: float) -> None:
        """Say nothing: it was the parent that told this process to stop."""

    async def run(self) -> None:
        """Send a beat now and then until cancelled; a loop that stands still sends none."""
        while True:
            self._say(BEAT)
            await trio.sleep(BEAT_SECONDS)

    async def until_gone(self) -> None:
        """Wait until the parent is gone."""
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
        with suppress(OSError):  # full: the parent does not read; broken: `until_gone` notices
            self._line.send(word)
