"""The world of the chats, seen on its way: what models are asked, how soon they answer, how tools
end. What passes here is not changed.
"""

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace

from actors.chat.turn.ports import (
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
from actors.chat.turn.steps import window
from actors.chat.turn.world import World
from actors.law.chat import Chat, ChatError, Message
from actors.law.ids import ModelConfigId
from actors.law.parts.assemble import Answer
from actors.law.parts.failure import FailureKind, ProviderFailure
from actors.law.parts.model import FilePart, ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from actors.law.parts.prompt import AssistantSaid, Prompt, Said, ToolsSaid, UserSaid
from actors.tools.truncation import budget
from adapters.daemon.metrics.figures import Figures

Labels = tuple[str, str]
NOBODY: Labels = ("unknown", "unknown")
# Tools with a label of their own; results of those that come later are counted together.
TOOL_NAMES_MAX = 500
OTHER_TOOLS = "(others)"


def measured(world: World, figures: Figures) -> World:
    """The same world, counted."""
    models = MeasuredModels(world.models, figures)
    return replace(world, models=models, tools=MeasuredTools(world.tools, figures, models))


class MeasuredModels:
    """Fulfils `actors.chat.turn.ports.Models`."""

    def __init__(self, models: Models, figures: Figures) -> None:
        self._models = models
        self._figures = figures
        self._labels: dict[ModelConfigId | None, Labels] = {}  # as many as there are models

    async def model_for(self, chat: Chat) -> Model | ChatError:
        model = await self._models.model_for(chat)
        if isinstance(model, ChatError):
            return model
        labels = self._labels[model.config_id] = model.label, model.name
        provider = MeasuredProvider(model.provider, self._figures, labels)
        return replace(model, provider=provider, meter=LabelledMeter(self._figures, labels))

    def labels_of(self, chat: Chat) -> Labels:
        return self._labels.get(chat.last_model_config_id, NOBODY)


@dataclass(frozen=True, slots=True)
class MeasuredProvider:
    """Fulfils `actors.chat.turn.ports.Provider`."""

    provider: Provider
    figures: Figures
    labels: Labels

    def stream(self, prompt: Prompt) -> AbstractAsyncContextManager[AsyncIterator[Batch]]:
        self._begin(prompt)
        self.figures.steps.labels(*self.labels).inc()
        return self.provider.stream(prompt)

    async def generate(self, prompt: Prompt) -> Answer | ProviderFailure:
        self._begin(prompt)
        return await self.provider.generate(prompt)

    def _begin(self, prompt: Prompt) -> None:
        figures = self.figures
        figures.message_count.labels(*self.labels).observe(len(prompt.messages))
        figures.prompt_size_bytes.labels(*self.labels).observe(_size(prompt.messages))


@dataclass(frozen=True, slots=True)
class LabelledMeter:
    """Fulfils `actors.chat.turn.ports.ModelMeter`."""

    figures: Figures
    labels: Labels

    def answer_began(self, seconds: float) -> None:
        self.figures.ttft_seconds.labels(*self.labels).observe(seconds)

    def attempt_failed(self, kind: FailureKind) -> None:
        self.figures.stream_retries.labels(*self.labels, kind.value).inc()


class ToolNames:
    """Names of tools as labels. Servers and clients name their tools as they like, and a label
    that was once used stays for the life of the process."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def label_of(self, name: str) -> str:
        if name not in self._known and len(self._known) >= TOOL_NAMES_MAX:
            return OTHER_TOOLS
        self._known.add(name)
        return name


@dataclass(frozen=True, slots=True)
class MeasuredTools:
    """Fulfils `actors.chat.turn.ports.Tools`."""

    tools: Tools
    figures: Figures
    models: MeasuredModels
    names: ToolNames = field(default_factory=ToolNames)

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
        name = self.measured.names.label_of(calling.call.name or "unknown")
        labels = (*self.measured.models.labels_of(calling.chat), name)
        try:
            output = await self.toolset.run(calling)
        except Exception:  # a bug in a tool is that tool's result, as far as the model is concerned
            figures.tool_errors.labels(*labels).inc()
            raise
        size = _bytes_of(output.result)
        figures.tool_result_size_bytes.labels(*labels).observe(size)
        if output.is_error:
            figures.tool_errors.labels(*labels).inc()
        if size > budget(window(calling.history)) and not output.is_media:
            figures.tool_result_truncated.labels(*labels).inc()
        return output


def _size(messages: Iterable[Said]) -> int:
    """Return the bytes of text and data: what is said, not how it is wrapped."""
    size = 0
    for said in messages:
        match said:
            case UserSaid(parts) | AssistantSaid(parts):
                size += sum(map(_part_size, parts))
            case ToolsSaid(answers):
                size += sum(_bytes_of(answer.text) for answer in answers)
    return size


def _part_size(part: TextPart | ReasoningPart | FilePart | ToolCallPart | ToolResultPart) -> int:
    match part:
        case TextPart() | ReasoningPart():
            return _bytes_of(part.text)
        case FilePart():
            return _bytes_of(part.data or "")
        case ToolCallPart():
            return _bytes_of(part.args or "")
        case ToolResultPart():
            return _bytes_of(part.result)


def _bytes_of(text: str) -> int:
    # Python knows of a text whether it is ASCII, so most are not encoded for this.
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
