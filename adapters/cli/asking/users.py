"""`promptcorner users`: who may come in."""

import argparse
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from adapters.cli.asking.words import add_verb, shown, speaking, told
from adapters.cli.settings import OF_THE_DATABASE, add_command, add_settings, secrets
from adapters.settings.setting import Subject

if TYPE_CHECKING:
    from adapters.cli.settings import Commands
    from adapters.people.wire import ShownUser

NAME = "users"
USERS = "/api/v2/users"
HEAD = ("username", "name", "email", "role", "status", "last seen")

TEACHES = """\
Add users, look at them, change what they may do. Needs a token of an admin.

  promptcorner users list
  promptcorner users create ann --email ann@example.org      prints a link for ann to set a password
  promptcorner users create bob --admin
  promptcorner users suspend bob
  promptcorner users link ann                                on this machine, without a token
"""
LINK = """\
Print a link with which a user sets a new password, once. It is made straight in the database: for
whoever runs the daemon on this machine and cannot get in any more. The daemon may run.

  promptcorner users link admin
  promptcorner users link admin --data-dir /var/lib/promptcorner
  DATABASE_URL=postgresql://... promptcorner users link admin --access-url https://chats.example.org
"""


def add_to(commands: "Commands") -> None:
    parser = add_command(commands, NAME, None, says="who may come in", teaches=TEACHES)
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    example = "  promptcorner users {}\n".format
    listing = add_verb(
        verbs, "list", list_, says="all users", teaches=example("list --search status:active")
    )
    listing.add_argument(
        "--search", metavar="WORDS", help="that all match; status:active, role:owner"
    )
    _add_creating(verbs, example("create ann --email ann@example.org --name 'Ann Smith'"))
    for verb, run, says in (
        ("delete", delete, "what he said stays"),
        ("suspend", suspend, "let him in no more, nor any token of his"),
        ("activate", activate, "let him in again"),
        ("promote", promote, "make him an admin"),
        ("demote", demote, "make him a member again"),
    ):
        one = add_verb(verbs, verb, run, says=says, teaches=example(f"{verb} ann"))
        one.add_argument("user", metavar="NAME", help="his name or id")
    link = add_command(
        verbs,
        "link",
        run_link,
        says="a new password, straight in the database",
        teaches=LINK,
        ends=secrets(OF_THE_DATABASE),
        usage="users link [SETTINGS] NAME",
    )
    link.add_argument("user", metavar="NAME", help="his name")
    add_settings(link, (Subject.LISTENING, *OF_THE_DATABASE))


def _add_creating(verbs: "Commands", teaches: str) -> None:
    says = "add one, and print the link with which he sets his password"
    creating = add_verb(verbs, "create", create, says=says, teaches=teaches)
    creating.add_argument("user", metavar="NAME", help="letters and digits, with hyphens between")
    creating.add_argument("--email", metavar="ADDRESS", default="")
    creating.add_argument("--name", metavar="TEXT", default="", help="as others see it")
    creating.add_argument("--admin", action="store_true", help="one who may do everything")


def list_(options: argparse.Namespace) -> int:
    from adapters.people.wire import UsersPage

    query = {"q": options.search} if options.search else {}
    with speaking(options) as daemon:
        page, answer = daemon.get(USERS, UsersPage, query)
        return shown(options, answer, HEAD, [_row(user) for user in page.users])


def create(options: argparse.Namespace) -> int:
    from adapters.people.wire import NewUser, NewUserAnswer

    roles = ("owner",) if options.admin else ()
    wanted = NewUser(options.user, options.name, options.email, None, roles)
    with speaking(options) as daemon:
        new, answer = daemon.post(USERS, wanted, NewUserAnswer)
        return told(options, answer, str(new.one_time_link))


def delete(options: argparse.Namespace) -> int:
    from adapters.cli.asking.daemon import step

    with speaking(options) as daemon:
        daemon.delete(f"{USERS}/{step(options.user)}")
        return told(options, {}, f"{options.user} is deleted")


def suspend(options: argparse.Namespace) -> int:
    return _change(options, "status/suspend")


def activate(options: argparse.Namespace) -> int:
    return _change(options, "status/activate")


def promote(options: argparse.Namespace) -> int:
    return _change(options, "roles", ("owner",))


def demote(options: argparse.Namespace) -> int:
    return _change(options, "roles", ())


def _change(options: argparse.Namespace, what: str, roles: Sequence[str] | None = None) -> int:
    from adapters.cli.asking.daemon import step
    from adapters.people.wire import Roles, ShownUser

    with speaking(options) as daemon:
        body = None if roles is None else Roles(roles)
        user, answer = daemon.put(f"{USERS}/{step(options.user)}/{what}", body, ShownUser)
        return shown(options, answer, HEAD, [_row(user)])


def _row(user: "ShownUser") -> Sequence[str]:
    role = "admin" if any(role.name == "owner" for role in user.roles) else "member"
    seen = moment(user.last_seen_at)
    return (user.username, user.name or "-", user.email or "-", role, user.status, seen)


def moment(time: datetime) -> str:
    """To the minute, in UTC; the years that stand for no time at all say so."""
    return "never" if time.year in (1, 9999) else f"{time:%Y-%m-%d %H:%M}Z"


def run_link(options: argparse.Namespace) -> int:
    from adapters.cli.asking import link

    return link.run(options)
