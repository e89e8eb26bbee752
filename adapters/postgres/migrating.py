"""Migrations: numbered steps that bring the schema of the database up to date, forward only.

Every process may try at the same moment: one does it under a lock, the others wait and find it
done. A step is one transaction together with its entry in `schema_migrations`, so it is there whole
or not at all. A program that meets a schema newer than it knows refuses to touch it.
"""

import re
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files

from adapters.postgres.driver.connection import DatabaseConnection
from adapters.postgres.driver.timeouts import Timeouts
from adapters.postgres.queries import SQL

# One number for all processes that use a database: "prompt corner" on a telephone's keys.
LOCK = 776678_267637
STEP_SECONDS_MAX = 3600.0  # of one step, or of the wait for another process; then DatabaseBusy

_PATIENT = Timeouts(
    statement_seconds=STEP_SECONDS_MAX,
    lock_seconds=STEP_SECONDS_MAX,
    idle_in_transaction_seconds=STEP_SECONDS_MAX,
)
_FILE = re.compile(r"(\d{4})_(\w+)\.sql")


class SchemaFault(Exception):
    """A schema that this program cannot use. The message says what to do."""


@dataclass(frozen=True, slots=True)
class Migration:
    """One step."""

    version: int
    name: str
    sql: str

    @property
    def checksum(self) -> str:
        return sha256(self.sql.encode()).hexdigest()

    def __str__(self) -> str:
        return f"{self.version:04d}_{self.name}"


@cache
def known() -> tuple[Migration, ...]:
    """Return the steps of this program, in order. They are read once: a newer version that is laid
    over the files of a running one is not what runs."""
    found = []
    for file in files(__package__).joinpath("migrations").iterdir():
        if match := _FILE.fullmatch(file.name):
            found.append(Migration(int(match[1]), match[2], file.read_text()))
    found.sort(key=lambda step: step.version)
    assert [step.version for step in found] == list(range(1, len(found) + 1)), "a step is missing"
    return tuple(found)


async def pending(
    connection: DatabaseConnection, steps: tuple[Migration, ...] | None = None
) -> tuple[Migration, ...]:
    """Return the steps that the database has not seen yet, of `steps` or of all that this program
    knows; or raise `SchemaFault`."""
    steps = known() if steps is None else steps
    [[(exists,)]] = await connection.run([(SQL["has_migrations"], ())])
    applied = await connection.execute(SQL["applied_migrations"]) if exists else []
    newest = max((version for version, _, _ in applied), default=0)
    if newest > len(steps):
        raise SchemaFault(
            f"database: schema is at step {newest}, this program knows {len(steps)};"
            " start a newer version of promptcorner, or restore a backup made by this one"
        )
    for version, name, checksum in applied:
        step = steps[version - 1]
        if (name, checksum) != (step.name, step.checksum):
            raise SchemaFault(
                f"database: step {version} was {version:04d}_{name}, here it is {step} with other"
                " content; this database was made by another build of promptcorner"
            )
    return steps[len(applied) :]


async def migrate(
    conninfo: str, steps: tuple[Migration, ...] | None = None
) -> tuple[Migration, ...]:
    """Bring the schema up to date, and return the steps that were taken."""
    connection = await DatabaseConnection.open(conninfo, timeouts=_PATIENT)
    try:
        await connection.execute(SQL["lock_migrations"], {"lock": LOCK})
        missing = await pending(connection, steps)
        if missing:
            await connection.script(SQL["make_migrations"])
        for step in missing:
            await _take(connection, step)
        return missing
    finally:
        connection.close()


async def _take(connection: DatabaseConnection, step: Migration) -> None:
    entry = {"version": step.version, "name": step.name, "checksum": step.checksum}
    await connection.execute(SQL["announce_migration"], entry)
    await connection.script(f"{step.sql}\n;\n{SQL['record_migration']}")
