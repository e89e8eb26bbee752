"""One WebSocket: what it is sent, that it is alive, and the ways in which it ends."""

import os

import pytest
import trio
import trio.testing
from hypothesis import given
from hypothesis import strategies as st
from wsproto.connection import Connection, ConnectionType
from wsproto.events import BytesMessage, CloseConnection, Ping, Pong, TextMessage

from adapters.http.endpoints import SocketClosed
from adapters.http.host import bounds
from adapters.http.host.server import HttpServer
from adapters.http.host.websockets import framed
from adapters.http.origins import OwnAddress
from tests.adapters.http.host.clients import connect
from tests.adapters.http.host.socket_clients import (
    ASKING,
    SocketClient,
    connect_socket,
    until_closed,
    upgrading,
)

TEXT, BINARY, CONTINUATION, CLOSE, PING = 0x81, 0x82, 0x80, 0x88, 0x89


@given(st.sampled_from([0, 1, 125, 126, 127, 65535, 65536, 70000]), st.integers(0, 255))
def test_a_frame_is_what_a_client_reads(length, byte):
    payload = bytes([byte % 128]) * length
    client = Connection(ConnectionType.CLIENT)

    client.receive_data(framed(payload))

    events = list(client.events())
    assert payload == b"".join(event.data.encode() for event in events)
    assert events[-1].message_finished


async def test_what_is_sent_arrives_in_its_order_and_the_end_is_1000(nursery):
    async def greet(socket):
        for word in (b"one", b"two", b"three"):
            await socket.send(framed(word))

    client = await connect_socket(nursery, greet)

    *said, end = [await client.next() for _ in range(4)]

    assert ["one", "two", "three"] == [event.data for event in said]
    assert (1000, "") == (end.code, end.reason or "")
    await client.send(end.response())
    assert [] == await client.all()


async def test_what_came_along_with_the_request_is_heard(nursery):
    ping = Connection(ConnectionType.CLIENT).send(Ping(payload=b"early"))

    client = await connect_socket(nursery, begun=ping)

    assert Pong(payload=b"early") == await client.next()
    nursery.cancel_scope.cancel()


async def test_a_ping_is_answered(nursery):
    client = await connect_socket(nursery)

    await client.send(Ping(payload=b"there?"))

    assert Pong(payload=b"there?") == await client.next()
    nursery.cancel_scope.cancel()


async def test_a_client_that_closes_is_told_the_same_and_whoever_serves_it_hears(nursery):
    heard = trio.Event()

    async def serve(socket):
        await socket.until_closed()
        with pytest.raises(SocketClosed):
            await socket.send(framed(b"late"))
        heard.set()

    client = await connect_socket(nursery, serve)

    await client.send(CloseConnection(4001, "enough"))

    assert [CloseConnection(4001, "enough")] == await client.all()
    await heard.wait()


async def test_a_client_that_hangs_up_is_gone(nursery):
    heard = trio.Event()

    async def serve(socket):
        await socket.until_closed()
        heard.set()

    client = await connect_socket(nursery, serve)

    await client.client.stream.aclose()

    await heard.wait()


@pytest.mark.parametrize("said", [TextMessage(data="hi"), BytesMessage(data=b"hi")])
async def test_a_client_has_nothing_to_say(nursery, said):
    client = await connect_socket(nursery)

    await client.send(said)

    [end] = await client.all()
    assert 1008 == end.code


@pytest.mark.parametrize(
    ("code", "first", "payload", "how"),
    [
        (1002, TEXT, b"hi", {"masked": False}),
        (1002, 0xC1, b"hi", {}),  # compressed, which was not agreed to
        (1002, 0x83, b"hi", {}),  # a kind that there is not
        (1002, 0x09, b"hi", {}),  # a ping in pieces
        (1002, PING, b"x" * 200, {}),  # a ping that is too long
        (1002, CONTINUATION, b"hi", {}),  # of nothing
        (1002, CLOSE, b"x", {}),  # half a code
        (1002, CLOSE, b"\x03\xed", {}),  # 1005, which is never sent
        (1007, TEXT, b"\xff\xfe", {}),  # no text
        (1007, CLOSE, b"\x03\xe8\xff", {}),  # no text either
        (1008, TEXT, b"x" * 100, {"length": 1 << 40}),  # the beginning of a terabyte
    ],
)
async def test_what_is_no_frame_is_told_so_by_its_code(nursery, code, first, payload, how):
    client = await connect_socket(nursery)

    await client.send_frame(first, payload, **how)

    [end] = await client.all()
    assert code == end.code


