"""Ask a model and show its answer as it comes, under two guards: it has to begin, and to go on.

Our own guard is asked before anything is blamed on the provider: an attempt that we cut short is a
timeout, whatever came out of the connection on the way.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from actors.episodes.buffer import Episode
from actors.episodes.pieces import ArgsPiece, Piece, ReasoningPiece
from actors.failures import wording
from actors.machine.chat import Role
from actors.parts.assemble import Answer, Assembly
from actors.parts.deltas import (
    Delta,
    Failed,
    Finished,
    FinishReason,
    ReasoningDelta,
    TextDelta,
    ToolInputDelta,
    ToolInputStarted,
)
from actors.parts.failure import ProviderFailure
from actors.parts.model import Part, ReasoningPart, TextPart
from actors.parts.prompt import Prompt
from actors.turn.causes import Silent, SlowStart
from actors.turn.ports import Batch, Model
from actors.turn.world import Limits
from runtime.clock import now, wall
from runtime.scope import CausedScope


@dataclass(frozen=True, slots=True)
class Asked:
    """What a model made of a prompt, and how long it took."""

    said: Answer | ProviderFailure
    runtime_ms: int


async def ask(model: Model, prompt: Prompt, episode: Episode, limits: Limits) -> Asked:
    began = episode.asked_model_at = now()
    hearing = _Hearing(episode)
    guard = CausedScope()
    guard.renew(limits.startup_seconds, SlowStart(limits.startup_seconds))
    silent = Silent(limits.silence_seconds)
    with guard:
        async with model.provider.stream(prompt) as batches:
            async for batch in batches:
                guard.renew(limits.silence_seconds, silent)
                hearing.hear(batch, wall())
    if guard.requested is not None:  # our own doing, whatever else went wrong on the way
        said: Answer | ProviderFailure = wording.silent(model.label)
    else:
        said = hearing.outcome(model.label)
    return Asked(said, round((now() - began) * 1000))


class _Hearing:
    """Takes in what a provider says, and shows it."""

    def __init__(self, episode: Episode) -> None:
        self._episode = episode
        self._assembly = Assembly()
        self._end: Finished | Failed | None = None

    def hear(self, batch: Batch, at: datetime) -> None:
        add = self._episode.add
        for piece in shown(batch, self._assembly, at):
            add(Role.ASSISTANT, piece)
        last = batch[-1]
        if isinstance(last, Finished | Failed):
            self._end = last

    def outcome(self, label: str) -> Answer | ProviderFailure:
        end = self._end
        assert end is not None, "a provider's answer ends with Finished or Failed"
        if isinstance(end, Failed):
            return end.failure
        answer = self._assembly.answer()
        withheld = end.reason is FinishReason.CONTENT_FILTER
        if withheld and all(isinstance(part, ReasoningPart) for part in answer.parts):
            return wording.withheld(label, answer.refusal)
        return answer


def shown(batch: Sequence[Delta], assembly: Assembly, at: datetime) -> list[Piece]:
    """What watchers get to see of a batch. Text that arrived together is shown together."""
    pieces: list[Piece] = []
    text: list[str] = []
    for delta in batch:
        completed = assembly.add(delta, at)
        if type(delta) is TextDelta:
            text.append(delta.text)
            continue
        if text:
            pieces.append(TextPart("".join(text)))
            text.clear()
        piece = _shown(delta, completed, at)
        if piece is not None:
            pieces.append(piece)
    if text:
        pieces.append(TextPart("".join(text)))
    return pieces


def _shown(delta: Delta, completed: Part | None, at: datetime) -> Piece | None:
    match delta:
        case ReasoningDelta(text=text, metadata=metadata):
            return ReasoningPiece(text, at, metadata)
        case ToolInputStarted():
            return ArgsPiece(delta.id, delta.name, "", delta.provider_executed, at)
        case ToolInputDelta():
            return ArgsPiece(delta.id, delta.name, delta.args_delta, delta.provider_executed, at)
        case _:
            # Text and thoughts have been shown while they came; everything else is shown whole.
            return None if isinstance(completed, TextPart | ReasoningPart) else completed
