"""Every metric there is, declared in one place, and the page with them."""

from collections.abc import Callable, Iterable
from typing import Any

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    GCCollector,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)

from adapters.metrics.flattened import PREFIX, Answered, Flattened, Pulled, Report, Requests

MODEL = ("provider", "model")
TOOL = (*MODEL, "tool_name")
SECONDS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


def _grown(first: float, factor: int, count: int) -> Iterable[float]:
    return [first * factor**n for n in range(count)]


class Figures:
    """Of one process. Those of things that are not built yet are there and stay at zero."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._chats()
        self._find_tools()
        self._hooks()
        for collector in (ProcessCollector, PlatformCollector, GCCollector):
            collector(registry=self.registry)

    def follow(self, report: Report, answered: Answered) -> None:
        """From now on show these as well."""
        self.registry.register(Flattened(report))
        self.registry.register(Requests(answered))

    def pull(self, name: str, says: str, read: Callable[[], float]) -> None:
        """A count that somebody keeps, read when it is wanted."""
        self.registry.register(Pulled(f"{PREFIX}_{name}", says, read))

    def exposition(self) -> bytes:
        """The page that Prometheus reads."""
        return generate_latest(self.registry)

    def _chats(self) -> None:
        self.chats = self._gauge("chatd_chats", "chats being processed", "state")
        self.message_count = self._histogram(
            "chatd_message_count", "messages of a prompt", _grown(1, 2, 11), *MODEL
        )
        self.prompt_size_bytes = self._histogram(
            "chatd_prompt_size_bytes", "text and data of a prompt", _grown(1024, 4, 10), *MODEL
        )
        self.tool_result_size_bytes = self._histogram(
            "chatd_tool_result_size_bytes", "a result of a tool", _grown(64, 4, 9), *TOOL
        )
        self.tool_result_truncated = self._counter(
            "chatd_tool_result_truncated", "results of tools that were cut", *TOOL
        )
        self.tool_errors = self._counter("chatd_tool_errors", "results that are errors", *TOOL)
        self.ttft_seconds = self._histogram(
            "chatd_ttft_seconds", "from asking to the first part, per attempt", SECONDS, *MODEL
        )
        self.compactions = self._counter(
            "chatd_compaction", "compactions that were begun", *MODEL, "result"
        )
        self.steps = self._counter("chatd_steps", "calls of a model that were begun", *MODEL)
        self.stream_retries = self._counter(
            "chatd_stream_retries", "failures that are tried again", *MODEL, "kind"
        )
        self.agents_active = self._gauge("chatd_agents_active", "chats on places here", "pool")
        self.agents_queued = self._gauge(
            "chatd_agents_queued_for_capacity", "chats that wait for a full pool; take max", "pool"
        )
        self.archived = self._counter(
            "chat_auto_archive_records_archived", "chats archived by themselves, with children"
        )

    def _find_tools(self) -> None:
        self.find_tools_calls = self._counter("chatd_find_tools_calls", "searches for tools")
        self.find_tools_empty = self._counter("chatd_find_tools_empty", "that found none")
        self.find_tools_activations = self._counter(
            "chatd_find_tools_activations", "tools that a search brought in"
        )
        self.find_tools_match_count = self._histogram(
            "chatd_find_tools_match_count", "matches of a search", range(0, 21, 2)
        )

    def _hooks(self) -> None:
        self.hook_dispatches = self._counter(
            "chatd_hook_dispatches", "calls of hooks", "event", "result"
        )
        self.hook_seconds = self._histogram(
            "chatd_hook_dispatch_seconds", "of one call", Histogram.DEFAULT_BUCKETS, "event"
        )
        self.hook_decisions = self._counter(
            "chatd_hook_decisions", "what hooks decided", "event", "decision"
        )
        self.hook_context_size_bytes = self._histogram(
            "chatd_hook_context_size_bytes", "what hooks add", _grown(64, 2, 10), "event"
        )
        self.hook_input_overrides = self._counter(
            "chatd_hook_input_overrides", "inputs that hooks changed", "event"
        )

    def _counter(self, name: str, says: str, *labels: str) -> Counter:
        return Counter(f"{PREFIX}_{name}", says, labels, registry=self.registry)

    def _gauge(self, name: str, says: str, *labels: str) -> Gauge:
        return Gauge(f"{PREFIX}_{name}", says, labels, registry=self.registry)

    def _histogram(self, name: str, says: str, buckets: Any, *labels: str) -> Histogram:
        return Histogram(f"{PREFIX}_{name}", says, labels, buckets=buckets, registry=self.registry)
