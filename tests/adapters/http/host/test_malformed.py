"""What is no HTTP: refused in HTTP if that is possible, and never a way to smuggle a request."""

import pytest
import trio
import trio.testing
from hypothesis import given
from hypothesis import strategies as st

from adapters.http.host import bounds
from adapters.http.host.server import HttpServer
from tests.adapters.chats.plain_words import assert_plain
from tests.adapters.http.host.clients import connect, echo

GET = b"GET /x?y HTTP/1.1\r\nHost: here\r\n\r\n"
POST = b"POST /x HTTP/1.1\r\nHost: here\r\n"


@pytest.mark.parametrize(
    ("status", "request_"),
    [
        (400, b"\x16\x03\x01 tls\r\n\r\n"),
        (400, b"hello\r\n\r\n"),
        (400, b"GET /x HTTP/1.1\r\n\r\n"),
        (400, GET.replace(b"Host: here", b"Host: a\r\nHost: b")),
        (400, GET.replace(b"/x", b"/x y")),
        (400, GET.replace(b"/x", b"/\xff")),
        (400, GET.replace(b"Host:", b"Host :")),
        (400, GET.replace(b"Host", b"A: \0\r\nHost")),
        (400, GET.replace(b"Host", b"A: x\rHost: y\r\nHost")),
        (505, GET.replace(b"HTTP/1.1", b"HTTP/2.0")),
        (400, POST + b"Content-Length: -1\r\n\r\n"),
        (400, POST + b"Content-Length: 1_0\r\n\r\n"),
        (400, POST + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n"),
        (400, POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        (400, POST + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n"),
        (400, POST.replace(b"1.1", b"1.0") + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        (501, POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n"),
        (501, POST + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n"),
        (400, POST + b"Transfer-Encoding: chunked\r\n\r\nxyz\r\n"),
        (400, POST + b"Transfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n"),
        (400, POST + b"Transfer-Encoding: chunked\r\n\r\n" + b"1" * 100 + b"\r\n"),
        (431, GET[:-2] + b"X: " + b"x" * (bounds.HEAD_BYTES_MAX + bounds.READ_BYTES)),
    ],
)
async def test_what_is_no_request_is_told_so_and_cut_off(a_client, status, request_):
    client = a_client()

    # What follows must not be taken for a request of its own.
    await client.send(request_ + GET)

    answer = await client.answer()
    assert status == answer.status
    assert answer.document["message"]
    assert_plain(answer.body.decode())
    assert await client.is_cut_off()


PIECES = st.one_of(
    st.binary(max_size=60),
    st.sampled_from(
        [
            GET,
            POST,
            b"\r\n",
            b"\r\n\r\n",
            b"Content-Length: 5\r\n\r\n",
            b"Transfer-Encoding: chunked\r\n\r\n",
            b"5\r\nhello\r\n",
            b"0\r\n\r\n",
            b"Expect: 100-continue\r\n",
            b"Upgrade: websocket\r\nConnection: upgrade\r\n\r\n",
        ]
    ),
)


@given(st.lists(PIECES, max_size=8), st.integers(1, 40))
def test_whatever_is_sent_every_answer_is_http_and_the_server_goes_on(pieces, cut):
    async def play():
        server = HttpServer(echo)
        async with trio.open_nursery() as nursery:
            client = connect(nursery, server=server)
            data = b"".join(pieces)
            for at in range(0, len(data), cut):
                await client.send(data[at : at + cut])
            await client.stream.send_eof()
            client.buffer = await client.rest()
            while client.buffer:
                status, headers = await client.head()
                assert status in (100, 200, 400, 413, 431, 501, 505), status
                body = await client.take(int(headers.get("content-length", 0)))
                if status not in (100, 200):
                    assert_plain(body.decode())
            await client.stream.aclose()
        assert (0, 0) == (server.statistics().connections, server.statistics().crashed_count)

    trio.run(play, clock=trio.testing.MockClock(autojump_threshold=0))
