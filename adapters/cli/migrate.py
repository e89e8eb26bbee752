"""`promptcorner migrate`: the schema's missing steps, taken or only named."""

import argparse
import sys
from collections.abc import Sequence

from adapters.cli.command_line import (
    DATABASE_SUBJECTS,
    add_settings,
    describe,
    load_config,
    secrets_help,
)
from adapters.postgres import migrating
from adapters.postgres.database import Database, migrate, open_database, refusing_start
from adapters.postgres.driver.connection import DatabaseConnection
from adapters.settings import Config, names

DESCRIPTION = """\
Take the steps that the schema lacks, and name them. `serve` does so by itself, and several
processes may do so at once. Steps only go forward: make a backup first.

  promptcorner migrate --check
  promptcorner backup before-the-upgrade.tar && promptcorner migrate

exit codes: 0 up to date, 1 steps are missing (--check) or cannot be taken, 2 wrong usage
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add --check, and the settings of the database."""
    describe(parser, DESCRIPTION, run=run, epilog=secrets_help(DATABASE_SUBJECTS))
    parser.add_argument(
        "--check", action="store_true", help="take none; exit with 1 if steps are missing"
    )
    add_settings(parser, DATABASE_SUBJECTS)


def run(options: argparse.Namespace) -> int:
    """Migrate, or only check."""
    return names.run(_migrate, load_config(options), options.check)


async def _migrate(config: Config, check: bool) -> int:
    async with open_database(config) as database:
        if check:
            missing = await _pending(database)
            _print("pending", missing)
            return 1 if missing else 0
        _print("applied", await migrate(database))
        return 0


async def _pending(database: Database) -> Sequence[migrating.Migration]:
    with refusing_start(database):
        connection = await DatabaseConnection.open(database.conninfo)
        try:
            return await migrating.pending(connection)
        finally:
            connection.close()


def _print(state: str, steps: Sequence[migrating.Migration]) -> None:
    lines = [f"{state} {step}" for step in steps] or ["the schema is up to date"]
    sys.stdout.write("\n".join(lines) + "\n")
