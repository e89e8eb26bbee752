"""The pace at which streams that have begun to speak are read. Pure.

An answer that people follow already may come in larger pieces while the event loop is behind: a
read costs nearly the same, whatever it brings. So the work that all answers make together shrinks
when there is too much of it, and first words, requests and interrupts find the loop free.
"""

from math import ceil

PAUSE_SECONDS_MAX = 0.05  # what a piece of an answer may be late for this reason
# A lag of the loop below the first number of a row leads to its second one.
PAUSES = ((0.001, 0.0), (0.002, 0.005), (0.004, 0.01), (0.008, 0.025))
# Where many streams speak, one wake-up serves those that have something within this time. A
# reader does not see it: a delta comes every 20 ms or so.
SHARED_SECONDS = 0.002
SHARED_STREAMS_MIN = 20  # fewer bring too little within that time

SLICE_MIN = 16  # streams that are read in a row; then all other tasks run that can
# In which all streams that have something are read: slices grow if trips of the others are long.
ROUND_SECONDS_MAX = 0.02


def pause_seconds(lag_seconds: float, streams_count: int) -> float:
    """Return how long to wait before streams that have begun to speak are read again."""
    for below, pause in PAUSES:
        if lag_seconds < below:
            shared = SHARED_SECONDS if streams_count >= SHARED_STREAMS_MIN else 0.0
            return max(pause, shared)
    return PAUSE_SECONDS_MAX


def slice_length(left_count: int, trip_seconds: float, seconds_left: float) -> int:
    """Return how many of the streams that are left to read come next, before all other tasks run.

    `trip_seconds` is what those took the last time, `seconds_left` what is left of the round.
    """
    if seconds_left <= trip_seconds:
        return max(left_count, 1)
    return max(SLICE_MIN, ceil(left_count * trip_seconds / seconds_left))
