"""A database of its own for each of these turns."""

from tests.adapters.conftest import fresh

__all__ = ["fresh"]
