"""The rules of age, and the pace of what is removed."""

from hypothesis import given
from hypothesis import strategies as st

from actors.upkeep.age_rules import (
    BATCH_MAX,
    BATCH_MIN,
    BUSY_BATCH_SECONDS,
    DAY_SECONDS,
    REST_SECONDS_MAX,
    AgeRule,
    Pace,
    next_pace,
)
from actors.upkeep.housekeeping import BATCH_SECONDS_MAX
from adapters.chats.housekeeping.lease import LEASE_SECONDS

BY_SETTING = AgeRule(
    name="chats", help="chats", delete="", count="", setting="days", default_days=30
)
ALWAYS = AgeRule(name="names", help="names", delete="", count="", seconds=7.0)


def test_what_is_set_holds_and_0_keeps_for_ever():
    assert [30 * DAY_SECONDS, 5 * DAY_SECONDS, None] == [
        BY_SETTING.age_seconds(days) for days in (None, 5, 0)
    ]
    assert 7.0 == ALWAYS.age_seconds(None)


def test_an_idle_house_is_kept_without_a_rest():
    assert 0.0 == next_pace(Pace(), 100, 0.1, busy=False).rest_seconds


def test_while_chats_are_at_work_the_housekeeper_has_a_two_hundredth_of_the_time():
    pace = next_pace(Pace(1000), 1000, 0.05, busy=True)

    assert 100 == pace.most  # as many as fit into a batch of five milliseconds
    assert 199 * 0.05 == pace.rest_seconds


def test_no_rest_is_so_long_that_the_lease_of_housekeeping_runs_out():
    rest_seconds = next_pace(Pace(1000), 1000, 10.0, busy=True).rest_seconds

    assert REST_SECONDS_MAX == rest_seconds
    assert rest_seconds + BATCH_SECONDS_MAX < LEASE_SECONDS


def test_a_batch_for_an_idle_house_is_made_shorter_when_chats_begin_to_work():
    pace = next_pace(Pace(1000), 1000, 0.25, busy=False)

    assert (1000, 20) == (pace.most, pace.at_work().most)
    assert BATCH_MIN == Pace(BATCH_MIN).at_work().most
    busy = next_pace(pace.at_work(), 20, BUSY_BATCH_SECONDS, busy=True)
    assert busy == busy.at_work()


def test_a_batch_that_was_not_full_makes_the_next_one_no_larger():
    assert 100 == next_pace(Pace(100), 3, 0.001, busy=False).most


@given(
    most=st.integers(BATCH_MIN, BATCH_MAX),
    took=st.floats(0.0, 100.0),
    each=st.floats(1e-6, 1.0),
    busy=st.booleans(),
)
def test_a_batch_is_never_larger_than_its_bounds_nor_than_twice_the_last(most, took, each, busy):
    pace = next_pace(Pace(most), most, took, busy=busy)

    assert BATCH_MIN <= pace.most <= min(BATCH_MAX, max(2 * most, BATCH_MIN))


@given(each=st.floats(1e-5, 1e-2))
def test_batches_of_a_busy_house_become_as_short_as_they_may_be(each):
    pace = Pace(BATCH_MAX)
    for _ in range(20):
        pace = next_pace(pace, pace.most, pace.most * each, busy=True)

    assert pace.most == BATCH_MIN or pace.most * each <= BUSY_BATCH_SECONDS * 1.5
