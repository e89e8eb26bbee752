"""The tools by which a chat makes, starts and stops its workspace."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from msgspec import Meta, Struct

from actors.chat.turn.ports import LocalTool, ToolInvocation, ToolOutput
from actors.law.chat import Chat, Message
from actors.law.parts.prompt import ToolDefinition
from actors.law.store.retry import retry_store
from actors.tools.ranking import UNUSED, TemplateCandidate, rank
from adapters.tools.built_in.workspace_schemas import ended_result
from adapters.tools.dispatch import (
    Action,
    ArgumentsStruct,
    ResultDocument,
    ToolCallError,
    run,
    schema_of,
    tool_result,
)
from adapters.workspaces.disk import DiskSilent
from adapters.workspaces.lifecycle import SetupResult, WorkspaceLifecycle
from adapters.workspaces.store import WorkspaceRow
from adapters.workspaces.templates import (
    FaultyTemplate,
    Template,
    TooManyWorkspaces,
    WorkspaceNotMade,
)

DEADLINE_SECONDS = 60.0  # of those that only look
# To clone, and to set up for as long as a template may say.
MAKING_SECONDS = 600.0 + 3_600.0 + DEADLINE_SECONDS
NAME_CHARACTERS_MAX = 64

TemplateId = Annotated[str, Meta(description="From list_templates.")]
PAGE = 10
DESCRIPTION_CHARACTERS_MAX = 200  # in a list
README_CHARACTERS_MAX = 1_000  # likewise


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
    """Return a tool for workspaces. All of them may run again after a crash: what was done is found
    done."""
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


@dataclass(frozen=True, slots=True)
class LifecycleTools:
    """Fulfils `adapters.tools.toolbox.ToolSource`."""

    lifecycle: WorkspaceLifecycle

    async def offered(self, chat: Chat, history: Sequence[Message]) -> Sequence[LocalTool]:
        return TOOLS

    async def run(self, calling: ToolInvocation, name: str) -> ToolOutput:
        try:
            return await run(calling, *self._deeds()[name])
        except (WorkspaceNotMade, DiskSilent) as failed:  # the call was as it should be
            return tool_result({"error": str(failed), **_quota(failed)})

    def _deeds(self) -> Mapping[str, tuple[ArgumentsStruct, Action]]:
        return {
            "list_templates": (ListTemplates, self._list),
            "read_template": (ReadTemplate, self._read),
            "create_workspace": (CreateWorkspace, self._create),
            "start_workspace": (StartWorkspace, self._start),
            "stop_workspace": (StopWorkspace, self._stop),
        }

    async def _list(self, calling: ToolInvocation, asked: ListTemplates) -> ResultDocument:
        found = await self.lifecycle.templates.all()
        templates = {each.name: each for each in found if isinstance(each, Template)}
        counting = partial(self.lifecycle.workspaces.registry.uses, calling.chat.owner_id)
        uses = await retry_store(calling.chat.id, "workspaces", counting)
        ranking = rank(
            [
                TemplateCandidate(
                    each.name, each.display_name, each.description, uses.get(each.name, UNUSED)
                )
                for each in templates.values()
            ],
            asked.query,
        )
        page = max(asked.page, 1)
        shown = ranking.candidates[(page - 1) * PAGE : page * PAGE]
        more = len(ranking.candidates) > page * PAGE
        recommended = ranking.recommended
        return {
            "templates": [_row(templates[each.id], each) for each in shown],
            "page": page,
            **({"next_page": page + 1} if more else {}),
            **({"recommended_template_id": recommended} if recommended else {}),
            "next_step": _next_step(recommended, bool(ranking.candidates)),
        }

    async def _read(self, calling: ToolInvocation, asked: ReadTemplate) -> ResultDocument:
        template = await self._template(asked.template_id)
        limits = template.limits
        return {
            "template": {
                "id": template.name,
                "name": template.name,
                **_description(template),
                **({"readme": template.readme} if template.readme else {}),
                **({"setup": template.setup} if template.setup else {}),
                "limits": {
                    "memory_mb": limits.memory_mb,
                    "file_mb": limits.file_mb,
                    "processes": limits.processes,
                    "seconds": limits.seconds,
                    "disk_mb": limits.disk_mb,
                },
            },
            "parameters": [],
        }

    async def _create(self, calling: ToolInvocation, asked: CreateWorkspace) -> ResultDocument:
        template = await self._template(asked.template_id)
        chat, call, name = calling.chat, calling.call.id, asked.name.strip()
        standing = await self.lifecycle.create(chat, call, template, name)
        row = standing.workspace
        document = {
            "created": standing.made,
            "workspace_name": row.name,
            "path": standing.home,
            **_set_up(standing.set_up),
        }
        if standing.made:
            return document
        if row.is_stopped:
            advice = "this chat has a workspace, which is stopped; call start_workspace"
            return {**document, "status": "stopped", "message": advice}
        return {**document, "status": "already_exists"}

    async def _start(self, calling: ToolInvocation, asked: StartWorkspace) -> ResultDocument:
        row = await self._own(calling.chat)
        standing = await self.lifecycle.start(calling.chat, row)
        return {
            "started": True,
            "workspace_name": row.name,
            "path": standing.home,
            **({} if row.is_stopped else {"message": "it was running already"}),
            **_set_up(standing.set_up),
        }

    async def _stop(self, calling: ToolInvocation, asked: StopWorkspace) -> ResultDocument:
        row = await self._own(calling.chat)
        await self.lifecycle.stop(row.id)
        return {"stopped": True, "workspace_name": row.name}

    async def _own(self, chat: Chat) -> WorkspaceRow:
        look = partial(self.lifecycle.workspaces.registry.of, chat.id)
        row = await retry_store(chat.id, "workspace", look)
        if row is None:
            raise ToolCallError("this chat has no workspace; create_workspace makes one")
        return row

    async def _template(self, id: str) -> Template:
        found = await self.lifecycle.templates.named(id.strip())
        if found is None:
            raise ToolCallError(f"template {id.strip()[:64]!r} not found; see list_templates")
        if isinstance(found, FaultyTemplate):
            raise ToolCallError(
                f"template {found.name}: its settings cannot be read ({found.why});"
                " take another, and tell the user"
            )
        return found


def _row(template: Template, candidate: TemplateCandidate) -> ResultDocument:
    uses = candidate.uses
    readme = template.readme[:README_CHARACTERS_MAX]
    last = uses.last_own_at
    return {
        "id": template.name,
        "name": template.name,
        **_description(template, description_characters=DESCRIPTION_CHARACTERS_MAX),
        **({"readme_excerpt": readme} if readme else {}),
        **({"active_developers": uses.developers} if uses.developers else {}),
        **({"your_workspace_count": uses.own} if uses.own else {}),
        **({"last_used_by_you": last.isoformat()} if last is not None else {}),
    }


def _description(
    template: Template, *, description_characters: int | None = None
) -> ResultDocument:
    described = template.description[:description_characters]
    return {
        **({"display_name": template.display_name} if template.display_name else {}),
        **({"description": described} if described else {}),
    }


def _next_step(recommended: str | None, is_any: bool) -> str:
    if recommended:
        return f"call create_workspace with template_id {recommended}"
    if is_any:
        return "ask the user which of them to take"
    return "no template fits; look again without a query"


def _quota(failed: WorkspaceNotMade | DiskSilent) -> ResultDocument:
    if not isinstance(failed, TooManyWorkspaces):
        return {}
    return {
        "error_code": "INSUFFICIENT_QUOTA",
        "title": "Too many workspaces",
        "message": str(failed),
        "quota": {"credits_consumed": failed.count, "budget": failed.count_max},
    }


def _set_up(set_up: SetupResult | None) -> ResultDocument:
    if set_up is None:
        return {}
    if set_up.process is None:
        return {"setup": {"success": False, "error": set_up.why_not}}
    return {"setup": ended_result(set_up.process)}
