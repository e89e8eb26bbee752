"""Who fails to log in waits, longer each time; who does not is not kept out by it."""

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from adapters.people.auth import passwords as bounds
from adapters.people.auth.passwords import ADDRESS, BOTH, NAME, LoginPatience, LoginThrottle

HERE, THERE = "192.0.2.1", "198.51.100.7"


@given(st.builds(LoginPatience, st.integers(0, 100), st.floats(0.1, 1000)), st.integers(0, 10_000))
def test_waits_only_grow_and_never_beyond_the_cap(patience, failures):
    now, next = patience.seconds(failures), patience.seconds(failures + 1)

    assert 0 <= now <= next <= patience.cap_seconds
    assert (now == 0) == (failures <= patience.free)


async def test_the_first_failures_cost_nothing_then_each_doubles_the_wait(autojump_clock):
    throttle, waits = LoginThrottle(), []

    for _ in range(BOTH.free + 4):
        wait = throttle.seconds_to_wait("ann", HERE)
        waits.append(wait)
        if wait:
            await trio.sleep(wait)
            assert 0 == throttle.seconds_to_wait("ann", HERE)

    assert [0] * (BOTH.free + 1) + [1, 2, 4] == waits


async def test_to_ask_again_while_one_waits_does_not_make_it_longer(autojump_clock):
    throttle = LoginThrottle()
    for _ in range(BOTH.free + 1):
        throttle.seconds_to_wait("ann", HERE)

    assert [1, 1, 1] == [throttle.seconds_to_wait("ann", HERE) for _ in range(3)]


async def test_attempts_at_once_are_counted_from_their_start(autojump_clock):
    throttle = LoginThrottle()

    waits = [throttle.seconds_to_wait("ann", HERE) for _ in range(50)]

    assert BOTH.free + 1 == waits.count(0)


async def test_success_forgives_what_was_tried_in_that_name_from_there(autojump_clock):
    throttle = LoginThrottle()
    for _ in range(BOTH.free):
        throttle.seconds_to_wait("ann", HERE)

    throttle.succeeded("ann", HERE)

    assert [0] * BOTH.free == [throttle.seconds_to_wait("ann", HERE) for _ in range(BOTH.free)]


async def test_names_are_the_same_in_any_case(autojump_clock):
    throttle = LoginThrottle()
    for _ in range(BOTH.free + 1):
        throttle.seconds_to_wait("ann", HERE)

    assert 1 == throttle.seconds_to_wait("ANN", HERE)


async def test_who_is_tried_from_elsewhere_can_log_in_here(autojump_clock):
    throttle = LoginThrottle()
    for _ in range(BOTH.free + 1):
        throttle.seconds_to_wait("ann", THERE)

    assert 0 == throttle.seconds_to_wait("ann", HERE)


async def test_an_address_that_tries_many_names_waits(autojump_clock):
    throttle = LoginThrottle()

    waits = [throttle.seconds_to_wait(f"user {number}", HERE) for number in range(60)]

    assert ADDRESS.free + 1 == waits.count(0)


async def test_a_name_that_is_tried_from_everywhere_waits_but_not_long(autojump_clock):
    throttle = LoginThrottle()

    waits = [throttle.seconds_to_wait("ann", f"192.0.2.{number}") for number in range(200)]

    assert NAME.free + 1 == waits.count(0)
    assert NAME.cap_seconds >= max(waits)


async def test_many_who_log_in_from_one_address_do_not_slow_each_other(autojump_clock):
    throttle = LoginThrottle()

    for number in range(10 * ADDRESS.free):
        assert 0 == throttle.seconds_to_wait(f"user {number}", HERE)
        throttle.succeeded(f"user {number}", HERE)


async def test_who_logs_in_between_does_not_hide_what_else_is_tried_from_there(autojump_clock):
    throttle, waits = LoginThrottle(), []

    for number in range(60):
        waits.append(throttle.seconds_to_wait(f"user {number}", HERE))
        if throttle.seconds_to_wait("his own", HERE) == 0:
            throttle.succeeded("his own", HERE)

    assert ADDRESS.free + 1 == waits.count(0)


async def test_an_attempt_of_long_ago_is_forgotten(autojump_clock):
    throttle = LoginThrottle()
    for _ in range(BOTH.free + 1):
        throttle.seconds_to_wait("ann", HERE)

    await trio.sleep(bounds.FORGET_SECONDS + 2)  # he waits a second himself

    assert [0, 0] == [throttle.seconds_to_wait("ann", HERE) for _ in range(2)]


async def test_only_so_many_are_remembered(autojump_clock, monkeypatch):
    monkeypatch.setattr(bounds, "ENTRIES_MAX", 10)
    throttle = LoginThrottle()

    for number in range(100):
        throttle.seconds_to_wait(f"user {number}", f"192.0.2.{number}")

    assert 10 == len(throttle)


async def tries_in_a_day(processes):
    """That fail, of somebody who asks whichever process lets him try."""
    throttles, passed = [LoginThrottle(processes=processes) for _ in range(processes)], 0
    ends_at = trio.current_time() + 24 * 3600
    while trio.current_time() < ends_at:
        waits = [each.seconds_to_wait("ann", HERE) for each in throttles]
        passed += waits.count(0)
        await trio.sleep(min(waits))
    return passed


@pytest.mark.parametrize("processes", [2, 4, 8])
async def test_processes_are_together_about_as_patient_as_one_alone(autojump_clock, processes):
    alone, together = await tries_in_a_day(1), await tries_in_a_day(processes)

    assert 0.5 * alone <= together <= 1.5 * alone


async def test_each_of_many_processes_lets_one_try_for_nothing(autojump_clock):
    throttle = LoginThrottle(processes=64)

    assert [0, 0] == [throttle.seconds_to_wait("ann", HERE) for _ in range(2)]
    assert 64 == throttle.seconds_to_wait("ann", HERE)


SAME = {
    "one network of IPv6": ("2001:db8::1", "2001:db8::ffff:1", True),
    "two networks of IPv6": ("2001:db8::1", "2001:db8:0:1::1", False),
    "two of IPv4": ("192.0.2.1", "192.0.2.2", False),
    "a zone does not matter": ("fe80::1%eth0", "fe80::1%eth1", True),
    "no address at all": ("", "", True),
}


@pytest.mark.parametrize(("one", "other", "is_same"), SAME.values(), ids=SAME)
async def test_addresses_that_one_client_may_have_are_the_same(autojump_clock, one, other, is_same):
    throttle = LoginThrottle()
    for _ in range(BOTH.free + 1):
        throttle.seconds_to_wait("ann", one)

    assert is_same == (throttle.seconds_to_wait("ann", other) > 0)
