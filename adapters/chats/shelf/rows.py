"""Rows of the database → chats as their users see them. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import msgspec

from actors.law.chat import ChatError
from actors.law.states import Status
from adapters.chats.shelved import ChatOverview, ContextState, FileInfo
from adapters.postgres.codec.parts import unescaped
from adapters.postgres.codec.rows import approvals_of
from adapters.postgres.driver.values import Row

_T = TypeVar("_T")
_STATUS = {status.value: status for status in Status}


def shelved_of(row: Row) -> ChatOverview:
    """Of the columns that the part `shelved` names."""
    (
        id,
        owner_id,
        username,
        name,
        parent_id,
        root_id,
        title,
        client_type,
        plan_mode,
        approval_policy,
        approvals,
        labels,
        mcp_server_ids,
        created_at,
        updated_at,
        status,
        archived,
        last_error,
        pin_order,
        model,
        effort,
        last_turn_summary,
        summary,
        workspace_id,
        context,
        shared,
        has_unread,
    ) = row
    return ChatOverview(
        id=id,
        owner_id=owner_id,
        owner_username=username,
        owner_name=name,
        parent_id=parent_id,
        root_id=root_id,
        title=title,
        client_type=client_type,
        plan_mode=plan_mode,
        approval_policy=approval_policy,
        asks=tuple(approval for approval in approvals_of(approvals) if approval.is_open),
        labels=_json(labels, dict[str, str]),
        mcp_server_ids=tuple(mcp_server_ids),
        created_at=created_at,
        updated_at=updated_at,
        status=_STATUS[status],
        archived=archived,
        last_error=None if last_error is None else _json(unescaped(last_error), ChatError),
        pin_order=pin_order,
        last_model_config_id=model,
        last_reasoning_effort=effort,
        last_turn_summary=last_turn_summary,
        summary=summary,
        workspace_id=workspace_id,
        context=None if context is None else _json(context, ContextState),
        shared=shared,
        has_unread=has_unread,
    )


def files_of(raw: bytes | None) -> tuple[FileInfo, ...]:
    return () if raw is None else _json(raw, tuple[FileInfo, ...])


def families_of(chats: Sequence[ChatOverview]) -> list[ChatOverview]:
    """Each chat that has no parent among them, in their order, with its children in theirs."""
    known = {chat.id for chat in chats}
    children: Mapping[object, list[ChatOverview]] = {id: [] for id in known}
    heads = []
    for chat in chats:
        if chat.parent_id in known:
            children[chat.parent_id].append(chat)
        else:
            heads.append(chat)
    return [replace(head, children=tuple(children[head.id])) for head in heads]


def _json(raw: bytes, wanted: type[_T]) -> _T:
    return msgspec.json.decode(raw, type=wanted)
