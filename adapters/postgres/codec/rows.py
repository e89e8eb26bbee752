"""Rows of the database → our types. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

import msgspec

from actors.law.chat import (
    Approval,
    Body,
    Chat,
    ChatError,
    Files,
    HistoryRow,
    Message,
    Queued,
    RetryState,
    Role,
    Suffix,
    UserMessage,
    Visibility,
)
from actors.law.ids import Holder, MessageId, QueuedId
from actors.law.parts.usage import Cost, Usage
from actors.law.requests import DynamicTool
from actors.law.states import Status
from adapters.postgres.codec.parts import Unreadable, calls_from_json, from_json, unescaped

Row = Sequence[Any]
T = TypeVar("T")

_NONE = b"[]"

_STATUS = {status.value: status for status in Status}
_ROLE = {role.value: role for role in Role}
_VISIBILITY = {visibility.value: visibility for visibility in Visibility}


@dataclass(frozen=True, slots=True)
class ChatRow:
    """A chat as it was read, and what else was true at that moment."""

    chat: Chat
    now: datetime  # by the database's clock
    holder_version: int  # the newest snapshot that its holder wrote by a group commit
    holder_is_fresh: bool


def chat_of(row: Row) -> ChatRow:
    (
        id,
        owner_id,
        parent_id,
        status,
        archived,
        worker_id,
        runner_id,
        last_error,
        retry_state,
        deadline,
        compaction,
        snapshot_version,
        history_version,
        queue_version,
        retry_state_version,
        generation_attempt,
        pin_order,
        model,
        effort,
        dynamic_tools,
        root_id,
        plan_mode,
        mode,
        workspace_id,
        mcp_server_ids,
        approval_policy,
        approvals,
        provider_failures_count,
        process_deaths_count,
        now,
        holder_version,
        holder_is_fresh,
    ) = row
    chat = Chat(
        id,
        owner_id,
        parent_id,
        _STATUS[status],
        archived,
        None if worker_id is None else Holder(worker_id, runner_id),
        None if last_error is None else record(last_error, ChatError),
        None if retry_state is None else record(retry_state, RetryState),
        deadline,
        compaction,
        snapshot_version,
        history_version,
        queue_version,
        retry_state_version,
        generation_attempt,
        pin_order,
        model,
        effort,
        frozenset(dynamic_tools),
        root_id,
        plan_mode,
        mode,
        workspace_id,
        tuple(mcp_server_ids),
        approval_policy,
        approvals_of(approvals),
        provider_failures_count,
        process_deaths_count,
    )
    return ChatRow(chat, now, holder_version, holder_is_fresh)


def approvals_of(raw: bytes) -> tuple[Approval, ...]:
    return () if raw == _NONE else record(raw, tuple[Approval, ...])


def dynamic_tools_of(raw: bytes) -> tuple[DynamicTool, ...]:
    return record(raw, tuple[DynamicTool, ...])


def queued_of(row: Row) -> Queued:
    id, position, steers, content, version, created_by, model, effort, created_at = row
    parts = from_json(content, version=version, where=f"queued message {id}")
    message = UserMessage(parts, created_by, model, effort)
    return Queued(QueuedId(id), position, message, steers, created_at)


def tail_of(rows: Sequence[Row]) -> tuple[Body, ...]:
    """A tool message that cannot be read answers nothing; an assistant's has to be read."""
    tail: list[Body] = []
    for id, role, content, version, visibility in rows:
        try:
            parts = calls_from_json(content, version=version, where=f"message {id}")
        except Unreadable:
            if role == Role.ASSISTANT.value:
                raise
            continue
        tail.append(Body(_ROLE[role], parts, _VISIBILITY[visibility]))
    return tuple(tail)


def suffix_of(rows: Sequence[Row], message: MessageId | None) -> Suffix | None:
    """Of an edited message only what its replacement inherits is read."""
    if not rows or rows[0][0] != message:
        return None
    id, revision, created_at, role, visibility, model, effort = rows[0]
    body = Body(
        _ROLE[role],
        (),
        visibility=_VISIBILITY[visibility],
        model_config_id=model,
        reasoning_effort=effort,
    )
    later = tuple(HistoryRow(MessageId(row[0]), _VISIBILITY[row[4]]) for row in rows[1:])
    return Suffix(Message(MessageId(id), revision, created_at, False, body), later)


def files_of(rows: Sequence[Row]) -> Files:
    linked = frozenset(file for file, is_linked in rows if is_linked)
    return Files(linked, frozenset(file for file, is_linked in rows if not is_linked))


def message_of(row: Row) -> Message:
    (
        id,
        revision,
        created_at,
        deleted,
        role,
        content,
        version,
        visibility,
        compressed,
        created_by,
        model,
        effort,
        context_limit,
        runtime_ms,
        cost_micros,
        cost_source,
        *usage,
    ) = row
    body = Body(
        _ROLE[role],
        from_json(content, version=version, where=f"message {id}"),
        _VISIBILITY[visibility],
        compressed,
        created_by,
        model,
        effort,
        Usage(*usage),
        context_limit,
        runtime_ms,
        None if cost_source is None else Cost(cost_micros, cost_source),
    )
    return Message(MessageId(id), revision, created_at, deleted, body)


def record(raw: bytes, type: type[T]) -> T:
    return msgspec.json.decode(unescaped(raw), type=type)
