"""Rows of the database ↔ our types. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, TypeVar

import msgspec

from actors.ids import (
    ChatId,
    Holder,
    MessageId,
    ModelConfigId,
    QueuedId,
    RunnerId,
    UserId,
    WorkerId,
)
from actors.machine.change import Change
from actors.machine.chat import (
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
from actors.machine.requests import NewChat
from actors.machine.states import Status
from actors.parts.model import Part
from actors.parts.usage import Usage
from adapters.postgres.parts import (
    Unreadable,
    escaped,
    from_json,
    to_json,
    unescaped,
)

Row = Sequence[Any]
T = TypeVar("T")

_encode = msgspec.json.Encoder().encode
_USAGE = tuple(field.name for field in fields(Usage))


# From the database


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
        now,
        holder_version,
        holder_is_fresh,
    ) = row
    chat = Chat(
        ChatId(id),
        UserId(owner_id),
        None if parent_id is None else ChatId(parent_id),
        Status(status),
        archived,
        None if worker_id is None else Holder(WorkerId(worker_id), RunnerId(runner_id)),
        _record(last_error, ChatError),
        _record(retry_state, RetryState),
        deadline,
        compaction,
        snapshot_version,
        history_version,
        queue_version,
        retry_state_version,
        generation_attempt,
        pin_order,
        None if model is None else ModelConfigId(model),
        effort,
        frozenset(dynamic_tools),
    )
    return ChatRow(chat, now, holder_version, holder_is_fresh)


def queued_of(row: Row) -> Queued:
    id, position, steers, content, version, created_by, model, effort = row
    parts = from_json(content, version=version, where=f"queued message {id}")
    return Queued(
        QueuedId(id), position, UserMessage(parts, created_by, model, effort), steers=steers
    )


def tail_of(rows: Sequence[Row]) -> tuple[Body, ...]:
    """A tool message that cannot be read answers nothing; an assistant's has to be read."""
    tail: list[Body] = []
    for id, role, content, version, visibility in rows:
        try:
            parts = from_json(content, version=version, where=f"message {id}")
        except Unreadable:
            if role == Role.ASSISTANT.value:
                raise
            continue
        tail.append(Body(Role(role), parts, visibility=Visibility(visibility)))
    return tuple(tail)


def suffix_of(rows: Sequence[Row], message: MessageId | None) -> Suffix | None:
    """Of an edited message only what its replacement inherits is read."""
    if not rows or rows[0][0] != message:
        return None
    id, revision, created_at, role, visibility, model, effort = rows[0]
    body = Body(
        Role(role),
        (),
        visibility=Visibility(visibility),
        model_config_id=model,
        reasoning_effort=effort,
    )
    later = tuple(HistoryRow(MessageId(row[0]), Visibility(row[4])) for row in rows[1:])
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
        *usage,
    ) = row
    body = Body(
        Role(role),
        from_json(content, version=version, where=f"message {id}"),
        Visibility(visibility),
        compressed,
        created_by,
        model,
        effort,
        Usage(*usage),
        context_limit,
        runtime_ms,
    )
    return Message(MessageId(id), revision, created_at, deleted, body)


# To the database


def written(change: Change, *, held: int, by_holder: bool) -> bytes:
    """One element of `write_changes`: the change, good only while the chat is at `held`."""
    before = {row.id: row for row in change.before.queue}
    after = {row.id: row for row in change.queue}
    kept = [row for row in change.queue if row.id in before]
    return _encode(
        _columns(change.chat)
        | {
            "held": held,
            "by_holder": by_holder,
            "touched": change.touched,
            "said": [_said(body) for body in change.said],
            "unsaid": [row.id for row in change.unsaid],
            "queued": [_queued(row) for row in change.queue if row.id < 0],
            "requeued": [_queued(row) for row in kept if row != before[row.id]],
            "unqueued": [id for id in before if id not in after and id > 0],
            "links": sorted(change.links),
        }
    )


def created(new: NewChat, change: Change) -> bytes:
    """The value of `insert_chat`."""
    assert not change.queue, "a chat is born without a queue"
    tools = [_escaped(tool) for tool in new.dynamic_tools]
    return _encode(
        _columns(change.chat)
        | {
            "owner_id": new.owner_id,
            "parent_id": new.parent_id,
            "root_id": new.root_id,
            "title": new.title,
            "client_type": new.client_type,
            "plan_mode": new.plan_mode,
            "labels": dict(new.labels),
            "mcp_server_ids": new.mcp_server_ids,
            "dynamic_tools": tools,
            "dynamic_tool_names": [tool.name for tool in new.dynamic_tools],
            "said": [_said(body) for body in change.said],
            "links": sorted(change.links),
        }
    )


def _columns(chat: Chat) -> dict[str, Any]:
    holder = chat.holder
    return {
        "id": chat.id,
        "status": chat.status.value,
        "archived": chat.archived,
        "worker_id": None if holder is None else holder.worker,
        "runner_id": None if holder is None else holder.runner,
        "last_error": _escaped(chat.last_error),
        "retry_state": _escaped(chat.retry_state),
        "requires_action_deadline_at": chat.requires_action_deadline_at,
        "compaction_requested_at": chat.compaction_requested_at,
        "snapshot_version": chat.snapshot_version,
        "history_version": chat.history_version,
        "queue_version": chat.queue_version,
        "retry_state_version": chat.retry_state_version,
        "generation_attempt": chat.generation_attempt,
        "pin_order": chat.pin_order,
        "last_model_config_id": chat.last_model_config_id,
        "last_reasoning_effort": chat.last_reasoning_effort,
    }


def _said(body: Body) -> dict[str, Any]:
    row: dict[str, Any] = {
        "role": body.role.value,
        "content": _content(body.parts),
        "visibility": body.visibility.value,
        "compressed": body.compressed,
        "created_by": body.created_by,
        "model_config_id": body.model_config_id,
        "reasoning_effort": body.reasoning_effort,
        # A count of nothing is not a count: nobody measured it.
        "context_limit": body.context_limit or None,
        "runtime_ms": body.runtime_ms or None,
    }
    for name in _USAGE:
        row[name] = getattr(body.usage, name) or None
    return row


def _queued(row: Queued) -> dict[str, Any]:
    message = row.message
    return {
        "id": row.id,
        "position": row.position,
        "steers": row.steers,
        "content": _content(message.parts),
        "created_by": message.created_by,
        "model_config_id": message.model_config_id,
        "reasoning_effort": message.reasoning_effort,
    }


def _content(parts: tuple[Part, ...]) -> msgspec.Raw:
    return msgspec.Raw(to_json(parts))


def _record(raw: bytes | None, type: type[T]) -> T | None:
    return None if raw is None else msgspec.json.decode(unescaped(raw), type=type)


def _escaped(record: object | None) -> msgspec.Raw | None:
    return None if record is None else msgspec.Raw(escaped(_encode(record)))
