"""`promptcorner tokens`: the tokens with which programs log in."""

import argparse
import getpass
import sys

from adapters.cli.admin.connection import (
    DaemonClient,
    add_verb,
    connect,
    connect_with,
    path_of,
    print_line,
    print_table,
)
from adapters.cli.admin.users import USERS, minute_of
from adapters.cli.command_line import describe
from adapters.people.routes.schemas import LoginAnswer, LoginRequest, NewKey, NewToken, ShownToken

DAYS, DAYS_MAX = 30, 3650  # that a token is good for; more is refused
NANOSECONDS_OF_A_DAY = 86_400 * 1_000_000_000
HEAD = ("name", "id", "user", "scopes", "made", "last used", "expires")

DESCRIPTION = """\
A token lets a program in: it may do what its user may, or less.

  promptcorner tokens create laptop --login admin      asks for the password; prints the token
  promptcorner tokens create bot --scope chats --days 365
  promptcorner tokens list
  promptcorner tokens revoke bot
"""
CREATE = """\
Make a token and print it: it cannot be shown again. Users who have none yet log in with their
password (--login), which is asked for on the terminal, or read from standard input.

  promptcorner tokens create laptop --login admin
  export PROMPTCORNER_TOKEN=$(promptcorner tokens create laptop --login admin)
  promptcorner tokens create bot --scope chats --days 365
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verbs."""
    describe(parser, DESCRIPTION)
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    example = "  promptcorner tokens {}\n".format
    creating = add_verb(
        verbs, "create", create, help="make one, and print it once", description=CREATE
    )
    creating.add_argument("name", metavar="NAME", help="a name to know it by")
    creating.add_argument(
        "--login", metavar="NAME", help="log in with a password instead of a token"
    )
    creating.add_argument(
        "--scope",
        metavar="SCOPE",
        action="append",
        help="all (default), chats, models, settings or users; chats:read may only look",
    )
    creating.add_argument(
        "--days", metavar="N", type=_days, default=DAYS, help=f"1..{DAYS_MAX}, default {DAYS}"
    )
    listing = add_verb(
        verbs,
        "list",
        list_tokens,
        help="all tokens, without their secrets",
        description=example("list"),
    )
    listing.add_argument("--all", action="store_true", help="those of all users, for admins")
    revoking = add_verb(
        verbs,
        "revoke",
        revoke,
        help="refuse a token from now on",
        description=example("revoke bot"),
    )
    revoking.add_argument("name", metavar="NAME", help="a name or id")
    for verb in (creating, listing, revoking):
        verb.add_argument(
            "--user", metavar="NAME", default="me", help="of another user, for admins"
        )


def create(options: argparse.Namespace) -> int:
    if options.login is None:
        with connect(options) as daemon:
            return _create(options, daemon)
    with connect_with(options, _session(options)) as daemon:
        try:
            return _create(options, daemon)
        finally:
            daemon.end_session()


def _create(options: argparse.Namespace, daemon: DaemonClient) -> int:
    lifetime = options.days * NANOSECONDS_OF_A_DAY
    wanted = NewToken(options.name, lifetime, None, options.scope)
    new, answer = daemon.post(_tokens_path(options), wanted, NewKey)
    return print_line(options, answer, new.key)


def list_tokens(options: argparse.Namespace) -> int:
    query = {"include_all": "true"} if options.all else {}
    with connect(options) as daemon:
        tokens, answer = daemon.get(_tokens_path(options), list[ShownToken], query)
        return print_table(options, answer, HEAD, [_row(token) for token in tokens])


def revoke(options: argparse.Namespace) -> int:
    with connect(options) as daemon:
        path = f"{_tokens_path(options)}/{path_of(options.name)}"
        token, _ = daemon.get(path, ShownToken)
        daemon.delete(f"{USERS}/{path_of(options.user)}/keys/{path_of(token.id)}")
        return print_line(options, {}, f"{options.name} is revoked")


def _session(options: argparse.Namespace) -> str:
    """Log in and return the token of the session, which ends with the command."""
    if sys.stdin.isatty():
        password = getpass.getpass(f"password of {options.login}: ")
    else:
        password = sys.stdin.readline().rstrip("\n")
    with connect_with(options, "") as daemon:
        session, _ = daemon.post(
            f"{USERS}/login", LoginRequest(password, options.login), LoginAnswer
        )
    return session.session_token


def _tokens_path(options: argparse.Namespace) -> str:
    return f"{USERS}/{path_of(options.user)}/keys/tokens"


def _row(token: ShownToken) -> tuple[str, ...]:
    return (
        token.token_name or "-",
        token.id,
        token.username,
        ",".join(token.scopes),
        minute_of(token.created_at),
        minute_of(token.last_used),
        minute_of(token.expires_at),
    )


def _days(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and 1 <= int(text) <= DAYS_MAX):
        raise argparse.ArgumentTypeError(f"must be 1..{DAYS_MAX}")
    return int(text)
