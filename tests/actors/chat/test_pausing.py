"""How long is waited before an attempt, by whoever holds the chat then."""

from datetime import UTC, datetime, timedelta

import pytest

from actors.chat.waits import seconds_left_of
from actors.law.chat import RetryState

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("left", "expected"),
    [
        pytest.param(8.0, 8.0, id="it has just begun"),
        pytest.param(3.0, 3.0, id="taken over in its middle"),
        pytest.param(-5.0, 0.0, id="it is over"),
        pytest.param(600.0, 8.0, id="another clock is behind ours"),
    ],
)
def test_the_rest_of_a_pause_is_waited_for(left, expected):
    retry = RetryState(1, 8_000, "busy", NOW + timedelta(seconds=left))

    assert expected == seconds_left_of(retry, NOW)
