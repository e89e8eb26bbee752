"""Chats with branches at a fake forge that speaks GitHub's wire or GitLab's."""

import pytest

from tests.adapters.chats.changes.ground import a_ground
from tests.adapters.postgres.stores import migrated_database


@pytest.fixture(scope="session")
def migrated(server):
    return migrated_database(server)


@pytest.fixture
async def ground(migrated, tmp_path):
    async with a_ground(migrated, tmp_path) as ground:
        yield ground


@pytest.fixture(params=["github", "gitlab"])
async def either(migrated, tmp_path, request):
    async with a_ground(migrated, tmp_path, request.param) as ground:
        yield ground
