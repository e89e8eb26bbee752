"""A database of its own for each test of agents, a daemon on it, and a parent at rest."""

import pytest

from adapters.rehearsal.behaviour import Behaviour
from tests.adapters.chats.routes.daemon import a_daemon
from tests.adapters.conftest import fresh
from tests.adapters.tools.built_in.agents.ground import a_parent

__all__ = ["fresh"]


@pytest.fixture
async def daemon(fresh):
    async with a_daemon(fresh, Behaviour(text="the report", delta_ms=1)) as daemon:
        yield daemon


@pytest.fixture
async def parent(daemon):
    return await a_parent(daemon)
