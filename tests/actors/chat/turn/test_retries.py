"""Which failed attempts are made again, when, and how often."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.chat.turn.retries import (
    CAP_SECONDS,
    FAILURES_MAX,
    PAUSE_SECONDS_MAX,
    SPREAD,
    Retry,
    retry_after,
)
from actors.law.chat import ChatError, RetryState
from actors.law.failures import wording
from actors.law.parts.deltas import FailureKind
from tests.actors.law.chats import NOW

LIMITED = wording.failure(FailureKind.RATE_LIMIT, "anthropic", retryable=True, status=429)


def following(failures_count=1, *, asks=0.0, chance=0.0):
    """What comes after a failure of the provider, which asks for a pause."""
    failure = replace(LIMITED, retry_after_seconds=asks)
    return retry_after(failure, failures_count=failures_count, now=NOW, chance=chance)


@pytest.mark.parametrize(
    ("failures_count", "seconds"),
    [(1, 1), (2, 2), (3, 4), (4, 8), (5, 16), (6, 32), (7, 60), (24, 60)],
)
def test_pauses_double_up_to_a_minute(failures_count, seconds):
    assert seconds == following(failures_count).after_seconds


@pytest.mark.parametrize(
    ("asked", "seconds"), [(3, 3), (0.5, 1), (90, 90), (1e30, PAUSE_SECONDS_MAX)]
)
def test_a_provider_may_ask_for_a_longer_pause_but_not_for_ever(asked, seconds):
    found = following(asks=asked)

    assert seconds == found.after_seconds
    assert seconds * 1000 == found.state.delay_ms


@pytest.mark.parametrize(
    ("failures_count", "asked", "chance", "seconds"),
    [
        (7, 0, 0.0, 60),
        (7, 0, 0.5, 75),
        (7, 0, 1.0, 90),
        (1, 20, 0.0, 20),
        (1, 20, 0.5, 25),
        (1, 20, 1.0, 30),
        (1, 3600, 1.0, 3630),  # by no more than half of our longest
    ],
)
def test_chance_lengthens_pauses(failures_count, asked, chance, seconds):
    assert seconds == following(failures_count, asks=asked, chance=chance).after_seconds


@given(
    failures_count=st.integers(1, FAILURES_MAX - 1),
    asked=st.floats(0, 2 * PAUSE_SECONDS_MAX),
    chance=st.floats(0, 1),
)
def test_no_chance_makes_a_pause_shorter_than_the_provider_asks_for(failures_count, asked, chance):
    found = following(failures_count, asks=asked, chance=chance)

    longest = max(CAP_SECONDS, asked) + SPREAD * CAP_SECONDS
    assert min(asked, PAUSE_SECONDS_MAX) <= found.after_seconds + 0.001 <= longest + 0.002


@pytest.mark.parametrize("asked", [0, 30])
def test_of_many_chats_that_fail_together_few_ask_again_in_the_same_second(asked):
    """500 of them, at a pause of a minute, or of half a minute that the provider asks for."""
    chances = [number / 500 for number in range(500)]
    count = 7 if asked == 0 else 1

    seconds = [int(following(count, asks=asked, chance=c).after_seconds) for c in chances]

    assert max(map(seconds.count, set(seconds))) <= 500 / 15 + 1


def test_a_retry_says_what_it_waits_for():
    failure = replace(LIMITED, retry_message="slow down")

    found = retry_after(failure, failures_count=3, now=NOW, chance=0.5)

    retrying_at = NOW + timedelta(seconds=5)
    state = RetryState(3, 5000, "slow down", retrying_at, "rate_limit", "anthropic", 429)
    assert Retry(5.0, state) == found


@pytest.mark.parametrize("failures_count", [0, FAILURES_MAX, FAILURES_MAX + 1])
def test_the_budget_has_an_end(failures_count):
    error = ChatError(LIMITED.message, "rate_limit", "anthropic", True, 429)

    assert error == following(failures_count)
    assert isinstance(following(FAILURES_MAX - 1), Retry)


def test_what_cannot_help_is_not_tried_again():
    refused = wording.failure(FailureKind.AUTH, "openai", status=401, detail="no such key")

    ended = retry_after(refused, failures_count=1, now=NOW, chance=0.0)

    assert ChatError(refused.message, "auth", "openai", False, 401, "no such key") == ended
