"""Changes as they are sent to be written: as JSON, and the statement for them. Pure.

A change goes out as one JSON document, so a group of them is one parameter, and encoding is all
that it costs the client.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import IntEnum
from typing import Any
from uuid import UUID

import msgspec

from actors.law.change import Change
from actors.law.chat import Approval, ApprovalDecision, Body, QueuedMessage
from actors.law.ids import ChatId
from actors.law.parts.message import Cost
from actors.law.requests import NewChat
from actors.law.store.news import news_of_change
from adapters.postgres.codec.parts import (
    escaped,
    storable_id,
    storable_text,
    to_json,
    with_valid_text,
)
from adapters.postgres.driver.values import Json, Statement
from adapters.postgres.queries import SQL

_encode = msgspec.json.Encoder().encode


class _MessageRow(msgspec.Struct):
    role: str
    content: msgspec.Raw
    visibility: str
    compressed: bool
    created_by: UUID | None
    model_config_id: UUID | None
    reasoning_effort: str | None
    context_limit: int | None
    runtime_ms: int | None
    input_tokens: int | None
    output_tokens: int | None
    total_tokens: int | None
    reasoning_tokens: int | None
    cache_creation_tokens: int | None
    cache_read_tokens: int | None
    cost_micros: int | None
    cost_source: str | None


class _QueuedRow(msgspec.Struct):
    id: int
    position: int
    steers: bool
    content: msgspec.Raw
    created_by: UUID
    model_config_id: UUID | None
    reasoning_effort: str | None


class _DecisionRow(msgspec.Struct):
    root_id: UUID
    tool_call_id: str
    tool: str
    verdict: str
    decided_by: UUID | None
    words: str


class _NewsRow(msgspec.Struct):
    kind: str
    detail: msgspec.Raw | None


class _Payment(msgspec.Struct):
    """A cost that money was set aside for. `micros` None: it counts as what was expected."""

    reservation: UUID
    user_id: UUID
    day: date
    micros: int | None
    expected: int


class _ChatColumns(msgspec.Struct, kw_only=True):
    """The columns that the law writes, and what it adds."""

    id: UUID
    status: str
    archived: bool
    worker_id: UUID | None
    runner_id: UUID | None
    last_error: msgspec.Raw | None
    retry_state: msgspec.Raw | None
    requires_action_deadline_at: datetime | None
    compaction_requested_at: datetime | None
    snapshot_version: int
    history_version: int
    queue_version: int
    retry_state_version: int
    generation_attempt: int
    provider_failures_count: int
    process_deaths_count: int
    pin_order: int
    last_model_config_id: UUID | None
    last_reasoning_effort: str | None
    said: list[_MessageRow]
    links: list[UUID]
    news: list[_NewsRow] | None


class _ChangedChat(_ChatColumns, kw_only=True, omit_defaults=True):
    held: int
    by_holder: bool
    touched: bool
    seen_plan_mode: str | None = None  # None: nothing is compared but the snapshot
    seen_workspace_id: UUID | None = None
    plan_mode: str | None = None  # None: as they are
    mcp_server_ids: tuple[UUID, ...] | None = None
    approvals: msgspec.Raw | None = None  # likewise
    decided: list[_DecisionRow] = []
    unsaid: list[int] = []
    queued: list[_QueuedRow] = []
    requeued: list[_QueuedRow] = []
    unqueued: list[int] = []
    paid: list[_Payment] = []


class _CreatedChat(_ChatColumns, kw_only=True):
    owner_id: UUID
    parent_id: UUID | None
    root_id: UUID | None
    title: str
    client_type: str
    plan_mode: str
    mode: str
    workspace_id: UUID | None
    labels: dict[str, str]
    mcp_server_ids: tuple[UUID, ...]
    dynamic_tools: list[msgspec.Raw]
    dynamic_tool_names: list[str]
    approval_policy: str


class Extent(IntEnum):
    """The extent of a change: how much of a chat it writes. A larger statement can write a smaller
    change too, at two or three times the cost on the server."""

    COLUMNS = 1
    STEPS = 2
    EVERYTHING = 3


_WRITE = {
    Extent.COLUMNS: SQL["write_columns"],
    Extent.STEPS: SQL["write_steps"],
    Extent.EVERYTHING: SQL["write_changes"],
}
_WRITE_PAID = {
    **_WRITE,
    Extent.STEPS: SQL["write_paid_steps"],
    Extent.EVERYTHING: SQL["write_paid_changes"],
}


@dataclass(frozen=True, slots=True)
class Write:
    """A change, encoded. It is good while the chat is at the snapshot that it names as held."""

    json: bytes
    extent: Extent
    is_paid: bool = False  # it counts costs that money was set aside for


def write(change: Change, *, held: int, by_holder: bool, wakes: bool = False) -> Write:
    """Encode a change. `held` is the snapshot that the stored chat must be at for it to be written,
    `by_holder` whether the process that holds the chat, or wakes it, writes it. One it `wakes` must
    also have the plan mode and the workspace still with which its turn is to begin: they move
    beside the law, with no snapshot of their own."""
    changed = _ChangedChat(
        held=held, by_holder=by_holder, touched=change.touched, **_law_columns(change)
    )
    if wakes:
        changed.seen_plan_mode = change.before.chat.plan_mode
        changed.seen_workspace_id = change.before.chat.workspace_id
    changed.paid = payments([body.cost for body in change.added])
    is_paid = bool(changed.paid)
    before, after = change.before.chat, change.chat
    if after.plan_mode != before.plan_mode:
        changed.plan_mode = after.plan_mode
    if after.mcp_server_ids != before.mcp_server_ids:
        changed.mcp_server_ids = after.mcp_server_ids
    if after.approvals != before.approvals:
        changed.approvals = _escaped_all(after.approvals)
    if change.queue == change.before.queue and not (
        change.deleted or change.links or change.decisions
    ):
        extent = Extent.STEPS if change.added else Extent.COLUMNS
        return Write(_encode(changed), extent, is_paid)
    changed.decided = [_decided(one, after.root) for one in change.decisions]
    waited = {row.id: row for row in change.before.queue}
    waits = {row.id for row in change.queue}
    changed.unsaid = [row.id for row in change.deleted]
    changed.queued = [_queued(row) for row in change.queue if row.id < 0]
    changed.requeued = [_queued(r) for r in change.queue if r.id in waited and r != waited[r.id]]
    changed.unqueued = [id for id in waited if id not in waits]
    return Write(_encode(changed), Extent.EVERYTHING, is_paid)


def write_together(writes: Sequence[Write]) -> Statement:
    """Return one statement for all these changes, as large as the largest of them needs."""
    changes = Json(b"[" + b",".join([write.json for write in writes]) + b"]")
    statements = _WRITE_PAID if any(write.is_paid for write in writes) else _WRITE
    return statements[max([write.extent for write in writes])], {"changes": changes}


def payments(costs: Iterable[Cost | None]) -> list[_Payment]:
    """Return what of these costs is counted where money was set aside for it."""
    return [
        _Payment(held.id, held.user, held.day, cost.micros, held.micros)
        for cost in costs
        if cost is not None and (held := cost.reservation) is not None
    ]


def payments_json(costs: Iterable[Cost | None]) -> Json:
    """Return the same as it is sent."""
    return Json(_encode(payments(costs)))


def insert_chat(new: NewChat, change: Change) -> Statement:
    """Return the statement that inserts a chat, with the messages that it is created with."""
    assert not change.queue, "a chat is born without a queue"
    created = _CreatedChat(
        owner_id=new.owner_id,
        parent_id=new.parent_id,
        root_id=new.root_id,
        title=new.title,
        client_type=new.client_type,
        plan_mode=new.plan_mode,
        mode=new.mode,
        workspace_id=new.workspace_id,
        labels=dict(new.labels),
        mcp_server_ids=new.mcp_server_ids,
        dynamic_tools=[msgspec.Raw(escaped(_encode(tool))) for tool in new.dynamic_tools],
        dynamic_tool_names=[tool.name for tool in new.dynamic_tools],
        approval_policy=new.approval_policy,
        **_law_columns(change),
    )
    return SQL["insert_chat"], {"change": Json(_encode(created))}


def _law_columns(change: Change) -> dict[str, Any]:
    chat, holder = change.chat, change.chat.holder
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
        "provider_failures_count": chat.provider_failures_count,
        "process_deaths_count": chat.process_deaths_count,
        "pin_order": chat.pin_order,
        "last_model_config_id": chat.last_model_config_id,
        "last_reasoning_effort": chat.last_reasoning_effort,
        "said": [_message_row(body) for body in change.added],
        "links": sorted(change.links),
        "news": [_NewsRow(one.kind.value, _escaped(one.detail)) for one in news_of_change(change)]
        or None,  # null: then nothing is filed
    }


def is_said(change: Change) -> Statement:
    """Return the statement that reads whether the messages that `change` adds are stored."""
    chat, said = change.chat, [_message_row(body) for body in change.added]
    where = {"chat": chat.id, "snapshot": chat.snapshot_version}
    return SQL["is_said"], {**where, "said": Json(_encode(said))}


def _message_row(body: Body) -> _MessageRow:
    usage = body.usage
    return _MessageRow(
        body.role.value,
        msgspec.Raw(to_json(body.parts)),
        body.visibility.value,
        body.compressed,
        body.created_by,
        body.model_config_id,
        body.reasoning_effort,
        # A count of nothing is not a count: it was not measured.
        body.context_limit or None,
        body.runtime_ms or None,
        usage.input_tokens or None,
        usage.output_tokens or None,
        usage.total_tokens or None,
        usage.reasoning_tokens or None,
        usage.cache_creation_tokens or None,
        usage.cache_read_tokens or None,
        None if body.cost is None else body.cost.micros,
        None if body.cost is None else body.cost.source,
    )


def _queued(row: QueuedMessage) -> _QueuedRow:
    message = row.message
    return _QueuedRow(
        row.id,
        row.position,
        row.steers,
        msgspec.Raw(to_json(message.parts)),
        message.created_by,
        message.model_config_id,
        message.reasoning_effort,
    )


def _decided(one: ApprovalDecision, root: ChatId) -> _DecisionRow:
    return _DecisionRow(
        root,
        storable_id(one.tool_call_id),
        storable_text(one.tool),
        one.verdict.value,
        one.by,
        storable_text(one.words),
    )


def _escaped_all(approvals: Sequence[Approval]) -> msgspec.Raw:
    return msgspec.Raw(escaped(_encode([with_valid_text(approval) for approval in approvals])))


def _escaped(record: object | None) -> msgspec.Raw | None:
    if record is None:
        return None
    try:
        return msgspec.Raw(escaped(_encode(record)))
    except UnicodeEncodeError:
        return msgspec.Raw(escaped(_encode(with_valid_text(record))))
