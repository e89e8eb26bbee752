"""The fullness of a model's window, and whether a summary has to be made. Pure.

What counts is what the last step had read: its input, cached or not. It is never a sum over steps.
What has come since is estimated, and counts only where the next call would not fit at all.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto

from actors.law.chat import SUMMARY_CALL, Body, ChatError, Message, Role, Visibility
from actors.law.parts.message import TextPart, TokenUsage, ToolCallPart, ToolResultPart
from actors.prompts.selecting import latest_model_rows

THRESHOLD_OFF = 100  # percent; from there on nothing is compacted unless somebody asks for it
# By itself, in one turn; then the model is asked as things are. A turn that goes on for so long has
# read its window as often, and if it goes in a circle this is where that ends.
SUMMARIES_PER_TURN_MAX = 30
PROGRESS_SHARE_MIN = 0.05  # of what it replaces a summary has to save; else it was none
BYTES_PER_TOKEN = 4  # on average

STILL_FULL = ChatError(
    "The conversation is still too long for the model after it was summarised. Raise the threshold"
    " at which this model's chats are summarised, choose a model with a larger context window, edit"
    " an earlier message, or start a new chat.",
    kind="config",
)


@dataclass(frozen=True, slots=True)
class Fullness:
    """The share of a model's window that the next call takes."""

    tokens: int  # that the last step had read; 0: nobody knows
    limit: int  # of the window; 0: nobody knows
    threshold_percent: int
    coming: int = 0  # tokens of what came since, about

    @property
    def percent(self) -> float:
        return self.tokens / self.limit * 100 if self.limit > 0 else 0.0

    @property
    def is_over(self) -> bool:
        return self._counts and self.tokens * 100 >= self.threshold_percent * self.limit

    @property
    def would_overflow(self) -> bool:
        """Return whether the next call would not fit, although the last one was below the
        threshold."""
        return self._counts and self.tokens + self.coming > self.limit

    @property
    def _counts(self) -> bool:
        return self.threshold_percent < THRESHOLD_OFF and self.limit > 0 and self.tokens > 0


class CompactionNeed(Enum):
    """The answer to the question whether a summary has to be made."""

    PROCEED = auto()
    SUMMARISE = auto()
    STILL_FULL = auto()  # it has been summarised, and that was not enough


def fullness(history: Sequence[Message], *, limit: int | None, threshold_percent: int) -> Fullness:
    """Return the fullness at the next call.

    Where the configuration knows no limit, the one counts that the provider may have told.
    """
    since: list[Body] = []  # the last step, and what came after it; the newest first
    for row in latest_model_rows(history):
        since.append(row.body)
        if tokens := _read(row.body.usage):
            told = limit or row.body.context_limit or 0
            coming = sum(map(_tokens_about, since))  # with what that step itself said
            return Fullness(tokens, told, threshold_percent, coming)
    return Fullness(0, limit or 0, threshold_percent)


def compaction_need(history: Sequence[Message], full: Fullness) -> CompactionNeed:
    """Return what has to be done before the model is asked anything else."""
    if not (full.is_over or full.would_overflow):
        return CompactionNeed.PROCEED
    bodies = _standing(history)
    since = _since(bodies)
    first = next((body for body in since if body.role is Role.ASSISTANT), None)
    is_summarised = any(map(_shows_summary, bodies))
    if is_summarised and first is not None and _is_over(first.usage, full):
        return CompactionNeed.STILL_FULL
    return CompactionNeed.SUMMARISE if may_summarise(history) else CompactionNeed.PROCEED


def may_summarise(history: Sequence[Message]) -> bool:
    """Return whether a summary may be made without a request.

    There has to be something that it would sum up, and not too many in this turn already.
    """
    bodies = _standing(history)
    turn = next((at for at in reversed(range(len(bodies))) if bodies[at].role is Role.USER), 0)
    made = sum(body.role is Role.TOOL and _shows_summary(body) for body in bodies[turn:])
    return bool(_since(bodies)) and made < SUMMARIES_PER_TURN_MAX


def is_progress(summary: str, *, tokens_before: int) -> bool:
    """Return whether a summary is so much shorter that it is not made again and again."""
    tokens = len(summary.encode("utf-8", "replace")) // BYTES_PER_TOKEN
    return tokens <= tokens_before * (1 - PROGRESS_SHARE_MIN)


def is_worth_it(history: Sequence[Message]) -> bool:
    """Return whether a model has said anything since the last summary."""
    return any(body.role is Role.ASSISTANT for body in _since(_standing(history)))


def _standing(history: Sequence[Message]) -> list[Body]:
    """Return the messages that users see."""
    return [
        row.body
        for row in history
        if not row.deleted and row.body.visibility is not Visibility.MODEL
    ]


def _since(bodies: Sequence[Body]) -> Sequence[Body]:
    """Return what follows the newest summary; everything, where there is none."""
    newest = next((at for at in reversed(range(len(bodies))) if _shows_summary(bodies[at])), -1)
    return [body for body in bodies[newest + 1 :] if not body.compressed]


def _shows_summary(body: Body) -> bool:
    return body.compressed and any(
        isinstance(part, ToolCallPart | ToolResultPart) and part.name == SUMMARY_CALL
        for part in body.parts
    )


def _is_over(usage: TokenUsage, full: Fullness) -> bool:
    """Return whether this usage was above the threshold. A threshold of zero says nothing about
    it."""
    if full.threshold_percent <= 0:
        return False
    return Fullness(_read(usage), full.limit, full.threshold_percent).is_over


def _tokens_about(body: Body) -> int:
    """Estimate the tokens of a message's text.

    Reasoning is mostly not sent again, and files are too different to guess.
    """
    size = 0
    for part in body.parts:
        match part:
            case TextPart(text):
                size += len(text)
            case ToolCallPart():
                size += len(part.args or "")
            case ToolResultPart():
                size += 0 if part.is_media else len(part.result)
            case _:
                pass
    return size // BYTES_PER_TOKEN


def _read(usage: TokenUsage) -> int:
    """Return the tokens that a model has read in a step; all of its count, if it does not tell."""
    read = (usage.input_tokens, usage.cache_read_tokens, usage.cache_creation_tokens)
    return sum(count for count in read if count and count > 0) or max(usage.total_tokens or 0, 0)
