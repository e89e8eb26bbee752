"""The frozen records that `statistics()` returns, and what their numbers mean.

Each number declares its kind and says in a sentence what it is, for those who read metrics:

    kept: Annotated[int, GaugeMetric("Entries that a cache keeps.", name="entries")]

Counts grow only; the rest is as of now.
"""

from bisect import bisect_left
from dataclasses import dataclass
from typing import Annotated, ClassVar

from runtime.ends import Cause

# In seconds, of histograms.
DURATION_BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


@dataclass(frozen=True, slots=True)
class CounterMetric:
    """A mark for a field that only grows as long as the process lives.

    A mapping has a count for each key, and `label` says what its keys are.
    """

    help: str
    name: str | None = None  # of the metric; None: as the field is called
    label: str = ""


@dataclass(frozen=True, slots=True)
class GaugeMetric:
    """A mark for a field that holds a value as of now."""

    help: str
    name: str | None = None  # of the metric; None: as the field is called; "": as its record is
    label: str = ""


@dataclass(frozen=True, slots=True)
class HistogramMetric:
    """A mark for a field that holds `DurationCounts`."""

    help: str
    name: str | None = None
    label: str = ""


@dataclass(frozen=True, slots=True)
class DurationCounts:
    """Durations by their length.

    `counts` has one number for each bound, for what took at most so many seconds and more than the
    bound before it, and one more for what took longer than all bounds.
    """

    bounds: tuple[float, ...]
    counts: tuple[int, ...]
    sum_seconds: float

    @property
    def count(self) -> int:
        return sum(self.counts)


class Durations:
    """A counter of durations as they are observed."""

    __slots__ = ("_bounds", "_counts", "_sum_seconds")

    def __init__(self, bounds: tuple[float, ...] = DURATION_BOUNDS) -> None:
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self._sum_seconds = 0.0

    def observe(self, seconds: float) -> None:
        self._counts[bisect_left(self._bounds, seconds)] += 1
        self._sum_seconds += seconds

    def statistics(self) -> DurationCounts:
        return DurationCounts(self._bounds, tuple(self._counts), self._sum_seconds)


@dataclass(frozen=True, slots=True)
class MailboxStatistics:
    """One mailbox: what waits in it, and what became of what was sent to it."""

    name: str
    capacity: Annotated[int, GaugeMetric("Mail that may wait at most, hints aside.")]
    closed: Annotated[bool, GaugeMetric("1 when the mailbox takes no mail any more.")]
    waiting: Annotated[int, GaugeMetric("Mail and asks that wait, hints aside.")]
    hints_waiting: Annotated[int, GaugeMetric("Different hints that wait.")]
    waiting_peak: Annotated[
        int, GaugeMetric("The most mail that ever waited at once, hints included.")
    ]
    asks_open: Annotated[int, GaugeMetric("Asks that are not answered yet, received or not.")]
    received_count: Annotated[int, CounterMetric("Mail that was received.")]
    refused_count: Annotated[
        int, CounterMetric("Casts and asks that were refused because the mailbox was full.")
    ]
    hints_merged_count: Annotated[
        int, CounterMetric("Hints that were merged into an equal one that waited.")
    ]
    hints_dropped_count: Annotated[
        int, CounterMetric("Hints that were lost because too many different ones waited.")
    ]
    lost_count: Annotated[int, CounterMetric("Mail that was waiting when the actor ended.")]


@dataclass(frozen=True, slots=True)
class ChildStatistics:
    """One running child."""

    name: str
    alive_seconds: Annotated[float, GaugeMetric("How long the child has lived in this life.")]
    restarts_count: Annotated[int, CounterMetric("Times that the child was started again.")]
    resting: Annotated[
        bool, GaugeMetric("1 while the child has crashed and waits for its next life.")
    ]
    requested: Cause | None  # why it was told to stop
    mailbox: MailboxStatistics | None


@dataclass(frozen=True, slots=True)
class ChildrenStatistics:
    """One supervisor's children."""

    name: str
    capacity: Annotated[int, GaugeMetric("Children that may run at most.")]
    stopping: Annotated[bool, GaugeMetric("1 while the children are being stopped.")]
    running: Annotated[int, GaugeMetric("Children that run.")]
    running_peak: Annotated[int, GaugeMetric("The most children that ever ran at once.")]
    started_count: Annotated[int, CounterMetric("Children that were started.")]
    restarted_count: Annotated[
        int, CounterMetric("Children that were started again after a crash.")
    ]
    finished_count: Annotated[int, CounterMetric("Children that came to their own end.")]
    stopped_count: Annotated[int, CounterMetric("Children that were told to stop and did.")]
    crashed_count: Annotated[int, CounterMetric("Crashes of children, restarted or not.")]
    broken_count: Annotated[int, CounterMetric("Children in which an assertion failed.")]


@dataclass(frozen=True, slots=True)
class ThreadsStatistics:
    """The threads of one kind of work."""

    family: ClassVar = "threads"

    running: Annotated[
        int, GaugeMetric("Threads of a kind of work that run, those that were left included.")
    ]
    waiting: Annotated[int, GaugeMetric("Callers that wait for a free thread.")]
    left: Annotated[int, GaugeMetric("Threads that run though their callers have gone.")]
    keys: Annotated[int, GaugeMetric("Workspaces, or the like, for which threads run or wait.")]
    begun_count: Annotated[int, CounterMetric("Pieces of work that were begun in threads.")]
    blocked_count: Annotated[int, CounterMetric("Callers that were told that it took too long.")]
