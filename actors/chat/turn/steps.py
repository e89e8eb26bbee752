"""The messages that a step is committed as. Pure.

An answer is one assistant message with all it said, in the order in which it was said, the results
of the provider's own tools in their places. A batch of tools is one tool message per call, in call
order: its result, and behind it the files that the tool made.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from actors.chat.turn.ports import Model, Prices, ToolOutput
from actors.law.chat import Body, Message, Role
from actors.law.failures.wording import unsaid_answer
from actors.law.ids import ModelConfigId
from actors.law.parts.assemble import ModelAnswer
from actors.law.parts.deltas import FinishReason, ProviderFailure
from actors.law.parts.json_text import is_json, well_formed
from actors.law.parts.message import (
    UNPRICED,
    Cost,
    JsonText,
    Part,
    ReasoningPart,
    Reservation,
    SourcePart,
    ToolCallPart,
    ToolResultPart,
)
from actors.prompts.provider_tools import sanitise_step
from actors.tools.output import truncate


@dataclass(frozen=True, slots=True)
class EndedCall:
    """A local call that has come to its end."""

    call: ToolCallPart
    output: ToolOutput
    at: datetime


def answer_rows(
    answer: ModelAnswer, model: Model, *, runtime_ms: int, cost: Cost
) -> tuple[Body, ...]:
    """Return the message of an answer, or none if nothing at all was said."""
    said = sanitise_step(answer.parts) if model.rules.is_anthropic else answer.parts
    parts = tuple(map(_storable, said))
    if not parts:
        return ()
    body = Body(
        Role.ASSISTANT,
        parts,
        model_config_id=model.config_id,
        usage=answer.usage,
        context_limit=answer.context_limit or model.context_limit,
        runtime_ms=runtime_ms or None,
        cost=cost,
    )
    return (body,)


_ODD_ENDS = (FinishReason.OTHER, FinishReason.LENGTH, FinishReason.PAUSED)


def unsaid(answer: ModelAnswer, model: Model) -> ProviderFailure | None:
    """Return the failure of an answer that ended oddly before anything was said in it, or None.

    A model may have nothing to say, and ends then as ever; thoughts and sources alone are nothing.
    """
    says = any(not isinstance(part, ReasoningPart | SourcePart) for part in answer.parts)
    if says or answer.reason not in _ODD_ENDS:
        return None
    out_of_tokens = answer.reason is FinishReason.LENGTH
    return unsaid_answer(model.vendor, out_of_tokens=out_of_tokens, refusal=answer.refusal)


def answer_cost(
    prices: Prices, model: Model, answer: ModelAnswer, reservation: Reservation | None = None
) -> Cost:
    """Return the cost of an answer: of one call, or of all that it took if the provider paused.
    `reservation` is what was set aside for it."""
    costs = [prices.cost(model, usage) for usage in (*answer.earlier_usages, answer.usage)]
    known = [cost.micros for cost in costs if cost.micros is not None]
    if len(known) < len(costs):
        return replace(UNPRICED, reservation=reservation)
    return Cost(sum(known), costs[-1].source, reservation)


def tool_rows(
    ended: Sequence[EndedCall], *, model_config_id: ModelConfigId | None
) -> tuple[Body, ...]:
    return tuple(
        Body(Role.TOOL, (result_of(end), *end.output.shown), model_config_id=model_config_id)
        for end in ended
    )


def result_of(end: EndedCall) -> ToolResultPart:
    output = end.output
    return ToolResultPart(
        end.call.id,
        end.call.name,
        JsonText(well_formed(output.result)),
        is_error=output.is_error,
        is_media=output.is_media,
        mcp_server_config_id=end.call.mcp_server_config_id,
        created_at=end.at,
    )


def error_output(text: str) -> ToolOutput:
    """Return a tool's error as the model sees it."""
    return ToolOutput(JsonText(json.dumps({"error": text})), is_error=True)


def window_of(history: Sequence[Message]) -> int | None:
    """Return the context window of the model that answered last, as far as it is known."""
    limits = (message.body.context_limit for message in reversed(history))
    return next((limit for limit in limits if limit), None)


def cut_to(output: ToolOutput, bytes_max: int) -> ToolOutput:
    """Return the result, cut if it is too long; then it is a text. Media are never cut."""
    if output.is_media or len(output.result.encode("utf-8", "replace")) <= bytes_max:
        return output
    key = "error" if output.is_error else "output"
    said = json.loads(output.result)
    lone = isinstance(said, dict) and said.keys() == {key} and isinstance(said[key], str)
    text = truncate(said[key] if lone else output.result, bytes_max)
    return replace(output, result=JsonText(json.dumps({key: text}, ensure_ascii=False)))


def _storable(part: Part) -> Part:
    """Return a part as it can be stored. Arguments that are not JSON are left out; their call is
    stored without them, and will be answered as broken."""
    if isinstance(part, ToolCallPart) and part.args is not None and not is_json(part.args):
        return replace(part, args=None)
    return part
