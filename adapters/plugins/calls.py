"""Calls into the loop of a plugin: how they end, and what is counted of them."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, ClassVar

import outcome
import trio

from runtime.ends import Cause
from runtime.scope import CausedScope
from runtime.statistics import CounterMetric, GaugeMetric

Work = Callable[[], Awaitable[Any]]


class PluginFault(Exception):
    """A plugin did not do what it was asked. The text says so to users and models."""


class PluginUnavailable(PluginFault):
    """A plugin does not run, or has too much to do. It may be asked again later."""


def words_of(error: BaseException) -> str:
    """Return an error in words. Those of a plugin may fail even when they are read."""
    kind = type(error).__name__
    try:
        return f"{kind}: {error}"
    except Exception:  # noqa: BLE001  the plugin's own code raised it
        return kind


class PluginState(Enum):
    """The states of a plugin. The values are the words in which people are told of them."""

    LOADING = "loading"
    RUNNING = "running"
    FAILED = "not loaded"
    BLOCKED = "blocked"  # for so long that nothing is asked of it
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class ResultNotNeeded(Cause):
    """The caller of a plugin was cancelled and does not wait for the result any more."""


@dataclass(frozen=True, slots=True)
class PluginStatistics:
    """The figures of one plugin: its state, and what became of the calls to it."""

    family: ClassVar = "plugin"

    version: str
    state: str
    why: str  # it does not run
    brings: str
    running: Annotated[bool, GaugeMetric("1 while the plugin is loaded and asked.")]
    blocked: Annotated[
        bool, GaugeMetric("1 while its code keeps its event loop from turning.", name="blocked_now")
    ]
    calls: Annotated[
        int, GaugeMetric("Calls that run, lingering ones included.", name="calls_running")
    ]
    tasks: Annotated[int, GaugeMetric("Tasks in its event loop, those of its calls included.")]
    lingering: Annotated[int, GaugeMetric("Calls that were cancelled and have not ended.")]
    calls_count: Annotated[int, CounterMetric("Calls that were begun.")]
    failed_count: Annotated[int, CounterMetric("Calls that ended with a fault of the plugin.")]
    refused_count: Annotated[int, CounterMetric("Calls that were refused: too many ran.")]
    blocked_count: Annotated[int, CounterMetric("Times that it blocked its event loop.")]
    lingered_count: Annotated[int, CounterMetric("Cancelled calls that did not end in time.")]


class PluginCall:
    """One call into the plugin's loop, and its outcome."""

    __slots__ = ("ended", "is_left", "outcome", "scope", "shelter", "when_ended", "work")

    def __init__(self, work: Work, when_ended: Callable[[], None]) -> None:
        self.work = work
        self.when_ended = when_ended  # called in the daemon's loop
        # Of the plugin's loop. Code that swallows its cancellation would get it again at every
        # await, and loop without a pause: so the inner scope shelters it in the end.
        self.scope, self.shelter = CausedScope(), CausedScope()
        self.ended = trio.Event()  # of the daemon's loop
        self.outcome: outcome.Outcome[Any] | None = None
        self.is_left = False  # its caller does not wait for it any more

    def result(self) -> Any:
        assert self.outcome is not None, "a call that has ended has an outcome"
        if isinstance(self.outcome, outcome.Error):
            error = self.outcome.error
            if not isinstance(error, Exception):  # SystemExit, for instance, is not for us
                raise PluginFault(f"its code raised {type(error).__name__}")
        return self.outcome.unwrap()
