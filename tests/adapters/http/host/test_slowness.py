"""Clients that are slow, silent or gone, and a server that drains; on virtual time."""

import itertools

import pytest
import trio
import trio.testing

from adapters.http.endpoints import HttpResponse
from adapters.http.host import bounds
from adapters.http.host.server import HttpServer
from adapters.http.requests import ClientConnection
from tests.adapters.http.host.clients import Client, connect, echo

GET = b"GET /x?y HTTP/1.1\r\nHost: here\r\n\r\n"
POST = b"POST /x HTTP/1.1\r\nHost: here\r\nContent-Length: 50\r\n\r\n"


async def never(request):
    await trio.sleep_forever()


async def drip(client, data, seconds=1.0):
    for byte in data:
        await client.send(bytes([byte]))
        await trio.sleep(seconds)


@pytest.mark.parametrize("drips", [False, True])
async def test_a_head_that_does_not_end_is_refused_in_time(
    a_client, nursery, autojump_clock, drips
):
    client = a_client()
    began = trio.current_time()

    nursery.start_soon(*((drip, client, GET) if drips else (client.send, GET[:10])))

    assert 408 == (await client.answer()).status
    assert bounds.HEAD_SECONDS == pytest.approx(trio.current_time() - began)
    nursery.cancel_scope.cancel()


@pytest.mark.parametrize("drips", [False, True])
async def test_a_body_that_does_not_end_is_refused_in_time(
    a_client, nursery, autojump_clock, drips
):
    client = a_client()
    began = trio.current_time()
    await client.send(POST)

    nursery.start_soon(*((drip, client, b"x" * 49) if drips else (client.send, b"x" * 49)))

    assert 408 == (await client.answer()).status
    assert bounds.BODY_SECONDS == pytest.approx(trio.current_time() - began, abs=0.01)
    nursery.cancel_scope.cancel()


async def test_a_large_body_has_longer(a_client, autojump_clock):
    async def patient(request):
        await request.read_body(1 << 30)

    client = a_client(patient)
    began = trio.current_time()
    size = 100 * bounds.BODY_BYTES_PER_SECOND

    await client.send(POST.replace(b"50", b"%d" % size))

    assert 408 == (await client.answer()).status
    assert bounds.BODY_SECONDS + 100 == pytest.approx(trio.current_time() - began)


async def test_who_sends_on_after_a_refusal_is_heard_for_a_while_and_keeps_the_answer(
    a_client, autojump_clock
):
    """Clients read the answer when all is sent, and to hang up on them before destroys it."""
    client = a_client()
    began, step = trio.current_time(), bounds.LINGER_SECONDS * 0.9

    await client.send(POST.replace(b"50", b"1000000"))
    with pytest.raises(trio.BrokenResourceError):
        await drip(client, itertools.repeat(ord("x")), step)

    assert bounds.LINGER_SECONDS_MAX == pytest.approx(trio.current_time() - began, abs=step)
    assert 413 == (await client.answer()).status


async def test_who_sends_no_more_after_a_refusal_is_not_waited_for(a_client, autojump_clock):
    client = a_client()
    began = trio.current_time()

    await client.send(POST.replace(b"50", b"1000000"), b"x")
    await trio.sleep(bounds.LINGER_SECONDS * 1.1)

    with pytest.raises(trio.BrokenResourceError):
        await client.send(b"x")
    assert 2 * bounds.LINGER_SECONDS > trio.current_time() - began


async def test_an_idle_connection_is_closed_without_a_word(a_client, autojump_clock):
    client = a_client()
    began = trio.current_time()

    assert await client.is_cut_off()
    assert bounds.IDLE_SECONDS == pytest.approx(trio.current_time() - began, abs=1.1)


