"""What a client answers to the calls of its own tools: which answers fit, and their rows. Pure."""

from datetime import datetime

from actors.machine import requests as ask
from actors.machine.chat import Body, Role
from actors.machine.refusals import (
    DuplicateResult,
    InvalidResult,
    MissingResult,
    ResultFault,
    UnexpectedResult,
)
from actors.parts.json_text import is_json
from actors.parts.model import JsonText, ToolCallPart, ToolResultPart


def fault_in(
    results: tuple[ask.DynamicResult, ...], pending: tuple[ToolCallPart, ...]
) -> ResultFault | None:
    """The first fault: what is wrong with a result by itself outranks what is missing, and that
    outranks what nobody asked for."""
    submitted: set[str] = set()
    for result in results:
        if result.tool_call_id in submitted:
            return DuplicateResult(result.tool_call_id)
        if not is_json(result.output):
            return InvalidResult(result.tool_call_id)
        submitted.add(result.tool_call_id)
    wanted = {call.id: None for call in pending}
    missing = next((id for id in wanted if id not in submitted), None)
    if missing is not None:
        return MissingResult(missing)
    unexpected = next((r.tool_call_id for r in results if r.tool_call_id not in wanted), None)
    return None if unexpected is None else UnexpectedResult(unexpected)


def bodies(
    request: ask.CompleteRequiresAction, pending: tuple[ToolCallPart, ...], *, now: datetime
) -> tuple[Body, ...]:
    """One tool message per result, in the order in which they were submitted."""
    names = {call.id: call.name for call in pending}
    return tuple(
        Body(
            Role.TOOL,
            (
                ToolResultPart(
                    result.tool_call_id,
                    names[result.tool_call_id],
                    JsonText(result.output),
                    is_error=result.is_error,
                    created_at=now,
                ),
            ),
            created_by=request.submitted_by,
            model_config_id=request.model_config_id,
        )
        for result in request.results
    )
