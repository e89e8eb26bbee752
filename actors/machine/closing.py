"""Results made up for tool calls that nobody will answer any more. Pure.

A model cannot go on while one of its calls lacks a result, so whoever ends the wait answers for
the tool. Calls that a provider executes itself are never answered: replaying such a result makes
the provider refuse the whole request.
"""

import json
from collections.abc import Iterator, Set
from datetime import datetime

from actors.ids import ModelConfigId
from actors.machine.chat import SUMMARY_CALL, Body, Role, Stored, Visibility
from actors.parts.model import JsonText, Part, ToolCallPart, ToolResultPart

NEW_USER_MESSAGE = "interrupted by a new user message"
USER_MESSAGE = "interrupted by a user message"
PROMOTION = "interrupted by the promotion of a queued message"
MESSAGE_EDITED = "interrupted by an edit of the conversation"
INVALID_STATE = "cancelled because the chat was in an invalid state"
BEFORE_RESULT = "interrupted before the tool produced a result"


def outstanding(tail: tuple[Body, ...]) -> tuple[ToolCallPart, ...]:
    """The calls of the last assistant message that wait for a result, in call order."""
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


def outstanding_dynamic(stored: Stored) -> tuple[ToolCallPart, ...]:
    """As `outstanding`, but only calls of tools that the client executes."""
    return _of(stored.chat.dynamic_tools, outstanding(stored.tail))


def has_new_answer(tail: tuple[Body, ...]) -> bool:
    """Whether the last thing that a model said is not a summary."""
    said = tail[0].parts if tail else ()
    return bool(tail) and not any(
        isinstance(part, ToolCallPart) and part.name == SUMMARY_CALL for part in said
    )


def cancellations(stored: Stored, reason: str) -> tuple[Body, ...]:
    """One error result per outstanding call: a JSON string with the reason."""
    return _closings(stored, outstanding(stored.tail), JsonText(json.dumps(reason)))


def dynamic_cancellations(stored: Stored, reason: str) -> tuple[Body, ...]:
    return _closings(stored, outstanding_dynamic(stored), JsonText(json.dumps(reason)))


def interruptions(stored: Stored) -> tuple[Body, ...]:
    """One error result per outstanding call, in the form that tools use for their own errors."""
    result = JsonText(json.dumps({"error": BEFORE_RESULT}))
    return _closings(stored, outstanding(stored.tail), result, created_at=stored.now)


def advance(tail: tuple[Body, ...], said: tuple[Body, ...]) -> tuple[Body, ...]:
    """The tail once `said` has been added to the history."""
    for body in said:
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
    stored: Stored,
    calls: tuple[ToolCallPart, ...],
    result: JsonText,
    created_at: datetime | None = None,
) -> tuple[Body, ...]:
    model: ModelConfigId | None = stored.chat.last_model_config_id
    return tuple(
        Body(Role.TOOL, (_closing(call, result, created_at),), model_config_id=model)
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
