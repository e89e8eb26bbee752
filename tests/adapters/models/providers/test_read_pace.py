"""When streams are read again, and how many in a row: tables of the rules."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.models.providers.read_pace import (
    PAUSE_SECONDS_MAX,
    ROUND_SECONDS_MAX,
    SHARED_SECONDS,
    SHARED_STREAMS_MIN,
    SLICE_MIN,
    pause_seconds,
    slice_length,
)

FEW, MANY = SHARED_STREAMS_MIN - 1, SHARED_STREAMS_MIN


@pytest.mark.parametrize(
    ("lag_ms", "streams", "pause_ms"),
    [
        (0.0, FEW, 0),  # nothing is behind: a delta is shown when it comes
        (0.99, FEW, 0),
        (0.0, MANY, 2),  # one wake-up for all that have something
        (1.0, FEW, 5),
        (1.0, MANY, 5),
        (2.0, FEW, 10),
        (4.0, FEW, 25),
        (7.99, MANY, 25),
        (8.0, FEW, 50),
        (10_000.0, MANY, 50),  # never more, however far the loop is behind
    ],
)
def test_the_pause_before_the_next_read_grows_with_the_lag(lag_ms, streams, pause_ms):
    assert pause_seconds(lag_ms / 1000, streams) == pytest.approx(pause_ms / 1000)


@given(lag=st.floats(0, 10), more=st.floats(0, 10), streams=st.integers(0, 10_000))
def test_a_larger_lag_never_shortens_the_pause(lag, more, streams):
    pause = pause_seconds(lag, streams)

    assert 0 <= pause <= pause_seconds(lag + more, streams) <= PAUSE_SECONDS_MAX
    assert pause >= (SHARED_SECONDS if streams >= MANY else 0)


@pytest.mark.parametrize(
    ("left", "trip_ms", "left_ms", "length"),
    [
        (500, 0.0, 20, SLICE_MIN),  # nobody else has anything to do
        (500, 0.5, 20, SLICE_MIN),
        (500, 2.0, 20, 50),  # there is time for ten trips more
        (500, 10.0, 20, 250),
        (500, 10.0, 5, 500),  # the round has to end
        (3, 10.0, 0, 3),
        (10, 30.0, 0, 10),
    ],
)
def test_slices_grow_so_that_a_round_ends_in_time(left, trip_ms, left_ms, length):
    assert slice_length(left, trip_ms / 1000, left_ms / 1000) == length


@given(
    count=st.integers(1, 5_000),
    trips=st.lists(st.floats(0, 0.1), min_size=1, max_size=400),
)
def test_a_round_takes_no_longer_than_it_may_and_one_trip_of_the_others(count, trips):
    """Reads are taken to cost nothing here: what is bounded is the time that others take."""
    left, seconds, longest = count, 0.0, 0.0
    length = slice_length(left, 0.0, ROUND_SECONDS_MAX)
    for trip in trips:
        left -= length
        if left <= 0:
            break
        seconds, longest = seconds + trip, max(longest, trip)
        length = slice_length(left, trip, ROUND_SECONDS_MAX - seconds)
        assert length >= 1

    assert seconds <= ROUND_SECONDS_MAX + longest
