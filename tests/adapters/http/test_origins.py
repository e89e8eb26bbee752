"""Which pages are ours, and by which names we are called, as tables."""

from ipaddress import ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.http.origins import PROXIES_MAX, OwnAddress, client_address

LISTENING = OwnAddress(None, {"10.0.0.5:7390", "corner.lan:7390"})
NAMED = OwnAddress("https://chats.example.org/here", {"10.0.0.5:7390"})

LINKS = {
    "127.0.0.1:7390": True,
    "127.0.0.1": True,
    "127.8.8.8:1234": True,
    "localhost:9999": True,
    "LOCALHOST:7390": True,
    "[::1]:7390": True,
    "10.0.0.5:7390": True,
    "corner.lan:7390": True,
    "Corner.LAN:7390": True,
    "10.0.0.5": False,
    "10.0.0.5:7391": False,
    "10.0.0.6:7390": False,
    "evil.example": False,
    "localhost.evil.example": False,
    "127.0.0.1.evil.example:7390": False,
    "evil.example@127.0.0.1": False,
    "127.0.0.1@evil.example": False,
    "127.0.0.1/evil.example": False,
    "127.0.0.1#evil.example": False,
    "127.0.0.1, evil.example": False,
    "127.0.0.1:x": False,
    "127.0.0.1:99999": False,
    "[::1": False,
    "[::1].evil.example": False,
    "[::1]evil.example:7390": False,
    "evil.example[::1]": False,
    "[localhost]": False,
    "localhost:": False,
    "127.0.0.1:7390:7390": False,
    "127.0.0.1:\uff17\uff13": False,
    ":7390": False,
    "": False,
}


@pytest.mark.parametrize("host", LINKS)
def test_links_begin_with_a_host_only_if_it_is_this_machine_or_where_it_listens(host):
    expected = f"http://{host}" if LINKS[host] else None

    assert expected == LISTENING.links_lead_to("http", host)


@pytest.mark.parametrize("host", LINKS)
def test_where_access_url_is_set_no_host_is_asked(host):
    assert "https://chats.example.org/here" == NAMED.links_lead_to("http", host)


@pytest.mark.parametrize(
    ("own", "scheme", "host", "page", "is_ours"),
    [
        (LISTENING, "http", "a:7390", "http://a:7390", True),
        (LISTENING, "http", "a", "http://a:80", True),
        (LISTENING, "http", "a", "https://a", True),
        (LISTENING, "https", "a", "https://a:443", True),
        (LISTENING, "https", "a:443", "http://a:443", False),
        (LISTENING, "https", "a", "http://a", False),
        (LISTENING, "http", "[::1]:7390", "http://[::1]:7390", True),
        (LISTENING, "http", "a", "ftp://a", False),
        (LISTENING, "http", "a", "a", False),
        (LISTENING, "http", "", "http://", False),
        (LISTENING, "http", "a", "http://a:x", False),
        (LISTENING, "http", "a", "null", False),
        (LISTENING, "http", "127.0.0.1:7390", "https://chats.example.org", False),
        (NAMED, "http", "127.0.0.1:7390", "https://chats.example.org", True),
        (NAMED, "http", "127.0.0.1:7390", "http://chats.example.org", False),
        (NAMED, "http", "127.0.0.1:7390", "https://chats.example.org:8443", False),
        (NAMED, "http", "127.0.0.1:7390", "http://127.0.0.1:7390", True),
    ],
)
def test_a_page_is_ours_if_it_is_from_the_host_it_asks_or_from_access_url(
    own, scheme, host, page, is_ours
):
    for said in ({"origin": page}, {"referer": f"{page}/a?b"}):
        assert is_ours == (own.foreign_page(scheme, {"host": host, **said}) is None)


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
    assert expected == client_address(peer, forwarded, OURS)


def test_where_no_proxy_is_trusted_nothing_that_is_said_counts():
    assert "10.0.0.1" == client_address("10.0.0.1", "198.51.100.7", frozenset())


def test_a_way_without_end_is_not_followed_to_it():
    way = ", ".join(["198.51.100.7"] + ["10.0.0.2"] * PROXIES_MAX)

    assert "10.0.0.2" == client_address("10.0.0.1", way, OURS)


@given(st.text(max_size=200))
def test_whatever_stands_there_is_an_answer(forwarded):
    assert client_address("10.0.0.1", forwarded, OURS)
