"""The rows of chats, messages and queues: their columns, and our types made of them. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar
from uuid import UUID

import msgspec

from actors.law.chat import (
    Approval,
    Body,
    Chat,
    ChatError,
    HistoryRow,
    KnownFiles,
    Message,
    QueuedMessage,
    RetryState,
    Role,
    Suffix,
    UserMessage,
    Visibility,
)
from actors.law.ids import (
    ChatId,
    FileId,
    Holder,
    MessageId,
    ModelConfigId,
    QueuedId,
    RunnerId,
    UserId,
    WorkerId,
)
from actors.law.parts.message import Cost, TokenUsage
from actors.law.requests import DynamicTool
from actors.law.states import Status
from actors.law.store.hints import ChatMoved
from adapters.postgres.codec.parts import Unreadable, calls_from_json, from_json, unescaped
from adapters.postgres.queries import Record

Row = Sequence[Any]
T = TypeVar("T")

_NONE = b"[]"


class ChatRow(Record, frozen=True):
    """A chat, and what else was true at the moment when it was read."""

    id: ChatId
    owner_id: UserId
    parent_id: ChatId | None
    status: Status
    archived: bool
    worker_id: WorkerId | None
    runner_id: RunnerId | None
    last_error: bytes | None
    retry_state: bytes | None
    requires_action_deadline_at: datetime | None
    compaction_requested_at: datetime | None
    snapshot_version: int
    history_version: int
    queue_version: int
    retry_state_version: int
    generation_attempt: int
    pin_order: int
    last_model_config_id: ModelConfigId | None
    last_reasoning_effort: str | None
    dynamic_tool_names: frozenset[str]
    root_id: ChatId | None
    plan_mode: str
    mode: str
    workspace_id: UUID | None
    mcp_server_ids: tuple[UUID, ...]
    approval_policy: str
    approvals: bytes
    provider_failures_count: int
    process_deaths_count: int
    now: datetime  # by the database's clock
    holder_version: (
        int  # the newest snapshot that a group commit wrote, of its holder or who woke it
    )
    holder_is_fresh: bool


class LockedRow(ChatRow, frozen=True):
    """A chat under the lock of a transaction."""

    xid: int


class AcquiredRow(ChatRow, frozen=True):
    """A chat that was just taken, with all that the law looks at."""

    queue: bytes | None
    tail: bytes | None
    files: frozenset[FileId] | None


class HeldRow(Record, frozen=True):
    """The versions of a chat that a worker holds."""

    id: ChatId
    snapshot_version: int
    history_version: int
    queue_version: int
    retry_state_version: int
    generation_attempt: int
    status: Status
    archived: bool
    worker_id: WorkerId | None
    runner_id: RunnerId | None
    owner_id: UserId


class MessageRow(Record, frozen=True):
    """A message of a history."""

    id: MessageId
    revision: int
    created_at: datetime
    deleted: bool
    role: Role
    content: msgspec.Raw
    content_version: int
    visibility: Visibility
    compressed: bool
    created_by: UserId | None
    model_config_id: ModelConfigId | None
    reasoning_effort: str | None
    context_limit: int | None
    runtime_ms: int | None
    cost_micros: int | None
    cost_source: str | None
    input_tokens: int | None
    output_tokens: int | None
    total_tokens: int | None
    reasoning_tokens: int | None
    cache_creation_tokens: int | None
    cache_read_tokens: int | None


class ShownRow(MessageRow, frozen=True):
    """A message of a history, as users see it."""

    edited: bool


class QueuedRow(Record, frozen=True):
    """A message that waits in the queue."""

    id: QueuedId
    position: int
    steers: bool
    content: msgspec.Raw
    content_version: int
    created_by: UserId
    model_config_id: ModelConfigId | None
    reasoning_effort: str | None
    created_at: datetime


class TailRow(Record, frozen=True):
    """A message at the end of a history, as far as its calls are asked for."""

    id: MessageId
    role: Role
    content: msgspec.Raw
    content_version: int
    visibility: Visibility


class SuffixRow(Record, frozen=True):
    """A message that an edit replaces: what its replacement inherits."""

    id: MessageId
    revision: int
    created_at: datetime
    role: Role
    visibility: Visibility
    model_config_id: ModelConfigId | None
    reasoning_effort: str | None


@dataclass(frozen=True, slots=True)
class MessagePage:
    """A page of a history."""

    messages: tuple[Message, ...]
    has_more: bool  # in the direction of the page
    history_version: int = 0  # as of which it was read; 0: not asked, or the chat is gone
    queue: tuple[QueuedMessage, ...] = ()  # in the order in which it will be taken
    edited: frozenset[MessageId] = frozenset()  # those that took the place of others


def chat_of(row: ChatRow) -> Chat:
    """Return the chat of a row."""
    holder = None
    if row.worker_id is not None and row.runner_id is not None:
        holder = Holder(row.worker_id, row.runner_id)
    return Chat(
        id=row.id,
        owner_id=row.owner_id,
        parent_id=row.parent_id,
        status=row.status,
        archived=row.archived,
        holder=holder,
        last_error=None if row.last_error is None else decode_column(row.last_error, ChatError),
        retry_state=None if row.retry_state is None else decode_column(row.retry_state, RetryState),
        requires_action_deadline_at=row.requires_action_deadline_at,
        compaction_requested_at=row.compaction_requested_at,
        snapshot_version=row.snapshot_version,
        history_version=row.history_version,
        queue_version=row.queue_version,
        retry_state_version=row.retry_state_version,
        generation_attempt=row.generation_attempt,
        pin_order=row.pin_order,
        last_model_config_id=row.last_model_config_id,
        last_reasoning_effort=row.last_reasoning_effort,
        dynamic_tools=row.dynamic_tool_names,
        root_id=row.root_id,
        plan_mode=row.plan_mode,
        mode=row.mode,
        workspace_id=row.workspace_id,
        mcp_server_ids=row.mcp_server_ids,
        approval_policy=row.approval_policy,
        approvals=approvals_of(row.approvals),
        provider_failures_count=row.provider_failures_count,
        process_deaths_count=row.process_deaths_count,
    )


def moved_of(row: HeldRow) -> ChatMoved:
    """Return where a chat stands, as its hint would say it."""
    return ChatMoved(
        chat=row.id,
        snapshot_version=row.snapshot_version,
        history_version=row.history_version,
        queue_version=row.queue_version,
        retry_state_version=row.retry_state_version,
        generation_attempt=row.generation_attempt,
        status=row.status,
        archived=row.archived,
        worker_id=row.worker_id,
        runner_id=row.runner_id,
        owner_id=row.owner_id,
    )


def approvals_of(raw: bytes) -> tuple[Approval, ...]:
    """Return the calls of a chat that need consent."""
    return () if raw == _NONE else decode_column(raw, tuple[Approval, ...])


def dynamic_tools_of(raw: bytes) -> tuple[DynamicTool, ...]:
    """Return the tools that the client of a chat executes."""
    return decode_column(raw, tuple[DynamicTool, ...])


def queued_of(row: QueuedRow) -> QueuedMessage:
    """Return a message of the queue."""
    parts = from_json(
        bytes(row.content), version=row.content_version, where=f"queued message {row.id}"
    )
    message = UserMessage(parts, row.created_by, row.model_config_id, row.reasoning_effort)
    return QueuedMessage(row.id, row.position, message, row.steers, row.created_at.astimezone(UTC))


def tail_of(rows: Sequence[TailRow]) -> tuple[Body, ...]:
    """Return the end of a history with its calls and results.

    A tool message that cannot be read answers nothing; an assistant's has to be read.
    """
    tail: list[Body] = []
    for row in rows:
        try:
            parts = calls_from_json(
                bytes(row.content), version=row.content_version, where=f"message {row.id}"
            )
        except Unreadable:
            if row.role is Role.ASSISTANT:
                raise
            continue
        tail.append(Body(row.role, parts, row.visibility))
    return tuple(tail)


def suffix_of(rows: Sequence[SuffixRow], message: MessageId | None) -> Suffix | None:
    """Return what an edit replaces; None if the edited message is not there."""
    if not rows or rows[0].id != message:
        return None
    target, *later = rows
    body = Body(
        target.role,
        (),
        visibility=target.visibility,
        model_config_id=target.model_config_id,
        reasoning_effort=target.reasoning_effort,
    )
    return Suffix(
        Message(target.id, target.revision, target.created_at, False, body),
        tuple(HistoryRow(row.id, row.visibility) for row in later),
    )


def files_of(rows: Sequence[Row]) -> KnownFiles:
    """Return which files the chat links, and which others could be linked."""
    linked = frozenset(file for file, is_linked in rows if is_linked)
    return KnownFiles(linked, frozenset(file for file, is_linked in rows if not is_linked))


def message_of(row: MessageRow) -> Message:
    """Return a message of a history, its content read."""
    usage = TokenUsage(
        input_tokens=row.input_tokens,
        output_tokens=row.output_tokens,
        total_tokens=row.total_tokens,
        reasoning_tokens=row.reasoning_tokens,
        cache_creation_tokens=row.cache_creation_tokens,
        cache_read_tokens=row.cache_read_tokens,
    )
    body = Body(
        role=row.role,
        parts=from_json(bytes(row.content), version=row.content_version, where=f"message {row.id}"),
        visibility=row.visibility,
        compressed=row.compressed,
        created_by=row.created_by,
        model_config_id=row.model_config_id,
        reasoning_effort=row.reasoning_effort,
        usage=usage,
        context_limit=row.context_limit,
        runtime_ms=row.runtime_ms,
        cost=None if row.cost_source is None else Cost(row.cost_micros, row.cost_source),
    )
    return Message(row.id, row.revision, row.created_at.astimezone(UTC), row.deleted, body)


def decode_column(raw: bytes, type: type[T]) -> T:
    """Read a JSON column."""
    return msgspec.json.decode(unescaped(raw), type=type)
