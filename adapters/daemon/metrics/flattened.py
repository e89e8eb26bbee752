"""Statistics of long-lived objects as metrics: `server.cut_count` is promptcorner_server_cut_total.

Each number of a record declares what it is, beside the field (`runtime.statistics`): a number that
declares nothing is no metric, and a test refuses it. Records of a class with a `family` are told
apart by a label instead of by their names: promptcorner_cache_entries{cache="people"}.
`GET /debug/actors` has everything, numbers or not.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, get_type_hints

from prometheus_client.metrics_core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from runtime.statistics import (
    CounterMetric,
    DurationCounts,
    Durations,
    GaugeMetric,
    HistogramMetric,
)

PREFIX = "promptcorner"

Report = Callable[[], Mapping[str, Any]]
"""The statistics of every long-lived object, by what it is called."""

Answered = Mapping[tuple[str, str, int], Durations]
"""Method, path of the row and status: how long requests took."""

Declared = CounterMetric | GaugeMetric | HistogramMetric
Family = CounterMetricFamily | GaugeMetricFamily | HistogramMetricFamily
FAMILIES: Mapping[type[Declared], Callable[..., Family]] = {
    CounterMetric: CounterMetricFamily,
    GaugeMetric: GaugeMetricFamily,
    HistogramMetric: HistogramMetricFamily,
}
Labels = Mapping[str, str]


class StatisticsCollector(Collector):
    """The metrics of a report of statistics."""

    def __init__(self, report: Report) -> None:
        self._report = report

    def describe(self) -> list[Metric]:
        return []  # no object is asked before the page is read

    def collect(self) -> Iterator[Metric]:
        return iter(families(self._report()).values())


class PulledCounter(Collector):
    """A count that another object keeps, and that only grows."""

    def __init__(self, name: str, help: str, read: Callable[[], float]) -> None:
        self._name = name
        self._help = help
        self._read = read

    def collect(self) -> Iterator[Metric]:
        yield CounterMetricFamily(self._name, self._help, value=self._read())


class RequestDurations(Collector):
    """The durations of requests, by method, route and status."""

    def __init__(self, answered: Answered) -> None:
        self._answered = answered

    def describe(self) -> list[Metric]:
        return []

    def collect(self) -> Iterator[Metric]:
        family = HistogramMetricFamily(
            f"{PREFIX}_http_request_duration_seconds",
            "Time from the head of a request to its answer, by route and status.",
            labels=("method", "path", "status"),
        )
        for (method, path, status), durations in sorted(self._answered.items()):
            add_histogram(family, (method, path, str(status)), durations.statistics())
        yield family


def families(report: Mapping[str, Any]) -> dict[str, Family]:
    """Return every metric of a report by its name."""
    found: dict[str, Family] = {}
    for name, value in report.items():
        _add_record(found, (name,), value)
    return found


def metric_name(record: tuple[str, ...], field: str, declared: Declared) -> str:
    """Return the name of a field's metric, without the `_total` of counters."""
    own = field.removesuffix("_count") if declared.name is None else declared.name
    return "_".join(filter(None, (PREFIX, *record, own)))


@cache
def declared_in(record: type) -> Mapping[str, Declared]:
    """Return what the fields of a record's class declare."""
    hints = get_type_hints(record, include_extras=True)
    return {
        field.name: marker
        for field in fields(record)
        for marker in getattr(hints[field.name], "__metadata__", ())
        if isinstance(marker, Declared)
    }


def add_histogram(
    family: HistogramMetricFamily, labels: tuple[str, ...], durations: DurationCounts
) -> None:
    """Add a sample for each bucket, which counts what is below it as well."""
    count, buckets = 0, []
    for bound, own in zip((*durations.bounds, "+Inf"), durations.counts, strict=True):
        count += own
        buckets.append((str(bound), float(count)))
    family.add_metric(labels, buckets, durations.sum_seconds)


def _add_record(found: dict[str, Family], path: tuple[str, ...], record: object) -> None:
    if isinstance(record, Mapping):
        for name, value in record.items():
            _add_record(found, (*path, str(name)), value)
    if not is_dataclass(record) or isinstance(record, type):
        return
    place, labels = _place(path, getattr(record, "family", None))
    declared = declared_in(type(record))
    for field in fields(record):
        value, marker = getattr(record, field.name), declared.get(field.name)
        if marker is None:
            _add_record(found, (*path, field.name), value)
        elif value is not None:
            _add_sample(found, metric_name(place, field.name, marker), marker, labels, value)


def _place(path: tuple[str, ...], family: str | None) -> tuple[tuple[str, ...], Labels]:
    """Return what the metrics of a record are called after, and what tells it apart."""
    if family is None:
        return path, {}
    own = path[1:] if path[0] == family else path
    return (family,), {family: "_".join(own)}


def _add_sample(
    found: dict[str, Family], name: str, declared: Declared, labels: Labels, value: Any
) -> None:
    family, own = found.get(name), tuple(labels.values())
    if family is None:
        names = (*labels, declared.label) if declared.label else tuple(labels)
        family = found[name] = FAMILIES[type(declared)](name, declared.help, labels=names)
    if isinstance(family, HistogramMetricFamily):
        add_histogram(family, own, value)
    elif declared.label:
        for key, count in value.items():
            family.add_metric((*own, str(key)), float(count))
    else:
        family.add_metric(own, float(value))


def with_process_label(number: int | None, page: bytes) -> bytes:
    """Add the process's number to every sample of a page; None leaves the page as it is."""
    if number is None:
        return page
    label = b'process="%d"' % number
    return b"\n".join([_labelled(line, label) for line in page.split(b"\n")])


def _labelled(line: bytes, label: bytes) -> bytes:
    if not line or line.startswith(b"#"):
        return line
    name, brace, rest = line.partition(b"{")
    if brace:
        comma = b"" if rest.startswith(b"}") else b","
        return b"".join((name, b"{", label, comma, rest))
    name, _, value = line.partition(b" ")
    return b"".join((name, b"{", label, b"} ", value))
