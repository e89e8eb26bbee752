"""`promptcorner serve`: its words."""

import argparse
from typing import TYPE_CHECKING

from adapters.cli.settings import EVERY, add_command, add_settings, secrets

if TYPE_CHECKING:
    from adapters.cli.settings import Commands

NAME = "serve"

DESCRIPTION = """\
Run the daemon until SIGTERM or ctrl-C; a second one exits at once.

  promptcorner serve                                   on an embedded PostgreSQL, for this machine
  ANTHROPIC_API_KEY=sk-... promptcorner serve          with a provider; others by their own keys
  promptcorner serve --listen 0.0.0.0:7390 --access-url https://chats.example.org
  promptcorner serve --listen 0.0.0.0:443 --tls-cert chain.pem --tls-key key.pem
  promptcorner serve --processes 4                     four processes behind one address
  DATABASE_URL=postgresql://user:password@host/name promptcorner serve

The first start prints a one-time link, by which the first admin gets in. Chats are kept in the
database: back it up with `promptcorner backup`. Several daemons may share one; each chat is run by
one of them, and taken over when that one stops or dies. With --processes a parent starts several,
starts again whichever ends, and stops with all of them.

exit codes: 0 stopped in good order, 1 cannot start (a line says why and what to do), 2 wrong usage
"""


def add_to(commands: "Commands") -> None:
    parser = add_command(
        commands,
        NAME,
        run,
        says="run the daemon",
        teaches=DESCRIPTION,
        ends=secrets(EVERY),
        usage="serve [SETTINGS]",
    )
    add_settings(parser, EVERY)


def run(options: argparse.Namespace) -> int:
    from adapters.cli.deeds import serve

    return serve.run(options)
