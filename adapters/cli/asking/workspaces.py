"""`promptcorner workspaces`: where chats work."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING
from uuid import UUID

from adapters.cli.asking.users import moment
from adapters.cli.asking.words import add_verb, shown, speaking, told
from adapters.cli.settings import add_command
from adapters.settings.refusals import CannotStart

if TYPE_CHECKING:
    from adapters.cli.asking.daemon import Daemon
    from adapters.cli.settings import Commands
    from adapters.workspaces.schemas import Workspace, WorkspaceTemplate

NAME = "workspaces"
WORKSPACES, TEMPLATES = "/api/v2/workspaces", "/api/v2/templates"
LISTED_MAX = 1_000  # of one list; a search finds the others
HEAD = ("name", "owner", "template", "status", "last used", "path")
TEMPLATES_HEAD = ("name", "description")

TEACHES = """\
Look at the directories in which chats work, stop what runs in them, remove them.

  promptcorner workspaces list
  promptcorner workspaces stop web
  promptcorner workspaces remove web                 with its files
  promptcorner workspaces templates                  what they can be made of
"""


def add_to(commands: "Commands") -> None:
    parser = add_command(commands, NAME, None, says="where chats work", teaches=TEACHES)
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    example = "  promptcorner workspaces {}\n".format
    says = "your own; an admin sees all"
    teaches = example("list --search 'owner:me status:running'")
    listing = add_verb(verbs, "list", list_, says=says, teaches=teaches)
    listing.add_argument(
        "--search", metavar="WORDS", help="that all match; name:, owner:, template:, status:"
    )
    for verb, run, says in (
        ("stop", stop, "end all that runs in it; its files stay"),
        ("start", start, "let chats work in it again"),
        ("remove", remove, "with its files, unless a chat is at work in it"),
    ):
        one = add_verb(verbs, verb, run, says=says, teaches=example(f"{verb} web"))
        one.add_argument("workspace", metavar="NAME", help="its name or id")
    says = "what workspaces can be made of"
    add_verb(verbs, "templates", templates, says=says, teaches=example("templates"))


def list_(options: argparse.Namespace) -> int:
    from adapters.workspaces.schemas import Workspaces

    query = {"limit": str(LISTED_MAX), **({"q": options.search} if options.search else {})}
    with speaking(options) as daemon:
        page, answer = daemon.get(WORKSPACES, Workspaces, query)
        return shown(options, answer, HEAD, [_row(each) for each in page.workspaces])


def stop(options: argparse.Namespace) -> int:
    return _change(options, "stop")


def start(options: argparse.Namespace) -> int:
    return _change(options, "start")


def remove(options: argparse.Namespace) -> int:
    with speaking(options) as daemon:
        daemon.delete(f"{WORKSPACES}/{_id_of(daemon, options.workspace)}")
        return told(options, {}, f"{options.workspace} is removed")


def templates(options: argparse.Namespace) -> int:
    from adapters.workspaces.schemas import WorkspaceTemplate

    with speaking(options) as daemon:
        found, answer = daemon.get(TEMPLATES, list[WorkspaceTemplate])
        return shown(options, answer, TEMPLATES_HEAD, [_template_row(each) for each in found])


def _change(options: argparse.Namespace, verb: str) -> int:
    from adapters.workspaces.schemas import Workspace

    with speaking(options) as daemon:
        path = f"{WORKSPACES}/{_id_of(daemon, options.workspace)}/{verb}"
        workspace, answer = daemon.post(path, None, Workspace)
        return shown(options, answer, HEAD, [_row(workspace)])


def _id_of(daemon: "Daemon", name: str) -> UUID:
    """Names are those of one user each; ids are everybody's."""
    from adapters.workspaces.schemas import Workspaces

    try:
        return UUID(name)
    except ValueError:
        pass
    query = {"q": f'name:"{name}"', "limit": str(LISTED_MAX)}
    page, _ = daemon.get(WORKSPACES, Workspaces, query)
    found = [each for each in page.workspaces if each.name == name]
    if not found:
        raise CannotStart(NAME, f"there is none called {name!r}")
    if len(found) > 1:
        owners = ", ".join(each.owner_name for each in found)
        raise CannotStart(NAME, f"{len(found)} are called {name!r} (of {owners})", "give the id")
    return found[0].id


def _row(workspace: "Workspace") -> Sequence[str]:
    used = moment(workspace.last_used_at)
    about = (workspace.name, workspace.owner_name, workspace.template_name)
    return (*about, workspace.status, used, workspace.path)


def _template_row(template: "WorkspaceTemplate") -> Sequence[str]:
    said = template.error or template.description or template.display_name or "-"
    return (template.name, str(said))
