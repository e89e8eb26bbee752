"""Programs as process groups of their own, which end with this process however it ends.

A lifeline is a small shell at the other end of a pipe, told of every process group that begins and
ends. When the pipe closes, which the kernel sees to, it kills the groups that are left, with all of
their sessions (the jobs of a shell are groups of their own), and leaves.
Nothing here waits for that shell: one that does not read what it is told is as good as gone.

A program waits behind a gate until the lifeline knows of its group: if this process dies before
that, the program never begins.
"""

import os
import signal
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from subprocess import DEVNULL, PIPE, Popen
from typing import IO

import trio

from adapters.workspaces.commands.sandbox import DEFAULT_PATH

LEAVE_SECONDS = 2.0  # for the shell to go when all is over; then it is killed
CLOSE_SECONDS = 10.0  # for it and all that did not listen to go; then they are left to the kernel

_SHELL = """
trap '' INT TERM HUP
alive=' '
while read -r sign group; do
  case $sign in
    +) alive="$alive$group " ;;
    -) case $alive in *" $group "*) alive="${alive%%" $group "*} ${alive#*" $group "}" ;; esac ;;
  esac
done
for group in $alive; do kill -KILL "-$group"; done
for stat in /proc/[0-9]*/stat; do
  read -r line < "$stat" || continue
  set -- ${line##*) }
  case $alive in *" $4 "*) pid=${stat#/proc/}; kill -KILL "${pid%/stat}" ;; esac
done 2> /dev/null
"""
# A program changes to its directory itself: a disk that hangs is to hang it and not this process.
_GATE = 'read -r go || exit; cd -- "$1" || exit; shift; exec "$@"'
_WITHOUT_INPUT = f"{_GATE} < /dev/null"
# The leader of a session has the first terminal that it opens as its controlling terminal.
_IN_TERMINAL = 'read -r go || exit; cd -- "$1" || exit; exec <> "$2" >&0 2>&0; shift 2; exec "$@"'
KILL_ROUNDS = 8  # looks for members of a session that were forked while it was killed


class Lifeline:
    """The shell that kills what is left when this process is gone. It starts with the first
    program."""

    def __init__(self) -> None:
        self._groups: set[int] = set()
        self._shell: Popen[bytes] | None = None
        self._killed: list[Popen[bytes]] = []  # that another has replaced, until they are reaped

    def add(self, group: int) -> None:
        self._tell(f"+ {group}\n")
        self._groups.add(group)

    def forget(self, group: int) -> None:
        """Forget a group. This has to be done before its number can be given to others."""
        if group in self._groups:
            self._groups.discard(group)
            with suppress(OSError):  # the shell is gone, and no other could be started
                self._tell(f"- {group}\n")

    async def close(self) -> None:
        """Have it kill what is left, and wait for it a moment, cancelled or not."""
        shell, self._shell = self._shell, None
        if shell is None:
            return
        assert shell.stdin is not None, "it was begun with a pipe"
        shell.stdin.close()
        with trio.move_on_after(LEAVE_SECONDS, shield=True):
            await _ended(shell)
        self._kill(shell)
        for each in self._killed:
            with trio.move_on_after(LEAVE_SECONDS, shield=True):
                await _ended(each)
        self._reap()

    def _tell(self, line: str) -> None:
        """Tell the shell something. If it does not take that in, another one is told everything."""
        self._reap()
        if self._shell is not None and _write(self._shell, line):
            return
        shell = _begun()  # if that fails the one before stays: without its pipe it would kill
        known = "".join(f"+ {group}\n" for group in self._groups)
        if not _write(shell, known + line):
            self._kill(shell)
            raise BrokenPipeError("the shell that ends commands does not listen")
        deaf, self._shell = self._shell, shell
        if deaf is not None:  # which would not have killed what it was not told of
            self._kill(deaf)

    def _kill(self, shell: Popen[bytes]) -> None:
        """Kill a shell before its pipe closes, so that it kills no group any more."""
        with suppress(ProcessLookupError):
            shell.send_signal(signal.SIGKILL)
        assert shell.stdin is not None, "it was begun with a pipe"
        shell.stdin.close()
        self._killed.append(shell)

    def _reap(self) -> None:
        self._killed = [each for each in self._killed if each.poll() is None]


async def _ended(shell: Popen[bytes]) -> None:
    if shell.poll() is not None:
        return
    descriptor = os.pidfd_open(shell.pid)
    try:
        await trio.lowlevel.wait_readable(descriptor)
    finally:
        os.close(descriptor)


def _begun() -> Popen[bytes]:
    shell = Popen(
        ["sh", "-c", _SHELL],
        stdin=PIPE,
        stdout=DEVNULL,
        stderr=DEVNULL,
        cwd="/",
        env={"PATH": DEFAULT_PATH},
        start_new_session=True,
        bufsize=0,
    )
    assert shell.stdin is not None, "it was begun with a pipe"
    os.set_blocking(shell.stdin.fileno(), False)
    return shell


