"""A database of its own for each test of agents."""

from tests.adapters.api.conftest import fresh

__all__ = ["fresh"]
