"""Programs of the system that look at disks: du, rm, git. They are bounded even if a disk hangs.

A program that waits for a disk does not even end when it is killed. Then it is left: its end is
seen to later, and no other is begun in its place before that.
"""

import errno
import os
import signal
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from subprocess import DEVNULL, PIPE, STDOUT, Popen

import trio

from runtime.threads.limits import ThreadLimits, ThreadsBlocked
from runtime.threads.work import Unwanted, check_wanted, write

BEGINNING = ThreadLimits("programs_begun", 8, wait_seconds=10.0, answer_seconds=10.0)
BEGIN_SECONDS = 1.0  # for one that is being begun when its caller is cancelled
REAP_SECONDS = 2.0  # for one that was killed to be gone; then it is left
READ_BYTES = 65_536
SAID_BYTES_MAX = 65_536  # of what it says; the rest is left out


@dataclass(frozen=True, slots=True)
class ProgramResult:
    code: int
    said: bytes


class Programs:
    """`key`: of those with the same one, only one runs at a time."""

    def __init__(self) -> None:
        self._running: dict[Hashable, Popen[bytes] | None] = {}  # None: it is being begun

    async def run(
        self,
        words: Sequence[str],
        *,
        key: Hashable,
        seconds: float,
        environ: Mapping[str, str] | None = None,
        hears_errors: bool = False,
    ) -> ProgramResult | None:
        """Run it to its end. None: it took too long, or the one before it still does. OSError: it
        cannot be begun."""
        self._forget()
        if key in self._running:
            return None
        self._running[key] = None
        try:
            errors = STDOUT if hears_errors else DEVNULL
            popen = await _begun(partial(_begin, words, environ, errors))
            self._running[key] = popen
            with trio.move_on_after(seconds):
                return await _lived(popen)
            return None
        finally:
            if self._running[key] is None:
                del self._running[key]
            self._forget()

    @property
    def running(self) -> int:
        """Those that were left included."""
        self._forget()
        return len(self._running)

    def _forget(self) -> None:
        for key, popen in list(self._running.items()):
            if popen is not None and popen.poll() is not None:
                del self._running[key]


async def _begun(begin: partial[Popen[bytes]]) -> Popen[bytes]:
    try:
        return await write(BEGINNING, begin, key=begin, grace_seconds=BEGIN_SECONDS)
    except ThreadsBlocked as blocked:
        raise OSError(errno.EAGAIN, "no program can be begun now") from blocked


def _begin(words: Sequence[str], environ: Mapping[str, str] | None, errors: int) -> Popen[bytes]:
    popen = Popen(
        words,
        stdin=DEVNULL,
        stdout=PIPE,
        stderr=errors,
        env=environ,
        start_new_session=True,
        bufsize=0,
    )
    try:
        check_wanted()
    except Unwanted:
        with popen:
            popen.kill()
        raise
    return popen


async def _lived(popen: Popen[bytes]) -> ProgramResult:
    """Its life; it ends with its whole group when this does."""
    with _watched(popen) as (pidfd, stream):
        try:
            said = await _heard(stream)
            await trio.lowlevel.wait_readable(pidfd)
        finally:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(popen.pid, signal.SIGKILL)
            with trio.move_on_after(REAP_SECONDS, shield=True):
                await trio.lowlevel.wait_readable(pidfd)
        code = popen.poll()
        assert code is not None, "it has ended"
        return ProgramResult(code, said)


@contextmanager
def _watched(popen: Popen[bytes]) -> Iterator[tuple[int, trio.lowlevel.FdStream]]:
    assert popen.stdout is not None, "it was begun with a pipe"
    with popen.stdout:
        stream = trio.lowlevel.FdStream(os.dup(popen.stdout.fileno()))
    try:
        pidfd = os.pidfd_open(popen.pid)
    except OSError:  # too many files are open
        popen.kill()
        stream.close()
        raise
    try:
        yield pidfd, stream
    finally:
        os.close(pidfd)
        with suppress(trio.ClosedResourceError):
            stream.close()


async def _heard(stream: trio.lowlevel.FdStream) -> bytes:
    said = bytearray()
    while data := await stream.receive_some(READ_BYTES):
        said += data[: SAID_BYTES_MAX - len(said)]
    return bytes(said)
