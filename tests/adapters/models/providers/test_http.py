"""The HTTP client over memory networks, on virtual time."""

import ssl

import pytest
import trio

from adapters.models.providers.dial import Origin, split_url
from adapters.models.providers.faults import (
    BrokenStream,
    ConnectionLost,
    ProviderUnreachable,
    UntrustedPeer,
)
from adapters.models.providers.http import (
    IDLE_MAX,
    IDLE_SECONDS_MAX,
    HttpClient,
    HttpStatistics,
    ProviderRequest,
)
from tests.fakes.network import Hangup, Network, Reset, chunk, head, streamed, whole

ORIGIN = Origin("https", "api.test", 443)
ASK = ProviderRequest(ORIGIN, "/v1/messages", (("x-key", "k"),), b'{"q":1}')
CHUNKED = head(Transfer_Encoding="chunked")


async def said(client, request=ASK):
    async with client.call(request) as response:
        return response.status, await response.read(10_000)


async def test_a_request_goes_out_whole_and_the_response_comes_back(autojump_clock, nursery):
    network = Network(nursery, [[whole(b"hello")]])
    client = HttpClient(network.dial)

    assert await said(client) == (200, b"hello")

    (request,) = network.requests
    assert (request.method, request.target, request.body) == ("POST", "/v1/messages", b'{"q":1}')
    assert request.headers == {"host": "api.test", "x-key": "k", "content-length": "7"}


async def test_pieces_come_as_they_are_sent(autojump_clock, nursery):
    script = [CHUNKED + chunk(b"a"), 20.0, chunk(b"b") + chunk(b"c"), 30.0, b"0\r\n\r\n"]
    network = Network(nursery, [script])
    seen = []

    async with HttpClient(network.dial).call(ASK) as response:
        while piece := await response.receive():
            seen.append((round(trio.current_time()), piece))

    assert seen == [(0, b"a"), (20, b"bc")]
    assert round(trio.current_time()) == 50


async def test_a_connection_is_used_again(autojump_clock, nursery):
    network = Network(nursery, [[streamed(b"1")], [whole(b"2")], [whole(b"3")]])
    client = HttpClient(network.dial)

    answers = [await said(client) for _ in range(3)]

    assert answers == [(200, b"1"), (200, b"2"), (200, b"3")]
    assert HttpStatistics(idle=1, dialled=1, reused=2, repeated=0) == client.statistics()


@pytest.mark.parametrize(
    "answer",
    [
        [whole(b"x", Connection="close")],
        [whole(b"x") + b"more"],
        [head() + b"x", Hangup],
    ],
)
async def test_a_connection_in_doubt_is_not_used_again(answer, autojump_clock, nursery):
    network = Network(nursery, [answer, [whole(b"y")]])
    client = HttpClient(network.dial)

    assert [await said(client), await said(client)] == [(200, b"x"), (200, b"y")]
    assert network.dialled == 2


async def test_leaving_in_mid_response_hangs_up(autojump_clock, nursery):
    network = Network(nursery, [[CHUNKED + chunk(b"a"), 5.0, chunk(b"b")]])

    async with HttpClient(network.dial).call(ASK) as response:
        assert await response.receive() == b"a"
    await trio.sleep(10)

    assert network.hung_up == 1


async def test_a_cancelled_read_hangs_up(autojump_clock, nursery):
    network = Network(nursery, [[CHUNKED, 100.0, chunk(b"b")]])
    client = HttpClient(network.dial)

    with trio.move_on_after(7) as scope:
        await said(client)
    await trio.sleep(100)

    assert (scope.cancelled_caught, network.hung_up, client.statistics().idle) == (True, 1, 0)


async def test_a_kept_connection_that_is_gone_is_replaced_once(autojump_clock, nursery):
    network = Network(nursery, [[whole(b"1")], [Hangup], [whole(b"2")]])
    client = HttpClient(network.dial)

    answers = [await said(client), await said(client)]

    assert answers == [(200, b"1"), (200, b"2")]
    assert client.statistics().repeated == 1


async def test_a_new_connection_that_says_nothing_is_lost(autojump_clock, nursery):
    network = Network(nursery, [[Hangup]])

    with pytest.raises(
        ConnectionLost, match=r"^api.test:443: connection reset before a response came$"
    ):
        await said(HttpClient(network.dial))


async def test_a_kept_connection_that_breaks_in_its_head_is_not_tried_again(
    autojump_clock, nursery
):
    network = Network(nursery, [[whole(b"1")], [b"HTTP/1.1 200 OK\r\nA", Reset]])
    client = HttpClient(network.dial)
    await said(client)

    with pytest.raises(ConnectionLost):
        await said(client)
    assert len(network.requests) == 2


