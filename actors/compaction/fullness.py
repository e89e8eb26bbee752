"""How full a model's window is, and what follows from that. Pure.

What counts is what the last step had read: its input, cached or not. It is never a sum over steps.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto

from actors.machine.chat import SUMMARY_CALL, Body, ChatError, Message, Role, Visibility
from actors.parts.model import ToolCallPart, ToolResultPart
from actors.parts.usage import Usage
from actors.prompts.selecting import model_rows

THRESHOLD_OFF = 100  # percent; from there on nothing is compacted unless somebody asks for it

STILL_FULL = ChatError(
    "The conversation is still too long for the model after it was summarised. Choose a model with"
    " a larger context window, edit an earlier message, or start a new chat.",
    kind="config",
)


@dataclass(frozen=True, slots=True)
class Fullness:
    tokens: int  # that the last step had read; 0: nobody knows
    limit: int  # of the window; 0: nobody knows
    threshold_percent: int

    @property
    def percent(self) -> float:
        return self.tokens / self.limit * 100 if self.limit > 0 else 0.0

    @property
    def is_over(self) -> bool:
        is_known = self.threshold_percent < THRESHOLD_OFF and self.limit > 0 and self.tokens > 0
        return is_known and self.percent >= self.threshold_percent


class Verdict(Enum):
    PROCEED = auto()
    SUMMARISE = auto()
    STILL_FULL = auto()  # it has been summarised, and that was not enough


def fullness(history: Sequence[Message], *, limit: int | None, threshold_percent: int) -> Fullness:
    """Of the next call. Where the configuration knows no limit, the provider may have told one."""
    bodies = [row.body for row in model_rows(history)]
    newest = next((body for body in reversed(bodies) if _read(body.usage)), None)
    tokens = 0 if newest is None else _read(newest.usage)
    told = None if newest is None else newest.context_limit
    return Fullness(tokens, limit or told or 0, threshold_percent)


def verdict(history: Sequence[Message], full: Fullness) -> Verdict:
    """Before the model is asked anything else."""
    if not full.is_over:
        return Verdict.PROCEED
    bodies = _standing(history)
    boundary = _boundary(bodies)
    if boundary is None:
        return Verdict.SUMMARISE
    since = [body for body in bodies[boundary + 1 :] if not body.compressed]
    first = next((body for body in since if body.role is Role.ASSISTANT), None)
    if first is not None and _over(first.usage, full):
        return Verdict.STILL_FULL
    return Verdict.SUMMARISE if since else Verdict.PROCEED


def is_worth_it(history: Sequence[Message]) -> bool:
    """Whether a model has said anything since the last summary."""
    bodies = _standing(history)
    boundary = _boundary(bodies)
    since = bodies if boundary is None else bodies[boundary + 1 :]
    return any(body.role is Role.ASSISTANT and not body.compressed for body in since)


def _standing(history: Sequence[Message]) -> list[Body]:
    """What users see of it."""
    return [
        row.body
        for row in history
        if not row.deleted and row.body.visibility is not Visibility.MODEL
    ]


def _boundary(bodies: Sequence[Body]) -> int | None:
    """Where the newest summary is shown."""
    return next((at for at in reversed(range(len(bodies))) if _shows_summary(bodies[at])), None)


def _shows_summary(body: Body) -> bool:
    return body.compressed and any(
        isinstance(part, ToolCallPart | ToolResultPart) and part.name == SUMMARY_CALL
        for part in body.parts
    )


def _over(usage: Usage, full: Fullness) -> bool:
    return Fullness(_read(usage), full.limit, full.threshold_percent).is_over


def _read(usage: Usage) -> int:
    """What a model has read in a step; all that it counted, if it does not tell that apart."""
    read = (usage.input_tokens, usage.cache_read_tokens, usage.cache_creation_tokens)
    return sum(count for count in read if count and count > 0) or max(usage.total_tokens or 0, 0)
