"""What a provider sent and we do not know: counted by kind, and read over."""

from collections import Counter
from dataclasses import dataclass
from typing import Annotated

from runtime.statistics import CounterMetric

KINDS_MAX = 100  # further kinds are read over without being counted


@dataclass(frozen=True, slots=True)
class Statistics:
    skipped: Annotated[
        dict[str, int], CounterMetric("Events of unknown kinds that were skipped.", label="kind")
    ]


class Skipped:
    """One per provider, shared by its calls."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def add(self, kind: str) -> None:
        if kind in self._counts or len(self._counts) < KINDS_MAX:
            self._counts[kind] += 1

    def statistics(self) -> Statistics:
        return Statistics(dict(self._counts))
