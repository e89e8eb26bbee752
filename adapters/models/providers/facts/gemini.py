"""Facts about Google's Gemini models, by name. Data and look-ups; no I/O.

The same models answer on Google's own interface, on its imitation of OpenAI's, and behind the
gateways. A name may carry its vendor in front (`google/gemini-3-pro-preview`).
"""

import re
from typing import Literal

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
    """Version 3 and later, and names without a version, which mean the latest."""
    return is_gemini(model) and _version(model) >= (3, 0)


def level_of(model: str, effort: Effort) -> Level | None:
    """The level nearest below the effort that the model has, else its lowest; None: it has none."""
    has = _levels(_bare(model), _version(model))
    below = [level for level in has if EFFORTS.index(level) <= EFFORTS.index(effort)]
    return below[-1] if below else next(iter(has), None)


def budget_of(model: str, effort: Effort) -> int | None:
    """Tokens for thinking, of version 2.5; None: it does not think."""
    if not is_gemini(model) or _version(model) != (2, 5) or _SPECIALISED.search(_bare(model)):
        return None
    budget = _BUDGETS[effort]
    return max(budget, _PRO_BUDGET_MIN) if "pro" in _bare(model) else budget


def mixes_tools(model: str) -> bool:
    """Takes its own search and functions of ours in one request; older ones answer with 400."""
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
