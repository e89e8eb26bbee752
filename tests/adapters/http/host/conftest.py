"""What the tests of the host share."""

from functools import partial

import pytest

from tests.adapters.http.host.clients import connect


@pytest.fixture
def a_client(nursery):
    """Connects to a server: a_client(answer) -> Client."""
    return partial(connect, nursery)
