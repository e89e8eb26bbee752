"""Chats as clients see them. Pure."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from math import ceil
from typing import Annotated
from uuid import UUID

from msgspec import UNSET, Raw, Struct, UnsetType, structs

from actors.prompts.resources import Resource
from adapters.chats.overview_rows import (
    Attention,
    ChatOverview,
    ContextState,
    FileInfo,
    SearchExcerpt,
    attention_of,
)
from adapters.chats.wire.diffs import ChatDiffStatus, diff_status_of
from adapters.chats.wire.messages import ChatError, error_of
from adapters.chats.wire.sending import ChatInputPart
from adapters.http.schemas import REQUIRED
from adapters.tools.approvals.presenters import approval_of
from adapters.tools.approvals.schemas import ChatApproval

QUESTION_CHARACTERS_MAX = 200  # of a question in a list; the rest is left out


class ChatFileMetadata(Struct, frozen=True, kw_only=True):
    id: UUID
    owner_id: UUID
    organization_id: UUID
    name: str
    mime_type: str
    size_bytes: int
    created_at: datetime


class ChatContextTool(Struct, frozen=True):
    name: str
    description: str | UnsetType = UNSET


class ChatContextResource(Struct, frozen=True, kw_only=True):
    """A file or server in a workspace, for agents; `status` says if it is used, `error` why not."""

    source: str
    kind: str
    size_bytes: int
    skill_name: str | UnsetType = UNSET
    skill_description: str | UnsetType = UNSET
    tools: Sequence[ChatContextTool] | UnsetType = UNSET
    status: str
    error: str | UnsetType = UNSET


class ChatContext(Struct, frozen=True, kw_only=True):
    """The state of what the chat knows of its workspace; dirty: the files have changed since."""

    dirty: bool
    dirty_since: datetime | UnsetType = UNSET
    error: str | UnsetType = UNSET
    resources: Sequence[ChatContextResource] | UnsetType = UNSET


class ChatSearchMatch(Struct, frozen=True):
    """The newest message in which a search found something, and the words around it."""

    message_id: int
    text: str


class Chat(Struct, frozen=True, kw_only=True):
    id: UUID
    organization_id: UUID
    owner_id: UUID
    owner_username: str | UnsetType = UNSET
    owner_name: str | UnsetType = UNSET
    workspace_id: UUID | UnsetType = UNSET
    parent_chat_id: UUID | UnsetType = UNSET
    root_chat_id: UUID
    last_model_config_id: UUID | None
    last_reasoning_effort: str | UnsetType = UNSET
    title: str
    status: str
    plan_mode: str | UnsetType = UNSET
    approval_policy: str | UnsetType = UNSET  # allow, ask or deny; absent: the deployment's
    approvals: Sequence[ChatApproval] | UnsetType = UNSET  # its calls that wait for consent
    last_error: ChatError | UnsetType = UNSET
    last_turn_summary: str | None
    summary: str | None
    diff_status: ChatDiffStatus | UnsetType = UNSET
    created_at: datetime
    updated_at: datetime
    archived: bool
    shared: bool
    pin_order: int
    mcp_server_ids: Sequence[UUID]
    labels: Mapping[str, str]
    files: Sequence[ChatFileMetadata] | UnsetType = UNSET
    has_unread: bool
    attention: str | UnsetType = UNSET  # consent, tool_results, question, plan or error: see to it
    question: str | UnsetType = UNSET  # if that is a question: the first one
    context: ChatContext | UnsetType = UNSET
    queued_for_capacity: bool | UnsetType = UNSET
    place_in_line: int | UnsetType = UNSET  # if so: 1 is the next; 1000: that, or later
    takeover_seconds: int | UnsetType = UNSET  # its process is silent; then another takes it over
    search_match: ChatSearchMatch | UnsetType = UNSET  # in lists, where asked for
    client_type: str
    children: Sequence["Chat"]


class DynamicTool(Struct, frozen=True):
    """A tool that the client executes."""

    name: str | None = None
    description: str | None = None
    input_schema: Raw | UnsetType = UNSET


class CreateChatRequest(Struct, frozen=True, kw_only=True):
    organization_id: Annotated[UUID | None, REQUIRED] = None
    content: Annotated[Sequence[ChatInputPart] | None, REQUIRED] = None
    system_prompt: str | None = None
    workspace_id: UUID | None = None
    model_config_id: UUID | None = None
    reasoning_effort: str | None = None
    mcp_server_ids: Sequence[UUID] | None = None
    labels: Mapping[str, str] | None = None
    unsafe_dynamic_tools: Sequence[DynamicTool] | None = None
    plan_mode: str | None = None
    client_type: str | None = None
    approval_policy: str | None = None  # allow, ask or deny; left out: the deployment's


class UpdateChatRequest(Struct, frozen=True, kw_only=True):
    """A change of a chat; what is null stays as it is."""

    title: str | None = None
    labels: Mapping[str, str] | None = None
    archived: bool | None = None
    pin_order: int | None = None
    workspace_id: UUID | None = None
    plan_mode: str | None = None
    approval_policy: str | None = None  # allow, ask, deny, or empty for the deployment's


class ReadStatusRequest(Struct, frozen=True):
    is_read: bool | None = None


class SideCost(Struct, frozen=True):
    """A cost that is no message's. `what`: title, summary (labels too), advice, compaction, answer
    (one that came to nothing)."""

    what: str
    cost_micros: int
    request_count: int
    unpriced_request_count: int


class ChatCost(Struct, frozen=True):
    """The cost of the whole family; `own_`: of the chat alone. `beside`: what is no message's."""

    chat_id: UUID
    total_cost_micros: int
    request_count: int
    unpriced_request_count: int
    own_cost_micros: int
    own_request_count: int
    own_unpriced_request_count: int
    beside: Sequence[SideCost]


