"""The world of the chats, seen on its way: what models are asked, how soon they answer, how tools
end. What passes here is not changed.
"""

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from math import inf

from actors.ids import ModelConfigId
from actors.machine.chat import Chat, ChatError, Message
from actors.parts.assemble import Answer
from actors.parts.deltas import Failed, Finished
from actors.parts.failure import FailureKind, ProviderFailure
from actors.parts.model import FilePart, ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from actors.parts.prompt import AssistantSaid, Prompt, Said, ToolsSaid, UserSaid
from actors.tools.truncation import budget
from actors.turn.answering import RENEWED_SHARE
from actors.turn.ports import (
    Batch,
    Calling,
    Model,
    Models,
    Offered,
    Provider,
    ToolOutput,
    Tools,
    Toolset,
)
from actors.turn.steps import window
from actors.turn.world import Limits, World
from adapters.metrics.figures import Figures
from runtime.clock import now

Labels = tuple[str, str]
NOBODY: Labels = ("unknown", "unknown")


def measured(world: World, figures: Figures) -> World:
    """The same world, counted."""
    models = MeasuredModels(world.models, figures, world.limits)
    return replace(world, models=models, tools=MeasuredTools(world.tools, figures, models))


class MeasuredModels:
    """Fulfils `actors.turn.ports.Models`."""

    def __init__(self, models: Models, figures: Figures, limits: Limits) -> None:
        self._models = models
        self._figures = figures
        self._limits = limits
        self._labels: dict[ModelConfigId | None, Labels] = {}  # as many as there are models

    async def model_for(self, chat: Chat) -> Model | ChatError:
        model = await self._models.model_for(chat)
        if isinstance(model, ChatError):
            return model
        labels = self._labels[model.config_id] = model.label, model.name
        provider = MeasuredProvider(model.provider, self._figures, labels, self._limits)
        return replace(model, provider=provider)

    def labels_of(self, chat: Chat) -> Labels:
        return self._labels.get(chat.last_model_config_id, NOBODY)


@dataclass(frozen=True, slots=True)
class MeasuredProvider:
    """Fulfils `actors.turn.ports.Provider`."""

    provider: Provider
    figures: Figures
    labels: Labels
    limits: Limits

    @asynccontextmanager
    async def stream(self, prompt: Prompt) -> AsyncIterator[AsyncIterator[Batch]]:
        self._begin(prompt)
        self.figures.steps.labels(*self.labels).inc()
        async with self.provider.stream(prompt) as batches:
            heard = _Heard(batches, self)
            try:
                yield heard
            finally:
                heard.note_guards()

    async def generate(self, prompt: Prompt) -> Answer | ProviderFailure:
        self._begin(prompt)
        return await self.provider.generate(prompt)

    def first_part(self, seconds: float) -> None:
        self.figures.ttft_seconds.labels(*self.labels).observe(seconds)

    def failed(self, kind: FailureKind) -> None:
        self.figures.stream_retries.labels(*self.labels, kind.value).inc()

    def _begin(self, prompt: Prompt) -> None:
        figures = self.figures
        figures.message_count.labels(*self.labels).observe(len(prompt.messages))
        figures.prompt_size_bytes.labels(*self.labels).observe(_size(prompt.messages))


class _Heard:
    """One answer on its way, and when anything of it was heard."""

    __slots__ = ("_batches", "_has_begun", "_measured", "_since")

    def __init__(self, batches: AsyncIterator[Batch], measured: MeasuredProvider) -> None:
        self._batches = batches
        self._measured = measured
        self._since = now()  # that it has been silent; infinity: it is over
        self._has_begun = False

    def __aiter__(self) -> AsyncIterator[Batch]:
        return self

    async def __anext__(self) -> Batch:
        batch = await self._batches.__anext__()
        if not self._has_begun:
            self._has_begun = True
            if not isinstance(batch[0], Failed):
                self._measured.first_part(now() - self._since)
        self._since = now()
        match batch[-1]:
            case Finished():
                self._since = inf
            case Failed(failure):
                self._since = inf
                if failure.retryable:
                    self._measured.failed(failure.kind)
        return batch

    def note_guards(self) -> None:
        """Cut short after so long a silence: that was our own guard."""
        limits, seconds = self._measured.limits, now() - self._since
        if not self._has_begun and seconds >= limits.startup_seconds:
            self._measured.failed(FailureKind.TIMEOUT)
        elif self._has_begun and seconds >= limits.silence_seconds * (1 - RENEWED_SHARE):
            self._measured.failed(FailureKind.STREAM_SILENCE_TIMEOUT)


@dataclass(frozen=True, slots=True)
class MeasuredTools:
    """Fulfils `actors.turn.ports.Tools`."""

    tools: Tools
    figures: Figures
    models: MeasuredModels

    async def for_turn(self, chat: Chat, history: Sequence[Message]) -> Toolset:
        return _MeasuredToolset(await self.tools.for_turn(chat, history), self)


@dataclass(frozen=True, slots=True)
class _MeasuredToolset:
    toolset: Toolset
    measured: MeasuredTools

    @property
    def offered(self) -> Offered:
        return self.toolset.offered

    async def run(self, calling: Calling) -> ToolOutput:
        figures = self.measured.figures
        labels = (*self.measured.models.labels_of(calling.chat), calling.call.name or "unknown")
        try:
            output = await self.toolset.run(calling)
        except Exception:  # a bug in a tool is that tool's result, as far as the model is concerned
            figures.tool_errors.labels(*labels).inc()
            raise
        size = len(output.result.encode("utf-8", "replace"))
        figures.tool_result_size_bytes.labels(*labels).observe(size)
        if output.is_error:
            figures.tool_errors.labels(*labels).inc()
        if size > budget(window(calling.history)) and not output.is_media:
            figures.tool_result_truncated.labels(*labels).inc()
        return output


def _size(messages: Iterable[Said]) -> int:
    """Of text and data, in characters: what is said, not how it is wrapped."""
    size = 0
    for said in messages:
        match said:
            case UserSaid(parts) | AssistantSaid(parts):
                size += sum(map(_part_size, parts))
            case ToolsSaid(answers):
                size += sum(len(answer.text) for answer in answers)
    return size


def _part_size(part: TextPart | ReasoningPart | FilePart | ToolCallPart | ToolResultPart) -> int:
    match part:
        case TextPart() | ReasoningPart():
            return len(part.text)
        case FilePart():
            return len(part.data or "")
        case ToolCallPart():
            return len(part.args or "")
        case ToolResultPart():
            return len(part.result)
