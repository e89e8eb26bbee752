"""The parent of several processes behind one address: `promptcorner serve --processes N`.

The parent starts the processes, restarts them, and stops with them. It serves no clients, and knows
no chat and no database.

The first process starts alone: it brings the schema up to date and prints what is said once. When
it is ready the others follow; when all are, systemd is told. From then on one that ends is started
again, with growing pauses. One that ends before that, or too often, takes all down:
the others would end for the same cause.

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

from adapters.daemon.membership import READY, VARIABLE, Membership
from adapters.daemon.systemd import Systemd
from adapters.http.host.listeners import address_of, cannot_listen, listen
from adapters.settings.refusals import CannotStart
from runtime.clock import now
from runtime.ends import Crashed
from runtime.log import emit
from runtime.restart import Restart, StartAgain, what_next

RESTART = Restart()  # five times a minute; at more, all are stopped
SILENCE_SECONDS = 30.0  # without a beat are a silence
SILENCES_MAX = 2  # in a row; after one alone, this process may have slept itself
STOP_SECONDS = 75.0  # beside the drain: for all that is written and closed after it; then SIGKILL
KILL_SECONDS = 5.0  # for a killed process to be gone
TOLD_EARLY = (-signal.SIGTERM, -signal.SIGINT)
ECHO_SECONDS = 1.0  # the same signal so soon after the first counts as the first

DEALT_OUT = sys.platform == "linux"

Place = tuple[socket.AddressFamily, tuple[str | int, ...]]
Sockets = Sequence[socket.socket]


class ProcessEnded(Exception):
    """The end of a process that was not told to stop."""


@dataclass(eq=False, slots=True)
class ChildProcess:
    """One of the processes, through all its restarts."""

    number: int
    sockets: Sequence[socket.socket]
    process: trio.Process | None = None  # of the last start; None if it could not be started
    ready: trio.Event = field(default_factory=trio.Event)  # set once it has been ready
    is_up: bool = False  # since its last start
    code: int = 0  # of its last end

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


class ParentProcess:
    """The parent: starts the processes, restarts them, passes on signals, and ends with them."""

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
        self._children = [ChildProcess(number, each) for number, each in enumerate(sockets, 1)]
        self._systemd = systemd
        self._drain_seconds = drain_seconds
        self._address = address
        self._began = now()
        self._all_ready = trio.Event()
        self._stop = trio.Event()
        self._failed = ""
        self._told = 0  # the signal that stops all
        self._being_made = 0  # processes that are being started
        self._keeping: trio.Nursery

    async def run(self) -> None:
        """Run until all processes have ended."""
        async with trio.open_nursery() as self._keeping:
            self._keeping.start_soon(self._start)

    def outcome(self) -> int:
        """Return the exit code; raise CannotStart if they never were ready."""
        if self._failed and not self._all_ready.is_set():
            raise CannotStart(self._failed, "it did not start", "its own words stand above")
        ill = [child.number for child in self._children if not child.ended_well]
        good = not (self._failed or ill)
        emit("processes.stopped", "info" if good else "error", ill=ill or None)
        return 0 if good else 1

    async def handle_signals(self, signals: AsyncIterator[int]) -> None:
        """Stop all in good order at the first signal, and at once at the second."""
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
        """Tell all processes to stop, once: a second signal would end them at once.

        Clients are refused as soon as no process listens any more.
        """
        if self._stop.is_set():
            return
        self._told = number
        self._stop.set()
        self._close_sockets()
        self._tell(number)
        seconds = self._drain_seconds + STOP_SECONDS
        self._keeping.cancel_scope.deadline = trio.current_time() + seconds

    def _close_sockets(self) -> None:
        """Close the sockets, but not while a process is being made.

        It would inherit whatever has got their numbers since.
        """
        if self._stop.is_set() and not self._being_made:
            for child in self._children:
                for each in child.sockets:
                    each.close()

    def _tell(self, number: int) -> None:
        for child in self._children:
            if child.process is not None and child.process.returncode is None:
                child.process.send_signal(number)

    async def _start(self) -> None:
        first, *others = self._children
        for group in ([first], others):
            for child in group:
                self._keeping.start_soon(self._keep, child)
            for child in group:
                await self._until_ready_or_stopped(child)
            if self._stop.is_set():
                return
        self._all_ready.set()
        emit(
            "processes.ready",
            "info",
            listen=self._address,
            processes=len(self._children),
            seconds=round(now() - self._began, 3),
        )
        self._systemd.ready(f"serves at {self._address} with {len(self._children)} processes")

    async def _until_ready_or_stopped(self, child: ChildProcess) -> None:
        async with trio.open_nursery() as nursery:

            async def ends(event: trio.Event) -> None:
                await event.wait()
                nursery.cancel_scope.cancel()

            nursery.start_soon(ends, child.ready)
            nursery.start_soon(ends, self._stop)

    async def _keep(self, child: ChildProcess) -> None:
        """Keep a process running: start it again whenever it ends."""
        restarted_at: tuple[float, ...] = ()
        while not self._stop.is_set():
            await self._live(child)
            if self._stop.is_set():
                return
            ended = Crashed(ProcessEnded(child.last_words))
            verdict = what_next(RESTART, ended, restarted_at, now())
            if not isinstance(verdict, StartAgain) or not self._all_ready.is_set():
                return self._give_up(child, len(restarted_at))
            if child.process is not None:
                pid, why = child.process.pid, child.last_words
                emit("process.ended", "warning", number=child.number, pid=pid, why=why)
            with trio.move_on_after(verdict.after_seconds):
                await self._stop.wait()
            restarted_at = (*restarted_at, now())[-RESTART.times :]

    def _give_up(self, child: ChildProcess, restarts: int) -> None:
        """Stop all. If they never were ready, the process itself has said why."""
        self._failed = f"process {child.number}"
        if self._all_ready.is_set():
            why = f"{child.last_words}, again, after {restarts} restarts"
            emit("process.given_up", "error", number=child.number, why=why)
        self.stop(signal.SIGTERM)

    async def _live(self, child: ChildProcess) -> None:
        """Start a process and wait for its end; one that cannot be started counts as failed."""
        child.is_up = False
        try:
            process, line = await self._made(child)
        except OSError as error:
            child.process = None
            child.code = 0 if self._stop.is_set() else os.EX_OSERR
            emit("process.unstarted", "error", number=child.number, error=error)
            return
        child.process = process
        if self._told:
            process.send_signal(self._told)  # while it was being made
        async with line:  # it stays open until the process is gone, which would notice its end
            try:
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(self._listen, child, process, line)
                    await process.wait()
                    nursery.cancel_scope.cancel()
            finally:
                with trio.move_on_after(KILL_SECONDS, shield=True):
                    if process.returncode is None:
                        process.kill()
                        await process.wait()
                child.code = -signal.SIGKILL if process.returncode is None else process.returncode

    async def _made(self, child: ChildProcess) -> tuple[trio.Process, trio.SocketStream]:
        """Start a process, and return it with our end of the line."""
        self._being_made += 1
        try:
            with ExitStack() as undone:
                ours, theirs = map(undone.enter_context, socket.socketpair())
                line = trio.SocketStream(trio.socket.from_stdlib_socket(ours))
                member = Membership(
                    child.number,
                    theirs.fileno(),
                    [each.fileno() for each in child.sockets],
                    is_alone=not any(each.ready.is_set() for each in self._children),
                )
                process = await trio.lowlevel.open_process(
                    self._command,
                    env={**os.environ, VARIABLE: str(member)},
                    pass_fds=member.descriptors,
                    stdin=subprocess.DEVNULL,
                    process_group=0,  # a terminal signals a whole group; we pass it on, once
                )
                undone.pop_all()
                theirs.close()
                return process, line
        finally:
            self._being_made -= 1
            self._close_sockets()

    async def _listen(
        self, child: ChildProcess, process: trio.Process, line: trio.SocketStream
    ) -> None:
        """Read its signs of life, and kill it when there are none."""
        silences = 0
        while silences < SILENCES_MAX:
            heard: bytes | bytearray | None = None
            with trio.move_on_after(SILENCE_SECONDS):
                heard = await line.receive_some()
            silences = 0 if heard else silences + 1
            if heard == b"":  # it is ending, which may take a while
                await trio.sleep(SILENCES_MAX * SILENCE_SECONDS)
                break
            if heard and READY in heard:
                child.is_up = True
                child.ready.set()
        emit("process.silent", "error", number=child.number, pid=process.pid)
        process.kill()


async def serve(
    arguments: Sequence[str],
    sockets: Sequence[Sequence[socket.socket]],
    *,
    drain_seconds: float,
    address: str,
) -> int:
    """Run the processes with the arguments of our own command; return the exit code."""
    systemd = Systemd(os.environ)
    # -P: modules in the directory where we were started are not ours.
    command = [sys.executable, "-P", "-m", "promptcorner", *arguments]
    parent = ParentProcess(command, sockets, systemd, drain_seconds=drain_seconds, address=address)
    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(systemd.run)
            nursery.start_soon(parent.handle_signals, signals)
            await parent.run()
            nursery.cancel_scope.cancel()
    return parent.outcome()


# the address


async def bind_sockets(host: str, port: int, count: int) -> tuple[Sequence[Sockets], str]:
    """Bind the sockets of so many processes, and return them with the address as it became.

    Each process gets one for each address of the host. On Linux it has sockets of its own, and the
    kernel deals connections out to them by their hash: with one socket for all, the process that is
    awake would take what comes, and keep streams that live for hours. The parent holds the sockets
    too, so that connections in the queue of a process that died are served by its successor.
    Elsewhere the kernel does not deal out, and all share one socket. They do not listen yet: a
    process that does not is dealt nothing. Raises CannotStart if another program listens there.
    """
    trying = await listen(host, port)
    places: list[Place] = [(each.socket.family, each.socket.getsockname()) for each in trying]
    at = address_of(trying[0].socket)
    for each in trying:
        await each.aclose()
    try:
        if not DEALT_OUT:
            return [[_bound(place) for place in places]] * count, at
        return [[_bound(place) for place in places] for _ in range(count)], at
    except OSError as error:
        advice = "choose another address with --listen HOST:PORT"
        raise cannot_listen(error, f"listen {at}", advice) from error


def _bound(place: Place) -> socket.socket:
    family, address = place
    bound = socket.socket(family, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if DEALT_OUT:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        if family == socket.AF_INET6:
            bound.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        bound.bind(address)
    except OSError:
        bound.close()
        raise
    return bound