async def test_a_goodbye_without_a_code_is_answered(nursery):
    client = await connect_socket(nursery)

    await client.send_frame(CLOSE)

    [end] = await client.all()
    assert 1005 == end.code


async def test_a_quiet_socket_is_asked_every_so_often_whether_it_lives(nursery, autojump_clock):
    client = await connect_socket(nursery)
    began = trio.current_time()

    for number in (1, 2, 3):
        ping = await client.next()
        assert Ping(payload=b"%d" % number) == ping
        assert number * bounds.PING_SECONDS == pytest.approx(trio.current_time() - began)
        await client.send(ping.response())
    nursery.cancel_scope.cancel()


async def test_a_socket_that_shows_no_sign_of_life_is_closed(nursery, autojump_clock):
    client = await connect_socket(nursery)
    began = trio.current_time()

    [ping, end] = await client.all()

    assert Ping(payload=b"1") == ping
    assert (1001, "liveness probe failed") == (end.code, end.reason)
    assert 2 * bounds.PING_SECONDS == pytest.approx(trio.current_time() - began, abs=1.1)


async def test_a_client_that_does_not_read_is_cut_off(autojump_clock):
    closed = []
    pair = trio.testing.lockstep_stream_pair

    async def serve(socket):
        try:
            await socket.send(framed(b"x" * 1000))
        except SocketClosed:
            closed.append(trio.current_time() - began)
            raise

    server = HttpServer(upgrading(serve))
    async with trio.open_nursery() as nursery:
        await connect_socket(nursery, serve, server=server, pair=pair)
        began = trio.current_time()

    assert [pytest.approx(bounds.FRAME_SECONDS)] == closed
    assert (0, 0) == (server.statistics().connections, server.statistics().crashed_count)


async def test_two_who_send_at_once_do_not_mix_their_frames(nursery):
    async def serve(socket):
        async def say(word):
            for _ in range(20):
                await socket.send(framed(word * 100))

        async with trio.open_nursery() as inner:
            inner.start_soon(say, b"a")
            inner.start_soon(say, b"b")

    client = await connect_socket(nursery, serve, pair=trio.testing.lockstep_stream_pair)

    said = [await client.next() for _ in range(40)]

    assert {"a" * 100, "b" * 100} == {event.data for event in said}
    nursery.cancel_scope.cancel()


async def test_a_frame_that_was_cut_in_half_is_the_last_one(nursery):
    closed = trio.Event()

    async def serve(socket):
        with trio.move_on_after(0.01):
            await socket.send(framed(b"x" * 1000))
        with pytest.raises(SocketClosed):
            await socket.send(framed(b"after that"))
        closed.set()

    await connect_socket(nursery, serve, pair=trio.testing.lockstep_stream_pair)

    await closed.wait()
    nursery.cancel_scope.cancel()


@pytest.fixture
async def loopback():
    """Makes two ends that the system lies between: it takes what it has room for."""
    ends = tuple(map(trio.SocketStream, trio.socket.socketpair()))
    yield lambda: ends
    for end in ends:
        await trio.aclose_forcefully(end)


async def message(client):
    """The next one, whole, however it comes."""
    words = []
    while True:
        event = await client.next()
        words.append(event.data)
        if event.message_finished:
            return "".join(words)


