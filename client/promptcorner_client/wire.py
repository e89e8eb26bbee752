"""The JSON of the API, as msgspec structs.

Copied from the daemon by client/copy_shared.py: change it there."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Literal
from uuid import UUID

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType


class ChatError(msgspec.Struct, frozen=True, kw_only=True):
    message: str
    detail: str | UnsetType = UNSET
    kind: str | UnsetType = UNSET
    provider: str | UnsetType = UNSET
    retryable: bool = False
    status_code: int | UnsetType = UNSET


class ChatDiffStatus(Struct, frozen=True, kw_only=True):
    """The pull request of the branch that a chat works on, as far as its forge has told of it."""

    chat_id: UUID
    url: str | UnsetType = UNSET
    pull_request_state: str | UnsetType = UNSET  # open, closed or merged
    pull_request_title: str = ""
    pull_request_draft: bool = False
    changes_requested: bool = False
    additions: int = 0
    deletions: int = 0
    changed_files: int = 0
    author_login: str | UnsetType = UNSET
    author_avatar_url: str | UnsetType = UNSET
    base_branch: str | UnsetType = UNSET
    head_branch: str | UnsetType = UNSET
    pr_number: int | UnsetType = UNSET
    commits: int | UnsetType = UNSET
    approved: bool | UnsetType = UNSET
    reviewer_count: int | UnsetType = UNSET
    refreshed_at: datetime | UnsetType = UNSET
    stale_at: datetime | UnsetType = UNSET


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


class ChatApproval(Struct, frozen=True):
    """A call that does not run before a person has allowed it."""

    chat_id: UUID  # whose call it is: a chat's own, or an agent's of its family
    chat_title: str
    tool_call_id: str
    # `workspace:` before it: of a server that the workspace brings along; `start:`: its start.
    tool_name: str
    args: str  # JSON as text; of the start of a server, what would be run
    requested_at: datetime
    expires_at: datetime | None  # then it is denied; null: it waits as long as it takes
    # For calls like this one, such as `execute(git status *)`: together they would allow it. There
    # are none if rules cannot.
    suggested_rules: Sequence[str] = ()


class ChatFileMetadata(Struct, frozen=True, kw_only=True):
    id: UUID
    owner_id: UUID
    organization_id: UUID
    name: str
    mime_type: str
    size_bytes: int
    created_at: datetime


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


EventType = Literal[
    "message_part",
    "message",
    "status",
    "error",
    "queue_update",
    "retry",
    "action_required",
    "approvals",
    "preview_reset",
    "history_reset",
]


class ChatMessageUsage(msgspec.Struct, frozen=True):
    """The usage of a message; counts of nothing are left out."""

    input_tokens: int | UnsetType = UNSET
    output_tokens: int | UnsetType = UNSET
    total_tokens: int | UnsetType = UNSET
    reasoning_tokens: int | UnsetType = UNSET
    cache_creation_tokens: int | UnsetType = UNSET
    cache_read_tokens: int | UnsetType = UNSET
    context_limit: int | UnsetType = UNSET


class ChatMessagePart(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a message, its keys in the order of the reference's own."""

    type: str
    text: str = ""
    tool_call_id: str | UnsetType = UNSET
    tool_name: str | UnsetType = UNSET
    mcp_server_config_id: UUID | None = None
    args: Raw | UnsetType = UNSET
    args_delta: str | UnsetType = UNSET
    parsed_commands: tuple[tuple[str, ...], ...] | UnsetType = UNSET
    result: Raw | UnsetType = UNSET
    result_bytes: int | UnsetType = UNSET  # of the whole result, where this one is cut
    result_delta: str | UnsetType = UNSET
    result_reset: bool | UnsetType = UNSET
    is_error: bool | UnsetType = UNSET
    is_media: bool | UnsetType = UNSET
    source_id: str | UnsetType = UNSET
    url: str = ""
    title: str | UnsetType = UNSET
    media_type: str = ""
    name: str | UnsetType = UNSET
    data: str | UnsetType = UNSET
    file_id: UUID | None = None
    file_name: str = ""
    start_line: int = 0
    end_line: int = 0
    content: str = ""
    provider_executed: bool | UnsetType = UNSET
    hook_rewritten: bool | UnsetType = UNSET
    created_at: datetime | UnsetType = UNSET
    completed_at: datetime | UnsetType = UNSET
    context_file_path: str = ""
    context_file_truncated: bool | UnsetType = UNSET
    context_file_agent_id: UUID | None = None
    skill_name: str = ""
    skill_description: str | UnsetType = UNSET


class ChatMessage(msgspec.Struct, frozen=True, kw_only=True):
    id: int
    chat_id: UUID
    created_by: UUID | UnsetType = UNSET
    model_config_id: UUID | UnsetType = UNSET
    created_at: datetime
    role: str
    content: tuple[ChatMessagePart, ...] | UnsetType = UNSET
    usage: ChatMessageUsage | UnsetType = UNSET
    cost_micros: int | UnsetType | None = UNSET  # where asked for; null: it is not known
    edited: bool | UnsetType = UNSET  # in pages: it took the place of another message


class ChatStreamMessagePart(msgspec.Struct, frozen=True):
    """A piece of an attempt: shown while it runs, and kept nowhere."""

    role: str
    part: ChatMessagePart
    history_version: int
    generation_attempt: int
    seq: int  # from 1, without gaps
    truncated: bool | UnsetType = UNSET  # the last one: the attempt goes on, the rest is not shown


