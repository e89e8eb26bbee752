"""Threads and programs that touch the disks of workspaces, which may hang.

A disk that hangs, of a network for instance, blocks the threads of its workspace and no others;
callers that come then are told so after a moment. A read is given up with its caller. A write is
waited for a moment longer, so that it is not left half done; if it is left all the same, it goes on
to its end, and nothing of this workspace is read or written before that.

A program that waits for a disk, such as du, rm or git, does not even end when it is killed. Then it
is left: its end is seen to later, and no other is begun in its place before that.
"""

import errno
import os
import signal
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from subprocess import DEVNULL, PIPE, STDOUT, Popen, TimeoutExpired
from typing import TypeVar

import trio

from runtime import threads as threads
from runtime.threads import ThreadLimits, ThreadsBlocked, Unwanted, check_wanted, write

# One that hangs holds `per_key_max` threads, until it answers.
FILES = ThreadLimits("workspace_files", 256, per_key_max=4, wait_seconds=5.0, answer_seconds=30.0)
MAKING = ThreadLimits("workspace_making", 64, per_key_max=2, wait_seconds=5.0, answer_seconds=600.0)
WRITE_SECONDS = 2.0  # that a write is waited for when its caller has been told to stop

Result = TypeVar("Result")


class DiskSilent(Exception):
    """The disk does not answer; in words for models and people."""


@dataclass(frozen=True, slots=True)
class Disk:
    """The disk that a directory lies on. `name` is what it is called when it does not answer."""

    directory: str
    name: str

    async def read(self, work: Callable[[], Result], kind: ThreadLimits = FILES) -> Result:
        """Look at something. A caller that is cancelled leaves at once. DiskSilent: no answer."""
        try:
            return await threads.read(kind, work, key=self.directory)
        except ThreadsBlocked as blocked:
            raise DiskSilent(
                f"the disk of {self.name} does not answer; try again later"
            ) from blocked

    async def write(
        self,
        work: Callable[[], Result],
        kind: ThreadLimits = FILES,
        *,
        seconds: float = WRITE_SECONDS,
    ) -> Result:
        """Change something, which is waited for. DiskSilent: no answer, and what was begun may
        still be done."""
        try:
            return await threads.write(kind, work, key=self.directory, grace_seconds=seconds)
        except ThreadsBlocked as blocked:
            raise DiskSilent(
                f"the disk of {self.name} does not answer; what was to be written may be written"
                " later: look before you try again"
            ) from blocked


BEGINNING = ThreadLimits("programs_begun", 8, wait_seconds=10.0, answer_seconds=10.0)
BEGIN_SECONDS = 1.0  # for one that is being begun when its caller is cancelled
REAP_SECONDS = 2.0  # for one that was killed to be gone; then it is left
READ_BYTES = 65_536
SAID_BYTES_MAX = 65_536  # of what it says; the rest is left out


@dataclass(frozen=True, slots=True)
class ProgramResult:
    """The exit code of a program that has ended, and the beginning of what it wrote."""

    code: int
    said: bytes


class Programs:
    """Programs that touch disks, run to their end. Of those with one `key` one runs at a time."""

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
        """Run a program to its end. Return None if it took too long, or if another one with this
        key has not ended. OSError: it cannot be started.

        Its result holds what it writes to standard output; with `hears_errors`, what it writes to
        standard error as well."""
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
        """Return how many programs run, those included that were left."""
        self._reap()
        return len(self._running) + len(self._left)

    def _begin(
        self,
        key: Hashable,
        words: Sequence[str],
        environ: Mapping[str, str] | None,
        errors: int,
    ) -> Popen[bytes]:
        """Begin it, in a thread. If its caller has left meanwhile, it is killed and waited for; if
        it does not end, it is left."""
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
            self._left[key] = popen
            _kill(popen)
            assert popen.stdout is not None, "it was begun with a pipe"
            popen.stdout.close()
            with suppress(TimeoutExpired):  # at the end of a daemon, `_reap` is not called again
                popen.wait(REAP_SECONDS)
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
    """Kill a program with its whole group."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(popen.pid, signal.SIGKILL)


async def _lived(popen: Popen[bytes]) -> ProgramResult:
    """Read what a program says until it ends. When this is cancelled, the program ends with its
    whole group."""
    with _watched(popen) as (pidfd, stream):
        try:
            said = await _read_output(stream)
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


async def _read_output(stream: trio.lowlevel.FdStream) -> bytes:
    said = bytearray()
    while data := await stream.receive_some(READ_BYTES):
        said += data[: SAID_BYTES_MAX - len(said)]
    return bytes(said)
