"""Statistics of long-lived objects as metrics: `server.cut_count` is promptcorner_server_cut_count.

Nobody declares them: a field more in a frozen record is a metric more. What is no number is left
out; `GET /debug/actors` has it all.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from prometheus_client.metrics_core import (
    CounterMetricFamily,
    Metric,
    SummaryMetricFamily,
    UnknownMetricFamily,
)
from prometheus_client.registry import Collector

PREFIX = "promptcorner"

Report = Callable[[], Mapping[str, Any]]
"""The statistics of every long-lived object, by what it is called."""

Answered = Mapping[tuple[str, str, int], Sequence[float]]
"""Method, path of the row and status: how many requests, and how many seconds in all."""


class Flattened(Collector):
    def __init__(self, report: Report) -> None:
        self._report = report

    def describe(self) -> list[Metric]:
        return []  # nothing is asked of anybody before somebody reads

    def collect(self) -> Iterator[Metric]:
        for name, value in flattened(self._report()):
            says = f"statistics() of {name.partition('_')[0]}"
            yield UnknownMetricFamily(f"{PREFIX}_{name}", says, value=value)


class Pulled(Collector):
    """One count of somebody else's, which only grows."""

    def __init__(self, name: str, says: str, read: Callable[[], float]) -> None:
        self._name = name
        self._says = says
        self._read = read

    def collect(self) -> Iterator[Metric]:
        yield CounterMetricFamily(self._name, self._says, value=self._read())


class Requests(Collector):
    """What came out at the door."""

    def __init__(self, answered: Answered) -> None:
        self._answered = answered

    def describe(self) -> list[Metric]:
        return []

    def collect(self) -> Iterator[Metric]:
        family = SummaryMetricFamily(
            f"{PREFIX}_http_request_seconds",
            "from a request's head to its answer",
            labels=("method", "path", "status"),
        )
        for (method, path, status), (count, seconds) in sorted(self._answered.items()):
            family.add_metric(
                (method, path, str(status)), count_value=int(count), sum_value=seconds
            )
        yield family


def flattened(report: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """Every number of it, by its way through the records."""
    for name, value in report.items():
        if isinstance(value, int | float):
            yield name, float(value)
        elif is_dataclass(value) and not isinstance(value, type):
            inner = {field.name: getattr(value, field.name) for field in fields(value)}
            for rest, number in flattened(inner):
                yield f"{name}_{rest}", number
