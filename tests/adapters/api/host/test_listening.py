"""The HTTP server on a real socket: how many it lets in, and how it stops listening."""

import h11
import pytest
import trio
import trio.testing

from adapters.api.endpoints import said
from adapters.api.host.server import Server

GET = b"GET / HTTP/1.1\r\nHost: here\r\n\r\n"


async def empty(request):
    return said(200, {})


async def ask(stream):
    """The status of the answer to one request."""
    await stream.send_all(GET)
    return await status(stream)


async def status(stream):
    client = h11.Connection(h11.CLIENT)
    client.send(h11.Request(method="GET", target="/", headers=[("Host", "here")]))
    client.send(h11.EndOfMessage())
    while (event := client.next_event()) is h11.NEED_DATA:
        client.receive_data(await stream.receive_some())
    return event.status_code


@pytest.fixture
async def listening(nursery):
    """(server, listener): serves two at a time, and has drained when the test ends."""
    server = Server(empty, connections_max=2)
    listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
    nursery.start_soon(server.serve, listeners)
    yield server, listeners[0]
    await server.drain(listeners)


async def test_over_the_bound_a_connection_waits_until_another_ends(listening):
    server, listener = listening
    first, second, third = [
        await trio.testing.open_stream_to_socket_listener(listener) for _ in range(3)
    ]
    assert [200, 200] == [await ask(first), await ask(second)]

    await third.send_all(GET)
    with trio.move_on_after(0.05) as waiting:
        await third.receive_some()
    await first.aclose()

    assert waiting.cancelled_caught
    assert 200 == await status(third)
    assert 2 == server.statistics().connections
    await second.aclose()
    await third.aclose()


async def test_a_drained_server_lets_nobody_in(listening):
    server, listener = listening
    address = listener.socket.getsockname()

    await server.drain([listener])

    with pytest.raises(OSError, match="failed"):
        await trio.open_tcp_stream(*address)
