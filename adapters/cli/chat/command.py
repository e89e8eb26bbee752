"""`promptcorner chat`: talk to the daemon in the terminal, or list chats."""

import argparse
import sys
from functools import partial

import msgspec
from rich.console import Console

from adapters.cli.admin.connection import ENVIRONMENT_HELP, add_daemon
from adapters.cli.chat.approvals import Approve
from adapters.cli.chat.conversation import INTERRUPTED, ChatRequest, converse
from adapters.cli.command_line import chat_id, describe, json_text, table
from adapters.cli.daemon_place import DaemonPlace, place_of
from adapters.cli.pipes.command import (
    PIPE_CODES_HELP,
    add_pipe_arguments,
    is_for_pipe,
    run_in_pipe,
)
from adapters.cli.pipes.outcomes import refusal_of
from adapters.settings import names
from adapters.settings.refusals import CannotStart
from promptcorner_client import api
from promptcorner_client.errors import RequestRefused, ServerUnreachable

HEAD = ("id", "status", "moved", "title")
TITLE_CHARACTERS_MAX = 60
APPROVE = ("allow", "ask", "deny")
NOBODY = "there is no terminal on both sides, and no message"
BELLS = ("bell", "notify", "off")

DESCRIPTION = """\
Talk to the daemon in the terminal. Answers appear as they are written; ctrl-C stops one and keeps
what there is of it, ctrl-D leaves. The daemon keeps the chat, and goes on with it meanwhile. /help
lists the keys and commands; docs/terminal.md shows them. With -m, --json or a pipe it is for
scripts: one answer, and an exit code that says how the turn ended (docs/commands.md).

  promptcorner chat                                         a new chat
  promptcorner chat 4f9c0c7e-5a2b-4c1d-9e3f-0a1b2c3d4e5f    go on with an old one
  promptcorner chat --plain                                 for screen readers
  promptcorner chat --list                                  the latest ones
  promptcorner chat -m "Name three rivers."                 one answer, then done
  promptcorner chat --approve ask                           ask before tools change anything
  git diff | promptcorner chat -m "Review this."            with standard input after it
  promptcorner chat -m "Name three rivers." --json          its events, as lines of JSON
  promptcorner chat -m "Three rivers." --output-schema rivers.schema.json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the chat, the message, how the model answers, and the daemon."""
    describe(parser, DESCRIPTION, run=run, epilog=ENVIRONMENT_HELP + PIPE_CODES_HELP)
    parser.add_argument("chat", nargs="?", metavar="ID", type=chat_id, help="an existing chat")
    parser.add_argument(
        "-m", "--message", metavar="TEXT", help="send this, and end with the answer"
    )
    parser.add_argument(
        "--model", metavar="ID", type=chat_id, help="of a model config, for this chat"
    )
    parser.add_argument("--effort", metavar="LEVEL", default="", help="none … max")
    parser.add_argument(
        "--approve",
        choices=APPROVE,
        metavar="|".join(APPROVE),
        help="what becomes of calls that need consent: run, ask me, deny them",
    )
    add_pipe_arguments(parser)
    parser.add_argument("--list", action="store_true", help="list the chats that changed last")
    add_look(parser)
    add_daemon(parser)


def run(options: argparse.Namespace) -> int:
    """Talk, or list chats."""
    if not options.list and is_for_pipe(options):
        return run_in_pipe(options)
    place = place_of(options)
    if options.list:
        return list_chats(place, as_json=options.json)
    approve = None if options.approve is None else Approve(options.approve)
    message = options.message or ""
    request = ChatRequest(options.chat, message, options.model, options.effort, approve)
    if not message and sys.stdin.isatty() and sys.stdout.isatty():
        return at_terminal(place, request, options)
    if not message and options.chat is None:
        raise CannotStart("chat", NOBODY, "send a message with -m, or on standard input")
    return talk(place, request)


def at_terminal(place: DaemonPlace, request: ChatRequest, options: argparse.Namespace) -> int:
    """Hold a conversation at the terminal. Its library is loaded only now: it takes a moment."""
    from adapters.cli.chat.place.run import TerminalOptions, talk_at_terminal

    look = TerminalOptions(options.theme, options.bell, options.vi, options.plain)
    try:
        return talk_at_terminal(place, request, look)
    except (RequestRefused, ServerUnreachable) as fault:
        raise refusal_of(fault) from None


def add_look(parser: argparse.ArgumentParser) -> None:
    """Add the flags that say how the terminal is used."""
    group = parser.add_argument_group("the terminal")
    group.add_argument(
        "--plain",
        action="store_true",
        help="lines only, and nothing is drawn anew: for screen readers (also with TERM=dumb)",
    )
    group.add_argument("--vi", action="store_true", help="type as in vi")
    group.add_argument(
        "--theme",
        choices=("auto", "dark", "light"),
        default="auto",
        metavar="dark|light",
        help="what the background is; else COLORFGBG says it, or it is dark",
    )
    group.add_argument(
        "--bell",
        choices=BELLS,
        default="notify",
        metavar="|".join(BELLS),
        help="when the chat needs you: ring, ring and notify where the terminal can, or nothing",
    )


def talk(place: DaemonPlace, request: ChatRequest) -> int:
    """Talk to the daemon, and return the exit code."""
    try:
        return names.run(partial(_talk, place, request))
    except (RequestRefused, ServerUnreachable) as fault:
        raise refusal_of(fault) from None
    except KeyboardInterrupt:
        return INTERRUPTED


async def _talk(place: DaemonPlace, request: ChatRequest) -> int:
    async with place.client() as client:
        return await converse(client, request, Console(highlight=False))


def list_chats(place: DaemonPlace, *, as_json: bool) -> int:
    """Print the chats that changed last."""
    try:
        with place.blocking_client() as client:
            chats = client.request(api.list_chats())
    except (RequestRefused, ServerUnreachable) as fault:
        raise refusal_of(fault) from None
    if as_json:
        sys.stdout.write(json_text(msgspec.to_builtins(chats)))
        return 0
    rows = [
        (
            str(chat.id),
            chat.status,
            chat.updated_at.strftime("%Y-%m-%d %H:%M"),
            chat.title[:TITLE_CHARACTERS_MAX],
        )
        for chat in chats
    ]
    sys.stdout.write(table(HEAD, rows))
    return 0
