"""A database, as it is at one moment, to a stream of bytes; and such a stream into an empty one.

Filling is one transaction: COMMIT is said only when all that was to be said has been taken, so a
stream that ends too soon, or anything else that goes wrong, leaves the database as empty as it was.
"""

from collections.abc import Callable, Iterable

import trio

from adapters.postgres.dumping.programs import Program, program

LOCK_SECONDS = 60  # for a table that somebody changes; then the dump is given up
HEAD_BYTES = 8 * 1024  # of a script, in which its settings stand
# Said to servers that do not know it yet: https://www.postgresql.org/docs/17/release-17.html
NEW_SETTING, NEW_SETTING_SINCE = b"SET transaction_timeout = 0;\n", 170_000


async def dump(conninfo: str, take: Callable[[bytes], None]) -> None:
    """In PostgreSQL's own format, compressed. ProgramFailed: there is no dump, whatever came."""
    words = ["--format=custom", f"--lock-wait-timeout={LOCK_SECONDS}s"]
    async with program("pg_dump", conninfo, words, given=False) as dumping:
        while data := await dumping.take():
            take(data)
        await dumping.end()


async def fill(conninfo: str, server_version: int, data: Iterable[bytes]) -> None:
    """An empty database with what `dump` gave. ProgramFailed: it is as it was."""
    reading_words = ["--file=-", "--no-owner", "--no-privileges"]
    writing_words = ["--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", "--output=/dev/null"]
    async with (
        program("pg_restore", None, reading_words, given=True) as reading,
        program("psql", conninfo, writing_words, given=True) as writing,
    ):
        if not await _pass_on(data, reading, writing, new=server_version >= NEW_SETTING_SINCE):
            await writing.end()
        await reading.end()
        await writing.give(b"COMMIT;\n")
        await writing.give_no_more()
        await writing.end()


async def _pass_on(data: Iterable[bytes], reading: Program, writing: Program, *, new: bool) -> bool:
    """The dump to one, its script to the other; False: that one takes no more of it."""
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_feed, data, reading)
        head = b""
        while len(head) < HEAD_BYTES and (piece := await reading.take()):
            head += piece
        piece = b"BEGIN;\n" + (head if new else head.replace(NEW_SETTING, b"", 1))
        while piece and (taken := await writing.give(piece)):
            piece = await reading.take()
        nursery.cancel_scope.cancel()
    return taken


async def _feed(data: Iterable[bytes], reading: Program) -> None:
    for piece in data:
        if not await reading.give(piece):
            return  # its end says why
    await reading.give_no_more()
