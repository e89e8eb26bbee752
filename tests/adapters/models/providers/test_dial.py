"""Real sockets, real TLS: who cannot prove who it is gets no request.

`tests/fakes/localhost.pem` is a certificate for `localhost`, signed by itself, with its key; it
proves nothing outside these tests.
"""

import os
import socket
import ssl
import struct
from pathlib import Path

import pytest
import trio
import trio.testing

from adapters.models.providers.broken import Unreachable, Untrusted
from adapters.models.providers.dial import Origin, dialled, dialler, hang_up, tls_context
from adapters.models.providers.http import HttpClient, Request
from tests.fakes.network import whole

CERTIFICATE = Path(__file__).parents[3] / "fakes" / "localhost.pem"


@pytest.fixture
async def port(nursery):
    """A server over TLS that answers each connection once."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(CERTIFICATE)

    async def serve(stream):
        secured = trio.SSLStream(stream, context, server_side=True, https_compatible=True)
        try:
            await secured.receive_some(65536)
            await secured.send_all(whole(b"hello"))
        except trio.BrokenResourceError:
            pass
        finally:
            await hang_up(secured)

    listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
    nursery.start_soon(trio.serve_listeners, serve, listeners)
    return listeners[0].socket.getsockname()[1]


def trusting():
    context = tls_context()
    context.load_verify_locations(CERTIFICATE)
    return context


async def test_a_trusted_server_is_asked(port):
    client = HttpClient(dialler(trusting()))

    async with client.call(Request(Origin("https", "localhost", port), "/", ())) as response:
        assert await response.read(100) == b"hello"
    await client.aclose()


async def test_a_server_that_nobody_vouches_for_is_not_asked(port):
    origin = Origin("https", "localhost", port)

    with pytest.raises(Untrusted, match=rf"^localhost:{port}: certificate: self.signed"):
        await dialled(dialler(tls_context()), origin)


async def test_a_server_under_another_name_is_not_asked(port):
    origin = Origin("https", "127.0.0.1", port)

    with pytest.raises(Untrusted, match=r"certificate: .*not valid for '127\.0\.0\.1'"):
        await dialled(dialler(trusting()), origin)


async def test_nobody_there_is_unreachable():
    listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
    port = listeners[0].socket.getsockname()[1]
    await listeners[0].aclose()

    with pytest.raises(Unreachable, match=rf"^127.0.0.1:{port}: .*refused"):
        await dialled(dialler(tls_context()), Origin("http", "127.0.0.1", port))


async def test_a_name_that_does_not_exist_is_unreachable():
    with pytest.raises(Unreachable, match=r"^nobody.invalid:443: "):
        await dialled(dialler(tls_context()), Origin("https", "nobody.invalid", 443))


async def dialled_pair():
    """Both ends of a connection that was dialled over TCP: (ours, the server's)."""
    listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
    ours = await dialler(tls_context())(
        Origin("http", "127.0.0.1", listeners[0].socket.getsockname()[1])
    )
    theirs = await listeners[0].accept()
    await listeners[0].aclose()
    return ours, theirs


async def test_what_comes_later_is_waited_for_and_the_end_is_the_end():
    ours, theirs = await dialled_pair()
    received = []

    async def receive():
        while data := await ours.receive_some(3):
            received.append(data)

    async with trio.open_nursery() as reading:
        reading.start_soon(receive)
        await trio.testing.wait_all_tasks_blocked()
        await theirs.send_all(b"hello")
        await theirs.aclose()

    assert [b"hel", b"lo"] == received
    await ours.aclose()


async def test_a_read_that_is_cancelled_has_taken_nothing():
    ours, theirs = await dialled_pair()

    async with trio.open_nursery() as reading:
        reading.start_soon(ours.receive_some)
        await trio.testing.wait_all_tasks_blocked()
        os.write(theirs.socket.fileno(), b"hello")  # at the same moment, as far as trio can see
        reading.cancel_scope.cancel()

    assert b"hello" == await ours.receive_some()
    await ours.aclose()
    await theirs.aclose()


async def test_a_connection_that_was_reset_is_broken():
    ours, theirs = await dialled_pair()

    theirs.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    await theirs.aclose()

    with pytest.raises(trio.BrokenResourceError, match=r"^socket: .*reset"):
        await ours.receive_some()
    await ours.aclose()


async def test_a_connection_that_we_closed_is_read_no_more():
    ours, theirs = await dialled_pair()

    await ours.aclose()

    with pytest.raises(trio.ClosedResourceError):
        await ours.receive_some()
    await theirs.aclose()
