"""Who has a place where places are few: at the rule, and at the server in virtual time."""

import json
import os
import resource

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from adapters.http.endpoints import Upgrade, json_response
from adapters.http.host import capacity as descriptors
from adapters.http.host.bounds import (
    ACCEPTED_AT_ONCE_MAX,
    BESIDE_MAX,
    BESIDE_SECONDS,
    CONNECTIONS_MAX,
    LOOKED_AT_MAX,
    QUIET_SECONDS,
    TURNED_AWAY_MAX,
)
from adapters.http.host.capacity import (
    CLIENTS_MIN,
    OURS,
    PEERS_MIN,
    ConnectionPlaces,
    GaveWay,
    SpareDescriptor,
    shares_of,
)
from adapters.http.host.responses import server_full, turned_away_response
from adapters.http.host.server import HttpServer
from tests.adapters.http.host.clients import connect
from tests.adapters.http.host.socket_clients import ASKING
from tests.adapters.http.host.test_listeners import GET, connected, serving
from tests.patience import PATIENCE_SECONDS


def known(places):
    visitor = places.enter()
    visitor.is_known = True
    return visitor


def is_cut(visitor):
    return visitor.scope.requested == GaveWay()


@pytest.mark.parametrize(
    ("places", "taken", "at_once"),
    [(CONNECTIONS_MAX, 0, ACCEPTED_AT_ONCE_MAX), (40, 0, 10), (40, 33, 1), (40, 40, 1), (1, 0, 1)],
)
def test_near_the_bound_connections_are_let_in_one_by_one(places, taken, at_once):
    known = ConnectionPlaces(places)
    for _ in range(taken):
        assert known.enter() is not None

    assert at_once == known.at_once


async def test_the_stranger_that_has_waited_longest_gives_way(autojump_clock):
    places = ConnectionPlaces(3, beside_max=0)
    first, second, user = places.enter(), places.enter(), known(places)
    for visitor in (user, second, first):
        places.mark_idle(visitor)
        await trio.sleep(QUIET_SECONDS)

    assert not places.enter().is_beside
    assert [False, True, False] == [is_cut(each) for each in (first, second, user)]
    assert not places.enter().is_beside
    assert [True, True, False] == [is_cut(each) for each in (first, second, user)]
    assert not places.enter().is_beside
    assert is_cut(user)
    assert places.enter() is None
    assert (3, 3, 1) == (places.taken, places.gave_way_count, places.turned_away_count)


async def test_one_that_has_given_way_does_not_give_way_again():
    """Its task may go on to wait for a request before it hears that it was told to end."""
    places = ConnectionPlaces(1, beside_max=0)
    first = places.enter()
    places.mark_idle(first)
    places.enter()

    places.mark_idle(first)

    assert places.enter() is None
    assert (1, 1) == (places.taken, places.gave_way_count)


async def test_the_connection_of_a_user_gives_way_after_a_while(autojump_clock):
    places = ConnectionPlaces(1, beside_max=0)
    user = known(places)
    places.mark_idle(user)

    await trio.sleep(QUIET_SECONDS - 0.01)
    assert places.enter() is None
    await trio.sleep(0.01)
    assert places.enter() is not None
    assert is_cut(user)


async def test_a_stranger_that_has_just_come_gives_way_last(autojump_clock):
    """Its client may be about to ask; that of a user who has been quiet has had its answer."""
    places = ConnectionPlaces(3, beside_max=0)
    user, old = known(places), places.enter()
    for visitor in (user, old):
        places.mark_idle(visitor)
    await trio.sleep(QUIET_SECONDS)
    new = places.enter()
    places.mark_idle(new)

    for gone in (old, user, new):
        assert not is_cut(gone)
        assert places.enter() is not None
        assert is_cut(gone)
    assert places.enter() is None


