"""The metrics of a process, declared in one place, and the page that Prometheus reads."""

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

from actors.streams.previews import Previews
from actors.supervisor.slots import SlotsStatistics
from actors.tools.hooks.port import HookReply
from adapters.daemon.metrics.flattened import (
    PREFIX,
    Answered,
    PulledCounter,
    Report,
    RequestDurations,
    StatisticsCollector,
)
from adapters.postgres.driver.faults import DatabaseFault
from adapters.postgres.driver.pool import Pool
from adapters.postgres.queries import SQL

MODEL = ("provider", "model")
TOOL = (*MODEL, "tool_name")
ROOTS, CHILDREN = "root", "subagent"
STREAMING, WAITING = "streaming", "waiting"
STAGE_SECONDS = (0.00025, 0.0005, 0.001, 0.0015, 0.0025, 0.004, 0.01, 0.025, 0.1, 0.5, 2.5)
SECONDS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


def _grown(first: float, factor: int, count: int) -> Iterable[float]:
    return [first * factor**n for n in range(count)]


class MetricsRegistry:
    """The metrics of one process."""

    def __init__(self) -> None:
        # Otherwise each counter is there twice, a second time with the moment of its start.
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self.registry = CollectorRegistry()
        self._chats()
        self._find_tools()
        self._hooks()
        for collector in (ProcessCollector, PlatformCollector, GCCollector):
            collector(registry=self.registry)

    def follow(self, report: Report, answered: Answered) -> None:
        """Show the statistics of long-lived objects, and how long requests took, from now on."""
        self.registry.register(StatisticsCollector(report))
        self.registry.register(RequestDurations(answered))

    def add_counter(self, name: str, help: str, read: Callable[[], float]) -> None:
        """Show a count that another object keeps, read when the page is."""
        self.registry.register(PulledCounter(f"{PREFIX}_{name}", help, read))

    def exposition(self) -> bytes:
        """Return the page that Prometheus reads."""
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

    def hook_dispatched(self, event: str, result: str, seconds: float) -> None:
        """Count a question to the policy hook, by what came of it."""
        self._hook_dispatches.labels(event, result).inc()
        self._hook_seconds.labels(event).observe(seconds)

    def hook_replied(self, event: str, reply: HookReply) -> None:
        """Count what an answer of the policy hook decides, and how much it says."""
        if reply.decision is not None:
            self._hook_decisions.labels(event, reply.decision).inc()
        if reply.override is not None:
            self._hook_overrides.labels(event).inc()
        if reply.model_context:
            size = len(reply.model_context.encode(errors="replace"))
            self._hook_context_size.labels(event).observe(size)

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
        self.message_stage_seconds = self._histogram(
            "chatd_message_stage_seconds",
            "Time that a message that puts a chat to work takes to its model, by stage.",
            STAGE_SECONDS,
            "stage",
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

    def _hooks(self) -> None:
        event = "event"
        self._hook_dispatches = self._counter(
            "chatd_hook_dispatches", "Questions to the policy hook, by result.", event, "result"
        )
        self._hook_seconds = self._histogram(
            "chatd_hook_dispatch_seconds",
            "Time that questions to the policy hook took.",
            Histogram.DEFAULT_BUCKETS,
            event,
        )
        self._hook_decisions = self._counter(
            "chatd_hook_decisions", "Decisions of the policy hook.", event, "decision"
        )
        self._hook_context_size = self._histogram(
            "chatd_hook_context_size_bytes",
            "Size of what the policy hook tells models.",
            _grown(64, 2, 10),
            event,
        )
        self._hook_overrides = self._counter(
            "chatd_hook_input_overrides", "Inputs that the policy hook rewrote.", event
        )

    def _counter(self, name: str, help: str, *labels: str) -> Counter:
        return Counter(f"{PREFIX}_{name}", help, labels, registry=self.registry)

    def _gauge(self, name: str, help: str, *labels: str) -> Gauge:
        return Gauge(f"{PREFIX}_{name}", help, labels, registry=self.registry)

    def _histogram(self, name: str, help: str, buckets: Any, *labels: str) -> Histogram:
        return Histogram(f"{PREFIX}_{name}", help, labels, buckets=buckets, registry=self.registry)


class CapacityMetrics:
    """Gauges of how full this process is: chats at work, and those that wait for a place."""

    def __init__(self, figures: MetricsRegistry, previews: Previews, pool: Pool) -> None:
        self._figures = figures
        self._previews = previews
        self._pool = pool
        figures.add_counter(
            "chatd_stream_buffer_dropped",
            "Pieces of answers that no watcher was shown, because there were too many.",
            lambda: previews.statistics().dropped_count,
        )

    async def update(self, slots: SlotsStatistics) -> None:
        """Update the gauges before the page is read; without a database the last counts stay."""
        figures, held = self._figures, slots.roots + slots.children + slots.waiting
        streaming = min(held, self._previews.statistics().open_count)
        figures.chats.labels(STREAMING).set(streaming)
        figures.chats.labels(WAITING).set(held - streaming)
        figures.agents_active.labels(ROOTS).set(slots.roots)
        figures.agents_active.labels(CHILDREN).set(slots.children)
        roots_full = slots.roots >= slots.roots_max
        children_full = slots.children >= slots.children_max
        roots, children = 0, 0
        if roots_full or children_full:
            try:
                roots, children = await self._waiting()
            except DatabaseFault:
                return
        figures.agents_queued.labels(ROOTS).set(roots if roots_full else 0)
        figures.agents_queued.labels(CHILDREN).set(children if children_full else 0)

    async def _waiting(self) -> tuple[int, int]:
        async with self._pool.connection() as connection:
            [(roots, children)] = await connection.execute(SQL["waiting_for_capacity"])
        return roots, children
