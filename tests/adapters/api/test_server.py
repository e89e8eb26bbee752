"""The HTTP server against clients that are quick, slow, rude or gone; on virtual time."""

import json

import pytest
import trio
import trio.testing

from adapters.api import server as limits
from adapters.api.server import Answer, Server

GET = b"GET /x?y HTTP/1.1\r\nHost: here\r\n\r\n"


async def echo(request):
    return Answer(200, {"method": request.method, "path": request.path, "query": request.query})


class Client:
    """The other end of a connection: bytes out, answers in."""

    def __init__(self, stream):
        self.stream = stream
        self._buffer = b""

    async def send(self, *pieces):
        for piece in pieces:
            await self.stream.send_all(piece)

    async def answer(self, *, has_body=True):
        """(status, headers, document) of the next answer."""
        while b"\r\n\r\n" not in self._buffer:
            await self._read()
        head, _, self._buffer = self._buffer.partition(b"\r\n\r\n")
        first, *lines = head.decode().split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in lines)
        if not has_body:
            return int(first.split()[1]), headers, None
        length = int(headers["content-length"])
        while len(self._buffer) < length:
            await self._read()
        body, self._buffer = self._buffer[:length], self._buffer[length:]
        return int(first.split()[1]), headers, json.loads(body)

    async def is_cut_off(self):
        assert self._buffer == b""
        return await self.stream.receive_some() == b""

    async def _read(self):
        data = await self.stream.receive_some()
        assert data, "they hung up in the middle of an answer"
        self._buffer += data


@pytest.fixture
async def a_client(nursery):
    """Connects to a server that answers with `answer`."""

    def connect(answer=echo, pair=trio.testing.memory_stream_pair, server=None):
        ours, theirs = pair()
        nursery.start_soon((server or Server(answer)).converse, theirs)
        return Client(ours)

    return connect


async def test_a_request_is_answered_and_the_connection_serves_the_next_one(a_client):
    client = a_client()

    for _ in range(2):
        await client.send(GET)
        status, headers, document = await client.answer()

        assert (200, "application/json") == (status, headers["content-type"])
        assert {"method": "GET", "path": "/x", "query": "y"} == document


async def test_requests_sent_in_one_go_are_answered_in_their_order(a_client):
    client = a_client()

    await client.send(GET.replace(b"/x", b"/1") + GET.replace(b"/x", b"/2"))

    assert "/1" == (await client.answer())[2]["path"]
    assert "/2" == (await client.answer())[2]["path"]


async def test_a_request_may_arrive_byte_by_byte(a_client):
    client = a_client()

    await client.send(*(GET[i : i + 1] for i in range(len(GET))))

    assert "/x" == (await client.answer())[2]["path"]


async def test_head_is_answered_like_get_without_the_body(a_client):
    async def same(request):
        return Answer(200, {"same": "for both"})

    client = a_client(same)
    await client.send(GET)
    expected = await client.answer()

    await client.send(GET.replace(b"GET", b"HEAD"), GET)

    assert (200, expected[1], None) == await client.answer(has_body=False)
    assert expected == await client.answer()


async def test_a_body_is_read_and_thrown_away(a_client):
    client = a_client()

    await client.send(b"POST /x HTTP/1.1\r\nHost: here\r\nContent-Length: 5\r\n\r\n", b"GET /", GET)

    assert "POST" == (await client.answer())[2]["method"]
    assert "GET" == (await client.answer())[2]["method"]


async def test_a_body_over_the_bound_is_refused_and_the_connection_closed(a_client):
    client = a_client()
    length = limits.BODY_BYTES_MAX + 1

    head = f"POST /x HTTP/1.1\r\nHost: here\r\nContent-Length: {length}\r\n\r\n"
    await client.send(head.encode(), b"x" * length)

    assert 413 == (await client.answer())[0]
    assert await client.is_cut_off()


async def test_who_asks_whether_to_send_a_body_is_answered_without_it(a_client):
    client = a_client()

    expecting = b"Expect: 100-continue\r\nContent-Length: 5\r\n\r\n"
    await client.send(GET.replace(b"\r\n\r\n", b"\r\n" + expecting))

    assert 200 == (await client.answer())[0]
    assert await client.is_cut_off()


