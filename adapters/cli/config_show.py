"""`promptcorner config show`: what is set, and who set it."""

import argparse
import os
import sys

import msgspec

from adapters import settings as config
from adapters.cli.command_line import (
    ALL_SUBJECTS,
    add_command,
    add_settings,
    describe,
    json_text,
    secrets_help,
    table,
)
from adapters.settings.table import default_config_file

DESCRIPTION = """\
Show every setting as a daemon that is started like this would see it. Secrets are only said to be
set. A value that is not valid is refused, in the words of the daemon.

  promptcorner config show --origin
  promptcorner config show --config /etc/promptcorner/promptcorner.toml --json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb `show` with the flags of all settings."""
    describe(parser, DESCRIPTION)
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    show = add_command(verbs, "show", "every setting")
    usage = "config show [--origin] [--json] [SETTINGS]"
    describe(show, DESCRIPTION, run=run, epilog=secrets_help(ALL_SUBJECTS), usage=usage)
    show.add_argument("--origin", action="store_true", help="with who set it")
    show.add_argument("--json", action="store_true", help="as JSON, for programs")
    add_settings(show, ALL_SUBJECTS)


def run(options: argparse.Namespace) -> int:
    """Print the settings."""
    rows = config.list_settings(vars(options), os.environ, default_config_file())
    if options.json:
        sys.stdout.write(json_text([msgspec.to_builtins(row) for row in rows]))
        return 0
    columns = ("setting", "value", "origin") if options.origin else ("setting", "value")
    lines = [(row.name, row.value or "-", row.origin)[: len(columns)] for row in rows]
    sys.stdout.write(table(columns, lines))
    return 0
