"""What Gemini needs behind Google's imitation of Chat Completions. Pure."""

import json
from typing import Any

from actors.law.parts.message import JsonText
from actors.law.parts.prompt import Effort
from adapters.models.providers.facts.gemini import budget_of, level_of

THOUGHT_BEGINS, THOUGHT_ENDS = "<thought>", "</thought>"  # around thoughts that come as text


def thinking(model: str, effort: Effort) -> dict[str, Any] | None:
    """Gemini's own words for an effort; None: this model has none."""
    if (budget := budget_of(model, effort)) is not None:
        return {"include_thoughts": True, "thinking_budget": budget}
    level = level_of(model, effort)
    return None if level is None else {"include_thoughts": True, "thinking_level": level}


def adapted_schema(schema: JsonText) -> JsonText:
    """Without empty `properties` of nested objects and without `required: null`: refused here."""
    return JsonText(json.dumps(_adapted(json.loads(schema)), separators=(",", ":")))


def _adapted(value: Any) -> Any:
    if isinstance(value, list):
        return [_adapted(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: _adapted(item)
        for key, item in value.items()
        if not (key == "properties" and item in ({}, None)) and not (key == "required" and not item)
    }
