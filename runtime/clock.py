"""The only place that reads time. Never compare one of these with the other."""

from datetime import UTC, datetime

import trio


def now() -> float:
    """Seconds on the run's own clock: monotonic, virtual in tests, meaningless outside the run."""
    return trio.current_time()


def wall() -> datetime:
    """The time of day, aware, in UTC: to be shown or stored, never to measure with."""
    return datetime.now(UTC)
