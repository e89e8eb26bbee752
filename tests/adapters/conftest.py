"""The whole edge, for whoever tests his rows as clients see them: `edge` (see edges.py)."""

from pathlib import Path

import psycopg
import pytest

from tests.adapters.chats.counting import Server
from tests.adapters.postgres.stores import a_copy
from tests.conftest import NUMBERS


@pytest.fixture
def fresh(server):
    """The conninfo of a database of its own, with our schema and nobody in it."""
    name = f"edge_{next(NUMBERS)}"
    yield a_copy(server, name)
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def counting(server, fresh):
    """The server, which logs what `fresh` is asked."""
    with psycopg.connect(server, autocommit=True) as connection:
        name = psycopg.conninfo.conninfo_to_dict(fresh)["dbname"]
        connection.execute(f"ALTER DATABASE {name} SET log_statement = 'all'")
        [data] = connection.execute("SHOW data_directory").fetchone()
        yield Server(connection, Path(data).parent / "postgres.log")


@pytest.fixture
async def edge(fresh):
    """An admin, a member, a stranger and nobody, before a daemon that runs chats."""
    from tests.adapters.edges import an_edge  # all of the daemon, which most tests need not

    async with an_edge(fresh) as edge:
        yield edge
