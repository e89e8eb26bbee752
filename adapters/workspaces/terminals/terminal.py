"""One terminal: a shell that leads a session of its own, with a pseudo-terminal as the one that
controls it, in the sandbox of the workspace.

The pseudo-terminal is made for this shell alone, and belongs to no other program of the machine: a
program that pushes input into it (TIOCSTI) can only type into the shell that it came from.

Output is read whether it is watched or not, so that no program waits for a watcher; a watcher who
is slow is sent what is still kept. Input waits until the program reads it.
"""

import fcntl
import os
import struct
import termios
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from subprocess import DEVNULL
from uuid import UUID, uuid4

import trio

from actors.law.ids import UserId
from adapters.workspaces.commands.process_groups import Lifeline, ProcessGroup, spawn
from adapters.workspaces.terminals.wire import (
    Scrollback,
    TerminalEnd,
    TerminalSize,
    end_message,
    message_of_watcher,
    output_message,
    size_message,
)
from runtime.clock import now, wall

READ_BYTES = 65_536
WATCHERS_MAX = 16  # one more is refused
INPUT_BYTES_MAX = 1024 * 1024  # that wait for the program; with more the socket is closed
PAUSE_BYTES, PAUSE_SECONDS = 256 * 1024, 0.01  # a program that writes on and on waits so long
GATHER_SECONDS = 0.004  # from one message with output to the next
DRAIN_SECONDS = 1.0  # for the last output; then a process that has escaped holds the terminal open
REAP_SECONDS = 5.0  # for a killed shell to be gone; then it is left to the kernel
UNWATCHED_SECONDS = 3_600.0  # without a watcher; then it ends
LOOK_SECONDS = 30.0  # between two looks whether it is watched

