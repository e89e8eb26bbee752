"""Counts for Prometheus of what turns tell of models and tools."""

from itertools import pairwise

from actors.chat.turn.ports import CompactionResult, Model, ToolInvocation, ToolOutput
from actors.chat.turn.work import MessageTimes
from actors.law.ids import ModelConfigId
from actors.law.parts.deltas import FailureKind
from actors.law.parts.prompt import Prompt, bytes_of, text_bytes
from adapters.daemon.metrics.figures import MetricsRegistry
from runtime.clock import now

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
        stages = ("admit", "commit", "start", "prepare", "all")
        self._stages = [figures.message_stage_seconds.labels(stage) for stage in stages]

    def model_asked(self, model: Model, prompt: Prompt) -> None:
        labels = self._models[model.config_id] = model.vendor, model.name
        figures, size = self._figures, prompt.bytes_count
        if size is None:
            size = text_bytes(prompt.messages)
        figures.steps.labels(*labels).inc()
        figures.message_count.labels(*labels).observe(len(prompt.messages))
        figures.prompt_size_bytes.labels(*labels).observe(size)

    def message_prepared(self, message: MessageTimes, begun: float) -> None:
        at = now()
        moments = (message.arrived, message.writing, message.committed, begun, at)
        seconds = [after - before for before, after in pairwise(moments)]
        for stage, taken in zip(self._stages, (*seconds, at - message.arrived), strict=True):
            stage.observe(taken)

    def answer_began(self, model: Model, seconds: float) -> None:
        self._figures.ttft_seconds.labels(model.vendor, model.name).observe(seconds)

    def attempt_failed(self, model: Model, kind: FailureKind) -> None:
        self._figures.stream_retries.labels(model.vendor, model.name, kind.value).inc()

    def tool_ended(self, calling: ToolInvocation, output: ToolOutput, *, is_cut: bool) -> None:
        figures, labels = self._figures, self._labels_of(calling)
        figures.tool_result_size_bytes.labels(*labels).observe(bytes_of(output.result))
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