class ChatCount(Struct, frozen=True):
    count: int
    has_more: bool  # there are more, which were not counted


class ChatTitle(Struct, frozen=True):
    title: str


def listed_chat(chat: ChatOverview, *, organization: UUID) -> Chat:
    """Return the chat as a member of a list, or as a child of one."""
    return _chat(
        chat,
        organization,
        diff_status=diff_status_of(chat.row.id, chat.diff),
        has_unread=chat.row.has_unread,
        children=[listed_chat(child, organization=organization) for child in chat.children],
    )


def with_match(chat: Chat, found: SearchExcerpt | None) -> Chat:
    """Return the chat with the place at which a search found something in it, if it did."""
    if found is None:
        return chat
    return structs.replace(chat, search_match=ChatSearchMatch(found.message_id, found.text))


def single_chat(
    chat: ChatOverview,
    *,
    organization: UUID,
    resources: Sequence[ChatContextResource] = (),
    place: int | None = None,
) -> Chat:
    """Return the chat by itself. `place`: in the line of those for which there is no room."""
    return _chat(
        chat,
        organization,
        files=[_file(file, organization) for file in chat.files] or UNSET,
        resources=resources,
        place=place,
        takeover_seconds=UNSET if chat.takeover_seconds is None else ceil(chat.takeover_seconds),
        diff_status=_stored_diff(chat),
        children=[_child(child, organization) for child in chat.children],
    )


def watched_chat(chat: ChatOverview, *, organization: UUID, with_diff: bool = False) -> Chat:
    """Return the chat as watchers of lists are told of it; its diff status if that is the news."""
    diff = diff_status_of(chat.row.id, chat.diff) if with_diff else UNSET
    return _chat(chat, organization, diff_status=diff)


def _child(chat: ChatOverview, organization: UUID) -> Chat:
    has_unread = chat.row.has_unread
    return _chat(chat, organization, has_unread=has_unread, diff_status=_stored_diff(chat))


def _stored_diff(chat: ChatOverview) -> ChatDiffStatus | UnsetType:
    return UNSET if chat.diff is None else diff_status_of(chat.row.id, chat.diff)


