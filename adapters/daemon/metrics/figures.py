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
    disable_created_metrics,
    generate_latest,
)

from adapters.daemon.metrics.flattened import PREFIX, Answered, Flattened, Pulled, Report, Requests

MODEL = ("provider", "model")
TOOL = (*MODEL, "tool_name")
SECONDS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


def _grown(first: float, factor: int, count: int) -> Iterable[float]:
    return [first * factor**n for n in range(count)]


class Figures:
    """The metrics of one process."""

    def __init__(self) -> None:
        # Else each counter is there twice, a second time with the moment of its start.
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self.registry = CollectorRegistry()
        self._chats()
        self._find_tools()
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

    def note_search(self, matches: int | None, activated: int = 0) -> None:
        """Count a search for tools; `matches` is None if it was refused."""
        self._find_tools_calls.inc()
        if matches is None:
            return
        self._find_tools_match_count.observe(matches)
        self._find_tools_activations.inc(activated)
        if matches == 0:
            self._find_tools_empty.inc()

    def _chats(self) -> None:
        self.chats = self._gauge(
            "chatd_chats", "Chats that are held here: in a model's answer, or waiting.", "state"
        )
        self.message_count = self._histogram(
            "chatd_message_count", "Messages of a prompt.", _grown(1, 2, 11), *MODEL
        )
        self.prompt_size_bytes = self._histogram(
            "chatd_prompt_size_bytes",
            "Size of the text and data of a prompt.",
            _grown(1024, 4, 10),
            *MODEL,
        )
        self.tool_result_size_bytes = self._histogram(
            "chatd_tool_result_size_bytes", "Size of a tool's result.", _grown(64, 4, 9), *TOOL
        )
        self.tool_result_truncated = self._counter(
            "chatd_tool_result_truncated", "Results of tools that were cut.", *TOOL
        )
        self.tool_errors = self._counter(
            "chatd_tool_errors", "Results of tools that are errors.", *TOOL
        )
        self.ttft_seconds = self._histogram(
            "chatd_ttft_seconds",
            "Time from asking a model to the first part of its answer, per attempt.",
            SECONDS,
            *MODEL,
        )
        self.compactions = self._counter(
            "chatd_compaction", "Compactions that have ended, by their result.", *MODEL, "result"
        )
        self.steps = self._counter("chatd_steps", "Calls of a model that were begun.", *MODEL)
        self.stream_retries = self._counter(
            "chatd_stream_retries", "Failures of a model that are tried again.", *MODEL, "kind"
        )
        self.agents_active = self._gauge(
            "chatd_agents_active", "Chats that take a place here.", "pool"
        )
        self.agents_queued = self._gauge(
            "chatd_agents_queued_for_capacity",
            "Chats of all processes that wait while the pool is full here; aggregate with max.",
            "pool",
        )

    def _find_tools(self) -> None:
        self._find_tools_calls = self._counter(
            "chatd_find_tools_calls", "Searches of models for tools, refused ones included."
        )
        self._find_tools_empty = self._counter(
            "chatd_find_tools_empty", "Searches of models for tools that found none."
        )
        self._find_tools_activations = self._counter(
            "chatd_find_tools_activations", "Tools that a search had described to the model."
        )
        self._find_tools_match_count = self._histogram(
            "chatd_find_tools_match_count", "Tools that a search found.", range(0, 21, 2)
        )

    def _counter(self, name: str, says: str, *labels: str) -> Counter:
        return Counter(f"{PREFIX}_{name}", says, labels, registry=self.registry)

    def _gauge(self, name: str, says: str, *labels: str) -> Gauge:
        return Gauge(f"{PREFIX}_{name}", says, labels, registry=self.registry)

    def _histogram(self, name: str, says: str, buckets: Any, *labels: str) -> Histogram:
        return Histogram(f"{PREFIX}_{name}", says, labels, buckets=buckets, registry=self.registry)
