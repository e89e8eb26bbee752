"""Tunnels: for whom, with which words, and what the proxy gets to see."""

import ssl

import h11
import pytest
import trio
from trio.testing import memory_stream_pair

from adapters.models.providers.broken import Unreachable
from adapters.models.providers.dial import Origin, dialled, tls_context
from adapters.models.providers.proxy import Proxy, proxied, proxy_of

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
    return proxied(gate.dial, Proxy(*proxy), tls_context())


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

    with pytest.raises(Unreachable, match=r"^api.test:443: TLS handshake, connection reset$"):
        await dialled(through(gate, "gate.test", 3128, "Basic eA=="), API)

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
        Unreachable, match=r"^api.test:443: the proxy gate.test:80 opened no tunnel$"
    ):
        await dialled(through(gate, "gate.test", 80), API)
    await trio.testing.wait_all_tasks_blocked()
    assert gate.after == b""


async def test_what_the_proxy_does_not_serve_goes_directly(autojump_clock, nursery):
    gate = Gate(nursery, b"")
    local = Origin("http", "localhost", 8080)

    stream = await dialled(through(gate, "gate.test", 80), local)

    assert gate.origins == [local]
    await stream.aclose()


def test_certificates_are_verified_behind_a_proxy_too():
    context = tls_context()
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)
