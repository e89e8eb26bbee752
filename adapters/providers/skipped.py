"""What a provider sent and we do not know: counted by kind, and read over."""

from collections import Counter
from dataclasses import dataclass

KINDS_MAX = 100  # further kinds are read over without being counted


@dataclass(frozen=True, slots=True)
class Statistics:
    skipped: dict[str, int]


class Skipped:
    """One per provider, shared by its calls."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def add(self, kind: str) -> None:
        if kind in self._counts or len(self._counts) < KINDS_MAX:
            self._counts[kind] += 1

    def statistics(self) -> Statistics:
        return Statistics(dict(self._counts))
