"""The command `promptcorner`: words in, an exit code out. 0 done, 1 cannot, 2 not understood.

A command is a module that says `add_to(commands)`: its words, and the `run(options)` that they lead
to. What it does stands in deeds/ or a folder of its own and is imported when it is run: whoever
asks for help does not wait for a database driver.
"""

import argparse
import importlib.metadata
import os
import select
import signal
import sys
from collections.abc import Sequence

from adapters.cli import backup, bench, chat, config_show, doctor, fake_provider, migrate, serve
from adapters.cli.asking import providers, tokens, users, workspaces
from adapters.cli.settings import Form
from adapters.settings.refusals import CannotStart
from runtime.errors import Misuse, require_assertions

# In the order of --help.
COMMANDS = (
    serve,
    chat,
    users,
    tokens,
    providers,
    workspaces,
    doctor,
    config_show,
    backup,
    migrate,
    fake_provider,
    bench,
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
    try:
        require_assertions()
    except Misuse as misuse:
        return _refuse(str(misuse))
    options = parser().parse_args(arguments)
    try:
        code: int = options.run(options)
        sys.stdout.flush()
    except CannotStart as refusal:
        return _refuse(str(refusal))
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except BrokenPipeError:
        if not _reader_is_gone():
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for what is left to say
        return 128 + signal.SIGPIPE
    return code


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        "promptcorner",
        description=DESCRIPTION,
        formatter_class=Form,
        allow_abbrev=False,
    )
    version = importlib.metadata.version("promptcorner")
    top.add_argument("--version", action="version", version=f"promptcorner {version}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in COMMANDS:
        command.add_to(commands)
    return top


def _reader_is_gone() -> bool:
    """Whether nobody reads what we print any more: `promptcorner ... | head`."""
    looking = select.poll()
    looking.register(sys.stdout.fileno(), 0)
    return any(seen & select.POLLERR for _, seen in looking.poll(0))


def _refuse(why: str) -> int:
    sys.stderr.write(f"promptcorner: {why}\n")
    return 1
