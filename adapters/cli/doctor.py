"""`promptcorner doctor`: its words."""

import argparse
from typing import TYPE_CHECKING

from adapters.cli.settings import EVERY, add_command, add_settings, secrets

if TYPE_CHECKING:
    from adapters.cli.settings import Commands

NAME = "doctor"

DESCRIPTION = """\
Look at everything that a daemon needs, one line each, with what to do where something is wrong.
Say the same flags and variables as to `serve`. It changes nothing; a daemon may run.

  promptcorner doctor
  promptcorner doctor --online                    asks each provider for one word, too
  DATABASE_URL=postgresql://... promptcorner doctor --json

exit codes: 0 nothing is wrong (warnings may be), 1 something is, 2 wrong usage
"""


def add_to(commands: "Commands") -> None:
    parser = add_command(
        commands,
        NAME,
        run,
        says="look for what is wrong, and say what to do",
        teaches=DESCRIPTION,
        ends=secrets(EVERY),
        usage="doctor [--online] [--json] [SETTINGS]",
    )
    parser.add_argument(
        "--online",
        action="store_true",
        help="ask each provider for one word; costs next to nothing",
    )
    parser.add_argument("--json", action="store_true", help="as JSON, for programs")
    add_settings(parser, EVERY)


def run(options: argparse.Namespace) -> int:
    from adapters.cli.examining import doctor

    return doctor.run(options)
