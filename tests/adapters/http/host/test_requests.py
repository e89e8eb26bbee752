"""Requests and answers on one connection, with clients that know how to behave."""

import pytest

from adapters.http.endpoints import HttpResponse, json_response, no_content
from adapters.http.host import bounds
from tests.adapters.http.host.clients import echo

GET = b"GET /x?y HTTP/1.1\r\nHost: here\r\n\r\n"
POST = b"POST /x HTTP/1.1\r\nHost: here\r\nContent-Length: 5\r\n\r\n"
CHUNKED = b"POST /x HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: chunked\r\n\r\n"


async def test_a_request_is_answered_and_the_connection_serves_the_next_one(a_client):
    client = a_client()

    for _ in range(2):
        await client.send(GET)
        answer = await client.answer()

        assert (200, "GET", "/x", "y") == (answer.status, *list(answer.document.values())[:3])
        assert "application/json; charset=utf-8" == answer.headers["content-type"]
        assert "nosniff" == answer.headers["x-content-type-options"]
        assert answer.headers["date"].endswith(" GMT")
        assert "connection" not in answer.headers


async def test_requests_sent_in_one_go_are_answered_in_their_order(a_client):
    client = a_client()

    await client.send(GET.replace(b"/x", b"/1") + POST + b"hello" + GET.replace(b"/x", b"/2"))

    assert "/1" == (await client.answer()).document["path"]
    assert "hello" == (await client.answer()).document["body"]
    assert "/2" == (await client.answer()).document["path"]


async def test_a_request_may_arrive_byte_by_byte(a_client):
    client = a_client()
    whole = POST + b"hello"

    await client.send(*(whole[i : i + 1] for i in range(len(whole))))

    assert "hello" == (await client.answer()).document["body"]


async def test_a_body_may_come_in_chunks(a_client):
    client = a_client()

    await client.send(CHUNKED, b"2\r\nhe\r\n", b"3;x=y\r\nllo\r\n0\r\nTrailer: x\r\n\r\n", GET)

    assert "hello" == (await client.answer()).document["body"]
    assert "GET" == (await client.answer()).document["method"]


async def test_headers_of_one_name_are_joined(a_client):
    async def told(request):
        return json_response(200, dict(request.headers))

    client = a_client(told)
    await client.send(
        GET.replace(b"\r\n\r\n", b"\r\nX-A: 1\r\nx-a: 2\r\nCookie: a=1\r\ncookie: b=2\r\n\r\n")
    )

    headers = (await client.answer()).document
    assert ("1, 2", "a=1; b=2") == (headers["x-a"], headers["cookie"])


async def test_who_asks_a_proxy_is_answered_like_others(a_client):
    client = a_client()

    await client.send(GET.replace(b"/x", b"http://here:1/x"), GET.replace(b"/x", b"HTTP://here"))

    assert ["/x", "/"] == [(await client.answer()).document["path"] for _ in range(2)]


async def test_head_is_answered_like_get_without_the_body(a_client):
    async def same(request):
        return json_response(200, {"same": "for both"})

    client = a_client(same)
    await client.send(GET)
    expected = await client.answer()

    await client.send(GET.replace(b"GET", b"HEAD"), GET)

    headers = (await client.answer(has_body=False)).headers
    assert expected.headers["content-length"] == headers["content-length"]
    assert expected.document == (await client.answer()).document


async def test_where_there_is_nothing_to_say_nothing_is_promised(a_client):
    async def nothing(request):
        return no_content()

    client = a_client(nothing)
    await client.send(GET, GET)

    for _ in range(2):
        status, headers = await client.head()
        assert 204 == status
        assert not {"content-length", "content-type", "transfer-encoding"} & set(headers)


async def test_an_answer_that_is_made_as_it_goes_comes_in_chunks(a_client):
    async def pieces():
        for piece in (b"one", b"", b"two"):
            yield piece

    async def streamed(request):
        return HttpResponse(200, pieces(), "text/event-stream")

    client = a_client(streamed)
    await client.send(GET, GET)

    for _ in range(2):
        status, headers = await client.head()
        assert (200, "chunked") == (status, headers["transfer-encoding"])
        assert [b"one", b"two"] == [chunk async for chunk in client.chunks()]


async def test_an_old_client_gets_a_streamed_answer_up_to_the_end_of_the_connection(a_client):
    async def pieces():
        yield b"one"
        yield b"two"

    async def streamed(request):
        return HttpResponse(200, pieces(), "text/plain")

    client = a_client(streamed)
    await client.send(GET.replace(b"1.1", b"1.0"))

    status, headers = await client.head()
    assert (200, False) == (status, "transfer-encoding" in headers)
    assert b"onetwo" == await client.rest()


