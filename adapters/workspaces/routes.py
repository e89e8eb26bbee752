"""The endpoints of workspaces and templates, for people: looked at, started, stopped, removed.

Users have their own; administrators see and keep everybody's. Chats make them, by a tool.
"""

import re
from collections.abc import Mapping, Sequence
from uuid import UUID, uuid5

from msgspec import UNSET

from adapters.http.endpoints import (
    Call,
    Endpoint,
    HttpResponse,
    Parameter,
    json_response,
    no_content,
    number,
)
from adapters.http.refusals import HttpError, not_found, query_refused
from adapters.people.routes.schemas import is_organization
from adapters.workspaces.commands.sandbox import CommandLimits
from adapters.workspaces.disk import DiskSilent
from adapters.workspaces.lifecycle import WorkspaceLifecycle
from adapters.workspaces.schemas import Workspace, WorkspaceLimits, Workspaces, WorkspaceTemplate
from adapters.workspaces.store import OwnedWorkspace, OwnedWorkspaces, OwnerScope, WorkspaceFilter
from adapters.workspaces.templates import FaultyTemplate, Template

WORKSPACES = "/api/v2/workspaces"
WORKSPACE = f"{WORKSPACES}/{{workspace}}"
TEMPLATES = "/api/v2/templates"
ORGANIZATION_TEMPLATES = "/api/v2/organizations/{organization}/templates"
TEMPLATE_NAMES = UUID("0d8a3a4e-63a5-4f0b-9d0a-5a1f4f0c7b61")  # of which ids of templates are made

PAGE, PAGE_MAX = 100, 1_000  # of a list; more are refused
OFFSET_MAX = 2**31 - 1
RETRY_SECONDS = 5  # when the disk of the templates does not answer
KEYS = ("name", "owner", "template", "status")
STATUSES = {"running": False, "stopped": True}

_TERM = re.compile(r'(?:(\w+):)?(?:"([^"]*)"|(\S+))')


class WorkspaceRoutes:
    """Handlers of workspaces and templates."""

    def __init__(
        self, owned: OwnedWorkspaces, lifecycle: WorkspaceLifecycle, *, organization: UUID
    ) -> None:
        self._owned = owned
        self._lifecycle = lifecycle
        self._organization = organization

    def endpoints(self) -> Sequence[Endpoint]:
        return (*self._reads(), *self._changes())

    def _reads(self) -> Sequence[Endpoint]:
        return (
            Endpoint(
                method="GET",
                path=WORKSPACES,
                handle=self.list,
                summary="Your workspaces, those that were worked in last first; admins see all.",
                tag="workspaces",
                parameters=(
                    Parameter(name="q", help='terms such as name:"web" owner:me status:running'),
                    Parameter(name="limit", type=int, help=f"0 or none: {PAGE}"),
                    Parameter(name="offset", type=int, help="how many to leave out"),
                ),
                answers={200: Workspaces},
            ),
            Endpoint(
                method="GET",
                path=WORKSPACE,
                handle=self.get,
                summary="A workspace.",
                tag="workspaces",
                answers={200: Workspace},
            ),
            Endpoint(
                method="GET",
                path=TEMPLATES,
                handle=self.templates,
                summary="What workspaces can be made of.",
                tag="workspaces",
                answers={200: list[WorkspaceTemplate]},
            ),
            Endpoint(
                method="GET",
                path=f"{TEMPLATES}/{{template}}",
                handle=self.template,
                summary="All there is to know of a template, by its id or its name.",
                tag="workspaces",
                answers={200: WorkspaceTemplate},
            ),
            Endpoint(
                method="GET",
                path=ORGANIZATION_TEMPLATES,
                handle=self.organization_templates,
                summary="What workspaces of an organization can be made of.",
                tag="workspaces",
                answers={200: list[WorkspaceTemplate]},
            ),
        )

    def _changes(self) -> Sequence[Endpoint]:
        return (
            Endpoint(
                method="POST",
                path=f"{WORKSPACE}/start",
                handle=self.start,
                summary="Let chats work in it again.",
                tag="workspaces",
                answers={200: Workspace},
            ),
            Endpoint(
                method="POST",
                path=f"{WORKSPACE}/stop",
                handle=self.stop,
                summary="End all that runs in it, in every process. Its files stay.",
                tag="workspaces",
                answers={200: Workspace},
            ),
            Endpoint(
                method="DELETE",
                path=WORKSPACE,
                handle=self.remove,
                summary="Remove it with its files, unless a chat is at work in it. Its chats stay.",
                tag="workspaces",
                answers={204: None},
                refusals=(409,),
            ),
        )

    async def list(self, call: Call) -> HttpResponse:
        wanted = filter_of(
            call.one("q") or "",
            caller=call.user.username,
            limit=number(call, "limit", maximum=PAGE_MAX) or PAGE,
            offset=number(call, "offset", maximum=OFFSET_MAX),
        )
        rows, count = await self._owned.page(_scope_of(call), wanted)
        return json_response(200, Workspaces([self._workspace(row) for row in rows], count))

    async def get(self, call: Call) -> HttpResponse:
        return json_response(200, self._workspace(await self._one(call)))

    async def start(self, call: Call) -> HttpResponse:
        row = await self._one(call)
        await self._lifecycle.workspaces.registry.start(row.id)
        return await self.get(call)

    async def stop(self, call: Call) -> HttpResponse:
        row = await self._one(call)
        await self._lifecycle.stop(row.id)
        return await self.get(call)

    async def remove(self, call: Call) -> HttpResponse:
        row = await self._one(call)
        if not await self._lifecycle.caretaker.remove(row.id):
            detail = f"a chat is at work in {row.name}; interrupt it first"
            raise HttpError(409, "The workspace is in use.", detail=detail)
        return no_content()

    async def templates(self, call: Call) -> HttpResponse:
        found = await self._templates()
        return json_response(
            200, [template_of(each, organization=self._organization) for each in found]
        )

    async def organization_templates(self, call: Call) -> HttpResponse:
        if not is_organization(call.path["organization"], self._organization):
            raise not_found()
        return await self.templates(call)

    async def template(self, call: Call) -> HttpResponse:
        said = call.path["template"]
        for each in await self._templates():
            if said in (each.name, str(template_id(each.name))):
                found = template_of(each, organization=self._organization, whole=True)
                return json_response(200, found)
        raise not_found()

    async def _templates(self) -> Sequence[Template | FaultyTemplate]:
        try:
            return await self._lifecycle.templates.all()
        except DiskSilent as silent:
            retry = (("retry-after", str(RETRY_SECONDS)),)
            raise HttpError(
                503, "The templates cannot be read now.", detail=str(silent), headers=retry
            ) from silent

    async def _one(self, call: Call) -> OwnedWorkspace:
        row = await self._owned.one(call.uuid("workspace"), _scope_of(call))
        if row is None:
            raise not_found()
        return row

    def _workspace(self, row: OwnedWorkspace) -> Workspace:
        path = self._lifecycle.workspaces.home(row.id)
        return workspace_of(row, organization=self._organization, path=path)


