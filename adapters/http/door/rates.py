"""How often somebody has asked for the same within the minute that goes on."""

from math import ceil

from runtime.clock import now

WINDOW_SECONDS = 60.0
ENTRIES_MAX = 100_000  # of one minute; whoever comes then for the first time is not counted


class Rates:
    """Counts of one minute, all forgotten with it."""

    def __init__(self, entries_max: int = ENTRIES_MAX) -> None:
        self._entries_max = entries_max
        self._until = 0.0
        self._counts: dict[tuple[object, object], int] = {}

    def seconds_to_wait(self, who: object, what: object, per_minute: int) -> int:
        """0: he may, and that was counted. A rate of 0 is none."""
        if per_minute == 0:
            return 0
        if now() >= self._until:
            self._until = now() + WINDOW_SECONDS
            self._counts.clear()
        count = self._counts.get((who, what), 0)
        if count >= per_minute:
            return max(1, ceil(self._until - now()))
        if count or len(self._counts) < self._entries_max:
            self._counts[who, what] = count + 1
        return 0
