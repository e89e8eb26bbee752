"""Two ways to start a process: as a copy of the parent, which has imported everything, or anew.

A copy shares the memory of what is imported until it writes to it, and is there at once. It is made
where nothing can go wrong with that: on Linux, by a parent with one thread, in which no event loop
runs. Elsewhere it is a program: on macOS the system's own libraries are not made for copies that
do not become another program.

A copy has of the parent what it needs, and nothing else that is open: standard output and error,
its end of the line, its sockets. All other descriptors are closed, also those that the parent was
started with; a copy that held the parent's end of a line would hide the parent's death. It begins
with the signals of a new program. Modules that keep random numbers draw new ones (`random`,
OpenSSL); what it says of itself (ids of workers, ports, locks) is made after the copy.
"""

import gc
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NoReturn, Protocol

from adapters.daemon.membership import VARIABLE, Membership

PASSED_ON = (signal.SIGINT, signal.SIGTERM)
HANDLED = (*PASSED_ON, signal.SIGCHLD)
TITLE = "promptcorner:{number}"  # of a copy, as `ps -o comm` and `top` show it; 15 characters fit
_OWN_TITLE = Path("/proc/self/comm")
_THREADS, _DESCRIPTORS = Path("/proc/self/task"), Path("/proc/self/fd")


class StartedProcess(Protocol):
    """A child of ours, as `subprocess.Popen` has it.

    Only its owner waits for it, so that no other process has its number before that.
    """

    pid: int

    @property
    def returncode(self) -> int | None: ...
    def poll(self) -> int | None: ...
    def send_signal(self, sig: int) -> None: ...


StartProcess = Callable[[Membership], StartedProcess]
"""Starts a process, or raises OSError."""


def starts_programs(command: Sequence[str]) -> StartProcess:
    """Return what starts this command, with its membership in the environment."""

    def start(member: Membership) -> StartedProcess:
        return subprocess.Popen(
            command,
            env={**os.environ, VARIABLE: str(member)},
            pass_fds=member.descriptors,
            stdin=subprocess.DEVNULL,
            process_group=0,  # a terminal signals a whole group; we pass it on, once
        )

    return start


def may_copy() -> bool:
    """Tell whether this process may be copied. A copy of several threads has one of them, and locks
    that the others held are never opened in it."""
    try:
        return sys.platform == "linux" and len(os.listdir(_THREADS)) == 1
    except OSError:  # no /proc, of which a copy could not learn what is open either
        return False


def starts_copies(main: Callable[[], int]) -> StartProcess:
    """Return what starts copies of this process, which run `main` and exit with what it returns.

    A copy finds its membership in its environment, as a program does. What has been imported is
    set apart from the garbage collector, whose notes would be writes.
    """
    gc.freeze()

    def start(member: Membership) -> StartedProcess:
        sys.stdout.flush()  # what waits to be written would be written twice
        sys.stderr.flush()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, HANDLED)
        try:
            pid = os.fork()
            if pid == 0:
                _be(member, main, before)
            return ProcessCopy(pid)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    return start


class ProcessCopy:
    """A copy of this process, as its parent sees it. Fulfils `StartedProcess`."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None

    def poll(self) -> int | None:
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def send_signal(self, sig: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, sig)


# in the copy


def _be(member: Membership, main: Callable[[], int], unblocked: Iterable[int]) -> NoReturn:
    """Be the process of this membership, and exit.

    It never returns into what the parent was doing, whose files and sockets are the parent's.
    """
    code = 1
    try:
        os.setpgid(0, 0)  # a terminal signals a whole group; the parent passes it on, once
        signal.set_wakeup_fd(-1)
        for number in HANDLED:
            signal.signal(number, signal.SIG_DFL)
        _close_all_but(member.descriptors)
        with suppress(OSError):
            _OWN_TITLE.write_text(TITLE.format(number=member.number))
        os.environ[VARIABLE] = str(member)
        signal.pthread_sigmask(signal.SIG_SETMASK, unblocked)
        code = main()
        sys.stdout.flush()
    except Exception:  # noqa: BLE001  # it ends here, whatever it was
        sys.excepthook(*sys.exc_info())
    finally:
        with suppress(Exception):
            sys.stderr.flush()
        os._exit(code)


def _close_all_but(kept: Sequence[int]) -> None:
    """Close what the parent has open, and read nothing from its standard input.

    Objects of the parent that own these descriptors live on in this process to its end, so that
    none closes a number that belongs to another by then.
    """
    if 0 not in kept:  # it is a socket if the parent was started without standard input
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for each in map(int, os.listdir(_DESCRIPTORS)):
        if each not in (0, 1, 2, *kept):
            with suppress(OSError):  # the list was read by one that is closed by now
                os.close(each)
