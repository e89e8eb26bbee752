"""`promptcorner bench`: its words."""

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING

from adapters.cli.asking.words import ELSEWHERE, add_daemon
from adapters.cli.settings import add_command

if TYPE_CHECKING:
    from adapters.cli.settings import Commands

NAME = "bench"
CHATS, CHATS_MAX = 50, 5_000  # more is refused: start several of these instead
TURNS, TURNS_MAX = 3, 100
SECONDS, SECONDS_MAX = 300, 3_600  # then what has not ended counts as failed
PROMPT = "Reply with one short sentence."

DESCRIPTION = """\
Load a running daemon through its API, and print what its clients saw: all chats begin at once, each
on connections of its own, and follow-ups are sent together when all first turns are over.

  promptcorner fake-provider --deltas 100 &
  OPENAI_COMPAT_BASE_URL=http://127.0.0.1:7391/v1 promptcorner serve &
  promptcorner bench --chats 200 --turns 5 --force
  promptcorner bench --chats 1 --turns 1 --model claude-sonnet-4-5 --force

Every turn asks a model, which may cost money: unless the model is the daemon's own rehearsal and
the daemon is on this machine, --force is needed. The token of an admin is not slowed down. The
benchmarks of the parts themselves are in a checkout: make bench.
"""


def add_to(commands: "Commands") -> None:
    parser = add_command(
        commands,
        NAME,
        run,
        says="load a running daemon, and see what its clients see",
        teaches=DESCRIPTION,
        ends=ELSEWHERE,
    )
    for flag, usual, most, says in (
        ("--chats", CHATS, CHATS_MAX, "at once"),
        ("--turns", TURNS, TURNS_MAX, "of each chat"),
        ("--seconds", SECONDS, SECONDS_MAX, "for all of it; what has not ended then has failed"),
    ):
        parser.add_argument(
            flag,
            metavar="N",
            type=_within(most),
            default=usual,
            help=f"{says} (1..{most}, default {usual})",
        )
    parser.add_argument("--prompt", metavar="TEXT", default=PROMPT, help="what is said each time")
    parser.add_argument("--model", metavar="NAME", help="by its name or id, not the default one")
    parser.add_argument("--keep", action="store_true", help="do not archive the chats afterwards")
    parser.add_argument("--force", action="store_true", help="even if it may cost money")
    add_daemon(parser)


def run(options: argparse.Namespace) -> int:
    from adapters.cli.measuring import bench

    return bench.run(options)


def _within(most: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        if not (text.isascii() and text.isdecimal() and 1 <= int(text) <= most):
            raise argparse.ArgumentTypeError(f"must be 1..{most}")
        return int(text)

    return number
