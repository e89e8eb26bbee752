"""`promptcorner chat`: its words."""

import argparse
import sys
from typing import TYPE_CHECKING
from uuid import UUID

from adapters.cli.asking.words import ELSEWHERE, add_daemon, token_of, url_of
from adapters.cli.settings import add_command
from adapters.settings.refusals import CannotStart

if TYPE_CHECKING:
    from adapters.cli.settings import Commands

NAME = "chat"
APPROVE = ("allow", "ask", "deny")
MESSAGE_BYTES_MAX = 256 * 1024  # of standard input; the daemon would refuse more

TEACHES = """\
Talk to the daemon in the terminal. Answers appear as they are said; ctrl-C stops one and keeps what
there is of it (with -m the exit code is 130 then), ctrl-D leaves. The daemon keeps the chat, and
goes on with it when nobody watches.

  promptcorner chat                                         a new chat
  promptcorner chat 4f9c0c7e-5a2b-4c1d-9e3f-0a1b2c3d4e5f    take one up again
  promptcorner chat --list                                  those there are
  promptcorner chat -m "Name three rivers."                 one answer, then done
  promptcorner chat --approve ask                           ask before tools change anything
  git diff | promptcorner chat -m "Review this."            with what comes in behind it
"""


def add_to(commands: "Commands") -> None:
    parser = add_command(
        commands, NAME, run, says="talk to the daemon", teaches=TEACHES, ends=ELSEWHERE
    )
    parser.add_argument(
        "chat", nargs="?", metavar="ID", type=_id, help="a chat that is there already"
    )
    parser.add_argument("-m", "--message", metavar="TEXT", help="say this, and end with the answer")
    parser.add_argument("--model", metavar="ID", type=_id, help="of a model config, for this chat")
    parser.add_argument("--effort", metavar="LEVEL", default="", help="none … max")
    parser.add_argument(
        "--approve",
        choices=APPROVE,
        metavar="|".join(APPROVE),
        help="what becomes of calls that need consent: run, ask me, deny them",
    )
    parser.add_argument("--list", action="store_true", help="the chats that moved last")
    add_daemon(parser)


def run(options: argparse.Namespace) -> int:
    # Not before: whoever asks for help does not wait for it.
    from adapters.cli.talking import deeds
    from adapters.cli.talking.consenting import Approve

    if options.json and not options.list:
        raise CannotStart("--json", "is for --list; what is said in a chat has no such form")
    where, token = url_of(options), token_of(options)
    if options.list:
        return deeds.list_chats(where, token, as_json=options.json)
    approve = None if options.approve is None else Approve(options.approve)
    said = _said(options)
    wanted = deeds.Wanted(options.chat, said, options.model, options.effort, approve)
    return deeds.talk(where, token, wanted)


def _said(options: argparse.Namespace) -> str:
    """What is to be said at once: the words of the command, and what comes in behind them."""
    message = options.message or ""
    if sys.stdin.isatty():
        return message
    piped = sys.stdin.read(MESSAGE_BYTES_MAX).strip()
    return "\n\n".join(filter(None, (message, piped)))


def _id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no id, see: promptcorner chat --list"
        ) from None
