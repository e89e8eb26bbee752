"""How descriptors are shared out, at every limit."""

import os
import resource

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.http.host.bounds import BESIDE_MAX, CONNECTIONS_MAX, TURNED_AWAY_MAX
from adapters.http.host.capacity import descriptors
from adapters.http.host.capacity.descriptors import CLIENTS_MIN, OURS, PEERS_MIN, shares
from adapters.http.host.capacity.spare import Spare

POOL = 32


@pytest.mark.parametrize(
    ("limit", "places", "peers", "rest"),
    [
        (0, 8, 8, 0),
        (256, 48, 20, 156),
        (1024, 432, 116, 444),
        (4096, 1968, 288, 1808),
        (65_536, CONNECTIONS_MAX, 288, 45_216),
        (1 << 30, CONNECTIONS_MAX, 288, (1 << 30) - 20_320),
    ],
)
def test_clients_get_half_of_what_is_not_our_own(limit, places, peers, rest):
    shared = shares(limit, database_max=POOL)

    assert (places, peers, rest) == (shared.places, shared.peers, shared.rest)


@given(limit=st.integers(0, 1 << 20), pool=st.integers(1, 72))
def test_together_they_are_never_more_than_there_are(limit, pool):
    shared = shares(limit, database_max=pool)

    assert shared.places >= CLIENTS_MIN // 2
    assert shared.places <= CONNECTIONS_MAX
    if limit >= OURS + pool + CLIENTS_MIN + PEERS_MIN:
        assert shared.clients + shared.peers + shared.rest == limit
        assert shared.rest >= OURS + pool
    if shared.clients >= CLIENTS_MIN // 2 + BESIDE_MAX + TURNED_AWAY_MAX:
        assert shared.places + BESIDE_MAX + TURNED_AWAY_MAX == shared.clients


def test_a_process_takes_all_that_it_may(monkeypatch):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(512, hard), hard))
    try:
        taken = descriptors.take_all()
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == hard
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

    assert taken == (hard if hard != resource.RLIM_INFINITY else 1 << 30)


def test_where_the_system_allows_less_than_it_says_that_is_what_there_is(monkeypatch):
    def refuse(*_):
        raise ValueError("not allowed to raise maximum limit")

    monkeypatch.setattr(resource, "getrlimit", lambda _: (256, resource.RLIM_INFINITY))
    monkeypatch.setattr(resource, "setrlimit", refuse)

    assert 256 == descriptors.take_all()


def test_two_listeners_that_borrow_the_spare_at_once_cost_no_descriptor():
    before = os.listdir("/proc/self/fd")
    with Spare() as spare:
        for _ in range(3):
            first, second = spare.lent(), spare.lent()
            first.__enter__()
            second.__enter__()
            first.__exit__(None, None, None)
            second.__exit__(None, None, None)

        assert len(os.listdir("/proc/self/fd")) == len(before) + 1

    assert len(os.listdir("/proc/self/fd")) == len(before)
