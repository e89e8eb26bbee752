"""A stream ends with the token that opened it, and goes on with every other."""

from dataclasses import replace
from math import inf
from urllib.parse import urlsplit

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from adapters.http.endpoints import (
    Access,
    Call,
    Caller,
    Endpoint,
    HttpResponse,
    TokenSource,
    Upgrade,
)
from adapters.http.requests import ClientConnection, HttpRequest
from adapters.people.auth import open_streams as bounds
from adapters.people.auth.open_streams import OpenStreams
from adapters.people.store.users import OWNER
from adapters.postgres.driver.faults import DatabaseGone
from tests.adapters.people.auth.stage import a_door
from tests.patience import PATIENCE_SECONDS


class Gate:
    """Which tokens are good, and until when; it may be away."""

    def __init__(self):
        self.bad, self.asked, self.fault, self.until = set(), [], None, inf

    async def good_until(self, token):
        self.asked.append(token)
        if self.fault is not None:
            raise self.fault
        return None if token in self.bad else self.until


class Line:
    """A socket, as far as a stream sees it."""

    def __init__(self):
        self.closed = None

    async def close(self, code, reason=""):
        self.closed = code, reason


def caller(user="ann", token="t1", until=inf):
    return Caller(user, user, False, frozenset({"all"}), token, TokenSource.HEADER, until)


def call(who):
    return Call(who, {}, (), {}, b"")


async def no_body(_bytes_max):
    return b""


async def until_cut(_socket):
    await trio.sleep_forever()


async def opens_socket(_call):
    return Upgrade(until_cut)


def row(handle, access=Access.USER):
    return Endpoint(method="GET", path="/", handle=handle, summary="", tag="", access=access)


@pytest.fixture
async def gate(nursery):
    gate = Gate()
    gate.streams = OpenStreams(gate)
    nursery.start_soon(gate.streams.run)
    return gate


@pytest.fixture
def opened(gate, nursery):
    """Opens a stream; what became of it is in the line's `closed`."""

    async def opened(who):
        line = Line()
        upgrade = await gate.streams.guarding(row(opens_socket)).handle(call(who))
        nursery.start_soon(upgrade.serve, line)
        await wait_all_tasks_blocked()
        return line

    return opened


CLOSED = 1008, "the token is no longer good"


async def test_streams_of_a_token_that_ended_are_closed_and_no_others(gate, opened):
    lines = [await opened(caller(*who)) for who in (("ann", "t1"), ("ann", "t2"), ("bob", "t1"))]
    gate.bad = {"t1"}

    gate.streams.doubt("ann")
    await wait_all_tasks_blocked()

    assert [CLOSED, None, None] == [line.closed for line in lines]
    assert (2, 2, 1) == (
        gate.streams.statistics().users,
        gate.streams.statistics().streams,
        gate.streams.statistics().ended_count,
    )


async def test_many_streams_of_a_token_cost_one_look(gate, opened):
    for _ in range(5):
        await opened(caller())

    gate.streams.doubt("ann")
    await wait_all_tasks_blocked()

    assert ["t1"] == gate.asked


async def test_who_has_no_stream_costs_nothing(gate):
    gate.streams.doubt("ann")
    await wait_all_tasks_blocked()

    assert [] == gate.asked


async def test_where_news_were_missed_everybody_is_looked_at(gate, opened):
    lines = [await opened(caller("ann", "t1")), await opened(caller("bob", "t2"))]
    gate.bad = {"t2"}

    gate.streams.doubt_all()
    await wait_all_tasks_blocked()

    assert [None, CLOSED] == [line.closed for line in lines]


async def test_a_stream_that_begins_just_after_a_change_is_looked_at(gate, opened):
    gate.bad = {"t1"}
    gate.streams.doubt("ann")

    assert CLOSED == (await opened(caller())).closed


async def test_long_after_a_change_a_stream_begins_without_a_look(autojump_clock, gate, opened):
    gate.streams.doubt("ann")
    gate.streams.doubt_all()
    await trio.sleep(bounds.LATELY_SECONDS)

    await opened(caller())

    assert [] == gate.asked


async def test_a_database_that_is_away_only_puts_it_off(autojump_clock, gate, opened):
    line = await opened(caller())
    gate.bad, gate.fault = {"t1"}, DatabaseGone("postgres: away")
    gate.streams.doubt("ann")
    await wait_all_tasks_blocked()
    assert line.closed is None

    gate.fault = None
    await trio.sleep(bounds.RETRY_SECONDS)
    await wait_all_tasks_blocked()

    assert CLOSED == line.closed


async def test_a_stream_ends_soon_after_the_time_of_its_token_is_over(autojump_clock, gate, opened):
    lines = [
        await opened(caller(until=trio.current_time() + 100)),
        await opened(caller("bob", "t2")),
    ]
    gate.bad = {"t1", "t2"}

    await trio.sleep(99)
    assert ([], None) == (gate.asked, lines[0].closed)
    await trio.sleep(1 + bounds.LOOK_SECONDS)
    await wait_all_tasks_blocked()

    assert [CLOSED, None] == [line.closed for line in lines]


async def test_a_stream_goes_on_for_as_long_as_its_session_is_used(autojump_clock, gate, opened):
    line = await opened(caller(until=trio.current_time() + 100))
    gate.until = trio.current_time() + 1_000

    await trio.sleep(999)
    assert (["t1"], None) == (gate.asked, line.closed)
    gate.bad = {"t1"}
    await trio.sleep(1 + bounds.LOOK_SECONDS)
    await wait_all_tasks_blocked()

    assert CLOSED == line.closed


