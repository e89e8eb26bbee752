"""When a watched workspace is looked at: by times alone."""

from itertools import pairwise
from math import inf

from hypothesis import given
from hypothesis import strategies as st

from adapters.workspaces.git.schedule import INTERVAL_SECONDS, POLL_SECONDS, LookSchedule


def looked(schedule, at, took=0.01, *, busy=False):
    schedule.begin(at)
    schedule.end(at + took)
    schedule.note_commands_after_look(at + took, are_running=busy)


def test_the_first_look_is_at_once_and_then_there_is_none():
    schedule = LookSchedule()
    assert schedule.looks_at <= 0
    looked(schedule, 0.0)
    assert schedule.next_at == inf


def test_what_is_wanted_waits_for_the_interval_and_no_longer():
    schedule = LookSchedule()
    looked(schedule, 10.0)
    schedule.want()
    assert schedule.looks_at == 10.0 + INTERVAL_SECONDS
    looked(schedule, 11.0)
    assert schedule.next_at == inf


def test_a_slow_look_leaves_as_much_time_as_it_took():
    schedule = LookSchedule()
    looked(schedule, 0.0, took=7.0)
    schedule.want()
    assert schedule.looks_at == 14.0


def test_a_wish_during_a_look_is_kept():
    schedule = LookSchedule()
    schedule.begin(0.0)
    schedule.want()
    schedule.end(0.1)
    assert schedule.looks_at == INTERVAL_SECONDS


def test_commands_are_looked_at_every_while_and_once_after_their_end():
    schedule = LookSchedule()
    looked(schedule, 0.0, busy=True)
    assert schedule.next_at == schedule.asks_at == 0.01 + POLL_SECONDS
    schedule.note_commands(5.1, are_running=True)
    assert schedule.looks_at <= 5.1
    looked(schedule, 5.1, busy=True)
    schedule.note_commands(10.2, are_running=False)
    assert schedule.looks_at <= 10.2
    looked(schedule, 10.2)
    assert schedule.next_at == inf


def test_a_question_that_finds_nothing_is_the_last():
    schedule = LookSchedule()
    looked(schedule, 0.0)
    schedule.expect_commands(1.0)
    schedule.expect_commands(3.0)  # no later for that
    assert schedule.next_at == 1.0 + POLL_SECONDS
    schedule.note_commands(6.0, are_running=False)
    assert schedule.next_at == inf


@given(st.lists(st.tuples(st.sampled_from(["want", "expect", "busy", "idle"]), st.floats(0, 9))))
def test_looks_are_never_closer_than_they_may_and_end_by_themselves(steps):
    schedule, now, busy, looks = LookSchedule(), 0.0, False, []

    def go_until(time):
        nonlocal now
        while schedule.next_at <= time:
            now = max(now, schedule.next_at)
            if now >= schedule.asks_at:
                schedule.note_commands(now, are_running=busy)
            if now >= schedule.looks_at:
                looks.append(now)
                looked(schedule, now, 0.1, busy=busy)
                now += 0.1
        now = max(now, time)

    for what, seconds in steps:
        busy = {"busy": True, "idle": False}.get(what, busy)
        if what == "want":
            schedule.want()
        elif what == "expect":
            schedule.expect_commands(now)
        go_until(now + seconds)
    busy = False
    go_until(now + 3 * POLL_SECONDS)
    assert all(b - a >= INTERVAL_SECONDS - 1e-9 for a, b in pairwise(looks))
    assert schedule.next_at == inf
