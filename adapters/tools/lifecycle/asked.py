"""What the tools for workspaces are called with, and what a model is told of them. Pure."""

from typing import Annotated

from msgspec import Meta, Struct

from actors.chat.turn.ports import LocalTool
from actors.law.parts.prompt import ToolDefinition
from adapters.tools.schemas import schema_of

DEADLINE_SECONDS = 60.0  # of those that only look
# To clone, and to set up for as long as a template may say.
MAKING_SECONDS = 600.0 + 3_600.0 + DEADLINE_SECONDS
NAME_CHARACTERS_MAX = 64

TemplateId = Annotated[str, Meta(description="From list_templates.")]


class ListTemplates(Struct, frozen=True):
    query: Annotated[str, Meta(description="Words of its name or description.")] = ""
    page: Annotated[int, Meta(description="From 1.")] = 1


class ReadTemplate(Struct, frozen=True):
    template_id: TemplateId


class CreateWorkspace(Struct, frozen=True):
    template_id: TemplateId
    name: Annotated[
        str, Meta(description="A few words, for people; the template's if left out.")
    ] = ""


class StartWorkspace(Struct, frozen=True):
    pass


class StopWorkspace(Struct, frozen=True):
    pass


def _tool(
    name: str, arguments: type[Struct], says: str, *, seconds: float, serial: bool = False
) -> LocalTool:
    """All of them may be run again after a crash: what was done is found done."""
    tool = ToolDefinition(name, says, schema_of(arguments))
    return LocalTool(tool, seconds, repeatable=True, strict=True, serial=serial)


TOOLS = (
    _tool(
        "list_templates",
        ListTemplates,
        "What a workspace can be made of. If one is recommended, take it; if not, ask the user.",
        seconds=DEADLINE_SECONDS,
    ),
    _tool(
        "read_template",
        ReadTemplate,
        "All there is to know of a template.",
        seconds=DEADLINE_SECONDS,
    ),
    _tool(
        "create_workspace",
        CreateWorkspace,
        "Give this chat a workspace: a directory with files, where commands can be run. A chat has"
        " one; if it has it already, that is what is returned.",
        seconds=MAKING_SECONDS,
        serial=True,
    ),
    _tool(
        "start_workspace",
        StartWorkspace,
        "Start the workspace of this chat, if it is stopped.",
        seconds=MAKING_SECONDS,
        serial=True,
    ),
    _tool(
        "stop_workspace",
        StopWorkspace,
        "Stop the workspace of this chat, with all that runs in it. Its files stay.",
        seconds=DEADLINE_SECONDS,
        serial=True,
    ),
)