def filter_of(query: str, *, caller: str, limit: int, offset: int) -> WorkspaceFilter:
    """Read the search for workspaces from its text. A text that makes no sense is refused."""
    terms = _terms(query)
    status = terms.get("status")
    if status is not None and status not in STATUSES:
        raise query_refused("status", f"is {' or '.join(STATUSES)}, not {status[:80]!r}")
    owner = terms.get("owner")
    return WorkspaceFilter(
        username=caller if owner == "me" else owner,
        name=terms.get("name"),
        template=terms.get("template"),
        is_stopped=None if status is None else STATUSES[status],
        limit=limit,
        offset=offset,
    )


def _terms(query: str) -> Mapping[str, str]:
    """Return the terms of a search by their keys. A word without a key is a name."""
    terms: dict[str, str] = {}
    for match in _TERM.finditer(query.replace("\0", "")):
        key = (match[1] or "name").lower()
        if key not in KEYS:
            raise query_refused(key[:80], f"is none of {', '.join(KEYS)}")
        if key in terms:
            raise query_refused(key, "is given twice, give it once")
        terms[key] = match[2] if match[2] is not None else match[3]
    return terms


def _scope_of(call: Call) -> OwnerScope:
    return OwnerScope(call.user.id, call.user.is_admin)


def workspace_of(row: OwnedWorkspace, *, organization: UUID, path: str) -> Workspace:
    return Workspace(
        id=row.id,
        organization_id=organization,
        owner_id=row.owner_id,
        owner_name=row.owner_name,
        name=row.name,
        template_name=row.template,
        status="stopped" if row.is_stopped else "running",
        is_set_up=row.is_set_up,
        path=path,
        limits=_limits(row),
        created_at=row.created_at,
        started_at=row.started_at,
        last_used_at=row.used_at,
    )


def template_id(name: str) -> UUID:
    """Return the id of a template, which is always the same for a name: files have no ids."""
    return uuid5(TEMPLATE_NAMES, name)


def template_of(
    found: Template | FaultyTemplate, *, organization: UUID, whole: bool = False
) -> WorkspaceTemplate:
    """Return a template as clients get it. With `whole`, its readme comes along."""
    id = template_id(found.name)
    if isinstance(found, FaultyTemplate):
        return WorkspaceTemplate(
            id=id, organization_id=organization, name=found.name, error=found.why
        )
    return WorkspaceTemplate(
        id=id,
        organization_id=organization,
        name=found.name,
        display_name=found.display_name,
        description=found.description,
        git=found.shown_git or UNSET,
        branch=found.branch or UNSET,
        setup=found.setup or UNSET,
        limits=_limits(found.limits),
        readme=found.readme if whole and found.readme else UNSET,
    )


def _limits(row: OwnedWorkspace | CommandLimits) -> WorkspaceLimits:
    return WorkspaceLimits(row.memory_mb, row.file_mb, row.processes, row.seconds, row.disk_mb)
