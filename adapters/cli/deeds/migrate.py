"""The schema's missing steps, taken or only named."""

import argparse
import sys
from collections.abc import Sequence

from adapters.cli.deeds.opening import opened
from adapters.postgres import migrating
from adapters.postgres.database import Database, migrate, open_database, refusing
from adapters.postgres.driver.connection import Connection
from adapters.settings import Config, names


def run(options: argparse.Namespace) -> int:
    return names.run(_migrate, opened(options), options.check)


async def _migrate(config: Config, check: bool) -> int:
    """The exit code: 1 if steps are missing afterwards."""
    async with open_database(config) as database:
        if check:
            missing = await _pending(database)
            _tell("pending", missing)
            return 1 if missing else 0
        _tell("applied", await migrate(database))
        return 0


async def _pending(database: Database) -> Sequence[migrating.Migration]:
    with refusing(database):
        connection = await Connection.open(database.conninfo)
        try:
            return await migrating.pending(connection)
        finally:
            connection.close()


def _tell(done: str, steps: Sequence[migrating.Migration]) -> None:
    lines = [f"{done} {step}" for step in steps] or ["the schema is up to date"]
    sys.stdout.write("\n".join(lines) + "\n")
