"""Directories for daemons, and the certainty that nobody is left in them."""

import contextlib

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from tests.e2e.processes import belonging_to, eventually, give_to_ordinary_user
from tests.folders import a_folder, in_memory


@pytest.fixture
def home():
    """Where a daemon may make its directory; when the test ends, nobody works there."""
    with a_folder(in_memory()) as top:
        yield top / "home"
        eventually(lambda: not belonging_to(top), "every process of the daemon is gone")


@pytest.fixture
def ordinary_home(home):
    """The same, in a directory that belongs to an ordinary user."""
    home.mkdir(mode=0o700)
    give_to_ordinary_user(home)
    return home


@contextlib.contextmanager
def a_database(server, name):
    """A new database for longer than a test."""
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE template0 STRATEGY file_copy")
        yield make_conninfo(server, dbname=name)
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