class ChatStreamStatus(msgspec.Struct, frozen=True):
    status: str


class ChatStreamRetry(msgspec.Struct, frozen=True, kw_only=True):
    attempt: int  # the one that failed, counted from 1
    delay_ms: int
    error: str
    kind: str | UnsetType = UNSET
    provider: str | UnsetType = UNSET
    status_code: int | UnsetType = UNSET
    retrying_at: datetime


class ChatStreamToolCall(msgspec.Struct, frozen=True):
    tool_call_id: str
    tool_name: str
    args: str  # JSON as text


class ChatStreamActionRequired(msgspec.Struct, frozen=True):
    tool_calls: tuple[ChatStreamToolCall, ...]


class ChatQueuedMessage(msgspec.Struct, frozen=True, kw_only=True):
    id: int
    chat_id: UUID
    model_config_id: UUID | UnsetType = UNSET
    content: tuple[ChatMessagePart, ...]
    created_at: datetime
    busy_behavior: str | UnsetType = UNSET  # steer; absent: queue


class ChatStreamEvent(msgspec.Struct, frozen=True, kw_only=True):
    """An event of one chat. `type` says which other field is there; the resets have none."""

    type: EventType
    chat_id: UUID
    message: ChatMessage | UnsetType = UNSET
    message_part: ChatStreamMessagePart | UnsetType = UNSET
    status: ChatStreamStatus | UnsetType = UNSET
    error: ChatError | UnsetType = UNSET
    retry: ChatStreamRetry | UnsetType = UNSET
    queued_messages: tuple[ChatQueuedMessage, ...] | UnsetType = UNSET  # absent: it is empty now
    action_required: ChatStreamActionRequired | UnsetType = UNSET
    approvals: tuple[ChatApproval, ...] | UnsetType = UNSET  # all that its family waits for


class ChatMessagesResponse(msgspec.Struct, frozen=True):
    messages: Sequence[ChatMessage]
    queued_messages: Sequence[ChatQueuedMessage]
    has_more: bool
    history_version: int | UnsetType = UNSET  # as of which it was read: after_part=VERSION.0.0


class CreateChatMessageResponse(msgspec.Struct, frozen=True, kw_only=True):
    message: ChatMessage | UnsetType = UNSET  # when it is not queued
    messages: Sequence[ChatMessage] | UnsetType = UNSET  # all that were added, the user's last
    queued_message: ChatQueuedMessage | UnsetType = UNSET
    queued: bool
    warnings: Sequence[str] | UnsetType = UNSET  # what was asked for and is not done


class EditChatMessageResponse(msgspec.Struct, frozen=True, kw_only=True):
    message: ChatMessage
    messages: Sequence[ChatMessage] | UnsetType = UNSET
    deleted_message_ids: Sequence[int] | UnsetType = UNSET  # those that were shown


class ChatPrompt(msgspec.Struct, frozen=True):
    id: int
    text: str


class ChatPromptsResponse(msgspec.Struct, frozen=True):
    prompts: Sequence[ChatPrompt]


class ChatTitle(Struct, frozen=True):
    title: str


class ChatApprovalGrant(Struct, frozen=True):
    """A tool that the family may use without being asked again."""

    tool_name: str
    granted_by: str
    granted_at: datetime


class ChatApprovalDecision(Struct, frozen=True):
    chat_id: UUID
    tool_call_id: str
    tool_name: str
    decision: str  # allow_once, allow_always or deny
    words: str
    decided_by: str | None  # null: no person, and the time was over
    decided_at: datetime


class ChatApprovals(Struct, frozen=True):
    """The calls that wait, the grants and the latest decisions of a whole family of chats."""

    approvals: Sequence[ChatApproval]  # that wait
    always: Sequence[ChatApprovalGrant]
    decided: Sequence[ChatApprovalDecision]  # the latest, the newest first


class ConsentRule(Struct, frozen=True):
    """A rule for a tool, or with brackets for some of its calls; `*` stands for anything."""

    tool: str  # `execute`, `mcp:*`, `execute(git status *)`
    policy: str  # allow, ask or deny
    id: UUID | None = None  # null: it stands in the daemon's configuration
    changed_by: str | None = None
    changed_at: datetime | None = None


class OwnConsentRules(Struct, frozen=True):
    """The rules of a user for their own chats."""

    rules: Sequence[ConsentRule]


class ConsentVerdict(Struct, frozen=True):
    """A part of a call, and its verdict."""

    part: str  # a command, a path; empty: the call as a whole
    decision: str  # allow, ask or deny
    rule: str | None  # which says so; null: the policy of the chat
    place: str | None  # of the rule: deployment or user
    unread: str  # why something of the call is not known; empty: all is known


class ConsentTrial(Struct, frozen=True):
    """The verdict on a call that was only tried."""

    decision: str  # allow, ask or deny: the strictest of its parts
    parts: Sequence[ConsentVerdict]
    suggested_rules: Sequence[str]


class ChatCount(Struct, frozen=True):
    count: int
    has_more: bool  # there are more, which were not counted


class UploadChatFileResponse(msgspec.Struct, frozen=True):
    id: UUID


class Validation(msgspec.Struct, frozen=True):
    """A field of a request, and what is wrong with it."""

    field: str
    detail: str


class RefusalBody(msgspec.Struct, frozen=True, omit_defaults=True):
    """The body of every answer that is not a success."""

    message: str
    detail: str = ""
    validations: Sequence[Validation] = ()
    kind: str = ""
