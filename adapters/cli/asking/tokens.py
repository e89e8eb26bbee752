"""`promptcorner tokens`: how programs get in."""

import argparse
import getpass
import sys
from typing import TYPE_CHECKING

from adapters.cli.asking.users import USERS, moment
from adapters.cli.asking.words import add_verb, daemon_at, shown, speaking, told
from adapters.cli.settings import add_command

if TYPE_CHECKING:
    from adapters.cli.asking.daemon import Daemon
    from adapters.cli.settings import Commands
    from adapters.people.wire import ShownToken

NAME = "tokens"
DAYS, DAYS_MAX = 30, 3650  # that a token is good for; more is refused
NANOSECONDS_OF_A_DAY = 86_400 * 1_000_000_000
HEAD = ("name", "id", "user", "scopes", "made", "last used", "expires")

TEACHES = """\
A token is how a program gets in: it may do what its user may, or less.

  promptcorner tokens create laptop --login admin      asks for the password; prints the token
  promptcorner tokens create bot --scope chats --days 365
  promptcorner tokens list
  promptcorner tokens revoke bot
"""
CREATE = """\
Make a token and print it: nobody can tell it again. Who has none yet logs in with his password
(--login); it is asked for on the terminal, or read from standard input.

  promptcorner tokens create laptop --login admin
  export PROMPTCORNER_TOKEN=$(promptcorner tokens create laptop --login admin)
  promptcorner tokens create bot --scope chats --days 365
"""


def add_to(commands: "Commands") -> None:
    parser = add_command(commands, NAME, None, says="how programs get in", teaches=TEACHES)
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    example = "  promptcorner tokens {}\n".format
    creating = add_verb(verbs, "create", create, says="make one, and print it once", teaches=CREATE)
    creating.add_argument("name", metavar="NAME", help="to know it by")
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
        verbs, "list", list_, says="those there are, without their secrets", teaches=example("list")
    )
    listing.add_argument("--all", action="store_true", help="everybody's, for admins")
    revoking = add_verb(
        verbs,
        "revoke",
        revoke,
        says="let nobody in with it any more",
        teaches=example("revoke bot"),
    )
    revoking.add_argument("name", metavar="NAME", help="its name or id")
    for verb in (creating, listing, revoking):
        verb.add_argument("--user", metavar="NAME", default="me", help="another's, for admins")


def create(options: argparse.Namespace) -> int:
    if options.login is None:
        with speaking(options) as daemon:
            return _create(options, daemon)
    with daemon_at(options, _session(options)) as daemon:
        try:
            return _create(options, daemon)
        finally:
            daemon.end_session()


def _create(options: argparse.Namespace, daemon: "Daemon") -> int:
    from adapters.people.wire import NewKey, NewToken

    lifetime = options.days * NANOSECONDS_OF_A_DAY
    wanted = NewToken(options.name, lifetime, None, options.scope)
    new, answer = daemon.post(_tokens(options), wanted, NewKey)
    return told(options, answer, new.key)


def list_(options: argparse.Namespace) -> int:
    from adapters.people.wire import ShownToken

    query = {"include_all": "true"} if options.all else {}
    with speaking(options) as daemon:
        tokens, answer = daemon.get(_tokens(options), list[ShownToken], query)
        return shown(options, answer, HEAD, [_row(token) for token in tokens])


def revoke(options: argparse.Namespace) -> int:
    from adapters.cli.asking.daemon import step
    from adapters.people.wire import ShownToken

    with speaking(options) as daemon:
        path = f"{_tokens(options)}/{step(options.name)}"
        token, _ = daemon.get(path, ShownToken)
        daemon.delete(f"{USERS}/{step(options.user)}/keys/{step(token.id)}")
        return told(options, {}, f"{options.name} is revoked")


def _session(options: argparse.Namespace) -> str:
    """A session's token, for a moment."""
    from adapters.people.wire import LoggedIn, Login

    if sys.stdin.isatty():
        password = getpass.getpass(f"password of {options.login}: ")
    else:
        password = sys.stdin.readline().rstrip("\n")
    with daemon_at(options, "") as daemon:
        session, _ = daemon.post(f"{USERS}/login", Login(password, options.login), LoggedIn)
    return session.session_token


def _tokens(options: argparse.Namespace) -> str:
    from adapters.cli.asking.daemon import step

    return f"{USERS}/{step(options.user)}/keys/tokens"


def _row(token: "ShownToken") -> tuple[str, ...]:
    return (
        token.token_name or "-",
        token.id,
        token.username,
        ",".join(token.scopes),
        moment(token.created_at),
        moment(token.last_used),
        moment(token.expires_at),
    )


def _days(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and 1 <= int(text) <= DAYS_MAX):
        raise argparse.ArgumentTypeError(f"must be 1..{DAYS_MAX}")
    return int(text)
