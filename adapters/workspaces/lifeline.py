"""What ends commands when this process is gone, however it went.

A small shell at the other end of a pipe, told of every process group that begins and ends. When
the pipe closes, which the kernel sees to, it kills the groups that are left and leaves.

Nothing here waits for that shell: one that does not read what it is told is as good as gone.
"""

import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from subprocess import DEVNULL, PIPE, Popen

import trio

from adapters.workspaces.sandbox import USUAL_PATH

LEAVE_SECONDS = 2.0  # for it to go when all is over; then it is killed
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
"""


class Lifeline:
    """Begun with the first command."""

    def __init__(self) -> None:
        self._groups: set[int] = set()
        self._shell: Popen[bytes] | None = None
        self._killed: list[Popen[bytes]] = []  # that another has replaced, until they are reaped

    def add(self, group: int) -> None:
        self._tell(f"+ {group}\n")
        self._groups.add(group)

    def forget(self, group: int) -> None:
        """Before its number can be given to others."""
        if group in self._groups:
            self._groups.discard(group)
            with suppress(OSError):  # nobody could be begun in place of one who is gone
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
        """If it is not heard, another shell is told everything."""
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
        """Before its pipe closes: it is not to kill any group any more."""
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
        env={"PATH": USUAL_PATH},
        start_new_session=True,
        bufsize=0,
    )
    assert shell.stdin is not None, "it was begun with a pipe"
    os.set_blocking(shell.stdin.fileno(), False)
    return shell


def _write(shell: Popen[bytes], text: str) -> bool:
    """False: it is gone, or has not read for so long that its pipe is full. All groups that there
    may be fit into a pipe that is empty."""
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
