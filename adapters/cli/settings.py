"""What the words of all commands are made of: their help, and the flags of settings."""

import argparse
import textwrap
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from adapters.settings.setting import Setting, Subject
from adapters.settings.table import CONFIG_FILE_HELP, SETTINGS

EVERY = tuple(Subject)
OF_THE_DATABASE = (Subject.DATA, Subject.LOG)  # of commands that need nothing else
WIDTH = 100

ELSEWHERE = """\
A flag comes before its variable, that before a systemd credential, that before the file, that
before the default. The file is TOML, its keys are the names of the flags with underscores:

  listen = "0.0.0.0:7390"
  access_url = "https://chats.example.org"
  anthropic_api_key_file = "anthropic.key"

Secrets have no flag, for everybody may read a command line. Each may stand in its variable, in a
file that NAME_FILE names, in a systemd credential, or in the file, there also as name_file:
"""


if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]

Run = Callable[[argparse.Namespace], int]


class Form(argparse.RawDescriptionHelpFormatter):
    """Texts as they are written, flags in two columns that leave room for what they do."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=32, width=WIDTH)


def add_command(
    commands: "Commands",
    name: str,
    run: Run | None,
    *,
    says: str,
    teaches: str,
    ends: str | None = None,
    usage: str | None = None,
) -> argparse.ArgumentParser:
    """A command with a line for the list of commands, a text with examples, and another below the
    flags; no `run`: it has commands of its own. `usage` is for those with more flags than one can
    take in."""
    parser = commands.add_parser(
        name,
        help=says,
        description=teaches,
        epilog=ends,
        usage=usage and f"promptcorner {usage}",
        formatter_class=Form,
        allow_abbrev=False,
    )
    if run is not None:
        parser.set_defaults(run=run)
    return parser


def add_settings(parser: argparse.ArgumentParser, subjects: Sequence[Subject]) -> None:
    """The flags of these subjects, under their headings; secrets have none."""
    parser.add_argument(
        "--config", metavar="FILE", help=f"a TOML file ({CONFIG_FILE_HELP}) [PROMPTCORNER_CONFIG]"
    )
    for subject in subjects:
        group = parser.add_argument_group(subject.value)
        for row in _rows(subject):
            if not row.secret:
                says = f"{_says(row)} [{', '.join(row.variables)}]"
                group.add_argument(row.flag, dest=row.name, metavar=row.kind.shape, help=says)


def secrets(subjects: Sequence[Subject]) -> str:
    """What has no flag, and how it is said: for the end of `--help`."""
    rows = [row for subject in subjects for row in _rows(subject) if row.secret]
    lines = [f"  {', '.join(row.variables):<34}{_says(row)}" for row in rows]
    wrapped = [textwrap.fill(line, WIDTH, subsequent_indent=" " * 36) for line in lines]
    return ELSEWHERE + "\n" + "\n".join(wrapped)


def _rows(subject: Subject) -> Sequence[Setting]:
    return [row for row in SETTINGS if row.subject is subject]


def _says(row: Setting) -> str:
    default = f"default {row.default_help}" if row.default_help else ""
    facts = ", ".join(filter(None, (row.kind.bounds, default)))
    return f"{row.help} ({facts})" if facts else row.help
