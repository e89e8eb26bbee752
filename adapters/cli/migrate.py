"""`promptcorner migrate`: its words."""

import argparse
from typing import TYPE_CHECKING

from adapters.cli.settings import OF_THE_DATABASE, add_command, add_settings, secrets

if TYPE_CHECKING:
    from adapters.cli.settings import Commands

NAME = "migrate"

DESCRIPTION = """\
Apply what the schema lacks and name it. `serve` does so by itself; several processes may do so at
once. Steps only go forward: make a backup first.

  promptcorner migrate --check
  promptcorner backup before-the-upgrade.tar && promptcorner migrate

exit codes: 0 up to date, 1 steps are missing (--check) or cannot be taken, 2 wrong usage
"""


def add_to(commands: "Commands") -> None:
    parser = add_command(
        commands,
        NAME,
        run,
        says="bring the database's schema up to date",
        teaches=DESCRIPTION,
        ends=secrets(OF_THE_DATABASE),
    )
    parser.add_argument(
        "--check", action="store_true", help="apply nothing; exit with 1 if steps are missing"
    )
    add_settings(parser, OF_THE_DATABASE)


def run(options: argparse.Namespace) -> int:
    from adapters.cli.deeds import migrate

    return migrate.run(options)
