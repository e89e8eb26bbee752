"""A store on a real database, as the tests of PostgreSQL have it."""

from tests.adapters.postgres.conftest import migrated, store

__all__ = ["migrated", "store"]