@pytest.mark.parametrize(
    "request_", [GET.replace(b"1.1", b"1.0"), GET.replace(b"Host", b"Connection: close\r\nHost")]
)
async def test_a_connection_that_is_to_end_with_the_answer_does(a_client, request_):
    client = a_client()

    await client.send(request_)

    assert 200 == (await client.answer())[0]
    assert await client.is_cut_off()


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (b"\x16\x03\x01 tls\r\n\r\n", 400),
        (b"GET /x HTTP/1.1\r\n\r\n", 400),
        (b"GET /x HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
        (GET[:-2] + b"X: " + b"x" * (limits.HEAD_BYTES_MAX + 1), 431),
    ],
)
async def test_what_is_no_request_is_told_so_and_cut_off(a_client, request_, status):
    client = a_client()

    await client.send(request_)

    assert status == (await client.answer())[0]
    assert await client.is_cut_off()


async def test_a_request_that_does_not_end_is_refused_in_time(a_client, autojump_clock):
    client = a_client()
    started = trio.current_time()

    await client.send(GET[:10])

    assert 408 == (await client.answer())[0]
    assert limits.REQUEST_SECONDS == pytest.approx(trio.current_time() - started)


async def test_a_request_that_drips_in_is_refused_in_time_all_the_same(
    a_client, nursery, autojump_clock
):
    client = a_client()
    started = trio.current_time()

    async def drip():
        for byte in GET:
            await client.send(bytes([byte]))
            await trio.sleep(1)

    nursery.start_soon(drip)

    assert 408 == (await client.answer())[0]
    assert limits.REQUEST_SECONDS == pytest.approx(trio.current_time() - started)
    nursery.cancel_scope.cancel()


async def test_an_idle_connection_is_closed_without_a_word(a_client, autojump_clock):
    client = a_client()
    started = trio.current_time()

    assert await client.is_cut_off()
    assert limits.IDLE_SECONDS == pytest.approx(trio.current_time() - started)


async def test_who_does_not_take_the_answer_is_cut_off(autojump_clock):
    ours, theirs = trio.testing.lockstep_stream_pair()
    server = Server(echo)
    started = trio.current_time()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(server.converse, theirs)
        await ours.send_all(GET)

    assert limits.SEND_SECONDS == pytest.approx(trio.current_time() - started)
    assert 0 == server.statistics().connections


async def test_an_answer_that_is_not_made_in_time_is_given_up(a_client, autojump_clock):
    async def never(request):
        await trio.sleep_forever()

    client = a_client(never)
    await client.send(GET)

    assert 503 == (await client.answer())[0]


async def test_a_client_that_leaves_in_mid_request_is_forgotten():
    ours, theirs = trio.testing.memory_stream_pair()
    server = Server(echo)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(server.converse, theirs)
        await ours.send_all(GET[:10])
        await ours.aclose()

    assert 0 == server.statistics().connections


async def test_draining_answers_what_is_under_way_and_closes_what_is_idle(a_client, nursery):
    asked, go = trio.Event(), trio.Event()

    async def slow(request):
        asked.set()
        await go.wait()
        return await echo(request)

    server = Server(slow)
    idle, busy = a_client(server=server), a_client(server=server)
    await busy.send(GET)
    await asked.wait()
    await trio.testing.wait_all_tasks_blocked()

    nursery.start_soon(server.drain, [])
    assert await idle.is_cut_off()
    go.set()
    status, headers, _ = await busy.answer()

    assert (200, "close") == (status, headers["connection"])
    assert await busy.is_cut_off()


async def test_draining_does_not_wait_for_ever(a_client, autojump_clock):
    async def never(request):
        await trio.sleep_forever()

    server = Server(never)
    client = a_client(server=server)
    await client.send(GET)
    await trio.testing.wait_all_tasks_blocked()
    started = trio.current_time()

    await server.drain([])

    assert limits.GRACE_SECONDS == pytest.approx(trio.current_time() - started)
