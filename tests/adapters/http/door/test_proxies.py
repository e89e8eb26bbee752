"""Who asks behind proxies: what ours say is believed, what clients say is not."""

from ipaddress import ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.http.door.proxies import PROXIES_MAX, asker

OURS = frozenset(map(ip_network, ["10.0.0.0/8", "2001:db8::/32"]))


@pytest.mark.parametrize(
    ("peer", "forwarded", "expected"),
    [
        ("192.0.2.1", "", "192.0.2.1"),
        ("192.0.2.1", "198.51.100.7", "192.0.2.1"),  # anybody can write that
        ("10.0.0.1", "", "10.0.0.1"),
        ("10.0.0.1", "198.51.100.7", "198.51.100.7"),
        ("10.0.0.1", "203.0.113.5, 198.51.100.7", "198.51.100.7"),  # nor that
        ("10.0.0.1", "198.51.100.7, 10.0.0.2", "198.51.100.7"),
        ("10.0.0.1", "10.0.0.3,10.0.0.2", "10.0.0.3"),
        ("10.0.0.1", "unknown, 10.0.0.2", "10.0.0.2"),
        ("10.0.0.1", "198.51.100.7, ", "10.0.0.1"),
        ("2001:db8::1", "2001:DB9::7", "2001:db9::7"),
        ("::ffff:10.0.0.1", "::ffff:198.51.100.7", "198.51.100.7"),
        ("", "198.51.100.7", ""),
    ],
)
def test_who_asks_is_the_last_who_is_no_proxy_of_ours(peer, forwarded, expected):
    assert expected == asker(peer, forwarded, OURS)


def test_where_no_proxy_is_trusted_nothing_that_is_said_counts():
    assert "10.0.0.1" == asker("10.0.0.1", "198.51.100.7", frozenset())


def test_a_way_without_end_is_not_followed_to_it():
    way = ", ".join(["198.51.100.7"] + ["10.0.0.2"] * PROXIES_MAX)

    assert "10.0.0.2" == asker("10.0.0.1", way, OURS)


@given(st.text(max_size=200))
def test_whatever_stands_there_is_an_answer(forwarded):
    assert asker("10.0.0.1", forwarded, OURS)
