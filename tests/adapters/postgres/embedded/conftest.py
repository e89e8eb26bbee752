"""Directories for clusters, and a look at every process that has to do with one."""

import os
import tempfile
from pathlib import Path

import pytest

from adapters.postgres.embedded import ClusterOptions
from tests.e2e.processes import belonging_to, eventually

FAST = {"fsync": "off"}


@pytest.fixture
def home():
    """A directory for one cluster; when the test ends, nobody may be left who knows it."""
    with tempfile.TemporaryDirectory(prefix="promptcorner-tests-") as top:
        os.chmod(top, 0o711)
        home = Path(top) / "home"
        yield home
        eventually(lambda: belonging_to(home) == [], "every process of the cluster is gone")


@pytest.fixture
def wanted(home):
    return ClusterOptions(home, settings=FAST)
