"""A clock for stories in virtual time that go over real sockets."""

import pytest
from trio.testing import MockClock

QUIET_SECONDS = 0.02  # of real time: longer than a busy kernel takes from one socket to another


@pytest.fixture
def clock_over_sockets():
    """A clock that jumps when nothing has happened for a moment.

    `autojump_clock` jumps at once. What is on its way between two sockets then, and comes a moment
    later, finds that all limits are over.
    """
    return MockClock(autojump_threshold=QUIET_SECONDS)