def _write(shell: Popen[bytes], text: str) -> bool:
    """Tell the shell something. Return False if it is gone, or has not read for so long that its
    pipe is full. All groups that there may be fit into a pipe that is empty."""
    assert shell.stdin is not None, "it was begun with a pipe"
    content = text.encode()
    try:
        return os.write(shell.stdin.fileno(), content) == len(content)
    except (BrokenPipeError, BlockingIOError):
        return False


@asynccontextmanager
async def open_lifeline() -> AsyncIterator[Lifeline]:
    """Give a lifeline for the length of the block; at its end it kills what is left."""
    lifeline = Lifeline()
    try:
        yield lifeline
    finally:
        with trio.move_on_after(CLOSE_SECONDS, shield=True):
            await lifeline.close()


class ProcessGroup:
    """A program that leads a process group of its own. Made by `spawn`.

    Until it is reaped its number belongs to no other process, so that it can be killed safely.
    """

    def __init__(
        self, popen: Popen[bytes], pidfd: int, lifeline: Lifeline, *, keeps_input: bool
    ) -> None:
        self.popen = popen
        self._pidfd = pidfd
        self._lifeline = lifeline
        self._keeps_input = keeps_input

    @property
    def number(self) -> int:
        return self.popen.pid

    def release(self) -> None:
        """Open the gate: the program begins."""
        assert self.popen.stdin is not None, "it was begun with a pipe"
        with suppress(BrokenPipeError):
            self.popen.stdin.write(b"\n")
        if not self._keeps_input:
            self.popen.stdin.close()

    async def wait(self) -> None:
        """Wait until the program is over. It is not reaped by that."""
        await trio.lowlevel.wait_readable(self._pidfd)

    def ending(self) -> os.waitid_result | None:
        """Return how the program ended, or None while it runs."""
        return os.waitid(os.P_PIDFD, self._pidfd, os.WEXITED | os.WNOHANG | os.WNOWAIT)

    def kill(self) -> None:
        """Kill the whole group, with all that the program has left running."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.number, signal.SIGKILL)

    def kill_session(self) -> None:
        """Kill the group, and all that still belongs to its session: the jobs of a shell."""
        for _ in range(KILL_ROUNDS):
            self.kill()
            members = [pid for pid in _session(self.number) if pid != self.number]
            for pid in members:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            if not members:
                return

    def reap(self) -> int | None:
        """Give up the group's number. Return the exit code; None if the program still runs."""
        self._lifeline.forget(self.number)
        code = self.popen.poll()
        os.close(self._pidfd)
        return code

    def discard(self) -> None:
        """Do away with a program that was never released, which takes no time."""
        self._lifeline.forget(self.number)
        os.close(self._pidfd)
        _discard(self.popen)


def spawn(
    arguments: Sequence[str],
    lifeline: Lifeline,
    *,
    workdir: str,
    environment: Mapping[str, str],
    stderr: int,
    keeps_input: bool = False,
    terminal: str = "",
) -> ProcessGroup:
    """Start a program, which waits until it is released. Its output is a pipe, and so is its input
    if it `keeps` that; with the path of a `terminal` that is all three, and controls it. OSError,
    ValueError: it cannot be started, and nothing is left of it."""
    gate = _IN_TERMINAL if terminal else _GATE if keeps_input else _WITHOUT_INPUT
    places = [workdir, terminal] if terminal else [workdir]
    popen = Popen(
        ["sh", "-c", gate, "sh", *places, *arguments],
        stdin=PIPE,
        stdout=DEVNULL if terminal else PIPE,
        stderr=stderr,
        cwd="/",
        env=environment,
        start_new_session=True,
        bufsize=0,
    )
    try:
        group = ProcessGroup(popen, os.pidfd_open(popen.pid), lifeline, keeps_input=keeps_input)
    except OSError:  # too many open files
        _discard(popen)
        raise
    try:
        lifeline.add(popen.pid)
    except OSError:
        group.discard()
        raise
    return group


def _session(leader: int) -> Iterator[int]:
    """Yield the processes that run in the session of this leader."""
    for name in os.listdir("/proc"):
        if name.isdecimal():
            with suppress(OSError):
                with open(f"/proc/{name}/stat", "rb") as file:
                    state, _, _, session = file.read().rpartition(b") ")[2].split()[:4]
                if int(session) == leader and state not in b"ZX":
                    yield int(name)


def _discard(popen: Popen[bytes]) -> None:
    with popen:  # which closes what is open of it, and waits for it
        popen.kill()


@contextmanager
def stream_of(pipe: IO[bytes] | None) -> Iterator[trio.lowlevel.FdStream]:
    """Take over a pipe of a program as a stream, for the length of the block."""
    assert pipe is not None, "the program was begun with pipes"
    with pipe:
        stream = trio.lowlevel.FdStream(os.dup(pipe.fileno()))
    try:
        yield stream
    finally:
        with suppress(trio.ClosedResourceError):
            stream.close()
