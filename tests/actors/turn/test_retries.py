"""Which failed attempts are made again, when, and how often."""

from dataclasses import replace
from datetime import timedelta

import pytest

from actors.failures import wording
from actors.machine.chat import ChatError, RetryState
from actors.parts.failure import FailureKind
from actors.turn.retries import ATTEMPTS_MAX, PAUSE_SECONDS_MAX, Retry, after
from tests.actors.machine.chats import NOW

LIMITED = wording.failure(FailureKind.RATE_LIMIT, "anthropic", retryable=True, status=429)


@pytest.mark.parametrize(
    ("attempt", "seconds"), [(1, 1), (2, 2), (3, 4), (4, 8), (5, 16), (6, 32), (7, 60), (24, 60)]
)
def test_pauses_double_up_to_a_minute(attempt, seconds):
    following = after(LIMITED, attempt=attempt, now=NOW)

    assert seconds == following.after_seconds


@pytest.mark.parametrize(
    ("asked", "seconds"), [(3, 3), (0.5, 1), (90, 90), (1e30, PAUSE_SECONDS_MAX)]
)
def test_a_provider_may_ask_for_a_longer_pause_but_not_for_ever(asked, seconds):
    following = after(replace(LIMITED, retry_after_seconds=asked), attempt=1, now=NOW)

    assert seconds == following.after_seconds
    assert seconds * 1000 == following.state.delay_ms


def test_a_retry_says_what_it_waits_for():
    failure = replace(LIMITED, retry_message="slow down")

    following = after(failure, attempt=3, now=NOW)

    retrying_at = NOW + timedelta(seconds=4)
    assert (
        Retry(4.0, RetryState(3, 4000, "slow down", retrying_at, "rate_limit", "anthropic", 429))
        == following
    )


@pytest.mark.parametrize("attempt", [0, ATTEMPTS_MAX, ATTEMPTS_MAX + 1])
def test_the_budget_has_an_end(attempt):
    ended = after(LIMITED, attempt=attempt, now=NOW)

    assert ChatError(LIMITED.message, "rate_limit", "anthropic", True, 429) == ended
    assert isinstance(after(LIMITED, attempt=ATTEMPTS_MAX - 1, now=NOW), Retry)


def test_what_cannot_help_is_not_tried_again():
    refused = wording.failure(FailureKind.AUTH, "openai", status=401, detail="no such key")

    ended = after(refused, attempt=1, now=NOW)

    assert ChatError(refused.message, "auth", "openai", False, 401, "no such key") == ended
