"""The parent of several processes: it starts them, starts them again, and stops with them.

The first process starts alone: it brings the schema up to date and prints what is said once. When
it is ready the others follow; when all are, systemd is told. From then on one that ends is started
again, with growing pauses. Who ends before that, or too often, takes all down: what is wrong is
wrong with all of them.

A signal is passed on to all at once; a second one ends everything now. A process that gives no sign
of life is killed, and its chats go to the others.
"""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from math import inf

import trio

from adapters.daemon.processes.membership import READY, VARIABLE, Membership
from adapters.daemon.systemd import Systemd
from adapters.settings.refusals import CannotStart
from runtime.clock import now
from runtime.ends import Crashed
from runtime.log import emit
from runtime.restart import Again, Restart, what_next

RESTART = Restart()  # five times a minute; at more, all are stopped
SILENCE_SECONDS = 30.0  # without a beat,
SILENCES_MAX = 2  # in a row; we may have slept ourselves, so the first is not the last
STOP_SECONDS = 75.0  # beside the drain: for what is written and closed after it; then SIGKILL
KILL_SECONDS = 5.0  # for a killed process to be gone
TOLD_EARLY = (-signal.SIGTERM, -signal.SIGINT)
ECHO_SECONDS = 1.0  # the same signal so soon after the first is the first


class ProcessEnded(Exception):
    """A process has ended that nobody told to."""


@dataclass(eq=False, slots=True)
class Kid:
    """One of the processes, over all its lives."""

    number: int
    sockets: Sequence[socket.socket]
    process: trio.Process | None = None  # of the last life; None if it could not begin
    ready: trio.Event = field(default_factory=trio.Event)  # it was so once
    is_up: bool = False  # in this life
    code: int = 0  # of the last life

    @property
    def last_words(self) -> str:
        if self.process is None:
            return "could not be started"
        if self.code < 0:
            return f"was ended by {signal.Signals(-self.code).name}"
        return f"ended with exit code {self.code}"

    @property
    def ended_well(self) -> bool:
        """Who is told to stop before he can listen to that has nothing to hand on."""
        return self.code == 0 or (self.code in TOLD_EARLY and not self.is_up)


