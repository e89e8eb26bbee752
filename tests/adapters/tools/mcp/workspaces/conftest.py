"""Chats with workspaces, on a real database and a real disk, in each sandbox."""

from tests.adapters.tools.built_in.workspace.conftest import chat, daemon, migrated, store

__all__ = ["chat", "daemon", "migrated", "store"]
