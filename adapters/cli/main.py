"""The command `promptcorner`: words in, an exit code out (docs/commands.md lists them).

A command is a module with `add_arguments(parser)`, which also names the function that runs it. Only
the module of the command that is used is imported: a database driver or an HTTP client takes longer
to import than the help takes to print.
"""

import argparse
import importlib
import importlib.metadata
import os
import select
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from adapters.cli.command_line import HelpFormatter, add_command
from adapters.cli.harmless import harmless
from adapters.cli.suggestions import CommandParser, parse
from adapters.settings.refusals import CannotStart
from runtime.errors import Misuse, require_assertions


@dataclass(frozen=True, slots=True)
class CliCommand:
    """A command, the module that it lies in, and its line in the list of commands."""

    name: str
    module: str
    help: str
    adder: str = "add_arguments"  # the function of the module


# In the order of --help.
COMMANDS = (
    CliCommand("serve", "serve", "run the daemon"),
    CliCommand("chat", "chat.command", "talk to the daemon"),
    CliCommand("chats", "board.command", "show all chats, those that need you first"),
    CliCommand("watch", "pipes.command", "follow a chat", "add_watch_arguments"),
    CliCommand("users", "admin.users", "manage users"),
    CliCommand("tokens", "admin.tokens", "manage tokens, with which programs log in"),
    CliCommand("providers", "admin.providers", "manage providers of models"),
    CliCommand("approvals", "admin.approvals", "manage rules about calls of tools, and try them"),
    CliCommand("workspaces", "admin.workspaces", "manage workspaces, where chats have files"),
    CliCommand("usage", "admin.usage", "show what was spent on models, and what is left"),
    CliCommand(
        "housekeeping", "admin.housekeeping", "remove what is old now, or say what would go"
    ),
    CliCommand("doctor", "doctor.command", "look for what is wrong, and say what to do"),
    CliCommand("config", "config_show", "show what is set, and who set it"),
    CliCommand("backup", "backup", "write the database to a file", "add_backup_arguments"),
    CliCommand(
        "restore", "backup", "fill an empty database from such a file", "add_restore_arguments"
    ),
    CliCommand("migrate", "migrate", "bring the database's schema up to date"),
    CliCommand("completion", "completion.command", "let a shell complete commands, chats, models"),
    CliCommand("fake-provider", "fake_provider", "run the rehearsal model as a server"),
    CliCommand("bench", "bench.command", "load a daemon, and tell what its clients see"),
)

DESCRIPTION = """\
A self-hosted, durable daemon that runs LLM-agent chats.

  promptcorner serve                    the daemon, on an embedded PostgreSQL, at 127.0.0.1:7390
  promptcorner chat                     talk to it, from another terminal
  curl http://127.0.0.1:7390/readyz     is it ready, and if not, what is missing
  promptcorner config show --origin     what is set, and who set it

`promptcorner COMMAND --help` has examples for each.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    try:
        require_assertions()
    except Misuse as misuse:
        return _refuse(str(misuse))
    words = sys.argv[1:] if arguments is None else arguments
    used = next((word for word in words if not word.startswith("-")), "")
    options = parse(parser(used), words)
    try:
        code: int = options.run(options)
        sys.stdout.flush()
    except CannotStart as refusal:
        return _refuse(str(refusal), getattr(refusal, "exit_code", 1))
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except BrokenPipeError:
        if not _reader_is_gone():
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for what is left to print
        return 128 + signal.SIGPIPE
    return code


def parser(used: str | None = None) -> argparse.ArgumentParser:
    """Return the parser. Without a command that is `used`, all of them have their arguments."""
    top: argparse.ArgumentParser = CommandParser(
        "promptcorner",
        description=DESCRIPTION,
        formatter_class=HelpFormatter,
        allow_abbrev=False,
    )
    version = importlib.metadata.version("promptcorner")
    top.add_argument("--version", action="version", version=f"promptcorner {version}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in COMMANDS:
        added = add_command(commands, command.name, command.help)
        if used in (None, command.name):
            module = importlib.import_module(f"adapters.cli.{command.module}")
            getattr(module, command.adder)(added)
    return top


def _reader_is_gone() -> bool:
    """Tell whether the reader of our output has ended: `promptcorner ... | head`."""
    looking = select.poll()
    looking.register(sys.stdout.fileno(), 0)
    return any(seen & select.POLLERR for _, seen in looking.poll(0))


def _refuse(why: str, exit_code: int = 1) -> int:
    sys.stderr.write(f"promptcorner: {harmless(why)}\n")
    return exit_code
