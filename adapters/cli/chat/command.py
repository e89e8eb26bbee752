"""`promptcorner chat`: talk to the daemon in the terminal, or list chats."""

import argparse
import sys
from functools import partial
from uuid import UUID

import msgspec
from rich.console import Console

from adapters.cli.admin.connection import DAEMON_HELP, add_daemon, token_of, url_of
from adapters.cli.chat.approvals import Approve
from adapters.cli.chat.conversation import INTERRUPTED, ChatRequest, converse
from adapters.cli.command_line import describe, json_text, table
from adapters.settings import names
from adapters.settings.refusals import CannotStart
from promptcorner_client import api
from promptcorner_client.async_client import AsyncClient
from promptcorner_client.errors import RequestRefused, ServerUnreachable
from promptcorner_client.sync_client import Client

HEAD = ("id", "status", "moved", "title")
TITLE_CHARACTERS_MAX = 60
APPROVE = ("allow", "ask", "deny")
NOBODY = "there is no terminal on both sides, and no message"
BELLS = ("bell", "notify", "off")
MESSAGE_BYTES_MAX = 256 * 1024  # of standard input; the daemon would refuse more

DESCRIPTION = """\
Talk to the daemon in the terminal. Answers appear as they are written; ctrl-C stops one and keeps
what there is of it (with -m the exit code is 130 then), ctrl-D leaves. The daemon keeps the chat,
and goes on with it meanwhile. /help lists the keys and commands; docs/terminal.md shows them.

  promptcorner chat                                         a new chat
  promptcorner chat 4f9c0c7e-5a2b-4c1d-9e3f-0a1b2c3d4e5f    go on with an old one
  promptcorner chat --plain                                 for screen readers
  promptcorner chat --list                                  the latest ones
  promptcorner chat -m "Name three rivers."                 one answer, then done
  promptcorner chat --approve ask                           ask before tools change anything
  git diff | promptcorner chat -m "Review this."            with standard input after it
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the chat, the message, how the model answers, and the daemon."""
    describe(parser, DESCRIPTION, run=run, epilog=DAEMON_HELP)
    parser.add_argument("chat", nargs="?", metavar="ID", type=_id, help="an existing chat")
    parser.add_argument(
        "-m", "--message", metavar="TEXT", help="send this, and end with the answer"
    )
    parser.add_argument("--model", metavar="ID", type=_id, help="of a model config, for this chat")
    parser.add_argument("--effort", metavar="LEVEL", default="", help="none … max")
    parser.add_argument(
        "--approve",
        choices=APPROVE,
        metavar="|".join(APPROVE),
        help="what becomes of calls that need consent: run, ask me, deny them",
    )
    parser.add_argument("--list", action="store_true", help="list the chats that changed last")
    add_look(parser)
    add_daemon(parser)


def run(options: argparse.Namespace) -> int:
    """Talk, or list chats."""
    if options.json and not options.list:
        raise CannotStart("--json", "is for --list; a conversation has no such form")
    url, token = url_of(options), token_of(options)
    if options.list:
        return list_chats(url, token, as_json=options.json)
    approve = None if options.approve is None else Approve(options.approve)
    message = _message(options)
    request = ChatRequest(options.chat, message, options.model, options.effort, approve)
    if not message and sys.stdin.isatty() and sys.stdout.isatty():
        return at_terminal(url, token, request, options)
    if not message and options.chat is None:
        raise CannotStart("chat", NOBODY, "send a message with -m, or on standard input")
    return talk(url, token, request)


def at_terminal(url: str, token: str, request: ChatRequest, options: argparse.Namespace) -> int:
    """Hold a conversation at the terminal. Its library is loaded only now: it takes a moment."""
    from adapters.cli.chat.place.run import TerminalOptions, talk_at_terminal

    look = TerminalOptions(options.theme, options.bell, options.vi, options.plain)
    try:
        return talk_at_terminal(url, token, request, look)
    except (RequestRefused, ServerUnreachable) as fault:
        raise _refusal(fault) from None


def _message(options: argparse.Namespace) -> str:
    """Return the first message: the text of the command, then standard input if it is piped."""
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


def talk(url: str, token: str, request: ChatRequest) -> int:
    """Talk to the daemon, and return the exit code."""
    try:
        return names.run(partial(_talk, url, token, request))
    except (RequestRefused, ServerUnreachable) as fault:
        raise _refusal(fault) from None
    except KeyboardInterrupt:
        return INTERRUPTED


async def _talk(url: str, token: str, request: ChatRequest) -> int:
    async with AsyncClient(url, token) as client:
        return await converse(client, request, Console(highlight=False))


def list_chats(url: str, token: str, *, as_json: bool) -> int:
    """Print the chats that changed last."""
    try:
        with Client(url, token) as client:
            chats = client.request(api.list_chats())
    except (RequestRefused, ServerUnreachable) as fault:
        raise _refusal(fault) from None
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


def _refusal(fault: RequestRefused | ServerUnreachable) -> CannotStart:
    if isinstance(fault, RequestRefused) and fault.status == 401:
        return CannotStart(
            "token",
            "the daemon does not know it",
            "if it keeps its data elsewhere, set PROMPTCORNER_DATA_DIR; or set PROMPTCORNER_TOKEN",
        )
    return CannotStart("chat", str(fault))