class Family:
    def __init__(
        self,
        command: Sequence[str],
        sockets: Sequence[Sequence[socket.socket]],
        systemd: Systemd,
        *,
        drain_seconds: float,
        address: str,
    ) -> None:
        self._command = command
        self._kids = [Kid(number, each) for number, each in enumerate(sockets, 1)]
        self._systemd = systemd
        self._drain_seconds = drain_seconds
        self._address = address
        self._began = now()
        self._all_ready = trio.Event()
        self._stop = trio.Event()
        self._failed = ""
        self._told = 0  # the signal that stops all
        self._being_made = 0  # processes
        self._keeping: trio.Nursery

    async def run(self) -> None:
        """Until all have ended."""
        async with trio.open_nursery() as self._keeping:
            self._keeping.start_soon(self._start)

    def outcome(self) -> int:
        """The exit code. CannotStart if they never were ready."""
        if self._failed and not self._all_ready.is_set():
            raise CannotStart(self._failed, "it did not start", "its own words stand above")
        ill = [kid.number for kid in self._kids if not kid.ended_well]
        good = not (self._failed or ill)
        emit("processes.stopped", "info" if good else "error", ill=ill or None)
        return 0 if good else 1

    async def heed(self, signals: AsyncIterator[int]) -> None:
        """The first signal stops all in good order, the second at once."""
        first, came = 0, -inf
        async for number in signals:
            if number == first and now() < came + ECHO_SECONDS:
                continue
            name = signal.Signals(number).name
            if first:
                emit("daemon.aborted", "warning", cause=name)
                self._tell(number)
                os._exit(128 + number)
            first, came = number, now()
            emit("processes.stopping", "info", cause=name)
            self._systemd.stopping(self._drain_seconds)
            self.stop(number)

    def stop(self, number: int) -> None:
        """Whoever connects from now on is refused as soon as no process listens any more. A second
        time it does nothing: the processes would take it for the signal to end at once."""
        if self._stop.is_set():
            return
        self._told = number
        self._stop.set()
        self._close_sockets()
        self._tell(number)
        seconds = self._drain_seconds + STOP_SECONDS
        self._keeping.cancel_scope.deadline = trio.current_time() + seconds

    def _close_sockets(self) -> None:
        """Not under the hands of a process that is being made: it would get whatever has taken
        their numbers since."""
        if self._stop.is_set() and not self._being_made:
            for kid in self._kids:
                for each in kid.sockets:
                    each.close()

    def _tell(self, number: int) -> None:
        for kid in self._kids:
            if kid.process is not None and kid.process.returncode is None:
                kid.process.send_signal(number)

    async def _start(self) -> None:
        first, *others = self._kids
        for group in ([first], others):
            for kid in group:
                self._keeping.start_soon(self._keep, kid)
            for kid in group:
                await self._until_ready_or_stopped(kid)
            if self._stop.is_set():
                return
        self._all_ready.set()
        emit(
            "processes.ready",
            "info",
            listen=self._address,
            processes=len(self._kids),
            seconds=round(now() - self._began, 3),
        )
        self._systemd.ready(f"serves at {self._address} with {len(self._kids)} processes")

    async def _until_ready_or_stopped(self, kid: Kid) -> None:
        async with trio.open_nursery() as nursery:

            async def ends(event: trio.Event) -> None:
                await event.wait()
                nursery.cancel_scope.cancel()

            nursery.start_soon(ends, kid.ready)
            nursery.start_soon(ends, self._stop)

    async def _keep(self, kid: Kid) -> None:
        """One life after the other."""
        restarted_at: tuple[float, ...] = ()
        while not self._stop.is_set():
            await self._live(kid)
            if self._stop.is_set():
                return
            ended = Crashed(ProcessEnded(kid.last_words))
            verdict = what_next(RESTART, ended, restarted_at, now())
            if not isinstance(verdict, Again) or not self._all_ready.is_set():
                return self._give_up(kid, len(restarted_at))
            if kid.process is not None:
                pid, why = kid.process.pid, kid.last_words
                emit("process.ended", "warning", number=kid.number, pid=pid, why=why)
            with trio.move_on_after(verdict.after_seconds):
                await self._stop.wait()
            restarted_at = (*restarted_at, now())[-RESTART.times :]

    def _give_up(self, kid: Kid, restarts: int) -> None:
        """Before all were ready its own words say why."""
        self._failed = f"process {kid.number}"
        if self._all_ready.is_set():
            why = f"{kid.last_words}, again, after {restarts} restarts"
            emit("process.given_up", "error", number=kid.number, why=why)
        self.stop(signal.SIGTERM)

    async def _live(self, kid: Kid) -> None:
        """One life, to its end. It ends ill if it cannot begin: the system may have no room."""
        kid.is_up = False
        try:
            process, line = await self._made(kid)
        except OSError as error:
            kid.process = None
            kid.code = 0 if self._stop.is_set() else os.EX_OSERR
            emit("process.unstarted", "error", number=kid.number, error=error)
            return
        kid.process = process
        if self._told:
            process.send_signal(self._told)  # while it was being made
        try:
            async with line, trio.open_nursery() as nursery:
                nursery.start_soon(self._listen, kid, process, line)
                await process.wait()
                nursery.cancel_scope.cancel()
        finally:
            with trio.move_on_after(KILL_SECONDS, shield=True):
                if process.returncode is None:
                    process.kill()
                    await process.wait()
            kid.code = -signal.SIGKILL if process.returncode is None else process.returncode

    async def _made(self, kid: Kid) -> tuple[trio.Process, trio.SocketStream]:
        """A process, and our end of the line to it."""
        self._being_made += 1
        try:
            with ExitStack() as undone:
                ours, theirs = map(undone.enter_context, socket.socketpair())
                line = trio.SocketStream(trio.socket.from_stdlib_socket(ours))
                member = Membership(
                    kid.number,
                    theirs.fileno(),
                    [each.fileno() for each in kid.sockets],
                    is_alone=not any(each.ready.is_set() for each in self._kids),
                )
                process = await trio.lowlevel.open_process(
                    self._command,
                    env={**os.environ, VARIABLE: str(member)},
                    pass_fds=member.descriptors,
                    stdin=subprocess.DEVNULL,
                    process_group=0,  # what a terminal tells its group we pass on ourselves, once
                )
                undone.pop_all()
                theirs.close()
                return process, line
        finally:
            self._being_made -= 1
            self._close_sockets()

    async def _listen(self, kid: Kid, process: trio.Process, line: trio.SocketStream) -> None:
        """To its signs of life, until there are none."""
        silences = 0
        while silences < SILENCES_MAX:
            heard: bytes | bytearray | None = None
            with trio.move_on_after(SILENCE_SECONDS):
                heard = await line.receive_some()
            silences = 0 if heard else silences + 1
            if heard == b"":  # it is ending, and may take a while over it
                await trio.sleep(SILENCES_MAX * SILENCE_SECONDS)
                break
            if heard and READY in heard:
                kid.is_up = True
                kid.ready.set()
        emit("process.silent", "error", number=kid.number, pid=process.pid)
        process.kill()


async def serve(
    arguments: Sequence[str],
    sockets: Sequence[Sequence[socket.socket]],
    *,
    drain_seconds: float,
    address: str,
) -> int:
    """`arguments` are those of our own command: the processes read them, each for itself."""
    systemd = Systemd(os.environ)
    # -P: what stands in the directory where we were started is none of ours.
    command = [sys.executable, "-P", "-m", "promptcorner", *arguments]
    family = Family(command, sockets, systemd, drain_seconds=drain_seconds, address=address)
    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(systemd.run)
            nursery.start_soon(family.heed, signals)
            await family.run()
            nursery.cancel_scope.cancel()
    return family.outcome()
