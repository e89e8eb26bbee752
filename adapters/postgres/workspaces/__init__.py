"""Workspaces, as far as they are not directories."""
