"""Commands that start at once: forked from a process that has imported them already.

A command that starts as a program of its own spends most of a second of a processor on imports, and
the tests start hundreds: daemons, models, and what people type. One process per run of tests
imports all commands and waits at a socket. For each start it makes a copy of itself, which takes
over the words, the environment and the streams of that start and then does what
`python -m promptcorner` does. The copy is a child of the tests, not of the process that made it, so
that it is signalled and waited for like any other.

What differs from a program of its own: the file `/proc/PID/environ`, and memory that is shared with
its siblings until it is written to. Tests of these start a program of its own (`anew`).
That each module imports what it uses is seen by mypy, and where commands are programs.
"""

import ctypes
import fcntl
import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import termios
from pathlib import Path

from adapters.cli.main import COMMANDS
from tests.e2e.processes import PROGRAM_VARIABLE

REQUEST_BYTES_MAX = 100_000
TITLE_BYTES_MAX = 2_000  # of a command line, in place of the one that this process was started with
STREAMS = 3  # standard input, output and error
CLONE_PARENT = 0x8000  # the new process has the parent of the one that makes it
CLONE_NUMBERS = {"x86_64": 56, "aarch64": 220}  # of the system call
# An installed wheel knows nothing of these tests.
FORKED = (
    sys.platform == "linux"
    and os.uname().machine in CLONE_NUMBERS
    and PROGRAM_VARIABLE not in os.environ
)


class ForkedProcess:
    """A process of `start`, with what tests use of `subprocess.Popen`."""

    def __init__(self, pid):
        self.pid = pid
        self.returncode = None

    def poll(self):
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def wait(self, timeout=None):
        if self.poll() is None:
            ends = os.pidfd_open(self.pid)
            try:
                select.select([ends], [], [], timeout)
            finally:
                os.close(ends)
            if self.poll() is None:
                raise subprocess.TimeoutExpired(f"process {self.pid}", timeout)
        return self.returncode

    def send_signal(self, number):
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self):
        self.send_signal(signal.SIGKILL)

    def terminate(self):
        self.send_signal(signal.SIGTERM)


class Starter:
    """The process that makes copies of itself, and our end of the line to it."""

    def __init__(self, environment):
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        padding = "-" * TITLE_BYTES_MAX
        with theirs:
            words = [sys.executable, "-m", "tests.e2e.starting", str(theirs.fileno()), padding]
            self._process = subprocess.Popen(
                words,
                env=environment,
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,  # no terminal, after which its copies would be buffered
                pass_fds=[theirs.fileno()],
            )
        self._line = ours

    def start(self, arguments, environment, *streams, has_terminal=False):
        """Start `promptcorner` with these arguments; its three streams are descriptors.

        With a terminal they are that of a session of its own, whose control characters are signals.
        """
        asked = {"arguments": arguments, "environment": environment, "has_terminal": has_terminal}
        request = json.dumps(asked).encode()
        assert len(request) <= REQUEST_BYTES_MAX, "this environment is too large to be sent"
        socket.send_fds(self._line, [request], streams)
        answer = self._line.recv(100)
        assert answer, f"the starter of daemons has ended: {self._process.wait()}"
        return ForkedProcess(int(answer))

    def close(self):
        self._line.close()
        self._process.wait()


# the other side


def main(line):
    """Import all commands, make copies of this process, and be a command in each of them."""
    for name in ("adapters.daemon.daemon", *(f"adapters.cli.{each.module}" for each in COMMANDS)):
        importlib.import_module(name)
    gc.freeze()
    with line:
        asked, streams = copies_of_this_process(line)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.environ.clear()
    os.environ.update(asked["environment"])
    if asked["has_terminal"]:
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        sys.stdout.reconfigure(line_buffering=True)  # as Python does it that starts in a terminal
    _set_command_line([sys.executable, "-m", "promptcorner", *asked["arguments"]])
    sys.argv = ["promptcorner", *asked["arguments"]]
    runpy.run_module("promptcorner", run_name="__main__", alter_sys=False)


def copies_of_this_process(line):
    """Make a copy for each request until the tests end; return in each copy, with its request."""
    while True:
        request, streams, _, _ = socket.recv_fds(line, REQUEST_BYTES_MAX, STREAMS)
        if not request:
            sys.exit()
        pid = _fork_as_sibling()
        if pid == 0:
            return json.loads(request), streams
        for stream in streams:
            os.close(stream)
        line.send(str(pid).encode())


def _fork_as_sibling():
    """Fork a child of our parent; return 0 in it, and its number here."""
    python, libc = ctypes.pythonapi, ctypes.PyDLL(None, use_errno=True)
    number = CLONE_NUMBERS[os.uname().machine]
    python.PyOS_BeforeFork()
    pid = libc.syscall(number, CLONE_PARENT | signal.SIGCHLD, 0, 0, 0, 0)
    if pid == 0:
        python.PyOS_AfterFork_Child()
        return 0
    python.PyOS_AfterFork_Parent()
    if pid < 0:
        raise OSError(ctypes.get_errno(), "no process could be made")
    return pid


def _set_command_line(words):
    """Write what `ps` and `/proc/PID/cmdline` show over the words that this process began with."""
    fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    begin, end = int(fields[45]), int(fields[46])
    title = b"".join(word.encode() + b"\0" for word in words)
    assert len(title) <= end - begin, "this command line is longer than TITLE_BYTES_MAX"
    ctypes.memmove(begin, title.ljust(end - begin, b"\0"), end - begin)


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])))
