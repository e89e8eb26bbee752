"""The host on real sockets: how many it lets in, what the system may do to it, TLS, the end."""

import contextlib
import gc
import os
import resource
import ssl
import statistics
import struct
import sys
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path
from socket import SO_LINGER, SOL_SOCKET

import pytest
import trio
import trio.testing

from adapters.http.endpoints import HttpResponse, Upgrade, json_response
from adapters.http.host.bounds import ACCEPTED_AT_ONCE_MAX
from adapters.http.host.server import HttpServer
from adapters.http.host.tls import tls_of
from adapters.http.host.websockets import framed
from adapters.settings.refusals import CannotStart
from tests.adapters.http.host.clients import Client
from tests.adapters.http.host.socket_clients import ASKING, SocketClient
from tests.adapters.postgres.conftest import sockets
from tests.patience import PATIENCE_SECONDS

GET = b"GET / HTTP/1.1\r\nHost: here\r\n\r\n"
CERTIFICATE = Path(__file__).parents[3] / "fakes" / "localhost.pem"
AT_ONCE = struct.pack("ii", 1, 0)  # hang up with a reset


async def empty(request):
    return json_response(200, {})


@asynccontextmanager
async def serving(server):
    """The listener of a server that has drained when the block ends."""
    [listener] = await trio.open_tcp_listeners(0, host="127.0.0.1", backlog=4096)
    async with listener, trio.open_nursery() as nursery:
        nursery.start_soon(server.serve, [listener])
        yield listener
        await server.drain([listener])
        nursery.cancel_scope.cancel()


async def connected(listener):
    return Client(await trio.testing.open_stream_to_socket_listener(listener))


async def test_a_drained_server_lets_nobody_in():
    async with serving(HttpServer(empty)) as listener:
        address = listener.socket.getsockname()

    with pytest.raises(OSError, match="failed"):
        await trio.open_tcp_stream(*address)


class Turns(trio.abc.Instrument):
    """Counts the turns of the event loop."""

    def __init__(self):
        self.count = 0

    def before_io_wait(self, timeout):
        self.count += 1


async def test_clients_who_come_together_are_let_in_together():
    [listener] = await trio.open_tcp_listeners(0, host="127.0.0.1", backlog=4096)
    clients = [await connected(listener) for _ in range(4 * ACCEPTED_AT_ONCE_MAX)]
    server, turns = HttpServer(empty), Turns()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(server.serve, [listener])
        trio.lowlevel.add_instrument(turns)
        with trio.fail_after(PATIENCE_SECONDS):
            while server.statistics().accepted_count < len(clients):
                await trio.sleep(0.02)  # a checkpoint would be a turn of its own
        trio.lowlevel.remove_instrument(turns)

        assert turns.count < len(clients) / 4
        nursery.cancel_scope.cancel()
    await listener.aclose()
    for client in clients:
        await trio.aclose_forcefully(client.stream)


def lowest_free_descriptor():
    """The next one; with this as the limit there is none."""
    next_one = os.dup(0)
    os.close(next_one)
    return next_one


async def test_without_descriptors_the_next_one_is_told_so_and_others_are_served():
    began, held = trio.Event(), trio.Event()

    async def answer(request):
        if request.path == "/held":
            began.set()
            await held.wait()
        return json_response(200, {})

    server = HttpServer(answer)
    async with serving(server) as listener:
        client = await connected(listener)
        await client.send(GET.replace(b"GET /", b"GET /held"))
        await began.wait()
        late = trio.socket.socket()
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (lowest_free_descriptor(), hard))
        try:
            await late.connect(listener.socket.getsockname())
            refused = Client(trio.SocketStream(late))
            with trio.fail_after(PATIENCE_SECONDS):
                answer = await refused.answer()
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        held.set()
        again = await connected(listener)
        await again.send(GET)

        assert (503, "1") == (answer.status, answer.headers["retry-after"])
        assert 1 == server.statistics().turned_away_count
        assert 1 <= server.statistics().starved_count
        assert 200 == (await client.answer()).status  # who is in is served
        assert 200 == (await again.answer()).status
        for each in (client, refused, again):
            await each.stream.aclose()


