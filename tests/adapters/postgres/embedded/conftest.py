"""Directories for clusters, and a look at every process that has to do with one."""

import pytest

from adapters.postgres.embedded import ClusterOptions
from tests.e2e.processes import belonging_to, eventually
from tests.folders import a_folder, in_memory

FAST = {"fsync": "off"}


@pytest.fixture
def home():
    """A directory for one cluster; when the test ends, nobody may be left who knows it."""
    with a_folder(in_memory()) as top:
        home = top / "home"
        yield home
        eventually(lambda: belonging_to(home) == [], "every process of the cluster is gone")


@pytest.fixture
def wanted(home):
    return ClusterOptions(home, settings=FAST)
