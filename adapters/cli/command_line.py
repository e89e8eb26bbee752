"""Parts that all commands share: help texts, the flags of settings, tables and JSON."""

import argparse
import json
import os
import textwrap
from collections.abc import Callable, Iterable, Sequence
from uuid import UUID

from adapters import settings as config
from adapters.settings import logs
from adapters.settings.refusals import CannotStart
from adapters.settings.setting import Setting, Subject
from adapters.settings.table import CONFIG_FILE_HELP, SETTINGS, default_config_file

ALL_SUBJECTS = tuple(Subject)
DATABASE_SUBJECTS = (Subject.DATA, Subject.LOG)  # of commands that need only the database
WIDTH = 100
GAP = "  "  # between the columns of a table

SECRETS_HELP = """\
A flag comes before its variable, that before a systemd credential, that before the file, that
before the default. The file is TOML, its keys are the names of the flags with underscores:

  listen = "0.0.0.0:7390"
  access_url = "https://chats.example.org"
  anthropic_api_key_file = "anthropic.key"

Secrets have no flag, because every user of a machine may read its command lines. Each can stand in
its variable, in a file that NAME_FILE names, in a systemd credential, or in the file, there also as
name_file:
"""

Run = Callable[[argparse.Namespace], int]


class DaemonAway(CannotStart):
    """A daemon that cannot be reached; commands that ask it exit with a code of its own."""

    exit_code = 4
    advice = "start it with `promptcorner serve`, or name another with --url"


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Help with texts as they are written, and flags in two columns."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=32, width=WIDTH)


def add_command(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]", name: str, help: str
) -> argparse.ArgumentParser:
    """Add a command, or a verb of a command, with its line in the list of them."""
    return commands.add_parser(name, help=help, formatter_class=HelpFormatter, allow_abbrev=False)


def describe(
    parser: argparse.ArgumentParser,
    description: str,
    *,
    run: Run | None = None,
    epilog: str | None = None,
    usage: str | None = None,
) -> None:
    """Give a command its text with examples, the text below its flags, and its function.

    A command without a function has verbs, which have one each. `usage` replaces the one that lists
    every flag, for commands with very many.
    """
    parser.description, parser.epilog = description, epilog
    parser.usage = usage and f"promptcorner {usage}"
    if run is not None:
        parser.set_defaults(run=run)


def add_settings(parser: argparse.ArgumentParser, subjects: Sequence[Subject]) -> None:
    """Add the flags of these subjects, under their headings; secrets have none."""
    parser.add_argument(
        "--config", metavar="FILE", help=f"a TOML file ({CONFIG_FILE_HELP}) [PROMPTCORNER_CONFIG]"
    )
    for subject in subjects:
        group = parser.add_argument_group(subject.value)
        for row in _rows(subject):
            if not row.secret:
                help = f"{_help_of(row)} [{', '.join(row.variables)}]"
                group.add_argument(row.flag, dest=row.name, metavar=row.kind.shape, help=help)


def chat_id(text: str) -> UUID:
    """Read an id of a command line."""
    try:
        return UUID(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no id, see: promptcorner chat --list"
        ) from None


def secrets_help(subjects: Sequence[Subject]) -> str:
    """Return the end of `--help`: the settings that have no flag, and how they are set."""
    rows = [row for subject in subjects for row in _rows(subject) if row.secret]
    lines = [f"  {', '.join(row.variables):<34}{_help_of(row)}" for row in rows]
    wrapped = [textwrap.fill(line, WIDTH, subsequent_indent=" " * 36) for line in lines]
    return SECRETS_HELP + "\n" + "\n".join(wrapped)


def _rows(subject: Subject) -> Sequence[Setting]:
    return [row for row in SETTINGS if row.subject is subject]


def _help_of(row: Setting) -> str:
    default = f"default {row.default_help}" if row.default_help else ""
    facts = ", ".join(filter(None, (row.kind.bounds, default)))
    return f"{row.help} ({facts})" if facts else row.help


def load_config(options: argparse.Namespace, *, process: int | None = None) -> config.Config:
    """Return the configuration that flags, environment and files make, and set up the log by it.

    `process` is our number among several processes.
    """
    settings = config.read_config(vars(options), os.environ, default_config_file())
    logs.set_up(settings.log, settings.log_level, process=process)
    return settings


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table with a line for the head and one for each row."""
    lines = [[name.upper() for name in head], *([printable(cell) for cell in row] for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    return "".join(
        GAP.join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        + "\n"
        for line in lines
    )


def printable(text: str) -> str:
    """Replace what would move the cursor or break a line: users choose names as they like."""
    return "".join(each if each.isprintable() else "?" for each in text)


def json_text(document: object) -> str:
    """Return a document as JSON, for programs."""
    return json.dumps(document, indent=2) + "\n"