async def test_a_stream_that_ends_by_itself_is_forgotten_and_not_closed_again(gate):
    async def ends(_socket):
        pass

    async def handle(_call):
        return Upgrade(ends)

    line = Line()
    upgrade = await gate.streams.guarding(row(handle)).handle(call(caller()))
    await upgrade.serve(line)

    assert (None, 0) == (line.closed, gate.streams.statistics().users)


class Pieces:
    """A body that is made as somebody says so."""

    def __init__(self):
        self.send, self.receive = trio.open_memory_channel(10)
        self.closed = False

    async def made(self):
        try:
            async for piece in self.receive:
                yield piece
        finally:
            self.closed = True


async def test_a_body_ends_with_its_next_piece(gate):
    pieces = Pieces()

    async def handle(_call):
        return HttpResponse(200, pieces.made())

    answer = await gate.streams.guarding(row(handle)).handle(call(caller()))
    pieces.send.send_nowait(b"before")
    assert b"before" == await anext(answer.body)
    gate.bad = {"t1"}
    gate.streams.doubt("ann")
    await wait_all_tasks_blocked()
    pieces.send.send_nowait(b"after")

    assert b"none" == await anext(answer.body, b"none")
    assert (True, 0) == (pieces.closed, gate.streams.statistics().users)


async def test_a_body_that_nobody_reads_on_is_closed(gate):
    pieces = Pieces()

    async def handle(_call):
        return HttpResponse(200, pieces.made())

    answer = await gate.streams.guarding(row(handle)).handle(call(caller()))
    pieces.send.send_nowait(b"one")
    await anext(answer.body)
    await answer.body.aclose()

    assert (True, 0) == (pieces.closed, gate.streams.statistics().users)


async def test_what_is_no_stream_passes_as_it_is(gate):
    answer = HttpResponse(200, b"a document")

    async def handle(_call):
        return answer

    assert answer is await gate.streams.guarding(row(handle)).handle(call(caller()))
    free = row(handle, Access.OPEN)
    assert free is gate.streams.guarding(free)


ENDING = {
    "revoked": lambda door, ann, boss: door.asks(
        "DELETE", f"/api/v2/users/me/keys/{ann.token[:10]}", token=ann.token
    ),
    "suspended": lambda door, ann, boss: door.asks(
        "PUT", "/api/v2/users/ann/status/suspend", token=boss.token
    ),
    "deleted": lambda door, ann, boss: door.asks("DELETE", "/api/v2/users/ann", token=boss.token),
}


@pytest.mark.parametrize("end", ENDING.values(), ids=ENDING)
async def test_a_stream_of_a_user_ends_when_his_token_is(people, nursery, end):
    async with a_door(people) as door:
        ann, boss = await door.joins("ann"), await door.joins("boss", roles=[OWNER])
        lines = []
        for person in (ann, boss):
            good = await door.auth.tokens.of_id(person.token[:10])
            who = replace(caller(), id=good.id, token=good.token)
            upgrade = await door.auth.streams.guarding(row(opens_socket)).handle(call(who))
            lines.append(Line())
            nursery.start_soon(upgrade.serve, lines[-1])
        await wait_all_tasks_blocked()

        await end(door, ann, boss)

        with trio.fail_after(PATIENCE_SECONDS):
            while lines[0].closed is None:
                await trio.sleep(0.002)
        assert [CLOSED, None] == [line.closed for line in lines]


async def test_a_stream_does_not_outlive_a_token_that_expires(people, nursery, rushing_clock):
    async with a_door(people) as door:
        ann = await door.joins("ann")
        await door.rows("UPDATE tokens SET expires_at = now() + interval '1 hour'")
        headers = {"coder-session-token": ann.token}
        asking = HttpRequest("GET", "/", "", headers, ClientConnection("192.0.2.1"), no_body)
        who = await door.auth.callers.of(asking)
        upgrade = await door.auth.streams.guarding(row(opens_socket)).handle(call(who))
        line = Line()
        nursery.start_soon(upgrade.serve, line)
        await wait_all_tasks_blocked()

        await door.rows("UPDATE tokens SET expires_at = now()")  # as if the hour were over
        rushing_clock.jump(3_600 + bounds.LOOK_SECONDS)

        with trio.fail_after(PATIENCE_SECONDS):
            while line.closed is None:
                await trio.sleep(0.002)
        assert CLOSED == line.closed


ASKING = (
    "GET /api/experimental/chats/watch HTTP/1.1\r\nHost: {host}\r\nConnection: Upgrade\r\n"
    "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nCoder-Session-Token: {token}\r\n\r\n"
)


@pytest.mark.slow
async def test_a_real_socket_is_closed_when_its_token_is_revoked(edge):
    member, address = edge.member, urlsplit(edge.url)
    asking = ASKING.format(host=address.netloc, token=member.token).encode()
    async with await trio.open_tcp_stream(address.hostname, address.port) as stream:
        await stream.send_all(asking)
        said = b""
        while b"\r\n\r\n" not in said:
            said += await stream.receive_some()
        assert said.startswith(b"HTTP/1.1 101 ")

        await member.delete(f"/api/v2/users/me/keys/{member.token[:10]}")

        code, reason = CLOSED
        last = b"\x88\x1d" + code.to_bytes(2) + reason.encode()
        with trio.fail_after(PATIENCE_SECONDS):
            while not said.endswith(last):
                piece = await stream.receive_some()
                assert piece, said
                said += piece
