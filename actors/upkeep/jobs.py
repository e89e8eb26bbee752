"""Jobs that no turn waits for. A job outlives the task that begins it.

It ends by itself, or with the process: at shutdown jobs go on for a while, but try nothing again
that has failed; then they are cancelled.
An error in a job is logged and ends only that job; a failed assertion is raised to the kernel.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Annotated

import trio

from runtime.children import Body, Child, Children, open_children
from runtime.ends import End, holds_assertion
from runtime.errors import ActorGone, ChildrenFull
from runtime.log import emit
from runtime.statistics import CounterMetric, GaugeMetric

JOBS_MAX = 1000  # one more is refused, and counted: what it would have done is not done
DRAIN_SECONDS = 10.0  # how long jobs may go on once the process stops; then they are cancelled


@dataclass(frozen=True, slots=True)
class BackgroundStatistics:
    capacity: Annotated[int, GaugeMetric("Jobs beside turns that may run at once.")]
    running: Annotated[int, GaugeMetric("Jobs beside turns that run.")]
    running_peak: Annotated[int, GaugeMetric("The most jobs beside turns that ever ran at once.")]
    begun_count: Annotated[int, CounterMetric("Jobs beside turns that were begun.")]
    failed_count: Annotated[int, CounterMetric("Jobs beside turns in which something went wrong.")]
    cut_short_count: Annotated[
        int, CounterMetric("Jobs beside turns that were cut short by the end of the process.")
    ]
    repeated_count: Annotated[
        int, CounterMetric("Jobs that were asked for while one of that name ran.")
    ]
    refused_count: Annotated[
        int,
        CounterMetric("Jobs that were refused: there was no room, or the process was stopping."),
    ]


class Background:
    """The jobs of a process. Made by `open_background`."""

    def __init__(self, children: Children, *, drain_seconds: float) -> None:
        self._children = children
        self._drain_seconds = drain_seconds
        self._stopping = trio.Event()
        self._failed_count = 0
        self._repeated_count = 0
        self._refused_count = 0

    def begin(self, name: str, job: Body) -> bool:
        """Begin `job`. Return False if one of that name runs, or there is no room: then it is not
        begun."""
        if self._children.find(name) is not None:
            self._repeated_count += 1
            return False

        async def live() -> None:
            await self._live(name, job)

        try:
            self._children.start(
                Child(
                    name=name,
                    body=live,
                    when_ended=_ended,
                    tell_to_stop=self._stopping.set,
                    grace_seconds=self._drain_seconds,
                )
            )
        except (ActorGone, ChildrenFull):
            self._refused_count += 1
            return False
        return True

    async def pause(self, seconds: float) -> bool:
        """Sleep so long. Return False at once when the process stops: then nothing is tried
        again."""
        with trio.move_on_after(seconds):
            await self._stopping.wait()
        return not self._stopping.is_set()

    def statistics(self) -> BackgroundStatistics:
        children = self._children.statistics()
        return BackgroundStatistics(
            capacity=children.capacity,
            running=children.running,
            running_peak=children.running_peak,
            begun_count=children.started_count,
            failed_count=self._failed_count + children.broken_count,
            cut_short_count=children.stopped_count,
            repeated_count=self._repeated_count,
            refused_count=self._refused_count,
        )

    async def _live(self, name: str, job: Body) -> None:
        try:
            await job()
        except Exception as error:
            if holds_assertion(error):
                raise
            self._failed_count += 1
            emit("job.failed", "warning", job=name, error=error)


def _ended(name: str, end: End) -> None:
    """Do nothing: no task waits for a job, and what went wrong has been logged."""


@asynccontextmanager
async def open_background(
    *, capacity: int = JOBS_MAX, drain_seconds: float = DRAIN_SECONDS
) -> AsyncIterator[Background]:
    """Take jobs as long as the block runs; then those that run may go on for `drain_seconds`."""
    async with open_children("background", capacity=capacity) as children:
        yield Background(children, drain_seconds=drain_seconds)
