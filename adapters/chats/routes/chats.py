"""The routes of chats: create, show, change, refresh the context, show the cost."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import astuple, replace
from uuid import UUID

from msgspec import structs

from actors.law.ids import ChatId
from actors.law.parts.message import Part
from actors.law.refusals import ChatNotFound
from actors.law.states import Status
from actors.law.store.hints import ReadStatusSet, Tell
from actors.law.store.ports import Applied, Ledger, Receipt
from actors.prompts.resources import Fitness, ResourceKind
from actors.upkeep.title_jobs import TitleFileReader
from actors.upkeep.title_wording import fallback_title, may_be_pasted, printable, source_of
from adapters.access.admission import Admission, VisibleChat
from adapters.access.changes import ChatSender, SupervisorEntry, refusal_response
from adapters.chats import new_chats as creating
from adapters.chats.content import choice_or_refusal, model_id, parts_of
from adapters.chats.files.store import FileStore
from adapters.chats.housekeeping.holds import HoldStore, hold_json
from adapters.chats.housekeeping.schemas import ChatOnHold
from adapters.chats.new_chats import CreationFacts, checked_labels, invalid
from adapters.chats.overview_rows import ChatOverview
from adapters.chats.overviews import OverviewStore, PinStore
from adapters.chats.request_repeats import RequestRepeats, ServedRequest
from adapters.chats.wire.chats import (
    Chat,
    ChatContextResource,
    ChatCost,
    CreateChatRequest,
    ReadStatusRequest,
    SideCost,
    UpdateChatRequest,
    resource_of,
    server_of,
    single_chat,
)
from adapters.http.endpoints import Call, Endpoint, HttpResponse, json_response, no_content
from adapters.http.refusals import HttpError, not_found
from adapters.models.catalogue import Catalogue
from adapters.models.prompt_texts import place_text
from adapters.tools.approvals.store import ConsentStore
from adapters.tools.mcp.registry import ServerRegistry
from adapters.tools.mcp.workspaces.servers import ConsentScope, ServerStatus
from adapters.workspaces.context.pinned_contexts import PinnedContexts, ShownContext
from adapters.workspaces.store import OwnedWorkspaces

CHATS = "/api/v2/chats"
CHAT = f"{CHATS}/{{chat}}"

CREATE_BYTES_MAX = 256 * 1024  # of a request for a new chat; then 413
TITLE_CHARACTERS_MAX = 200  # of a title that a user gives; a longer one is refused

Named = Callable[[ConsentScope, UUID, Sequence[str]], Awaitable[Sequence[ServerStatus]]]
"""Returns the servers of tools that these files of a workspace name."""


class ChatRoutes:
    """Handlers of chats by themselves."""

    def __init__(
        self,
        admission: Admission,
        overviews: OverviewStore,
        *,
        pins: PinStore,
        ledger: Ledger,
        sending: ChatSender,
        supervisor: SupervisorEntry,
        catalogue: Catalogue,
        files: FileStore,
        contents: TitleFileReader,
        repeating: RequestRepeats,
        consents: ConsentStore,
        holds: HoldStore,
        servers: ServerRegistry,
        contexts: PinnedContexts,
        named: Named,
        workspaces: OwnedWorkspaces,
        organization: UUID,
        tell: Tell,
    ) -> None:
        self._admission = admission
        self._overviews = overviews
        self._pins = pins
        self._ledger = ledger
        self._sending = sending
        self._supervisor = supervisor
        self._catalogue = catalogue
        self._files = files
        self._contents = contents
        self._repeating = repeating
        self._consents = consents
        self._holds = holds
        self._servers = servers
        self._contexts = contexts
        self._named = named
        self._workspaces = workspaces
        self._organization = organization
        self._tell = tell

    def endpoints(self) -> Sequence[Endpoint]:
        return (
            Endpoint(
                method="POST",
                path=CHATS,
                handle=self.create,
                summary="Begin a chat, at work at once; safe to repeat with an Idempotency-Key",
                tag="chats",
                body=CreateChatRequest,
                body_bytes_max=CREATE_BYTES_MAX,
                answers={201: Chat},
                refusals=(409, 422),
            ),
            Endpoint(
                method="GET",
                path=CHAT,
                handle=self.get,
                summary="A chat, its files and its children.",
                tag="chats",
                answers={200: Chat},
            ),
            Endpoint(
                method="PATCH",
                path=CHAT,
                handle=self.update,
                summary="Name, label, archive, pin or move it. Fields are written one by one.",
                tag="chats",
                body=UpdateChatRequest,
                answers={204: None},
                refusals=(409,),
            ),
            Endpoint(
                method="PUT",
                path=f"{CHAT}/read-status",
                handle=self.mark,
                summary="Say that you have seen what is said in it, or still have to see the last.",
                tag="chats",
                body=ReadStatusRequest,
                answers={204: None},
            ),
            Endpoint(
                method="GET",
                path=f"{CHAT}/cost",
                handle=self.cost,
                summary="What the chat and its whole family have cost.",
                tag="chats",
                answers={200: ChatCost},
            ),
            Endpoint(
                method="PUT",
                path=f"{CHAT}/context",
                handle=self.refresh,
                summary="Let the chat know what stands in its workspace now.",
                tag="chats",
                answers={200: Chat},
                refusals=(503,),
            ),
        )

    async def create(self, call: Call) -> HttpResponse:
        return await self._repeating.once(call, self._create, again=self._created_before)

    async def get(self, call: Call) -> HttpResponse:
        chat = await self._admission.to_read(call)
        shown = await self.show(chat)
        if call.user.is_admin and (holds := await self._holds.on_chat(chat.root_id, chat.owner_id)):
            listed = [hold_json(each) for each in holds]
            shown = ChatOnHold(**structs.asdict(shown), legal_holds=listed)
        return json_response(200, shown)

    async def show(self, chat: VisibleChat) -> Chat:
        """Return the chat by itself, as clients see it."""
        overview = await self._overview(chat.id)
        room = self._supervisor.slots.room()
        is_full = min(room.at_most, room.roots if chat.is_root else room.children) <= 0
        return single_chat(
            overview,
            organization=self._organization,
            resources=await self._resources(overview),
            place=overview.place_in_line if is_full else None,
        )

    async def refresh(self, call: Call) -> HttpResponse:
        """Read the workspace of a chat again. If it cannot be read, the chat stays as it was."""
        chat = await self._admission.to_update(call)
        unread = await self._contexts.refresh(chat.id)
        if unread is not None:
            raise HttpError(503, "The workspace cannot be read.", detail=unread.why)
        return json_response(200, await self.show(chat))

    async def _resources(self, overview: ChatOverview) -> Sequence[ChatContextResource]:
        row = overview.row
        found = await self._contexts.shown(row.id) if overview.context is not None else None
        if found is None:
            return ()
        files = [resource_of(found.home, each) for each in found.resources]
        scope = ConsentScope(row.id, row.root_id, row.owner_id, row.approval_policy)
        return [*files, *[server async for server in self._servers_of(scope, found)]]

    async def _servers_of(
        self, scope: ConsentScope, found: ShownContext
    ) -> AsyncIterator[ChatContextResource]:
        """Yield the servers that files name; the first file counts if two name the same."""
        names: set[str] = set()
        for file in found.resources:
            if file.kind is ResourceKind.MCP_CONFIG and file.fitness is Fitness.OK:
                for seen in await self._named(scope, found.workspace, [file.text]):
                    if seen.name not in names:
                        source = f"{found.home}/{file.path}"
                        yield server_of(
                            source,
                            seen.name,
                            seen.tools,
                            seen.fault,
                            is_allowed=seen.is_allowed,
                        )
                    names.add(seen.name)

    async def cost(self, call: Call) -> HttpResponse:
        chat = (await self._admission.to_read(call)).id
        cost = await self._overviews.cost(chat)
        whole, own = cost.whole, cost.own
        return json_response(
            200,
            ChatCost(
                chat_id=chat,
                total_cost_micros=whole.micros,
                request_count=whole.requests,
                unpriced_request_count=whole.unpriced,
                own_cost_micros=own.micros,
                own_request_count=own.requests,
                own_unpriced_request_count=own.unpriced,
                beside=[SideCost(what, *astuple(paid)) for what, paid in cost.beside.items()],
            ),
        )

    async def _create(self, call: Call, receipt: Receipt | None) -> HttpResponse:
        asked = call.read(CreateChatRequest)
        creating.check_organization(asked, self._organization)
        parts = await parts_of(asked.content, call.user, files=self._files)
        creating.check_prompt(asked)
        await creating.check_workspace(asked.workspace_id, call.user.id, self._workspaces)
        creating.check_model(asked)
        wanted = model_id(asked.model_config_id)
        choice = choice_or_refusal(
            await self._catalogue.choose(call.user.id, wanted, asked.reasoning_effort)
        )
        servers = await creating.servers_of(asked, call.user.id, self._servers)
        checked_labels(asked.labels or {})
        creating.tools_of(asked)
        creating.check_plan_mode(asked.plan_mode)
        creating.check_approval_policy(asked.approval_policy)
        creating.client_type_of(asked)
        place = place_text(has_workspace=asked.workspace_id is not None, is_root=True)
        hidden = await self._catalogue.system_messages(asked.system_prompt or "", place=place)
        settled = CreationFacts(call.user.id, await self._title_of(parts), choice, hidden, servers)
        request = creating.request_of(asked, parts, settled)
        answer = await self._sending.create(request, receipt=receipt, arrived=call.arrived)
        if not isinstance(answer, Applied):
            raise refusal_response(answer)
        return await self._created(answer.chat.id)

    async def _created_before(self, call: Call, receipt: ServedRequest) -> HttpResponse:
        return await self._created(receipt.chat)

    async def _created(self, chat: ChatId) -> HttpResponse:
        """Answer with the chat at work, as it was created, however soon its model has answered."""
        overview = await self._overview(chat)
        row = structs.replace(overview.row, status=Status.RUNNING)
        overview = replace(overview, row=row, last_error=None)
        return json_response(201, single_chat(overview, organization=self._organization))

    async def _title_of(self, parts: tuple[Part, ...]) -> str:
        pasted = may_be_pasted(parts)
        return fallback_title(source_of(parts, await self._contents.read(pasted) if pasted else {}))

    async def _overview(self, chat: ChatId) -> ChatOverview:
        overview = await self._overviews.chat(chat)
        if overview is None:
            raise not_found()
        return overview

    # changes: one field after the other; what was written before a refusal stays

    async def update(self, call: Call) -> HttpResponse:
        chat = await self._admission.to_update(call)
        asked = call.read(UpdateChatRequest)
        creating.check_plan_mode(asked.plan_mode)
        creating.check_approval_policy(asked.approval_policy)
        if asked.title is not None:
            await self._retitle(chat, asked.title)
        if asked.labels is not None:
            await self._overviews.relabel(chat.id, checked_labels(asked.labels))
        if asked.archived is not None:
            chat = await self._archive(chat, archived=asked.archived)
        if asked.pin_order is not None:
            await self._pin(chat, asked.pin_order)
        if asked.workspace_id is not None:
            await self._move(chat, asked.workspace_id)
        if asked.plan_mode is not None:
            await self._overviews.set_plan_mode(chat.id, asked.plan_mode)
            await self._ledger.apply(chat.id, [])  # the process that holds it looks again
        if asked.approval_policy is not None:
            await self._set_approval_policy(chat, asked.approval_policy)
        return no_content()

    async def mark(self, call: Call) -> HttpResponse:
        chat = await self._admission.as_owner(call)
        is_read = call.read(ReadStatusRequest).is_read
        if is_read is None:
            invalid("is_read", "must be true or false")
        # First: a stream that ends now notes that the chat was seen, in whatever process it is.
        self._tell(ReadStatusSet(chat.id, is_read))
        await (self._overviews.mark_read if is_read else self._overviews.mark_unread)(chat.id)
        return no_content()

    async def _move(self, chat: VisibleChat, wanted: UUID) -> None:
        """Bind the chat to another workspace from its next call on. Running calls are left."""
        if not chat.is_root:
            invalid("workspace_id", f"an agent works where its root does, ask {chat.root_id}")
        workspace = wanted if wanted.int else None
        await creating.check_workspace(workspace, chat.owner_id, self._workspaces)
        await self._workspaces.bind(chat.id, workspace)
        await self._ledger.apply(chat.id, [])  # the process that holds it looks again

    async def _set_approval_policy(self, chat: VisibleChat, policy: str) -> None:
        if not chat.is_root:
            invalid("approval_policy", f"an agent has that of its root, ask {chat.root_id}")
        for member in await self._consents.set_policy(chat.id, policy):
            await self._ledger.apply(member, [])

    async def _retitle(self, chat: VisibleChat, title: str) -> None:
        title = printable(title)
        if not title:
            invalid("title", "must not be empty")
        if len(title) > TITLE_CHARACTERS_MAX:
            invalid("title", f"has {len(title)} characters, it can have {TITLE_CHARACTERS_MAX}")
        await self._overviews.retitle(chat.id, title)

    async def _archive(self, chat: VisibleChat, *, archived: bool) -> VisibleChat:
        if not chat.is_root:
            invalid("archived", f"only a root chat can be archived, archive {chat.root_id}")
        if chat.archived == archived:
            invalid("archived", f"is {str(archived).lower()} already")
        answer = await self._ledger.archive_family(chat.id, archived=archived)
        if isinstance(answer, ChatNotFound):
            raise not_found()
        if not isinstance(answer, tuple):
            raise refusal_response(answer)
        if chat.pin_order:
            await self._pins.close_gaps(chat.owner_id)
        return structs.replace(chat, archived=archived, pin_order=0)

    async def _pin(self, chat: VisibleChat, place: int) -> None:
        if place < 0:
            invalid("pin_order", f"is {place}, it cannot be below 0")
        if place and chat.archived:
            invalid("pin_order", "an archived chat cannot be pinned, unarchive it first")
        if place and not chat.is_root:
            invalid("pin_order", f"only a root chat can be pinned, pin {chat.root_id}")
        await self._pins.pin(chat.owner_id, chat.id, place=place)
