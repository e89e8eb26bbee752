"""Records of statistics as metrics: names, types, labels, and that every number is declared."""

import ast
from dataclasses import dataclass
from typing import Annotated, ClassVar

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from adapters.daemon.metrics.flattened import StatisticsCollector
from runtime.statistics import (
    CounterMetric,
    DurationCounts,
    Durations,
    GaugeMetric,
    HistogramMetric,
)
from tests.adapters.daemon.metrics.linting import faults_of, sentences
from tests.test_tidy import MODULES, named


@dataclass(frozen=True)
class Inner:
    read_count: Annotated[int, CounterMetric("Things that were read.")] = 3
    kept: Annotated[int, GaugeMetric("Things that are kept.", name="")] = 2
    name: str = "left out"
    undeclared: int = 7


@dataclass(frozen=True)
class Shared:
    family: ClassVar = "cache"
    kept: Annotated[int, GaugeMetric("Things that a cache keeps.", name="entries")] = 1


@dataclass(frozen=True)
class Outer:
    inner: Inner
    one: Shared
    other: Shared
    waits: Annotated[DurationCounts, HistogramMetric("Time of waits.", name="wait_seconds")]
    closed: Annotated[dict, CounterMetric("Things closed, by why.", label="reason")]
    missing: Annotated[int | None, GaugeMetric("A thing that may be missing.")] = None
    is_full: Annotated[bool, GaugeMetric("1 when it is full.", name="full")] = True


def page_of(report):
    registry = CollectorRegistry()
    registry.register(StatisticsCollector(lambda: report))
    return generate_latest(registry).decode()


def an_outer():
    waits = Durations((0.1, 1.0))
    for seconds in (0.05, 0.1, 0.5, 30):
        waits.observe(seconds)
    return Outer(Inner(), Shared(), Shared(5), waits.statistics(), {"old": 2, "dead": 1})


def test_statistics_become_metrics_of_their_types_with_their_helps():
    assert """\
# HELP promptcorner_a_inner_read_total Things that were read.
# TYPE promptcorner_a_inner_read_total counter
promptcorner_a_inner_read_total 3.0
# HELP promptcorner_a_inner Things that are kept.
# TYPE promptcorner_a_inner gauge
promptcorner_a_inner 2.0
# HELP promptcorner_cache_entries Things that a cache keeps.
# TYPE promptcorner_cache_entries gauge
promptcorner_cache_entries{cache="a_one"} 1.0
promptcorner_cache_entries{cache="a_other"} 5.0
# HELP promptcorner_a_wait_seconds Time of waits.
# TYPE promptcorner_a_wait_seconds histogram
promptcorner_a_wait_seconds_bucket{le="0.1"} 2.0
promptcorner_a_wait_seconds_bucket{le="1.0"} 3.0
promptcorner_a_wait_seconds_bucket{le="+Inf"} 4.0
promptcorner_a_wait_seconds_count 4.0
promptcorner_a_wait_seconds_sum 30.65
# HELP promptcorner_a_closed_total Things closed, by why.
# TYPE promptcorner_a_closed_total counter
promptcorner_a_closed_total{reason="old"} 2.0
promptcorner_a_closed_total{reason="dead"} 1.0
# HELP promptcorner_a_full 1 when it is full.
# TYPE promptcorner_a_full gauge
promptcorner_a_full 1.0
""" == page_of({"a": an_outer(), "words": "no"})


def test_records_in_mappings_are_found():
    assert "promptcorner_mcp_known_read_total 3.0" in page_of({"mcp": {"known": Inner()}})
    assert 'promptcorner_cache_entries{cache="people"} 1.0' in page_of(
        {"cache": {"people": Shared()}}
    )


def test_the_page_of_records_keeps_the_rules_of_names():
    page = page_of({"a": an_outer()})

    assert [] == faults_of(page)
    assert [] == list(sentences(page, "promptcorner"))


NUMBERS = {"int", "float", "bool", "DurationCounts"}


def undeclared(tree):
    """Fields of records of statistics that hold numbers and do not say what they are."""
    for node in ast.walk(tree):
        if not (isinstance(node, ast.ClassDef) and node.name.endswith("Statistics")):
            continue
        for field in node.body:
            if not isinstance(field, ast.AnnAssign):
                continue
            annotation = ast.unparse(field.annotation)
            kind, _, inside = annotation.partition("[")
            names = {name.strip() for name in inside.rstrip("]").split(",")}
            holds_numbers = set(annotation.split(" | ")) & NUMBERS or (
                kind in ("dict", "Mapping") and names & NUMBERS
            )
            if holds_numbers:
                yield f"{node.name}.{ast.unparse(field.target)}: {annotation}"


@pytest.mark.parametrize("path", MODULES, ids=named)
def test_every_number_of_statistics_declares_its_kind_and_says_what_it_is(path):
    faults = list(undeclared(ast.parse(path.read_text())))

    assert not faults, (
        f"{named(path)}: {faults}; write Annotated[int, CounterMetric('A sentence.')], or"
        " GaugeMetric: runtime/statistics.py"
    )


@pytest.mark.parametrize(
    ("annotation", "is_found"),
    [
        ("int", True),
        ("float", True),
        ("bool", True),
        ("int | None", True),
        ("Mapping[str, int]", True),
        ("dict[str, int]", True),
        ("DurationCounts", True),
        ("str", False),
        ("InnerStatistics", False),
        ("ClassVar", False),
        ('Annotated[int, GaugeMetric("Things.")]', False),
    ],
)
def test_a_number_that_declares_nothing_is_found(annotation, is_found):
    tree = ast.parse(f"class SomeStatistics:\n    field: {annotation}")

    assert is_found is bool(list(undeclared(tree)))