async def test_whose_request_waits_to_be_read_keeps_the_place(autojump_clock):
    places = ConnectionPlaces(4, beside_max=0)
    asking, silent = (lambda: True), (lambda: False)
    visitors = [places.enter("", each) for each in (asking, silent, asking, silent)]
    for visitor in visitors[2:]:
        visitor.is_known = True
    for visitor in visitors:
        places.mark_idle(visitor)
    await trio.sleep(QUIET_SECONDS)

    assert places.enter() is not None
    assert places.enter() is not None
    assert places.enter() is None
    assert [False, True, False, True] == [is_cut(visitor) for visitor in visitors]


async def test_only_the_first_of_many_are_looked_at():
    looks = []
    places = ConnectionPlaces(100, beside_max=0)
    for _ in range(100):
        places.mark_idle(places.enter("", lambda: looks.append(1) or True))

    assert places.enter() is None
    assert LOOKED_AT_MAX == len(looks)


async def test_whoever_is_served_keeps_the_place(autojump_clock):
    places = ConnectionPlaces(2, beside_max=1)
    first, second = places.enter(), known(places)
    for visitor in (first, second):
        places.mark_idle(visitor)
        places.mark_serving(visitor)
    await trio.sleep(QUIET_SECONDS)

    beside = places.enter()

    assert beside.is_beside
    assert places.enter() is None
    assert not any(map(is_cut, (first, second, beside)))


async def test_one_that_stands_beside_and_says_nothing_gives_way_to_the_next():
    places = ConnectionPlaces(0, beside_max=1)
    first = places.enter()
    places.mark_idle(first)

    second = places.enter()

    assert (True, True, 1) == (is_cut(first), second.is_beside, places.beside)
    places.leave(first)
    assert 1 == places.beside
    places.leave(second)
    assert 0 == places.beside


async def test_a_place_is_given_back_once():
    places = ConnectionPlaces(1)
    first = places.enter()
    places.mark_idle(first)
    second = places.enter()
    places.mark_idle(first)  # it has not noticed yet

    places.leave(first)
    assert 1 == places.taken
    places.leave(second)

    assert (0, 0) == (places.taken, places.beside)
    assert not places.make_room()


async def until_told(request):
    """Served for as long as it likes: all are busy."""
    if "admin" in request.headers or not request.client.is_beside:
        if request.path == "/held":
            await trio.sleep_forever()
        return json_response(200, {})
    raise server_full()


@pytest.fixture
async def busy(nursery):
    """A server of one place, which is taken for good."""
    server = HttpServer(until_told, connections_max=1)
    first = connect(nursery, server=server)
    await first.send(GET.replace(b"GET /", b"GET /held"))
    await trio.testing.wait_all_tasks_blocked()
    yield server
    nursery.cancel_scope.cancel()


async def test_where_all_are_busy_the_next_one_is_told_so_at_once(nursery, autojump_clock, busy):
    began = trio.current_time()
    client = connect(nursery, server=busy)
    await client.send(GET)
    answer = await client.answer()

    assert (503, "1") == (answer.status, answer.headers["retry-after"])
    assert "close" == answer.headers["connection"]
    assert began == trio.current_time()


async def test_an_admin_is_served_one_request_all_the_same(nursery, autojump_clock, busy):
    client = connect(nursery, server=busy)
    await client.send(GET.replace(b"Host", b"Admin: yes\r\nHost"))

    answer = await client.answer()

    assert (200, "close") == (answer.status, answer.headers["connection"])
    assert await client.is_cut_off()


async def test_one_that_says_nothing_there_is_told_so_soon(nursery, autojump_clock, busy):
    began = trio.current_time()
    client = connect(nursery, server=busy)

    answer = await client.answer()

    assert 503 == answer.status
    assert BESIDE_SECONDS == trio.current_time() - began


async def test_an_idle_connection_gives_way_to_the_next():
    server = HttpServer(until_told, connections_max=1)
    async with serving(server) as listener:
        idle = await connected(listener)
        await idle.send(GET)
        await idle.answer()
        late = await connected(listener)
        await late.send(GET)

        assert 200 == (await late.answer()).status
        assert await idle.is_cut_off()
        for client in (idle, late):
            await client.stream.aclose()
    assert 1 == server.statistics().gave_way_count


