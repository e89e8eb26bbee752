"""Tool calls without a result, and the results that are made up for them. Pure.

A model cannot go on while one of its calls lacks a result, so the request that ends the wait
answers for the tool. Calls that a provider executes itself are never answered: replaying such a
result makes the provider refuse the whole request.
"""

import json
from collections.abc import Iterator, Set
from datetime import datetime

from actors.law.chat import SUMMARY_CALL, Body, Role, StoredChat, Visibility
from actors.law.ids import ModelConfigId, UserId
from actors.law.parts.message import JsonText, Part, ToolCallPart, ToolResultPart

NEW_USER_MESSAGE = "interrupted by a new user message"
USER_MESSAGE = "interrupted by a user message"
PROMOTION = "interrupted by the promotion of a queued message"
MESSAGE_EDITED = "interrupted by an edit of the conversation"
INVALID_STATE = "cancelled because the chat was in an invalid state"
BEFORE_RESULT = "interrupted before the tool produced a result"


def unanswered_calls(tail: tuple[Body, ...]) -> tuple[ToolCallPart, ...]:
    """Return the calls of the last assistant message that have no result, in call order."""
    if not tail:
        return ()
    assistant, *later = tail
    assert assistant.role is Role.ASSISTANT, "a tail begins with an assistant message"
    visible = (body.parts for body in later if body.visibility is not Visibility.MODEL)
    answered = {part.id for parts in (assistant.parts, *visible) for part in _results(parts)}
    return tuple(
        part
        for part in assistant.parts
        if isinstance(part, ToolCallPart) and not part.provider_executed and part.id not in answered
    )


def unanswered_dynamic_calls(stored: StoredChat) -> tuple[ToolCallPart, ...]:
    """Return the unanswered calls of tools that the client executes.

    A call that a person is asked about runs here, whatever its name is, and is not among them.
    """
    calls = _of(stored.chat.dynamic_tools, unanswered_calls(stored.tail))
    asked = {approval.tool_call_id for approval in stored.chat.approvals}
    return tuple(call for call in calls if call.id not in asked) if asked else calls


def calls_for_others(stored: StoredChat) -> tuple[ToolCallPart, ...]:
    """Return the unanswered calls that a client has to answer or a person has to allow.

    Calls that have been allowed, and wait for the others, are among them.
    """
    asked = {approval.tool_call_id for approval in stored.chat.approvals}
    names = stored.chat.dynamic_tools
    return tuple(c for c in unanswered_calls(stored.tail) if c.name in names or c.id in asked)


def waits_for_others(stored: StoredChat) -> bool:
    """Return whether a client or a person has to answer before the turn can go on."""
    return bool(stored.chat.open_approvals or unanswered_dynamic_calls(stored))


def has_new_answer(tail: tuple[Body, ...]) -> bool:
    """Return whether a model has said anything since the last summary.

    The call of a summary is for users alone. A call of that name that a model has made up is read
    by models, too.
    """
    return bool(tail) and not (
        tail[0].visibility is Visibility.USER
        and any(isinstance(p, ToolCallPart) and p.name == SUMMARY_CALL for p in tail[0].parts)
    )


def cancellations(stored: StoredChat, reason: str) -> tuple[Body, ...]:
    """Return one error result for each unanswered call: a JSON string with the reason."""
    return _closings(stored, unanswered_calls(stored.tail), JsonText(json.dumps(reason)))


def dynamic_cancellations(stored: StoredChat, reason: str) -> tuple[Body, ...]:
    """Return the same for the calls of the client's tools."""
    return _closings(stored, unanswered_dynamic_calls(stored), JsonText(json.dumps(reason)))


def awaited_cancellations(stored: StoredChat, reason: str) -> tuple[Body, ...]:
    """Return the same for the calls that a client or a person has to answer."""
    return _closings(stored, calls_for_others(stored), JsonText(json.dumps(reason)))


def denials(
    stored: StoredChat, ids: Set[str], words: str, *, by: UserId | None = None
) -> tuple[Body, ...]:
    """Return error results for denied calls, in the form that tools use for their errors."""
    calls = tuple(call for call in unanswered_calls(stored.tail) if call.id in ids)
    result = JsonText(json.dumps({"error": words}, ensure_ascii=False))
    return _closings(stored, calls, result, created_at=stored.now, created_by=by)


def interruptions(stored: StoredChat) -> tuple[Body, ...]:
    """Return an error result for each unanswered call, in the form that tools use for their
    errors."""
    result = JsonText(json.dumps({"error": BEFORE_RESULT}))
    return _closings(stored, unanswered_calls(stored.tail), result, created_at=stored.now)


def advance_tail(tail: tuple[Body, ...], added: tuple[Body, ...]) -> tuple[Body, ...]:
    """Return the tail once these messages have been added to the history."""
    for body in added:
        if body.role is Role.ASSISTANT:
            tail = (body,)
        elif body.role is Role.TOOL and tail:
            tail = (*tail, body)
    return tail


def _results(parts: tuple[Part, ...]) -> Iterator[ToolResultPart]:
    return (part for part in parts if isinstance(part, ToolResultPart))


def _of(names: Set[str], calls: tuple[ToolCallPart, ...]) -> tuple[ToolCallPart, ...]:
    return tuple(call for call in calls if call.name in names)


def _closings(
    stored: StoredChat,
    calls: tuple[ToolCallPart, ...],
    result: JsonText,
    created_at: datetime | None = None,
    created_by: UserId | None = None,
) -> tuple[Body, ...]:
    model: ModelConfigId | None = stored.chat.last_model_config_id
    return tuple(
        Body(
            Role.TOOL,
            (_closing(call, result, created_at),),
            created_by=created_by,
            model_config_id=model,
        )
        for call in calls
    )


def _closing(call: ToolCallPart, result: JsonText, created_at: datetime | None) -> ToolResultPart:
    return ToolResultPart(
        call.id,
        call.name,
        result,
        is_error=True,
        mcp_server_config_id=call.mcp_server_config_id,
        created_at=created_at,
    )
