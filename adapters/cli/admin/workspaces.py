"""`promptcorner workspaces`: the directories in which chats work."""

import argparse
from collections.abc import Sequence
from uuid import UUID

from adapters.cli.admin.connection import (
    DaemonClient,
    add_verb,
    connect,
    print_line,
    print_table,
)
from adapters.cli.admin.users import minute_of
from adapters.cli.command_line import describe
from adapters.settings.refusals import CannotStart
from adapters.workspaces.schemas import Workspace, Workspaces, WorkspaceTemplate

NAME = "workspaces"
WORKSPACES, TEMPLATES = "/api/v2/workspaces", "/api/v2/templates"
LISTED_MAX = 1_000  # of one list; a search finds the others
HEAD = ("name", "owner", "template", "status", "last used", "path")
TEMPLATES_HEAD = ("name", "description")

DESCRIPTION = """\
Look at the directories in which chats work, stop what runs in them, remove them.

  promptcorner workspaces list
  promptcorner workspaces stop web
  promptcorner workspaces remove web                 with its files
  promptcorner workspaces templates                  what they can be made of
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verbs."""
    describe(parser, DESCRIPTION)
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    example = "  promptcorner workspaces {}\n".format
    listing = add_verb(
        verbs,
        "list",
        list_workspaces,
        help="your own; an admin sees all",
        description=example("list --search 'owner:me status:running'"),
    )
    listing.add_argument(
        "--search", metavar="WORDS", help="that all match; name:, owner:, template:, status:"
    )
    for verb, run, help in (
        ("stop", stop, "end all that runs in it; its files stay"),
        ("start", start, "let chats work in it again"),
        ("remove", remove, "remove it with its files, unless a chat is at work in it"),
    ):
        one = add_verb(verbs, verb, run, help=help, description=example(f"{verb} web"))
        one.add_argument("workspace", metavar="NAME", help="a name or id")
    add_verb(
        verbs,
        "templates",
        list_templates,
        help="what workspaces can be made of",
        description=example("templates"),
    )


def list_workspaces(options: argparse.Namespace) -> int:
    query = {"limit": str(LISTED_MAX), **({"q": options.search} if options.search else {})}
    with connect(options) as daemon:
        page, answer = daemon.get(WORKSPACES, Workspaces, query)
        return print_table(options, answer, HEAD, [_row(each) for each in page.workspaces])


def stop(options: argparse.Namespace) -> int:
    return _change(options, "stop")


def start(options: argparse.Namespace) -> int:
    return _change(options, "start")


def remove(options: argparse.Namespace) -> int:
    with connect(options) as daemon:
        daemon.delete(f"{WORKSPACES}/{_id_of(daemon, options.workspace)}")
        return print_line(options, {}, f"{options.workspace} is removed")


def list_templates(options: argparse.Namespace) -> int:
    with connect(options) as daemon:
        templates, answer = daemon.get(TEMPLATES, list[WorkspaceTemplate])
        return print_table(
            options, answer, TEMPLATES_HEAD, [_template_row(each) for each in templates]
        )


def _change(options: argparse.Namespace, verb: str) -> int:
    with connect(options) as daemon:
        path = f"{WORKSPACES}/{_id_of(daemon, options.workspace)}/{verb}"
        workspace, answer = daemon.post(path, None, Workspace)
        return print_table(options, answer, HEAD, [_row(workspace)])


def _id_of(daemon: DaemonClient, name: str) -> UUID:
    """Return the id of a workspace. Users may give the same name to one each; an id is unique."""
    try:
        return UUID(name)
    except ValueError:
        pass
    query = {"q": f'name:"{name}"', "limit": str(LISTED_MAX)}
    page, _ = daemon.get(WORKSPACES, Workspaces, query)
    found = [each for each in page.workspaces if each.name == name]
    if not found:
        raise CannotStart(NAME, f"none is called {name!r}")
    if len(found) > 1:
        owners = ", ".join(each.owner_name for each in found)
        raise CannotStart(NAME, f"{len(found)} are called {name!r} (of {owners})", "give the id")
    return found[0].id


def _row(workspace: Workspace) -> Sequence[str]:
    used = minute_of(workspace.last_used_at)
    about = (workspace.name, workspace.owner_name, workspace.template_name)
    return (*about, workspace.status, used, workspace.path)


def _template_row(template: WorkspaceTemplate) -> Sequence[str]:
    text = template.error or template.description or template.display_name or "-"
    return (template.name, str(text))
