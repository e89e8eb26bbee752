"""The only place that reads time. Never compare one of these with the other."""

import time
from datetime import UTC, datetime

import trio


def now() -> float:
    """Return the seconds on the run's own clock, which is monotonic, and virtual in tests."""
    return trio.current_time()


def wall() -> datetime:
    """Return the time of day, aware, in UTC: to be shown or stored, never to measure with."""
    return datetime.now(UTC)


def machine() -> float:
    """Return the seconds on the clock that all processes of this machine read alike."""
    return time.monotonic()
