"""Where a process is found by the others, by where it listens and how it reaches the database."""

import pytest

from adapters.relay.listener import NoAddress, own_address, own_host, own_url
from adapters.settings import HostAddress

FOUND = {  # where it listens, our end of the way to the database: where others find us
    ("127.0.0.1", None): "127.0.0.1",
    ("127.0.0.1", "10.0.0.7"): "127.0.0.1",
    ("::1", None): "::1",
    ("localhost", "10.0.0.7"): "127.0.0.1",
    ("10.0.0.5", None): "10.0.0.5",
    ("10.0.0.5", "10.1.0.7"): "10.0.0.5",
    ("100.64.0.5", None): "100.64.0.5",
    ("fd00::5", None): "fd00::5",
    ("0.0.0.0", None): "127.0.0.1",
    ("0.0.0.0", "127.0.0.1"): "127.0.0.1",
    ("0.0.0.0", "10.0.0.7"): "10.0.0.7",
    ("::", "fd00::7"): "fd00::7",
    ("8.8.8.8", "192.168.1.7"): "192.168.1.7",
    ("8.8.8.8", None): "127.0.0.1",
    ("chats.example.org", "172.16.0.7"): "172.16.0.7",
}


@pytest.mark.parametrize(("listen", "beside"), FOUND)
def test_others_find_us_at_an_address_that_is_not_public(listen, beside):
    assert FOUND[listen, beside] == own_host(listen, beside)


@pytest.mark.parametrize("listen", ["0.0.0.0", "8.8.8.8", "chats.example.org"])
def test_where_all_that_is_known_is_public_nobody_finds_us(listen):
    found = own_host(listen, "9.9.9.9")

    assert NoAddress("of this machine only 9.9.9.9 is known, which is no private address") == found


def test_each_process_of_one_start_takes_the_next_port():
    first = HostAddress("10.0.0.1", 7400)

    assert [7400, 7401, 7402] == [own_address(first, number).port for number in (1, 2, 3)]
    assert [0, 0] == [own_address(HostAddress("10.0.0.1", 0), number).port for number in (1, 2)]


def test_how_others_see_it():
    there = HostAddress("10.0.0.1", 7401)

    assert "http://10.0.0.1:7401" == own_url(there, None, 2)
    assert "http://[fd00::1]:7401" == own_url(HostAddress("fd00::1", 7401), None, 2)
    assert "http://far:9400/x" == own_url(there, "http://far:9400/x", 1)
    assert "http://far:9401/x" == own_url(there, "http://far:9400/x", 2)
    assert "https://far/x" == own_url(there, "https://far/x", 2)
