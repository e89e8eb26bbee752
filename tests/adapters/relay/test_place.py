"""Where the first process of a start is found, by its settings."""

import pytest

from adapters import settings as config
from adapters.postgres.driver import server_check
from adapters.relay.listener import first_address
from adapters.settings import HostAddress
from adapters.settings.refusals import CannotStart

NOBODY = "postgresql://u@127.0.0.1:1/x"


def told(**said):
    environment = {"DATABASE_URL": said.pop("database_url", "")}
    return config.read_config(said, environment)


async def test_what_is_set_is_where_it_is():
    said = told(relay_listen="10.0.0.5:7391", database_url=NOBODY)

    assert HostAddress("10.0.0.5", 7391) == await first_address(said)


async def test_beside_an_embedded_database_it_is_on_this_machine():
    assert HostAddress("127.0.0.1", 0) == await first_address(told(listen="0.0.0.0:7390"))


def test_over_a_socket_of_the_file_system_the_server_is_on_this_machine(server):
    assert server_check.our_end(server) is None


async def test_a_database_that_is_away_keeps_it_from_starting():
    with pytest.raises(CannotStart):
        await first_address(told(listen="0.0.0.0:7390", database_url=NOBODY))
