"""The lag of the event loop: how long a task that could run waits until it does.

A trip round the loop takes as long as all tasks that are ready, one after the other. It takes some
50 microseconds while there is little to do; what it takes beyond that is felt at every wait of a
piece of work, and there are dozens of these between a message and its answer.
"""

from dataclasses import dataclass
from typing import Annotated, NoReturn

import trio

from runtime.clock import now
from runtime.statistics import DurationCounts, Durations, GaugeMetric, HistogramMetric

# Between two trips that are measured whatever the process does: an idle process is woken seldom.
SAMPLE_SECONDS, SAMPLE_SECONDS_BEHIND = 1.0, 0.1
BEHIND_SECONDS = 0.001  # a lag from which on the loop is behind
NEWEST_SHARE = 0.2  # of what is told, the rest is that of the trips before
TRIP_BOUNDS = (0.0005, 0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.125, 0.25, 0.5, 1.0)


@dataclass(frozen=True, slots=True)
class LagStatistics:
    lag_seconds: Annotated[
        float, GaugeMetric("How long a task that could run waits now until it does, smoothed.")
    ]
    trips: Annotated[
        DurationCounts,
        HistogramMetric(
            "Time of trips round the event loop: one in a second, ten while it is behind.",
            name="trip_seconds",
        ),
    ]


class LoopLag:
    """The lag of the loop that it is used in. Whoever makes a trip anyway may add to it."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._trips = Durations(TRIP_BOUNDS)

    async def trip(self) -> float:
        """Let all others run that can, and return how long that took."""
        began = now()
        await trio.lowlevel.checkpoint()
        seconds = now() - began
        self.seconds += (seconds - self.seconds) * NEWEST_SHARE
        return seconds

    async def watch(self) -> NoReturn:
        """Measure a trip now and then, until cancelled."""
        while True:
            is_behind = self.seconds >= BEHIND_SECONDS
            await trio.sleep(SAMPLE_SECONDS_BEHIND if is_behind else SAMPLE_SECONDS)
            self._trips.observe(await self.trip())

    def statistics(self) -> LagStatistics:
        return LagStatistics(self.seconds, self._trips.statistics())
