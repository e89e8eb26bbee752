"""The edge with workspaces on a disk of its own."""

import pytest

from tests.adapters.edges import an_edge
from tests.adapters.postgres.conftest import migrated, store

__all__ = ["edge", "migrated", "store"]


@pytest.fixture
async def edge(fresh, tmp_path):
    async with an_edge(fresh, data_dir=str(tmp_path)) as edge:
        yield edge
