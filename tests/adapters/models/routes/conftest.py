"""A catalogue on a real database beside the whole edge."""

from tests.adapters.models.store.conftest import ground, migrated

__all__ = ["ground", "migrated"]
