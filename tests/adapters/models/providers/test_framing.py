"""Bodies of responses: any cut gives the same body, and a lie breaks the connection."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.models.providers.faults import BrokenStream, ConnectionLost
from adapters.models.providers.framing import (
    CHUNK_LINE_BYTES_MAX,
    BodyUntilClosed,
    ChunkedBody,
    SizedBody,
)


def fed(framing, *pieces):
    return b"".join(framing.feed(piece) for piece in pieces)


def encoded(chunks):
    return b"".join(b"%X;ext=1\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks if chunk)


@pytest.mark.slow
@given(st.lists(st.binary(max_size=40)), st.booleans(), st.data())
def test_any_cut_of_a_chunked_body_gives_the_same_body(chunks, trailers, data):
    stream = encoded(chunks) + b"0\r\n" + (b"Sum: 1\r\n\r\n" if trailers else b"\r\n")
    cuts = sorted(data.draw(st.sets(st.integers(0, len(stream)))))
    borders = [0, *(cut for cut in cuts if cut < len(stream)), len(stream)]
    framing = ChunkedBody()

    body = fed(framing, *(stream[a:b] for a, b in itertools.pairwise(borders)))

    assert b"".join(chunks) == body
    assert framing.ended
    assert framing.clean


def test_a_body_is_not_over_before_its_last_line():
    framing = ChunkedBody()

    body = fed(framing, b"3\r\nabc\r\n0\r\n")

    assert (body, framing.ended) == (b"abc", False)


def test_what_follows_a_body_makes_its_connection_unfit():
    framing = ChunkedBody()

    fed(framing, b"0\r\n\r\nHTTP/1.1 200 OK")

    assert (framing.ended, framing.clean) == (True, False)


@pytest.mark.parametrize(
    "stream",
    [
        b"zz\r\n",
        b"-1\r\n",
        b"0x3\r\n",
        b"+3\r\n",
        b"1_0\r\n",
        b"\r\n",
        b"3\r\nabcd\r\n",
        b"3\r\nabcX\n",
        b"1" * 20 + b"\r\n",
        b"1;" + b"x" * CHUNK_LINE_BYTES_MAX,
        b"0\r\n" + b"a: b\r\n" * CHUNK_LINE_BYTES_MAX,
    ],
)
def test_a_chunk_that_is_not_what_it_says_breaks_the_connection(stream):
    with pytest.raises(BrokenStream, match=r"^http: "):
        fed(ChunkedBody(), stream)


def test_a_chunked_body_that_is_cut_off_is_broken():
    framing = ChunkedBody()
    fed(framing, b"5\r\nab")

    with pytest.raises(ConnectionLost, match=r"^http: connection closed before the "):
        framing.close()


def test_a_sized_body_ends_with_its_last_byte():
    framing = SizedBody(5)

    assert fed(framing, b"ab", b"cde") == b"abcde"
    assert (framing.ended, framing.clean) == (True, True)


def test_a_sized_body_leaves_the_rest_and_says_so():
    framing = SizedBody(2)

    assert fed(framing, b"abc") == b"ab"
    assert (framing.ended, framing.clean) == (True, False)


def test_a_sized_body_that_is_cut_off_is_broken():
    framing = SizedBody(3)
    fed(framing, b"a")

    with pytest.raises(ConnectionLost, match=r"^http: connection closed before the "):
        framing.close()


def test_a_body_without_size_ends_with_the_connection():
    framing = BodyUntilClosed()

    assert fed(framing, b"a", b"bc") == b"abc"
    framing.close()
    assert (framing.ended, framing.clean) == (True, False)
