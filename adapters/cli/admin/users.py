"""`promptcorner users`: the people who may log in."""

import argparse
import sys
from collections.abc import Sequence
from datetime import datetime

import trio

from adapters.cli.admin.connection import add_verb, connect, path_of, print_line, print_table
from adapters.cli.command_line import (
    DATABASE_SUBJECTS,
    add_command,
    add_settings,
    describe,
    load_config,
    secrets_help,
)
from adapters.daemon.listening.daemons import daemon_here
from adapters.people.auth.wiring import LINK_PATH
from adapters.people.routes.schemas import NewUser, NewUserAnswer, Roles, ShownUser, UsersPage
from adapters.people.store.deployment import InvitationLink, Invitations
from adapters.people.store.users import Users
from adapters.postgres import migrating
from adapters.postgres.database import open_database, refusing_start
from adapters.postgres.driver.connection import DatabaseConnection
from adapters.postgres.driver.pool import Pool
from adapters.settings import Config, names
from adapters.settings.refusals import CannotStart
from adapters.settings.setting import Subject

DRAIN_SECONDS = 1.0
USERS = "/api/v2/users"
HEAD = ("username", "name", "email", "role", "status", "last seen")

DESCRIPTION = """\
Add users, look at them, change what they may do. Needs a token of an admin.

  promptcorner users list
  promptcorner users create ann --email ann@example.org      prints a link for ann to set a password
  promptcorner users create bob --admin
  promptcorner users suspend bob
  promptcorner users link ann                                on this machine, without a token
"""
LINK = """\
Print a link with which a user sets a new password, once. It is made straight in the database, for
the user who runs the daemon on this machine and cannot log in any more. The daemon may run.

  promptcorner users link admin
  promptcorner users link admin --data-dir /var/lib/promptcorner
  DATABASE_URL=postgresql://... promptcorner users link admin --access-url https://chats.example.org
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verbs."""
    describe(parser, DESCRIPTION)
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    example = "  promptcorner users {}\n".format
    listing = add_verb(
        verbs,
        "list",
        list_users,
        help="all users",
        description=example("list --search status:active"),
    )
    listing.add_argument(
        "--search", metavar="WORDS", help="that all match; status:active, role:owner"
    )
    creating = add_verb(
        verbs,
        "create",
        create,
        help="add a user, and print the link with which they set their password",
        description=example("create ann --email ann@example.org --name 'Ann Smith'"),
    )
    creating.add_argument("user", metavar="NAME", help="letters and digits, with hyphens between")
    creating.add_argument("--email", metavar="ADDRESS", default="")
    creating.add_argument("--name", metavar="TEXT", default="", help="as others see it")
    creating.add_argument("--admin", action="store_true", help="a user who may do everything")
    for verb, run, help in (
        ("delete", delete, "delete a user; what they wrote stays"),
        ("suspend", suspend, "refuse a user and all their tokens"),
        ("activate", activate, "let a user log in again"),
        ("promote", promote, "make a user an admin"),
        ("demote", demote, "make a user a member again"),
    ):
        one = add_verb(verbs, verb, run, help=help, description=example(f"{verb} ann"))
        one.add_argument("user", metavar="NAME", help="a name or id")
    link = add_command(verbs, "link", "a new password, straight in the database")
    end = secrets_help(DATABASE_SUBJECTS)
    describe(link, LINK, run=print_link, epilog=end, usage="users link [SETTINGS] NAME")
    link.add_argument("user", metavar="NAME", help="a name")
    add_settings(link, (Subject.LISTENING, *DATABASE_SUBJECTS))


def list_users(options: argparse.Namespace) -> int:
    query = {"q": options.search} if options.search else {}
    with connect(options) as daemon:
        page, answer = daemon.get(USERS, UsersPage, query)
        return print_table(options, answer, HEAD, [_row(user) for user in page.users])


def create(options: argparse.Namespace) -> int:
    roles = ("owner",) if options.admin else ()
    wanted = NewUser(options.user, options.name, options.email, None, roles)
    with connect(options) as daemon:
        new, answer = daemon.post(USERS, wanted, NewUserAnswer)
        return print_line(options, answer, str(new.one_time_link))


def delete(options: argparse.Namespace) -> int:
    with connect(options) as daemon:
        daemon.delete(f"{USERS}/{path_of(options.user)}")
        return print_line(options, {}, f"{options.user} is deleted")


def suspend(options: argparse.Namespace) -> int:
    return _change(options, "status/suspend")


def activate(options: argparse.Namespace) -> int:
    return _change(options, "status/activate")


def promote(options: argparse.Namespace) -> int:
    return _change(options, "roles", ("owner",))


def demote(options: argparse.Namespace) -> int:
    return _change(options, "roles", ())


def _change(options: argparse.Namespace, what: str, roles: Sequence[str] | None = None) -> int:
    with connect(options) as daemon:
        body = None if roles is None else Roles(roles)
        user, answer = daemon.put(f"{USERS}/{path_of(options.user)}/{what}", body, ShownUser)
        return print_table(options, answer, HEAD, [_row(user)])


def _row(user: ShownUser) -> Sequence[str]:
    role = "admin" if any(role.name == "owner" for role in user.roles) else "member"
    seen = minute_of(user.last_seen_at)
    return (user.username, user.name or "-", user.email or "-", role, user.status, seen)


def minute_of(time: datetime) -> str:
    """Return a time to the minute, in UTC; the years that stand for no time at all say so."""
    return "never" if time.year in (1, 9999) else f"{time:%Y-%m-%d %H:%M}Z"


def print_link(options: argparse.Namespace) -> int:
    """Print a link, good once, without asking the daemon."""
    config = load_config(options)
    link = names.run(_make_link, config, options.user)
    sys.stdout.write(f"{config.access_url or daemon_here(config).url}{LINK_PATH}/{link.code}\n")
    sys.stderr.write(f"good once, until {link.expires_at:%Y-%m-%d %H:%M %Z}\n")
    return 0


async def _make_link(config: Config, name: str) -> InvitationLink:
    async with open_database(config) as database:
        with refusing_start(database):
            await _check_schema(database.conninfo)
            pool = Pool(database.conninfo, size=1)
            try:
                user = await Users(pool).by_name(name)
                if user is None:
                    fact = f"no user is called {name!r:.64}"
                    raise CannotStart("users", fact, "the first one is called admin")
                return await Invitations(pool).add(user.id)
            finally:
                with trio.move_on_after(2 * DRAIN_SECONDS, shield=True):
                    await pool.drain(DRAIN_SECONDS)


async def _check_schema(conninfo: str) -> None:
    """Refuse a schema that lacks steps: a command that makes a link does not migrate."""
    connection = await DatabaseConnection.open(conninfo)
    try:
        missing = await migrating.pending(connection)
    finally:
        connection.close()
    if missing:
        fact = f"the schema lacks {len(missing)} steps"
        raise CannotStart("database", fact, "start the daemon once, or run `promptcorner migrate`")
