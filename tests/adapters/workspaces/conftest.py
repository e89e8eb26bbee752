"""Fixtures that all tests of workspaces share."""

import pytest
from trio.testing import MockClock


@pytest.fixture
def leaping_clock():
    """Goes with the wall, for threads and programs take their time; and leaps when told to."""
    return MockClock(rate=1)
