"""`promptcorner chats`: the board of all chats, or once as a table."""

import argparse
import os
import sys
from dataclasses import replace
from functools import partial

from msgspec import UNSET

from adapters.cli.admin.connection import (
    ENVIRONMENT_HELP,
    EXIT_CODES_HELP,
    add_daemon,
)
from adapters.cli.board.details import details_of
from adapters.cli.board.drawing import table_rows, without_chats
from adapters.cli.board.live import LiveBoard
from adapters.cli.board.news import query_of, read_chats
from adapters.cli.board.rows import BoardFilter, BoardRow, BoardState
from adapters.cli.command_line import describe, json_text, table
from adapters.cli.daemon_place import place_of
from adapters.cli.pipes.outcomes import refusal_of
from adapters.settings import names
from promptcorner_client.errors import RequestRefused, ServerUnreachable
from promptcorner_client.wire import Chat
from runtime.clock import wall

HEAD = ("id", "state", "since", "tokens", "cost", "what", "title")
INTERRUPTED = 130
DETAILS_MAX = 100  # chats of a table whose cost is asked for; the others have `?`

DESCRIPTION = """\
Show all chats, those that need you first and why, then those at work with what they do, then the
others. The board follows what happens, also at a daemon that is replaced. Tokens are those of the
conversation; a cost that nobody knows is `?`, and `+?` says that a part of it is not known.

  promptcorner chats                    the board; its last line has the keys
  promptcorner chats --filter needs     only those that need you
  promptcorner chats rivers             those in which the word is found
  promptcorner chats --once             a table, as in a pipe
  promptcorner chats --json             for programs
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the search, the filter, and the daemon."""
    describe(parser, DESCRIPTION, run=run, epilog=ENVIRONMENT_HELP + EXIT_CODES_HELP)
    parser.add_argument("search", nargs="*", metavar="WORD", help="a search, as the page has it")
    parser.add_argument(
        "--filter",
        choices=[each.name.lower() for each in BoardFilter],
        default="all",
        metavar="all|needs|works|archived",
        help="which chats are shown",
    )
    parser.add_argument("--once", action="store_true", help="print a table, and end")
    add_daemon(parser)


def run(options: argparse.Namespace) -> int:
    """Open the board where there is a terminal; print once elsewhere."""
    state = BoardState(filter=BoardFilter[options.filter.upper()], search=" ".join(options.search))
    is_live = sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    try:
        if options.once or options.json or not is_live:
            return names.run(partial(_print_once, options, state))
        return names.run(partial(_open, options, state))
    except (RequestRefused, ServerUnreachable) as fault:
        raise refusal_of(fault) from None
    except KeyboardInterrupt:
        return INTERRUPTED


async def _open(options: argparse.Namespace, state: BoardState) -> int:
    async with place_of(options).client() as client:
        await read_chats(
            client, query_of(state)
        )  # what is wrong is said before the screen is taken
    words = ["--url", options.url] if options.url else []
    return await LiveBoard(partial(place_of, options), state, words).run()


async def _print_once(options: argparse.Namespace, state: BoardState) -> int:
    async with place_of(options).client() as client:
        chats = await read_chats(client, query_of(state))
        state = replace(state, chats={chat.id: chat for chat in chats})
        seen = [state.chats[row.id] for row in state.rows[:DETAILS_MAX]]
        state = replace(state, details=await details_of(client, seen))
    if options.json:
        sys.stdout.write(json_text([document_of(state.chats[row.id], row) for row in state.rows]))
    else:
        sys.stdout.write(table(HEAD, table_rows(state, wall())))
        if not state.rows:
            sys.stderr.write(f"{without_chats(state)}\n")
    return 0


def document_of(chat: Chat, row: BoardRow) -> dict[str, object]:
    """Return a row for programs; null is what nobody knows."""
    paid = row.detail
    return {
        "id": str(row.id),
        "title": row.title,
        "state": row.group.name.lower(),
        "what": row.why or None,
        "status": chat.status,
        "attention": None if chat.attention is UNSET else chat.attention,
        "updated_at": row.since.isoformat(),
        "tokens": paid.tokens,
        "tokens_max": paid.tokens_max,
        "cost_micros": paid.cost_micros,
        "unpriced_request_count": None if paid.cost_micros is None else paid.unpriced_count,
        "archived": chat.archived,
        "unread": chat.has_unread,
    }