async def test_a_stream_is_put_away_when_only_its_head_was_asked_for(a_client):
    ended = []

    async def pieces():
        try:
            yield b"one"
        finally:
            ended.append("put away")

    async def streamed(request):
        made = pieces()
        await made.asend(None)  # it has begun, so that it has something to put away
        return HttpResponse(200, made, "text/plain")

    client = a_client(streamed)
    await client.send(GET.replace(b"GET", b"HEAD"), GET.replace(b"GET", b"HEAD"))

    assert [200, 200] == [(await client.answer(has_body=False)).status for _ in range(2)]
    assert "put away" in ended


@pytest.mark.parametrize("length", [b"content-length: 101", b"Transfer-Encoding: chunked"])
async def test_a_body_over_the_bound_is_refused_and_the_connection_closed(a_client, length):
    client = a_client()

    await client.send(b"POST /x HTTP/1.1\r\nHost: here\r\n" + length + b"\r\n\r\n")
    if b"chunked" in length:
        await client.send(b"65\r\n" + b"x" * 0x65 + b"\r\n")

    answer = await client.answer()
    assert (413, "Maximum request body size is 100 bytes") == (
        answer.status,
        answer.document["detail"],
    )
    assert await client.is_cut_off()


@pytest.mark.parametrize(
    ("of_the_body", "expected"),
    [
        (b"Content-Length: %d" % bounds.DISCARD_BYTES_MAX, None),  # read, and the next one heard
        (b"Content-Length: %d" % (bounds.DISCARD_BYTES_MAX + 1), "close"),
        (b"Transfer-Encoding: chunked", "close"),
    ],
)
async def test_who_sends_too_much_is_told_that_the_connection_ends(a_client, of_the_body, expected):
    """Otherwise he would send his next request here, and find that nobody hears it."""
    client = a_client()

    await client.send(b"POST /x HTTP/1.1\r\nHost: here\r\n" + of_the_body + b"\r\n\r\n")
    if b"chunked" in of_the_body:
        await client.send(b"65\r\n" + b"x" * 0x65 + b"\r\n")

    answer = await client.answer()
    assert (413, expected) == (answer.status, answer.headers.get("connection"))


async def test_a_body_of_just_the_bound_is_taken(a_client):
    client = a_client()

    await client.send(POST.replace(b"5", b"100") + b"x" * 100)

    assert 100 == len((await client.answer()).document["body"])


async def test_a_small_body_that_nobody_wanted_does_not_disturb_the_next_request(a_client):
    async def careless(request):
        return json_response(200, {"path": request.path})

    client = a_client(careless)
    await client.send(POST, b"hello", GET.replace(b"/x", b"/2"))

    assert ["/x", "/2"] == [(await client.answer()).document["path"] for _ in range(2)]


async def test_a_large_body_that_nobody_wanted_costs_the_connection(a_client, autojump_clock):
    async def careless(request):
        return json_response(200, {})

    client = a_client(careless)
    size = 2 * bounds.DISCARD_BYTES_MAX
    await client.send(POST.replace(b"5", b"%d" % size) + b"x" * size)

    assert 200 == (await client.answer()).status
    assert await client.is_cut_off()


EXPECTING = POST.replace(b"\r\n\r\n", b"\r\nExpect: 100-continue\r\n\r\n")


async def test_who_asks_whether_to_send_a_body_is_told_to_go_on(a_client):
    client = a_client()
    await client.send(EXPECTING)

    assert 100 == (await client.head())[0]
    await client.send(b"hello")

    assert "hello" == (await client.answer()).document["body"]


async def test_who_asks_whether_to_send_a_body_that_is_too_large_never_sends_it(a_client):
    client = a_client()

    await client.send(EXPECTING.replace(b"5", b"101"))

    answer = await client.answer()
    assert (413, "close") == (answer.status, answer.headers["connection"])
    assert await client.is_cut_off()


@pytest.mark.parametrize(
    "request_", [GET.replace(b"1.1", b"1.0"), GET.replace(b"Host", b"Connection: close\r\nHost")]
)
async def test_a_connection_that_is_to_end_with_the_answer_does(a_client, request_):
    client = a_client()

    await client.send(request_)

    answer = await client.answer()
    assert (200, "close") == (answer.status, answer.headers["connection"])
    assert await client.is_cut_off()


async def test_a_client_that_has_said_all_still_gets_its_answer(a_client):
    client = a_client()

    await client.send(GET)
    await client.stream.send_eof()

    assert "/x" == (await client.answer()).document["path"]
    assert await client.is_cut_off()


async def test_a_handler_that_breaks_costs_its_connection_and_no_other(nursery, caplog):
    from adapters.http.host.server import HttpServer
    from tests.adapters.http.host.clients import connect

    async def broken(request):
        if request.path == "/broken":
            raise RuntimeError("a bug")
        return await echo(request)

    server = HttpServer(broken)
    other, client = connect(nursery, server=server), connect(nursery, server=server)

    await client.send(GET.replace(b"/x", b"/broken"))

    assert await client.is_cut_off()
    await other.send(GET)
    assert 200 == (await other.answer()).status
    assert 1 == server.statistics().crashed_count
    assert ["connection.crashed"] == [record.message for record in caplog.records]
