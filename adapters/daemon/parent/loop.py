"""The loop of the parent: starts the processes, restarts them, and stops with them.

The parent serves no clients, and asks no database. The first process starts alone: it brings the
schema up to date and prints what is said once. When it is ready the others follow; when all are,
systemd is told. From then on one that ends is started again, with growing pauses. One that ends
before that, or too often, takes all down: the others would end for the same cause.

A signal is passed on to all at once; a second one ends everything now. A process that gives no sign
of life is killed, and its chats go to the others.

There is no trio here: a process that is started may be a copy of this one (`starting`), and a copy
of an event loop would share its epoll and its sockets with the original. What is waited for is
little: signals, a line to each process, and the time.
"""

import os
import select
import signal
import socket
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from math import inf

from adapters.daemon.membership import READY, Membership
from adapters.daemon.parent.children import ChildProcess, ProcessEnded
from adapters.daemon.parent.starting import HANDLED, StartProcess
from adapters.daemon.systemd import Systemd
from adapters.settings.refusals import CannotStart
from runtime.clock import machine
from runtime.ends import Crashed
from runtime.log import emit
from runtime.restart import Restart, StartAgain, what_next

RESTART = Restart()  # five times a minute; at more, all are stopped
STOP_SECONDS = 75.0  # beside the drain: for all that is written and closed after it; then SIGKILL
KILL_SECONDS = 5.0  # for a killed process to be gone
ECHO_SECONDS = 1.0  # the same signal so soon after the first counts as the first
READ_BYTES = 4096


