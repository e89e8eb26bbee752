"""Chats with workspaces, on a real database and a real disk, in each sandbox."""

import pytest

from adapters.tools.mcp.sdk import pipes
from adapters.tools.mcp.workspaces import named_server
from tests.adapters.tools.built_in.workspace.conftest import chat, daemon, migrated, store
from tests.patience import PATIENCE_SECONDS

__all__ = ["chat", "daemon", "migrated", "store"]


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    """A turn waits for the tools of a program as long as a busy machine may take to begin it, and
    for what its end was as long as that may take."""
    monkeypatch.setattr(named_server, "DISCOVERY_SECONDS", PATIENCE_SECONDS)
    monkeypatch.setattr(pipes, "DRAIN_SECONDS", PATIENCE_SECONDS)