async def test_what_can_be_sent_at_once_is_and_the_rest_of_a_frame_goes_first(nursery, loopback):
    taken = []
    large, small = framed(b"x" * (4 << 20)), framed(b"y")

    async def serve(socket):
        await upgraded.wait()
        taken.extend([socket.send_at_once(small), socket.send_at_once(large)])
        client.client.buffer += os.read(client.client.stream.socket.fileno(), 4 << 20)
        taken.append(socket.send_at_once(small))  # although there is room again
        tried.set()
        await socket.send(b"")
        await socket.send(small)
        await socket.until_closed()
        taken.append(socket.send_at_once(small))

    upgraded, tried = trio.Event(), trio.Event()
    client = await connect_socket(nursery, serve, pair=loopback)
    upgraded.set()
    await tried.wait()

    said = [await message(client) for _ in range(3)]

    assert ["y", "x" * (4 << 20), "y"] == said
    await client.send(CloseConnection(1000))
    await client.all()
    assert (len(small), True) == (taken[0], 0 < taken[1] < len(large))
    assert [0, 0] == taken[2:]


async def test_the_rest_of_a_frame_goes_before_the_answer_to_a_ping(nursery, loopback):
    answered = trio.Event()

    async def serve(socket):
        socket.send_at_once(framed(b"x" * (4 << 20)))
        await answered.wait()
        await socket.send(b"")
        await socket.send(framed(b"y"))

    client = await connect_socket(nursery, serve, pair=loopback)
    await client.send(Ping(payload=b"there?"))

    said = [await message(client), await client.next()]
    answered.set()

    assert ["x" * (4 << 20), Pong(payload=b"there?")] == said
    assert "y" == await message(client)
    nursery.cancel_scope.cancel()


async def test_at_once_nothing_is_sent_in_the_middle_of_what_somebody_sends(nursery, loopback):
    taken = []

    async def serve(socket):
        async with trio.open_nursery() as inner:
            inner.start_soon(socket.send, framed(b"x" * (4 << 20)))
            await upgraded.wait()
            await trio.testing.wait_all_tasks_blocked()
            client.client.buffer += os.read(client.client.stream.socket.fileno(), 4 << 20)
            taken.append(socket.send_at_once(framed(b"y")))  # although there is room again
            tried.set()

    upgraded, tried = trio.Event(), trio.Event()
    client = await connect_socket(nursery, serve, pair=loopback)
    upgraded.set()
    await tried.wait()

    assert "x" * (4 << 20) == await message(client)
    assert [0] == taken
    nursery.cancel_scope.cancel()


async def test_who_does_not_say_goodbye_in_turn_is_not_waited_for(nursery, autojump_clock):
    ended = []

    async def serve(socket):
        began = trio.current_time()
        await socket.close(1001, "going")
        await socket.close(1000, "twice")
        ended.append(trio.current_time() - began)

    client = await connect_socket(nursery, serve)

    [end] = await client.all()

    assert (1001, "going") == (end.code, end.reason)
    assert [pytest.approx(bounds.GOODBYE_SECONDS)] == ended


async def test_a_long_reason_is_cut_where_a_character_ends(nursery):
    async def serve(socket):
        await socket.close(1000, "é" * 100)

    client = await connect_socket(nursery, serve)

    assert "é" * 61 == (await client.next()).reason
    nursery.cancel_scope.cancel()


async def test_a_server_that_breaks_says_1011_and_harms_nobody_else(nursery, caplog):
    async def serve(socket):
        raise RuntimeError("a bug")

    server = HttpServer(upgrading(serve))

    client = await connect_socket(nursery, server=server)
    end = await client.next()
    await client.send(end.response())

    assert 1011 == end.code
    assert [] == await client.all()
    assert ["socket.crashed"] == [record.message for record in caplog.records]
    assert 1 == server.statistics().crashed_count


async def test_a_stopping_server_tells_its_sockets(nursery):
    server = HttpServer(upgrading(until_closed))
    client = await connect_socket(nursery, server=server)
    await trio.testing.wait_all_tasks_blocked()

    nursery.start_soon(server.hang_up_sockets)

    end = await client.next()
    assert 1001 == end.code
    await client.send(end.response())
    assert [] == await client.all()
    await client.client.stream.aclose()
    await trio.testing.wait_all_tasks_blocked()
    assert (0, 0) == (server.statistics().sockets, server.statistics().connections)


