"""Facts about Google's Gemini models, by name. Data and look-ups; no I/O.

The same models answer on Google's own interface, on its imitation of OpenAI's, and behind the
gateways. A name may carry its vendor in front (`google/gemini-3-pro-preview`).
"""

import json
import re
from typing import Any, Literal

from actors.law.parts.message import JsonText
from actors.law.parts.prompt import EFFORTS, Effort

Level = Literal["minimal", "low", "medium", "high"]

_VERSION = re.compile(r"gemini-(\d+)(?:\.(\d+))?")
_SPECIALISED = re.compile(r"tts|live|audio|embedding|robotics|computer-use")
_LEVELS: tuple[Level, ...] = ("minimal", "low", "medium", "high")
_BUDGETS: dict[Effort, int] = {
    "none": 0,
    "minimal": 1024,
    "low": 1024,
    "medium": 8192,
    "high": 24576,
    "xhigh": 24576,
    "max": 24576,
}
_PRO_BUDGET_MIN = 1024  # the pro model cannot stop thinking


def is_gemini(model: str) -> bool:
    return _bare(model).startswith("gemini-")


def thinks_in_levels(model: str) -> bool:
    """Return whether a model thinks in levels instead of a budget.

    Version 3 and later do, and names without a version, which mean the latest.
    """
    return is_gemini(model) and _version(model) >= (3, 0)


def level_of(model: str, effort: Effort) -> Level | None:
    """Return the model's level nearest below an effort, else its lowest; None: it has none."""
    has = _levels(_bare(model), _version(model))
    below = [level for level in has if EFFORTS.index(level) <= EFFORTS.index(effort)]
    return below[-1] if below else next(iter(has), None)


def budget_of(model: str, effort: Effort) -> int | None:
    """Return the tokens for thinking of version 2.5; None: the model does not think."""
    if not is_gemini(model) or _version(model) != (2, 5) or _SPECIALISED.search(_bare(model)):
        return None
    budget = _BUDGETS[effort]
    return max(budget, _PRO_BUDGET_MIN) if "pro" in _bare(model) else budget


def mixes_tools(model: str) -> bool:
    """Return whether a model takes its own search and functions of ours in one request.

    Older ones answer with 400.
    """
    return thinks_in_levels(model)


def _bare(model: str) -> str:
    return model.rpartition("/")[2].lower()


def _version(model: str) -> tuple[int, int]:
    found = _VERSION.match(_bare(model))
    return (int(found[1]), int(found[2] or 0)) if found else (99, 0)


def _levels(name: str, version: tuple[int, int]) -> tuple[Level, ...]:
    if _SPECIALISED.search(name) or version < (3, 0):
        return ()
    if "image" in name:
        return ("minimal", "high") if "flash" in name else ("high",)
    if "flash" in name and version <= (3, 6):
        return _LEVELS
    if "pro" in name and version == (3, 0):
        return ("low", "high")
    return _LEVELS[1:]


THOUGHT_BEGINS, THOUGHT_ENDS = "<thought>", "</thought>"  # around thoughts that come as text


def thinking(model: str, effort: Effort) -> dict[str, Any] | None:
    """Return an effort in Gemini's own words, as Google's imitation of Chat Completions takes them.

    None: this model has none.
    """
    if (budget := budget_of(model, effort)) is not None:
        return {"include_thoughts": True, "thinking_budget": budget}
    level = level_of(model, effort)
    return None if level is None else {"include_thoughts": True, "thinking_level": level}


def adapted_schema(schema: JsonText) -> JsonText:
    """Return a schema as Google's imitation of Chat Completions takes it.

    It refuses empty `properties` of nested objects and `required: null`.
    """
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
