"""What the doctor says of the way between processes."""

import pytest

from adapters import settings as config
from adapters.cli.doctor import network
from adapters.cli.doctor.findings import FindingState
from adapters.relay import listener as place
from adapters.relay.listener import NoAddress


def told(**said):
    return config.read_config({name: str(value) for name, value in said.items()}, {})


@pytest.mark.parametrize(
    ("said", "where"),
    [
        ({}, "127.0.0.1, any free port"),
        ({"listen": "10.0.0.5:7390"}, "10.0.0.5, any free port"),
        ({"relay_listen": "10.0.0.5:7391"}, "10.0.0.5, 7391"),
        (
            {"relay_listen": "10.0.0.5:7391", "relay_url": "http://far:1"},
            "10.0.0.5, 7391, as http://far:1",
        ),
    ],
)
async def test_it_says_where_others_will_find_this_process(said, where):
    found = await network.check_relay(told(**said))

    assert (FindingState.OK, f"other processes will find this one at {where}") == (
        found.state,
        found.fact,
    )


def test_it_says_when_nobody_will():
    nowhere = NoAddress("of this machine only 9.9.9.9 is known, which is no private address")

    found = network.relay_finding(told(listen="0.0.0.0:7390"), nowhere)

    assert FindingState.WARNING is found.state
    assert "only 9.9.9.9 is known" in found.fact
    assert place.ADVICE == found.advice


@pytest.mark.parametrize("url", ["", "http://127.0.0.1:1"])
def test_a_process_that_is_not_reached_is_named(url):
    found = network.check_peer(url)

    assert FindingState.WARNING is found.state
    assert url in found.fact
    assert f"there, {place.ADVICE}" == found.advice