class ParentProcess:
    """The parent: starts the processes, restarts them, passes on signals, and ends with them."""

    def __init__(
        self,
        start: StartProcess,
        sockets: Sequence[Sequence[socket.socket]],
        signals: socket.socket,
        systemd: Systemd,
        *,
        drain_seconds: float,
        address: str,
        began: float,
    ) -> None:
        """`signals` tells of each signal in a byte."""
        self._start = start
        self.children = [ChildProcess(number, each) for number, each in enumerate(sockets, 1)]
        self._signals = signals
        self._systemd = systemd
        self._drain_seconds = drain_seconds
        self._address = address
        self._began = began
        self.all_ready = False
        self.stopping = False
        self._failed = ""
        self._signal, self._signal_at = 0, -inf  # the first that came
        self._kill_at = inf  # when all that are left are killed
        self._leave_at = inf  # when they are waited for no longer
        self.children[0].starts_at = -inf

    def run(self) -> None:
        """Run until all processes have ended."""
        while not self.is_over:
            self.step()

    @property
    def is_over(self) -> bool:
        running = any(child.runs for child in self.children)
        return self.stopping and (not running or machine() >= self._leave_at)

    def step(self) -> None:
        """Do what is due, wait for the next thing to happen, and note it."""
        self._systemd.beat_when_due()
        for child in self.children:
            if machine() >= child.starts_at:
                self._make(child)
        if self.is_over:  # none could be started
            return
        for descriptor in self._wait():
            if descriptor == self._signals.fileno():
                self._hear_signals()
            for child in self.children:
                if child.line is not None and child.line.fileno() == descriptor:
                    self._hear(child, child.line)
        self._reap()
        self._look_at_the_time()

    def outcome(self) -> int:
        """Return the exit code; raise CannotStart if they never were ready."""
        if self._failed and not self.all_ready:
            raise CannotStart(self._failed, "it did not start", "its own words stand above")
        ill = [child.number for child in self.children if not child.ended_well]
        good = not (self._failed or ill)
        emit("processes.stopped", "info" if good else "error", ill=ill or None)
        return 0 if good else 1

    def stop(self, number: int) -> None:
        """Tell all processes to stop, once: a second signal would end them at once.

        Clients are refused as soon as no process listens any more.
        """
        if self.stopping:
            return
        self.stopping = True
        for child in self.children:
            child.starts_at = inf
            for each in child.sockets:
                each.close()
        self._tell(number)
        self._kill_at = machine() + self._drain_seconds + STOP_SECONDS

    def _tell(self, number: int) -> None:
        for child in self.children:
            if child.process is not None and child.runs:
                child.process.send_signal(number)

    # what happens

    def _wait(self) -> Sequence[int]:
        """Wait until something is heard or due; return the descriptors at which it is heard."""
        hearing = [self._signals, *(child.line for child in self.children if child.line)]
        waiting = select.poll()
        for each in hearing:
            waiting.register(each, select.POLLIN)
        moments = [child.next_moment for child in self.children]
        due = min(*moments, self._systemd.next_beat, self._kill_at, self._leave_at)
        milliseconds = None if due == inf else max(0.0, due - machine()) * 1e3
        return [descriptor for descriptor, _ in waiting.poll(milliseconds)]

    def _hear_signals(self) -> None:
        """Stop all in good order at the first signal, and at once at the second."""
        for number in self._signals.recv(READ_BYTES):
            if number == signal.SIGCHLD:
                continue  # one of them may have ended, which is looked at anyway
            name = signal.Signals(number).name
            if number == self._signal and machine() < self._signal_at + ECHO_SECONDS:
                continue
            if self._signal:
                emit("daemon.aborted", "warning", cause=name)
                self._tell(number)
                os._exit(128 + number)
            self._signal, self._signal_at = number, machine()
            emit("processes.stopping", "info", cause=name)
            self._systemd.stopping(self._drain_seconds)
            self.stop(number)

    def _hear(self, child: ChildProcess, line: socket.socket) -> None:
        """Hear the signs of life of a process, and that it is ready."""
        try:
            heard = line.recv(READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            heard = b""
        if not heard:
            return child.hang_up(machine())
        child.hear(machine())
        if READY in heard:
            child.is_up = child.has_been_ready = True
            self._note_ready(child)

    def _note_ready(self, child: ChildProcess) -> None:
        """Start the others when the first is ready, and say so when all are."""
        if self.stopping or self.all_ready:
            return
        if child is self.children[0]:
            for other in self.children[1:]:
                other.starts_at = -inf
        if not all(each.has_been_ready for each in self.children):
            return
        self.all_ready = True
        emit(
            "processes.ready",
            "info",
            listen=self._address,
            processes=len(self.children),
            seconds=round(machine() - self._began, 3),
        )
        self._systemd.ready(f"serves at {self._address} with {len(self.children)} processes")

    def _reap(self) -> None:
        for child in self.children:
            if child.runs and child.process is not None:
                code = child.process.poll()
                if code is not None:
                    self._note_end(child, code)

    def _look_at_the_time(self) -> None:
        for child in self.children:
            if child.runs and child.process is not None and child.is_silent(machine()):
                emit("process.silent", "error", number=child.number, pid=child.process.pid)
                child.process.send_signal(signal.SIGKILL)
        if machine() >= self._kill_at:
            self._kill_at, self._leave_at = inf, machine() + KILL_SECONDS
            for child in self.children:
                if child.runs:
                    child.code = -signal.SIGKILL  # also if it does not even end by that
            self._tell(signal.SIGKILL)

    # starts and ends

    def _make(self, child: ChildProcess) -> None:
        """Start a process; one that cannot be started counts as failed."""
        child.starts_at, child.is_up = inf, False
        with ExitStack() as undone:
            try:
                ours, theirs = socket.socketpair()
                undone.enter_context(ours)
                ours.setblocking(False)
                with theirs:
                    member = Membership(
                        child.number,
                        theirs.fileno(),
                        [each.fileno() for each in child.sockets],
                        is_alone=not any(each.has_been_ready for each in self.children),
                    )
                    process = self._start(member)
            except OSError as error:
                child.process = None
                emit("process.unstarted", "error", number=child.number, error=error)
                return self._note_end(child, os.EX_OSERR)
            undone.pop_all()
        child.begin(process, ours, machine())

    def _note_end(self, child: ChildProcess, code: int) -> None:
        """Start a process again that has ended, after a pause, or give up."""
        child.end(code)
        if self.stopping:
            return
        ended = Crashed(ProcessEnded(child.last_words))
        verdict = what_next(RESTART, ended, child.restarted_at, machine())
        if not isinstance(verdict, StartAgain) or not self.all_ready:
            return self._give_up(child)
        if child.process is not None:
            pid, why = child.process.pid, child.last_words
            emit("process.ended", "warning", number=child.number, pid=pid, why=why)
        child.starts_at = machine() + verdict.after_seconds
        child.restarted_at = (*child.restarted_at, child.starts_at)[-RESTART.times :]

    def _give_up(self, child: ChildProcess) -> None:
        """Stop all. If they never were ready, the process itself has said why."""
        self._failed = f"process {child.number}"
        if self.all_ready:
            why = f"{child.last_words}, again, after {len(child.restarted_at)} restarts"
            emit("process.given_up", "error", number=child.number, why=why)
        self.stop(signal.SIGTERM)


@contextmanager
def heard_signals() -> Iterator[socket.socket]:
    """Give a socket with a byte for each signal that comes meanwhile; none acts by itself."""
    hearing, telling = socket.socketpair()
    with hearing, telling:
        hearing.setblocking(False)
        telling.setblocking(False)
        earlier = signal.set_wakeup_fd(telling.fileno(), warn_on_full_buffer=False)
        acting = {number: signal.signal(number, lambda *_: None) for number in HANDLED}
        try:
            yield hearing
        finally:
            for number, action in acting.items():
                signal.signal(number, action)
            signal.set_wakeup_fd(earlier)