async def test_without_descriptors_an_idle_connection_gives_its_own():
    server = HttpServer(empty)
    async with serving(server) as listener:
        idle = await connected(listener)
        await idle.send(GET)
        await idle.answer()
        late = trio.socket.socket()
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (lowest_free_descriptor(), hard))
        try:
            await late.connect(listener.socket.getsockname())
            with trio.fail_after(PATIENCE_SECONDS):
                assert await idle.is_cut_off()
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

        assert 1 == server.statistics().gave_way_count
        await idle.stream.aclose()
        late.close()


@pytest.mark.slow
async def test_an_answer_that_does_not_fit_at_once_arrives_whole():
    large = b"x" * (8 * 1024 * 1024)

    async def answer(request):
        return HttpResponse(200, large, "application/octet-stream")

    async with serving(HttpServer(answer)) as listener:
        client = await connected(listener)
        await client.send(GET, GET)

        assert [large, large] == [(await client.answer()).body for _ in range(2)]
        await client.stream.aclose()


async def test_who_sends_far_too_much_hears_so_all_the_same():
    """Hanging up on a client that still sends would destroy the answer on its way."""

    async def answer(request):
        return json_response(200, await request.read_body(100))

    async with serving(HttpServer(answer)) as listener:
        client = await connected(listener)
        size = 4 * 1024 * 1024
        head = b"POST / HTTP/1.1\r\nHost: here\r\nContent-Length: %d\r\n\r\n" % size

        await client.send(head, *[b"x" * 65536] * (size // 65536))

        assert 413 == (await client.answer()).status
        assert await client.is_cut_off()
        await client.stream.aclose()


async def test_a_socket_takes_what_does_not_fit_at_once():
    size = 8 * 1024 * 1024

    async def serve(socket):
        await socket.send(framed(b"x" * size))
        await socket.send(framed(b"end"))

    async def upgrade(request):
        return Upgrade(serve)

    async with serving(HttpServer(upgrade)) as listener:
        client = await connected(listener)
        await client.send(ASKING)
        await client.head()
        socket, heard = SocketClient(client), 0

        while (event := await socket.next()).data != "end":
            heard += len(event.data)

        assert size == heard
        end = await socket.next()
        await socket.send(end.response())
        assert [] == await socket.all()
        await client.stream.aclose()


def drained(client):
    """All that has arrived, taken at once: then there is room, and nobody knows of it yet."""
    pieces = []
    with contextlib.suppress(BlockingIOError):
        while data := os.read(client.stream.socket.fileno(), 1 << 20):
            pieces.append(data)
    return b"".join(pieces)


@pytest.mark.slow
async def test_what_is_said_while_a_frame_waits_comes_behind_it():
    """Room in the system's buffers is for whoever has the turn, and nobody else."""
    large, small = framed(b"x" * (32 * 1024 * 1024)), framed(b"small")
    speakers, room = 20, [trio.Event() for _ in range(20)]

    async def serve(socket):
        async def speak_up(event):
            await event.wait()
            await socket.send(small)

        async with trio.open_nursery() as nursery:
            for event in room:
                nursery.start_soon(speak_up, event)
            await socket.send(large)

    async def upgrade(request):
        return Upgrade(serve)

    async with serving(HttpServer(upgrade)) as listener:
        client = await connected(listener)
        await client.send(ASKING)
        await client.head()
        for event in room:
            await trio.testing.wait_all_tasks_blocked()
            client.buffer += drained(client)
            event.set()

        assert large == await client.take(len(large))
        assert small * speakers == await client.take(len(small) * speakers)
        await client.stream.aclose()


async def secure(listener, **how):
    context = ssl.create_default_context(cafile=str(CERTIFICATE))
    stream = await trio.testing.open_stream_to_socket_listener(listener)
    return trio.SSLStream(
        stream, context, server_hostname="localhost", https_compatible=True, **how
    )


async def test_with_a_certificate_it_speaks_https_and_sockets_as_well():
    async def answer(request):
        if "upgrade" in request.headers:
            return Upgrade(greet)
        return json_response(200, {"scheme": request.client.scheme})

    async def greet(socket):
        await socket.send(framed(b"hello"))

    server = HttpServer(answer, tls=tls_of(CERTIFICATE, CERTIFICATE))
    async with serving(server) as listener:
        client = Client(await secure(listener))
        await client.send(GET, ASKING)

        assert {"scheme": "https"} == (await client.answer()).document
        assert 101 == (await client.head())[0]
        socket = SocketClient(client)
        assert "hello" == (await socket.next()).data
        await socket.send((await socket.next()).response())
        await client.stream.aclose()


async def test_who_does_not_speak_tls_is_dropped_and_others_are_not():
    server = HttpServer(empty, tls=tls_of(CERTIFICATE, CERTIFICATE))
    async with serving(server) as listener:
        plain = await connected(listener)
        await plain.send(GET)
        await plain.rest()
        await plain.stream.aclose()

        client = Client(await secure(listener))
        await client.send(GET)

        assert 200 == (await client.answer()).status
        await client.stream.aclose()
    assert 0 == server.statistics().crashed_count


def test_a_certificate_that_is_none_is_refused(tmp_path):
    nothing = tmp_path / "nothing.pem"
    nothing.write_text("nothing")

    for path in (nothing, tmp_path / "missing.pem"):
        with pytest.raises(CannotStart, match="name a certificate and its key, in PEM"):
            tls_of(path, path)


CLIENTS = 10_000
ROUNDS = 5  # a first one, for what is made once and kept; then four of the same
AT_ONCE_MAX = 64


async def come_and_go(listener, count):
    """Clients that ask, become sockets, break off, reset: and leave in every way there is."""
    slots = trio.CapacityLimiter(AT_ONCE_MAX)
    address = listener.socket.getsockname()

    async def visit(number):
        async with slots:
            stream = await trio.open_tcp_stream(*address)
            async with stream:
                await stream.send_all((GET, ASKING, GET[:10], ASKING + b"\xff\xff")[number % 4])
                if number % 2:
                    await stream.receive_some()
                if number % 3 == 0:
                    stream.setsockopt(SOL_SOCKET, SO_LINGER, AT_ONCE)

    async with trio.open_nursery() as nursery:
        for number in range(count):
            nursery.start_soon(visit, number)


def tasks_living():
    return trio.lowlevel.current_statistics().tasks_living


@pytest.mark.slow
async def test_ten_thousand_come_and_go_and_leave_nothing_behind():
    async def answer(request):
        if "upgrade" in request.headers:
            return Upgrade(wait)
        return json_response(200, {})

    async def wait(socket):
        await socket.until_closed()

    server = HttpServer(answer)
    async with serving(server) as listener:
        await trio.testing.wait_all_tasks_blocked()
        tasks, open_sockets = tasks_living(), sockets()
        sizes = []
        for number in range(1, ROUNDS + 1):
            await come_and_go(listener, CLIENTS // ROUNDS)
            with trio.fail_after(PATIENCE_SECONDS):
                while number * CLIENTS // ROUNDS > server.statistics().accepted_count:
                    await trio.sleep(0.01)  # the last ones may have left before they were let in
                while server.statistics().connections or tasks_living() > tasks:
                    await trio.sleep(0.01)
            gc.collect()
            sizes.append(sys.getallocatedblocks())

        assert tasks == tasks_living()
        assert open_sockets == sockets()
        assert CLIENTS == server.statistics().accepted_count
        assert 0 == server.statistics().crashed_count
        # Python counts its own blocks of memory; those of the system come and go by the megabyte.
        grown = statistics.median(after - before for before, after in pairwise(sizes))
        per_client = grown / (CLIENTS / ROUNDS)
        assert per_client < 0.5, f"{per_client:.1f} blocks of memory are left of each"