async def test_what_a_client_has_sent_and_was_not_read_is_seen():
    server = HttpServer(until_told, connections_max=2)
    async with serving(server) as listener:
        client = await connected(listener)
        with trio.fail_after(PATIENCE_SECONDS):
            while not server._places._strangers:
                await trio.sleep(0.002)
        [idle] = server._places._strangers
        assert not idle.is_unread()

        os.write(client.stream.socket.fileno(), GET)

        assert idle.is_unread()
        assert 200 == (await client.answer()).status
        assert not idle.is_unread()
        await client.stream.aclose()


async def test_a_socket_is_no_idle_connection():
    async def answer(request):
        if request.client.is_beside:
            raise server_full()
        return Upgrade(lambda socket: socket.until_closed())

    server = HttpServer(answer, connections_max=1)
    async with serving(server) as listener:
        watcher = await connected(listener)
        await watcher.send(ASKING)
        assert 101 == (await watcher.head())[0]

        late = await connected(listener)
        await late.send(GET)

        assert 503 == (await late.answer()).status
        assert 1 == server.statistics().sockets
        for client in (watcher, late):
            await client.stream.aclose()


async def test_where_nothing_is_free_not_even_to_stand_the_answer_comes_before_the_question():
    begun = trio.Event()

    async def answer(request):
        begun.set()
        await trio.sleep_forever()

    server = HttpServer(answer, connections_max=1)
    server._places.beside_max = 0
    async with serving(server) as listener:
        first = await connected(listener)
        await first.send(GET)
        await begun.wait()
        late = [await connected(listener) for _ in range(40)]

        answers = [await client.answer() for client in late]

        assert {(503, "1", "close")} == {
            (each.status, each.headers["retry-after"], each.headers["connection"])
            for each in answers
        }
        assert 40 == server.statistics().turned_away_count
        for client in (first, *late):
            await client.stream.aclose()


def test_what_is_sent_unasked_is_a_whole_answer_of_http():
    head, _, body = turned_away_response().partition(b"\r\n\r\n")

    assert head.startswith(b"HTTP/1.1 503 ")
    assert b"content-length: %d" % len(body) in head
    assert "The server is full." == json.loads(body)["message"]


POOL = 32


@pytest.mark.parametrize(
    ("limit", "places", "peers", "rest"),
    [
        (0, 8, 8, 0),
        (256, 61, 20, 143),
        (1024, 509, 116, 367),
        (4096, 2442, 288, 1334),
        (65_536, CONNECTIONS_MAX, 288, 45_216),
        (1 << 30, CONNECTIONS_MAX, 288, (1 << 30) - 20_320),
    ],
)
def test_clients_get_two_thirds_of_what_neither_we_nor_others_need(limit, places, peers, rest):
    shared = shares_of(limit, database_max=POOL)

    assert (places, peers, rest) == (shared.places, shared.peers, shared.rest)


@given(limit=st.integers(0, 1 << 20), pool=st.integers(1, 72))
def test_together_they_are_never_more_than_there_are(limit, pool):
    shared = shares_of(limit, database_max=pool)

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
        taken = descriptors.raise_descriptor_limit()
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == hard
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

    assert taken == (hard if hard != resource.RLIM_INFINITY else 1 << 30)


def test_where_the_system_allows_less_than_it_says_that_is_what_there_is(monkeypatch):
    def refuse(*_):
        raise ValueError("not allowed to raise maximum limit")

    monkeypatch.setattr(resource, "getrlimit", lambda _: (256, resource.RLIM_INFINITY))
    monkeypatch.setattr(resource, "setrlimit", refuse)

    assert 256 == descriptors.raise_descriptor_limit()


def test_two_listeners_that_borrow_the_spare_at_once_cost_no_descriptor():
    before = os.listdir("/proc/self/fd")
    with SpareDescriptor() as spare:
        for _ in range(3):
            first, second = spare.lent(), spare.lent()
            first.__enter__()
            second.__enter__()
            first.__exit__(None, None, None)
            second.__exit__(None, None, None)

        assert len(os.listdir("/proc/self/fd")) == len(before) + 1

    assert len(os.listdir("/proc/self/fd")) == len(before)
