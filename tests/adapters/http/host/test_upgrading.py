"""Who becomes a WebSocket, and who is told why not."""

import pytest

from adapters.http.host.server import HttpServer
from adapters.http.origins import OwnAddress
from tests.adapters.http.host.clients import connect
from tests.adapters.http.host.socket_clients import ASKING, until_closed, upgrading

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