def _chat(
    chat: ChatOverview,
    organization: UUID,
    *,
    has_unread: bool = False,
    children: Sequence[Chat] = (),
    diff_status: ChatDiffStatus | UnsetType = UNSET,
    files: Sequence[ChatFileMetadata] | UnsetType = UNSET,
    resources: Sequence[ChatContextResource] = (),
    place: int | None = None,
    takeover_seconds: int | UnsetType = UNSET,
) -> Chat:
    attention = attention_of(chat)
    asks = attention is Attention.QUESTION and chat.row.question
    return Chat(
        id=chat.row.id,
        organization_id=organization,
        owner_id=chat.row.owner_id,
        owner_username=chat.row.username or UNSET,
        owner_name=chat.row.name or UNSET,
        workspace_id=chat.row.workspace_id or UNSET,
        parent_chat_id=UNSET if chat.row.parent_id is None else chat.row.parent_id,
        root_chat_id=chat.row.root_id,
        last_model_config_id=chat.row.last_model_config_id,
        last_reasoning_effort=chat.row.last_reasoning_effort or UNSET,
        title=chat.row.title,
        status=chat.row.status.value,
        plan_mode=chat.row.plan_mode or UNSET,
        approval_policy=chat.row.approval_policy or UNSET,
        approvals=[approval_of(chat.row.id, chat.row.title, call) for call in chat.approvals]
        or UNSET,
        last_error=UNSET if chat.last_error is None else error_of(chat.last_error),
        last_turn_summary=chat.row.last_turn_summary,
        summary=chat.row.summary,
        diff_status=diff_status,
        created_at=chat.row.created_at,
        updated_at=chat.row.updated_at,
        archived=chat.row.archived,
        shared=chat.row.shared,
        pin_order=chat.row.pin_order,
        mcp_server_ids=chat.row.mcp_server_ids,
        labels=chat.labels,
        files=files,
        has_unread=has_unread,
        attention=UNSET if attention is None else attention.value,
        question=asks[:QUESTION_CHARACTERS_MAX] if asks else UNSET,
        context=UNSET if chat.context is None else _context(chat.context, resources),
        queued_for_capacity=UNSET if place is None else True,
        place_in_line=UNSET if place is None else place,
        takeover_seconds=takeover_seconds,
        client_type=chat.row.client_type,
        children=children,
    )


def _context(context: ContextState, resources: Sequence[ChatContextResource]) -> ChatContext:
    since = context.dirty_since
    return ChatContext(
        dirty=since is not None,
        dirty_since=UNSET if since is None else since,
        error=context.error or UNSET,
        resources=resources or UNSET,
    )


def server_of(
    source: str, name: str, tools: Sequence[tuple[str, str]], fault: str, *, is_allowed: bool
) -> ChatContextResource:
    """Return a server of tools. `source` is the file that names it; without a name it stands for
    the file itself. A server that the chat may not start is excluded."""
    status = "invalid" if fault else "ok"
    return ChatContextResource(
        source=f"{source}#{name}" if name else source,
        kind="mcp_server",
        size_bytes=0,
        tools=[ChatContextTool(tool, says or UNSET) for tool, says in tools] or UNSET,
        status=status if is_allowed else "excluded",
        error=fault or UNSET,
    )


def resource_of(home: str, resource: Resource) -> ChatContextResource:
    """Return what stands in a workspace for agents; `home` is the directory it is in."""
    return ChatContextResource(
        source=f"{home}/{resource.path}",
        kind=resource.kind.value,
        size_bytes=resource.size_bytes,
        skill_name=resource.name or UNSET,
        skill_description=resource.description or UNSET,
        status=resource.fitness.value,
        error=resource.why or UNSET,
    )


def _file(file: FileInfo, organization: UUID) -> ChatFileMetadata:
    return ChatFileMetadata(
        id=file.id,
        owner_id=file.owner_id,
        organization_id=organization,
        name=file.name,
        mime_type=file.media_type,
        size_bytes=file.size_bytes,
        created_at=file.created_at,
    )