UNWATCHED = f"it was not watched for {UNWATCHED_SECONDS / 60:g} minutes"
Send = Callable[[bytes], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminalSpec:
    """A terminal to begin: where its shell runs, and within which limits."""

    workspace: UUID
    owner: UserId
    workdir: str
    arguments: Sequence[str]
    environment: Mapping[str, str]
    seconds_max: float
    disk_mb: int
    size: TerminalSize


class Terminal:
    """A terminal that runs, or has ended a moment ago. Made by `open_terminal`; it has to `run`.

    `used` is called when a person types.
    """

    def __init__(
        self,
        spec: TerminalSpec,
        group: ProcessGroup,
        master: int,
        slave: int,
        *,
        used: Callable[[], None],
    ) -> None:
        self.id = uuid4().hex[:12]
        self.spec = spec
        self.created_at: datetime = wall()
        self.size = spec.size
        self.end: TerminalEnd | None = None
        self.ended_at = 0.0
        self.over = trio.Event()
        self.watchers = 0
        self.output_bytes = self.input_bytes = 0
        self._group = group
        self._master = trio.lowlevel.FdStream(master)
        self._slave = slave
        self._used = used
        self._why = ""
        self._scrollback = Scrollback()
        self._news, self._typed = trio.lowlevel.ParkingLot(), trio.lowlevel.ParkingLot()
        self._input = bytearray()
        self._left_at = now()  # by the last watcher

    # for watchers

    async def watch(self, after: int, send: Send) -> bool:
        """Send a watcher the size, what was written behind a position, and what is written, until
        the terminal has ended. Return False at once if too many watch it."""
        if self.watchers >= WATCHERS_MAX:
            return False
        self.watchers += 1
        position, told = after, None
        try:
            while True:
                if told != self.size:
                    told = self.size
                    await send(size_message(told))
                begins, data = self._scrollback.since(position)
                if data:
                    await send(output_message(begins, data))
                    position = begins + len(data)
                    await trio.sleep(GATHER_SECONDS)
                elif self.end is not None:
                    await send(end_message(self.end))
                    return True
                else:
                    await self._news.park()
        finally:
            self.watchers -= 1
            self._left_at = now()

    def take(self, message: bytes) -> bool:
        """Take a message of a watcher. Return False if it makes no sense, or is too much."""
        said = message_of_watcher(message)
        if said is None:
            return False
        if isinstance(said, TerminalSize):
            self._resize(said)
            return True
        if len(self._input) + len(said) > INPUT_BYTES_MAX:
            return False
        self._used()
        self._input += said
        self.input_bytes += len(said)
        self._typed.unpark_all()
        return True

    def stop(self, why: str) -> None:
        """Kill the shell and all that it has started. The end comes in a moment."""
        if self.end is None:
            self._why = self._why or why
            self._group.kill_session()

    def _resize(self, size: TerminalSize) -> None:
        if self.end is None and size != self.size:
            self.size = size
            set_size(self._slave, size)
            self._news.unpark_all()

    # its life

    async def run(self) -> None:
        """Run the terminal to its end."""
        self._group.release()
        try:
            with trio.move_on_after(self.spec.seconds_max) as life:
                await self._live()
            if life.cancelled_caught:
                self._why = f"ended after {self.spec.seconds_max:g} s, which is its limit"
        finally:
            self._group.kill_session()
            with trio.move_on_after(REAP_SECONDS, shield=True):
                await self._group.wait()
            code = self._group.reap()
            self._close()
            exit_code = -1 if code is None else code if code >= 0 else 128 - code
            self.end, self.ended_at = TerminalEnd(exit_code, self._why), now()
            self.over.set()
            self._news.unpark_all()

    async def _live(self) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._write)
            nursery.start_soon(self._end_unwatched)
            async with trio.open_nursery() as reading:
                reading.start_soon(self._read)
                await self._group.wait()
                self._group.kill_session()  # what it has left behind; it is not reaped yet
                # We are the last to have it open: reading ends behind what was written.
                self._close_slave()
                reading.cancel_scope.deadline = trio.current_time() + DRAIN_SECONDS
            nursery.cancel_scope.cancel()

    async def _read(self) -> None:
        count = 0
        # Broken: no program has the terminal open any more.
        with suppress(trio.BrokenResourceError):
            while data := await self._master.receive_some(READ_BYTES):
                self._scrollback.add(bytes(data))
                self.output_bytes += len(data)
                self._news.unpark_all()
                count += len(data)
                if count > PAUSE_BYTES:
                    count = 0
                    await trio.sleep(PAUSE_SECONDS)

    async def _write(self) -> None:
        with suppress(trio.BrokenResourceError):
            while True:
                while not self._input:
                    await self._typed.park()
                data, self._input = bytes(self._input[:4_096]), self._input[4_096:]
                await self._master.send_all(data)

    async def _end_unwatched(self) -> None:
        while True:
            await trio.sleep(LOOK_SECONDS)
            if not self.watchers and now() >= self._left_at + UNWATCHED_SECONDS:
                self.stop(UNWATCHED)

    def _close_slave(self) -> None:
        slave, self._slave = self._slave, -1
        if slave >= 0:
            os.close(slave)

    def _close(self) -> None:
        self._close_slave()
        self._master.close()

    def discard(self) -> None:
        """Do away with a terminal that never ran."""
        self._group.discard()
        self._close()


def open_terminal(spec: TerminalSpec, lifeline: Lifeline, *, used: Callable[[], None]) -> Terminal:
    """Start a shell, which waits until its terminal is `run`. OSError, ValueError: it cannot be
    started, and nothing is left of it."""
    master, slave = os.openpty()  # neither of them is given to programs, nor controls us
    try:
        set_size(slave, spec.size)
        group = spawn(
            spec.arguments,
            lifeline,
            workdir=spec.workdir,
            environment=spec.environment,
            stderr=DEVNULL,
            terminal=os.ttyname(slave),
        )
    except (OSError, ValueError):
        os.close(master)
        os.close(slave)
        raise
    return Terminal(spec, group, master, slave, used=used)


def set_size(descriptor: int, size: TerminalSize) -> None:
    """Set the size of a terminal; the program that it is in front of is told by a signal."""
    fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", size.rows, size.columns, 0, 0))
