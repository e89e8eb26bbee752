"""The three messages of a summary. Pure.

The first is what models read from then on in place of all before it; the other two are how users
see it: a call of a tool that does not exist, and its result.
"""

import json
from dataclasses import dataclass
from enum import Enum
from uuid import uuid5

from actors.law.chat import SUMMARY_CALL, Body, Role, Visibility
from actors.law.ids import EpisodeKey, ModelConfigId
from actors.law.parts.message import Cost, JsonText, TextPart, ToolCallPart, ToolResultPart
from actors.prompts.compaction.fullness import Fullness
from actors.prompts.compaction.wording import HANDED_OVER


class Source(Enum):
    AUTOMATIC = "automatic"  # the window was too full
    MANUAL = "manual"  # somebody asked for it


@dataclass(frozen=True, slots=True)
class Summary:
    """What a model made of a conversation, and what that took."""

    text: str
    runtime_ms: int
    cost: Cost


@dataclass(frozen=True, slots=True)
class NoSummary:
    """A model was asked for one, and what it said is none."""

    why: str


@dataclass(frozen=True, slots=True)
class Compaction:
    """Why and where a conversation is summarised."""

    key: EpisodeKey  # of the attempt at it
    source: Source
    full: Fullness

    @property
    def call_id(self) -> str:
        """Another one for each attempt."""
        attempt = f"{SUMMARY_CALL}/{self.key.history_version}.{self.key.attempt}"
        return f"{SUMMARY_CALL}_{uuid5(self.key.chat, attempt)}"

    def begun(self) -> ToolCallPart:
        """What watchers are shown while they wait."""
        return ToolCallPart(self.call_id, SUMMARY_CALL)

    def failed(self, why: str) -> ToolResultPart:
        return _result(self, {"error": why}, is_error=True)

    def succeeded(self, summary: Summary) -> ToolResultPart:
        return _result(self, {"summary": summary.text, **self._facts()})

    def rows(self, summary: Summary, model: ModelConfigId | None) -> tuple[Body, ...]:
        """`model` is the chat's own, whoever wrote the summary."""
        args = {"source": self.source.value, "threshold_percent": self.full.threshold_percent}
        call = ToolCallPart(self.call_id, SUMMARY_CALL, _json(args))
        told = TextPart(f"{HANDED_OVER}\n\n{summary.text}")
        return (
            Body(Role.USER, (told,), Visibility.MODEL, compressed=True, model_config_id=model),
            Body(
                Role.ASSISTANT,
                (call,),
                Visibility.USER,
                compressed=True,
                model_config_id=model,
                runtime_ms=summary.runtime_ms or None,
                cost=summary.cost,
            ),
            Body(Role.TOOL, (self.succeeded(summary),), compressed=True, model_config_id=model),
        )

    def _facts(self) -> dict[str, object]:
        full = self.full
        return {
            "source": self.source.value,
            "threshold_percent": full.threshold_percent,
            "usage_percent": round(full.percent, 2),
            "context_tokens": full.tokens,
            "context_limit_tokens": full.limit,
        }


def _result(
    compaction: Compaction, said: dict[str, object], *, is_error: bool = False
) -> ToolResultPart:
    return ToolResultPart(compaction.call_id, SUMMARY_CALL, _json(said), is_error=is_error)


def _json(said: object) -> JsonText:
    return JsonText(json.dumps(said, ensure_ascii=False))
