"""Real sockets, real TLS: who cannot prove who it is gets no request.

`tests/fakes/localhost.pem` is a certificate for `localhost`, signed by itself, with its key; it
proves nothing outside these tests.
"""

import os
import socket
import ssl
import struct
from pathlib import Path

import h11
import pytest
import trio
import trio.testing
from trio.testing import memory_stream_pair

from adapters.models.providers.dial import (
    Origin,
    Proxy,
    dial_through,
    direct_dial,
    hang_up,
    new_tls_context,
    open_connection,
    proxy_of,
    tls_context,
)
from adapters.models.providers.faults import ProviderUnreachable, UntrustedPeer
from adapters.models.providers.http import HttpClient, ProviderRequest
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
    context = new_tls_context()
    context.load_verify_locations(CERTIFICATE)
    return context


async def test_a_trusted_server_is_asked(port):
    client = HttpClient(direct_dial(trusting()))

    async with client.call(
        ProviderRequest(Origin("https", "localhost", port), "/", ())
    ) as response:
        assert await response.read(100) == b"hello"
    await client.aclose()


async def test_a_server_that_nobody_vouches_for_is_not_asked(port):
    origin = Origin("https", "localhost", port)

    with pytest.raises(UntrustedPeer, match=rf"^localhost:{port}: certificate: self.signed"):
        await open_connection(direct_dial(tls_context()), origin)


async def test_a_server_under_another_name_is_not_asked(port):
    origin = Origin("https", "127.0.0.1", port)

    with pytest.raises(UntrustedPeer, match=r"certificate: .*not valid for '127\.0\.0\.1'"):
        await open_connection(direct_dial(trusting()), origin)


async def test_nobody_there_is_unreachable():
    listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
    port = listeners[0].socket.getsockname()[1]
    await listeners[0].aclose()

    with pytest.raises(ProviderUnreachable, match=rf"^127.0.0.1:{port}: .*refused"):
        await open_connection(direct_dial(tls_context()), Origin("http", "127.0.0.1", port))


async def test_a_name_that_does_not_exist_is_unreachable():
    with pytest.raises(ProviderUnreachable, match=r"^nobody.invalid:443: "):
        await open_connection(direct_dial(tls_context()), Origin("https", "nobody.invalid", 443))


async def dialled_pair():
    """Both ends of a connection that was dialled over TCP: (ours, the server's)."""
    listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
    ours = await direct_dial(tls_context())(
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


API = Origin("https", "api.test", 443)


@pytest.mark.parametrize(
    ("environ", "proxy"),
    [
        ({}, None),
        ({"HTTPS_PROXY": ""}, None),
        ({"HTTPS_PROXY": "http://gate.test:3128"}, Proxy("gate.test", 3128)),
        ({"all_proxy": "gate.test"}, Proxy("gate.test", 80)),
        ({"https_proxy": "http://u%40x:p@gate.test"}, Proxy("gate.test", 80, "Basic dUB4OnA=")),
        (
            {"HTTPS_PROXY": "gate.test", "NO_PROXY": "localhost, .corp.test,*.in.test"},
            Proxy("gate.test", 80, None, ("localhost", "corp.test", "in.test")),
        ),
        ({"HTTPS_PROXY": "gate.test", "no_proxy": "*"}, Proxy("gate.test", 80, None, ("*",))),
    ],
)
def test_the_environment_names_the_proxy(environ, proxy):
    assert proxy_of(environ) == proxy


def test_a_proxy_that_we_cannot_use_is_refused():
    with pytest.raises(ValueError, match=r"^proxy: only http:// proxies"):
        proxy_of({"HTTPS_PROXY": "socks5://gate.test"})


def test_its_password_does_not_print():
    assert "dUB4" not in repr(proxy_of({"HTTPS_PROXY": "http://u%40x:p@gate.test"}))


@pytest.mark.parametrize(
    ("origin", "served"),
    [
        (API, True),
        (Origin("http", "api.test", 80), False),
        (Origin("https", "corp.test", 443), False),
        (Origin("https", "a.Corp.test", 443), False),
        (Origin("https", "notcorp.test", 443), True),
    ],
)
def test_only_https_that_is_not_exempt_goes_through(origin, served):
    assert served == Proxy("gate.test", 80, None, ("corp.test",)).serves(origin)


def through(gate, *proxy):
    return dial_through(gate.dial, Proxy(*proxy), tls_context())


class Gate:
    """A proxy that answers CONNECT with these bytes, and shows what it was sent."""

    def __init__(self, nursery, answer):
        self.nursery, self.answer = nursery, answer
        self.asked, self.after, self.origins = None, b"", []

    async def dial(self, origin):
        self.origins.append(origin)
        ours, theirs = memory_stream_pair()
        self.nursery.start_soon(self._serve, theirs)
        return ours

    async def _serve(self, stream):
        wire = h11.Connection(h11.SERVER)
        while (event := wire.next_event()) is h11.NEED_DATA:
            wire.receive_data(bytes(await stream.receive_some(65536)))
        self.asked = event
        await stream.send_all(self.answer)
        self.after = bytes(await stream.receive_some(65536))
        await stream.aclose()


async def test_a_tunnel_is_asked_for_and_tls_runs_through_it(autojump_clock, nursery):
    gate = Gate(nursery, b"HTTP/1.1 200 Connection established\r\n\r\n")

    with pytest.raises(
        ProviderUnreachable, match=r"^api.test:443: TLS handshake, connection reset$"
    ):
        await open_connection(through(gate, "gate.test", 3128, "Basic eA=="), API)

    assert gate.origins == [Origin("http", "gate.test", 3128)]
    assert (gate.asked.method, gate.asked.target) == (b"CONNECT", b"api.test:443")
    assert dict(gate.asked.headers) == {
        b"host": b"api.test:443",
        b"proxy-authorization": b"Basic eA==",
    }
    assert gate.after[:1] == b"\x16"  # a TLS handshake


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 407 Authenticate\r\n\r\n",
        b"HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n",
        b"SOCKS\r\n\r\n",
    ],
)
async def test_a_refused_tunnel_is_no_connection(answer, autojump_clock, nursery):
    gate = Gate(nursery, answer)

    with pytest.raises(
        ProviderUnreachable, match=r"^api.test:443: the proxy gate.test:80 opened no tunnel$"
    ):
        await open_connection(through(gate, "gate.test", 80), API)
    await trio.testing.wait_all_tasks_blocked()
    assert gate.after == b""


async def test_what_the_proxy_does_not_serve_goes_directly(autojump_clock, nursery):
    gate = Gate(nursery, b"")
    local = Origin("http", "localhost", 8080)

    stream = await open_connection(through(gate, "gate.test", 80), local)

    assert gate.origins == [local]
    await stream.aclose()


def test_certificates_are_verified_behind_a_proxy_too():
    context = new_tls_context()
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)
