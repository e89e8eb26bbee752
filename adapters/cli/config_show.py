"""`promptcorner config show`: its words."""

import argparse
from typing import TYPE_CHECKING

from adapters.cli.settings import EVERY, add_command, add_settings, secrets

if TYPE_CHECKING:
    from adapters.cli.settings import Commands

NAME = "config"

DESCRIPTION = """\
Show every setting as a daemon that is started like this would see it. Secrets are only said to be
set. What cannot be is refused, in the words of the daemon.

  promptcorner config show --origin
  promptcorner config show --config /etc/promptcorner/promptcorner.toml --json
"""


def add_to(commands: "Commands") -> None:
    parser = add_command(
        commands, NAME, None, says="show what is set, and who set it", teaches=DESCRIPTION
    )
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    show = add_command(
        verbs,
        "show",
        run,
        says="every setting",
        teaches=DESCRIPTION,
        ends=secrets(EVERY),
        usage="config show [--origin] [--json] [SETTINGS]",
    )
    show.add_argument("--origin", action="store_true", help="with who set it")
    show.add_argument("--json", action="store_true", help="as JSON, for programs")
    add_settings(show, EVERY)


def run(options: argparse.Namespace) -> int:
    from adapters.cli.deeds import config_show

    return config_show.run(options)
