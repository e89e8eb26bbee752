"""Counts for Prometheus of what turns tell of models and tools."""

from collections.abc import Iterable

from actors.chat.turn.ports import CompactionResult, Model, ToolInvocation, ToolOutput
from actors.law.ids import ModelConfigId
from actors.law.parts.deltas import FailureKind
from actors.law.parts.message import FilePart, ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from actors.law.parts.prompt import AssistantOutput, Prompt, PromptMessage, ToolResults, UserInput
from adapters.daemon.metrics.figures import MetricsRegistry

Labels = tuple[str, str]
UNKNOWN_MODEL: Labels = ("unknown", "unknown")
# Tools with a label of their own; results of those that come later are counted together.
TOOL_NAMES_MAX = 500
OTHER_TOOLS = "(others)"


class PrometheusTelemetry:
    """Fulfils `actors.chat.turn.ports.Telemetry`."""

    def __init__(self, figures: MetricsRegistry) -> None:
        self._figures = figures
        # Of each model that was asked here: results of tools are counted by the chat's model.
        self._models: dict[ModelConfigId | None, Labels] = {}  # as many as there are models
        self._tools: set[str] = set()  # that have a label of their own

    def model_asked(self, model: Model, prompt: Prompt) -> None:
        labels = self._models[model.config_id] = model.vendor, model.name
        figures = self._figures
        figures.steps.labels(*labels).inc()
        figures.message_count.labels(*labels).observe(len(prompt.messages))
        figures.prompt_size_bytes.labels(*labels).observe(_size(prompt.messages))

    def answer_began(self, model: Model, seconds: float) -> None:
        self._figures.ttft_seconds.labels(model.vendor, model.name).observe(seconds)

    def attempt_failed(self, model: Model, kind: FailureKind) -> None:
        self._figures.stream_retries.labels(model.vendor, model.name, kind.value).inc()

    def tool_ended(self, calling: ToolInvocation, output: ToolOutput, *, is_cut: bool) -> None:
        figures, labels = self._figures, self._labels_of(calling)
        figures.tool_result_size_bytes.labels(*labels).observe(_bytes_of(output.result))
        if output.is_error:
            figures.tool_errors.labels(*labels).inc()
        if is_cut:
            figures.tool_result_truncated.labels(*labels).inc()

    def tool_crashed(self, calling: ToolInvocation) -> None:
        self._figures.tool_errors.labels(*self._labels_of(calling)).inc()

    def compaction_ended(self, model: Model, result: CompactionResult) -> None:
        self._figures.compactions.labels(model.vendor, model.name, result).inc()

    def _labels_of(self, calling: ToolInvocation) -> tuple[str, str, str]:
        model = self._models.get(calling.chat.last_model_config_id, UNKNOWN_MODEL)
        return *model, self._tool_label(calling.call.name or "unknown")

    def _tool_label(self, name: str) -> str:
        """Return the tool's name, or one label for all tools beyond the bound.

        Servers and clients name their tools as they like, and a label that was once used stays for
        the life of the process.
        """
        if name not in self._tools and len(self._tools) >= TOOL_NAMES_MAX:
            return OTHER_TOOLS
        self._tools.add(name)
        return name


def _size(messages: Iterable[PromptMessage]) -> int:
    """Return the bytes of text and data: of what is said, not of how it is wrapped."""
    size = 0
    for said in messages:
        match said:
            case UserInput(parts) | AssistantOutput(parts):
                size += sum(map(_part_size, parts))
            case ToolResults(answers):
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