@given(st.binary(max_size=300))
def test_whatever_a_client_sends_the_socket_ends_or_waits_and_nothing_breaks(data):
    async def play():
        server = HttpServer(upgrading(until_closed))
        async with trio.open_nursery() as nursery:
            client = await connect_socket(nursery, server=server)
            assert isinstance(client, SocketClient)
            await client.client.send(data)
            await client.client.stream.send_eof()
            await client.client.rest()
        assert (0, 0, 0) == (
            server.statistics().crashed_count,
            server.statistics().sockets,
            server.statistics().connections,
        )

    trio.run(play, clock=trio.testing.MockClock(autojump_threshold=0))


ACCEPTED = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="  # RFC 6455, 1.3


async def answer_to(nursery, asking):
    client = connect(nursery, upgrading(until_closed))
    await client.send(asking)
    return await client.answer()


async def test_the_agreement_names_the_key_and_no_extension(nursery):
    offered = ASKING.replace(
        b"\r\n\r\n", b"\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\r\n"
    )

    answer = await answer_to(nursery, offered)

    assert (101, ACCEPTED) == (answer.status, answer.headers["sec-websocket-accept"])
    assert {"upgrade", "connection", "sec-websocket-accept"} == set(answer.headers)
    nursery.cancel_scope.cancel()


@pytest.mark.parametrize(
    ("status", "what", "instead"),
    [
        (426, b"Upgrade: WebSocket\r\n", b""),
        (426, b"keep-alive, Upgrade", b"keep-alive"),
        (426, b"Upgrade: WebSocket", b"Upgrade: h2c"),
        (426, b"Version: 13", b"Version: 8"),
        (400, b"dGhlIHNhbXBsZSBub25jZQ==", b"dGhl"),
        (400, b"dGhlIHNhbXBsZSBub25jZQ==", b"not base64!"),
        (400, b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n", b""),
        (403, b"Host: here", b"Host: here\r\nOrigin: https://evil.example"),
        (403, b"Host: here", b"Host: here\r\nOrigin: null"),
        (403, b"Host: here", b"Host: here\r\nOrigin: http://here:8080"),
        (403, b"Host: here", b"Host: here\r\nOrigin: http://here:x"),
        (403, b"Host: here", b"Host: here\r\nSec-Fetch-Site: cross-site"),
        (403, b"Host: here", b"Host: here\r\nOrigin: https://chats.example.org"),
        (413, b"Host: here", b"Host: here\r\nContent-Length: 5"),
    ],
)
async def test_who_asks_wrongly_is_told_so_in_plain_http(nursery, status, what, instead):
    assert what in ASKING

    answer = await answer_to(nursery, ASKING.replace(what, instead))

    assert status == answer.status
    assert answer.document["message"]


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        (b"here", b"http://here"),
        (b"here:80", b"http://HERE"),
        (b"here:443", b"https://here"),
        (b"here:7390", b"http://here:7390"),
        (b"[::1]:7390", b"http://[::1]:7390"),
    ],
)
async def test_a_page_from_here_may_ask(nursery, host, origin):
    asking = ASKING.replace(b"Host: here", b"Host: " + host + b"\r\nOrigin: " + origin)

    assert 101 == (await answer_to(nursery, asking)).status
    nursery.cancel_scope.cancel()


async def test_a_page_from_access_url_may_ask_whatever_host_a_proxy_says(nursery):
    own = OwnAddress("https://chats.example.org")
    asking = ASKING.replace(b"Host: here", b"Host: here\r\nOrigin: https://chats.example.org")
    client = connect(nursery, server=HttpServer(upgrading(until_closed), own=own))

    await client.send(asking)

    assert 101 == (await client.answer()).status
    nursery.cancel_scope.cancel()


async def test_what_only_posts_does_not_become_a_socket(nursery):
    answer = await answer_to(nursery, ASKING.replace(b"GET", b"POST"))

    assert 426 == answer.status


async def test_a_refused_client_may_ask_for_something_else(nursery):
    async def sometimes(request):
        return await upgrading(until_closed)(request)

    client = connect(nursery, server=HttpServer(sometimes))
    await client.send(ASKING.replace(b"Version: 13", b"Version: 8"), ASKING)

    assert [426, 101] == [(await client.answer()).status for _ in range(2)]
    nursery.cancel_scope.cancel()