@pytest.mark.parametrize(
    ("script", "error"),
    [
        ([CHUNKED + chunk(b"a"), Reset], ConnectionLost),
        ([CHUNKED + chunk(b"a"), Hangup], ConnectionLost),
        ([CHUNKED + b"zz\r\n"], BrokenStream),
        ([b"SSH-2.0-OpenSSH\r\n\r\n"], BrokenStream),
        ([whole(b"x", Content_Encoding="gzip")], BrokenStream),
        ([b"HTTP/1.1 200 OK\r\nA: " + b"x" * 70_000], BrokenStream),
    ],
)
async def test_a_broken_response_says_so(script, error, autojump_clock, nursery):
    with pytest.raises(error):
        await said(HttpClient(Network(nursery, [script]).dial))


async def test_informational_responses_are_read_over(autojump_clock, nursery):
    network = Network(nursery, [[b"HTTP/1.1 100 Continue\r\n\r\n", 1.0, whole(b"x")]])

    assert await said(HttpClient(network.dial)) == (200, b"x")


async def test_a_redirect_is_an_answer_like_any_other(autojump_clock, nursery):
    network = Network(nursery, [[whole(b"moved", 302, Location="https://evil.test/")]])

    assert await said(HttpClient(network.dial)) == (302, b"moved")
    assert network.origins == [ORIGIN]


async def test_no_connection_within_the_limit_is_unreachable(autojump_clock, nursery):
    network = Network(nursery, dial_seconds=100.0)

    with pytest.raises(
        ProviderUnreachable, match=r"^api.test:443: no connection within 30 s, timed out$"
    ):
        await said(HttpClient(network.dial))
    assert round(trio.current_time()) == 30


def _unverified():
    error = trio.BrokenResourceError()
    error.__cause__ = ssl.SSLCertVerificationError("x")
    error.__cause__.verify_message = "self-signed certificate"
    return error


@pytest.mark.parametrize(
    ("refusal", "error", "text"),
    [
        (
            ConnectionRefusedError(111, "Connection refused"),
            ProviderUnreachable,
            "Connection refused",
        ),
        (_unverified(), UntrustedPeer, "certificate: self-signed certificate"),
        (trio.BrokenResourceError(), ProviderUnreachable, "TLS handshake, connection reset"),
    ],
)
async def test_a_refused_connection_says_why(refusal, error, text, autojump_clock, nursery):
    network = Network(nursery, refuse=refusal)

    with pytest.raises(error, match=f"^api.test:443: {text}$"):
        await said(HttpClient(network.dial))


async def test_a_peer_that_takes_no_data_is_lost(autojump_clock):
    class Deaf:
        async def __call__(self, origin):
            return trio.StapledStream(_Never(), _Never())

    with pytest.raises(ConnectionLost, match=r"^api.test:443: took no data for 30 s, timed out$"):
        await said(HttpClient(Deaf()))


class _Never(trio.abc.SendStream, trio.abc.ReceiveStream):
    async def send_all(self, data):
        await trio.sleep_forever()

    async def wait_send_all_might_not_block(self):
        await trio.sleep_forever()

    async def receive_some(self, max_bytes=None):
        await trio.sleep_forever()

    async def aclose(self):
        await trio.lowlevel.checkpoint()


@pytest.mark.slow
async def test_idle_connections_are_closed_when_they_are_too_old_or_too_many(
    autojump_clock, nursery
):
    network = Network(nursery, [[whole(b"x")] for _ in range(IDLE_MAX + 3)])
    client = HttpClient(network.dial)

    async with trio.open_nursery() as callers:
        for number in range(IDLE_MAX + 2):
            request = ProviderRequest(Origin("http", f"h{number}", 80), "/", ())
            callers.start_soon(said, client, request)
    await trio.testing.wait_all_tasks_blocked()
    assert (client.statistics().idle, network.hung_up) == (IDLE_MAX, 2)

    await trio.sleep(IDLE_SECONDS_MAX + 1)
    await said(client)
    assert client.statistics().idle == 1

    await client.aclose()
    assert client.statistics().idle == 0


@pytest.mark.parametrize(
    ("url", "expected", "header"),
    [
        ("https://api.test/v1/", (Origin("https", "api.test", 443), "/v1"), "api.test"),
        ("http://[::1]:8080", (Origin("http", "::1", 8080), ""), "[::1]:8080"),
    ],
)
def test_a_base_url_is_an_origin_and_a_path(url, expected, header):
    origin, path = split_url(url)

    assert expected == (origin, path)
    assert header == origin.host_header


@pytest.mark.parametrize("url", ["api.test", "ftp://api.test", "https://", "file:///etc/passwd"])
def test_a_base_url_that_is_none_is_refused(url):
    with pytest.raises(ValueError, match=r"^base URL: "):
        split_url(url)
