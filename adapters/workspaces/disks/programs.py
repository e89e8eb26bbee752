"""Programs of the system that look at disks: du, rm, git. They are bounded even if a disk hangs.

A program that waits for a disk does not even end when it is killed. Then it is left: its end is
seen to later, and no other is begun in its place before that.
"""

import errno
import os
import signal
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
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
        self._running: set[Hashable] = set()
        self._left: dict[Hashable, Popen[bytes]] = {}

    async def run(
        self,
        words: Sequence[str],
        *,
        key: Hashable,
        seconds: float,
        environ: Mapping[str, str] | None = None,
        hears_errors: bool = False,
    ) -> ProgramResult | None:
        """Run it to its end. None: it took too long, or another with this key has not ended.
        OSError: it cannot be begun."""
        self._reap()
        if key in self._running or key in self._left:
            return None
        self._running.add(key)
        popen = None
        try:
            errors = STDOUT if hears_errors else DEVNULL
            popen = await _begun(partial(self._begin, key, words, environ, errors))
            with trio.move_on_after(seconds):
                return await _lived(popen)
            return None
        finally:
            self._running.discard(key)
            if popen is not None and popen.poll() is None:
                self._left[key] = popen

    @property
    def running(self) -> int:
        """Those that were left included."""
        self._reap()
        return len(self._running) + len(self._left)

    def _begin(
        self,
        key: Hashable,
        words: Sequence[str],
        environ: Mapping[str, str] | None,
        errors: int,
    ) -> Popen[bytes]:
        """Begin it, in a thread. One whose caller has left meanwhile is ended and left."""
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
            _kill(popen)
            assert popen.stdout is not None, "it was begun with a pipe"
            popen.stdout.close()
            self._left[key] = popen
            raise
        return popen

    def _reap(self) -> None:
        for key, popen in list(self._left.items()):
            if popen.poll() is not None:
                del self._left[key]


async def _begun(begin: partial[Popen[bytes]]) -> Popen[bytes]:
    try:
        return await write(BEGINNING, begin, key=begin, grace_seconds=BEGIN_SECONDS)
    except ThreadsBlocked as blocked:
        raise OSError(errno.EAGAIN, "no program can be begun now") from blocked


def _kill(popen: Popen[bytes]) -> None:
    """With its whole group."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(popen.pid, signal.SIGKILL)


async def _lived(popen: Popen[bytes]) -> ProgramResult:
    """Its life; it ends with its whole group when this does."""
    with _watched(popen) as (pidfd, stream):
        try:
            said = await _heard(stream)
            await trio.lowlevel.wait_readable(pidfd)
        finally:
            _kill(popen)
            with trio.move_on_after(REAP_SECONDS, shield=True):
                await trio.lowlevel.wait_readable(pidfd)
        code = popen.poll()
        assert code is not None, "it has ended"
        return ProgramResult(code, said)


@contextmanager
def _watched(popen: Popen[bytes]) -> Iterator[tuple[int, trio.lowlevel.FdStream]]:
    assert popen.stdout is not None, "it was begun with a pipe"
    with popen.stdout, ExitStack() as opened:
        try:
            pidfd = os.pidfd_open(popen.pid)
            opened.callback(os.close, pidfd)
            stream = trio.lowlevel.FdStream(os.dup(popen.stdout.fileno()))
            opened.callback(stream.close)
        except OSError:  # too many files are open
            _kill(popen)
            raise
        yield pidfd, stream


async def _heard(stream: trio.lowlevel.FdStream) -> bytes:
    said = bytearray()
    while data := await stream.receive_some(READ_BYTES):
        said += data[: SAID_BYTES_MAX - len(said)]
    return bytes(said)