async def test_a_request_that_came_at_the_last_moment_is_read(nursery, autojump_clock):
    """We were too busy to read it before the connection had been idle for too long."""
    ours, theirs = trio.testing.memory_stream_pair()
    late = ClientConnection(is_unread=lambda: True)
    nursery.start_soon(HttpServer(echo).converse, theirs, late)
    client = Client(ours)

    await trio.sleep(bounds.IDLE_SECONDS + 0.1)
    await client.send(GET)

    assert 200 == (await client.answer()).status


async def test_an_answer_that_is_not_made_in_time_is_given_up(a_client, autojump_clock):
    client = a_client(never)

    await client.send(GET)

    assert 503 == (await client.answer()).status
    assert bounds.ANSWER_SECONDS == pytest.approx(trio.current_time(), abs=0.01)


async def words(request):
    async def pieces():
        while True:
            yield b"a word"

    return HttpResponse(200, pieces(), "text/plain")


@pytest.mark.parametrize("answer", [echo, words])
async def test_who_does_not_take_the_answer_is_cut_off(autojump_clock, answer):
    server = HttpServer(answer)
    began = trio.current_time()

    async with trio.open_nursery() as nursery:
        client = connect(nursery, server=server, pair=trio.testing.lockstep_stream_pair)
        await client.send(GET)

    assert bounds.SEND_SECONDS == pytest.approx(trio.current_time() - began, abs=0.1)
    assert (0, 1) == (server.statistics().connections, server.statistics().cut_count)


@pytest.mark.parametrize("said", [b"", GET[:10], POST, POST + b"half"])
async def test_a_client_that_leaves_in_the_middle_is_forgotten(said):
    server = HttpServer(echo)

    async with trio.open_nursery() as nursery:
        client = connect(nursery, server=server)
        await client.send(said)
        await trio.testing.wait_all_tasks_blocked()
        await client.stream.aclose()

    assert (0, 0) == (server.statistics().connections, server.statistics().crashed_count)


async def test_a_client_that_leaves_in_the_middle_of_a_stream_ends_it():
    server, ended, read = HttpServer(words), trio.Event(), trio.Event()

    async def pieces():
        try:
            while True:
                yield b"a word"
                await read.wait()
        finally:
            ended.set()

    async def streamed(request):
        return HttpResponse(200, pieces(), "text/plain")

    server = HttpServer(streamed)
    async with trio.open_nursery() as nursery:
        client = connect(nursery, server=server)
        await client.send(GET)
        await client.head()
        await client.stream.aclose()
        read.set()
        await ended.wait()

    assert (0, 0) == (server.statistics().connections, server.statistics().crashed_count)


async def test_a_stream_that_breaks_ends_without_its_end(a_client, caplog):
    async def pieces():
        yield b"one"
        raise RuntimeError("a bug")

    async def streamed(request):
        return HttpResponse(200, pieces(), "text/plain")

    client = a_client(streamed)
    await client.send(GET)

    await client.head()
    assert b"3\r\none\r\n" == await client.rest()
    assert ["connection.crashed"] == [record.message for record in caplog.records]


async def test_draining_answers_what_is_under_way_and_closes_what_is_idle(nursery):
    asked, go = trio.Event(), trio.Event()

    async def slow(request):
        asked.set()
        await go.wait()
        return await echo(request)

    server = HttpServer(slow)
    idle, busy = connect(nursery, server=server), connect(nursery, server=server)
    await busy.send(GET)
    await asked.wait()
    await trio.testing.wait_all_tasks_blocked()

    nursery.start_soon(server.drain, [])
    assert await idle.is_cut_off()
    go.set()
    answer = await busy.answer()

    assert (200, "close") == (answer.status, answer.headers["connection"])
    assert await busy.is_cut_off()


async def test_draining_does_not_wait_for_ever(a_client, nursery, autojump_clock):
    server = HttpServer(never)
    client = connect(nursery, server=server)
    await client.send(GET)
    await trio.testing.wait_all_tasks_blocked()
    began = trio.current_time()

    await server.drain([])

    assert bounds.GRACE_SECONDS == pytest.approx(trio.current_time() - began)
    nursery.cancel_scope.cancel()
