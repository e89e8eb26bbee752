"""The whole edge, for whoever tests his rows as clients see them: `edge` (see edges.py)."""

from pathlib import Path

import psycopg
import pytest

from tests.adapters.chats.counting import Server, without_vacuum
from tests.adapters.postgres.stores import a_copy, empty, forget
from tests.conftest import NUMBERS


@pytest.fixture(scope="module")
def shared_by_module(server):
    """The conninfo of a database with our schema for the tests of a module, one after another."""
    name = f"edge_{next(NUMBERS)}"
    conninfo = a_copy(server, name)
    yield conninfo
    forget(conninfo)
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def fresh(shared_by_module):
    """The conninfo of a database with our schema, without a row and without a connection,
    but for that which has emptied it.

    Emptying a database takes a hundredth of the time that making a new one takes.
    """
    empty(shared_by_module, alone=True)
    return shared_by_module


@pytest.fixture
def counting(server, fresh):
    """The server, which logs what `fresh` is asked, and cleans up in no database meanwhile: that
    takes transaction ids, too."""
    with psycopg.connect(server, autocommit=True) as connection:
        name = psycopg.conninfo.conninfo_to_dict(fresh)["dbname"]
        connection.execute(f"ALTER DATABASE {name} SET log_statement = 'all'")
        [data] = connection.execute("SHOW data_directory").fetchone()
        with without_vacuum(connection):
            yield Server(connection, Path(data).parent / "postgres.log")


@pytest.fixture
async def edge(fresh):
    """An admin, a member, a stranger and nobody, before a daemon that runs chats."""
    from tests.adapters.edges import an_edge  # all of the daemon, which most tests need not

    async with an_edge(fresh) as edge:
        yield edge
