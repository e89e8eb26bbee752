"""Large answers go compressed to clients that ask for it, and as they are to all others."""

import gzip
from dataclasses import replace

import msgspec
import pytest
import trio

from adapters.http.compression import (
    GZIP_BYTES_MIN,
    INLINE_BYTES_MAX,
    accepts_gzip,
    compressed,
    is_worth_it,
)
from adapters.http.endpoints import HttpResponse, json_response

LARGE = json_response(200, {"said": "so it is " * 1_000})


@pytest.mark.parametrize(
    ("asked", "accepts"),
    [
        ("", False),
        ("identity", False),
        ("br", False),
        ("gzip", True),
        ("GZIP", True),
        ("x-gzip", True),
        ("br, gzip", True),
        ("gzip;q=0.5, br;q=1", True),
        ("gzip ; q = 0.001", True),
        ("gzip;q=0", False),
        ("gzip;q=0.000, *", False),
        ("*", True),
        ("*;q=0", False),
        ("identity;q=1, *;q=0", False),
        ("gzip;q=lots", False),
        ("gzipped", False),
    ],
)
def test_what_a_client_accepts(asked, accepts):
    assert accepts is accepts_gzip(asked)


async def pieces():
    yield b"x" * GZIP_BYTES_MIN


@pytest.mark.parametrize(
    ("answer", "worth"),
    [
        (HttpResponse(200, b"x" * GZIP_BYTES_MIN), True),
        (HttpResponse(200, b"x" * (GZIP_BYTES_MIN - 1)), False),
        (HttpResponse(404, b"x" * GZIP_BYTES_MIN, "application/problem+json"), True),
        (HttpResponse(200, b"x" * GZIP_BYTES_MIN, "image/png"), False),
        (HttpResponse(200, b"x" * GZIP_BYTES_MIN, "application/jsonlines"), False),
        (replace(LARGE, headers=(("content-encoding", "gzip"),)), False),
        (HttpResponse(200, pieces()), False),
    ],
)
def test_what_is_worth_it(answer, worth):
    assert worth is is_worth_it(answer)


@pytest.mark.parametrize("size", [GZIP_BYTES_MIN, INLINE_BYTES_MAX, 4 * INLINE_BYTES_MAX])
async def test_what_was_compressed_is_the_same(size):
    whole = HttpResponse(200, b"%d " % size * (size // 4), headers=(("x-a", "b"),))

    small = await compressed(whole, "gzip")

    assert whole.body == gzip.decompress(small.body)
    assert len(small.body) < len(whole.body) / 10
    assert [("x-a", "b"), ("vary", "accept-encoding"), ("content-encoding", "gzip")] == list(
        small.headers
    )


async def test_who_does_not_ask_gets_the_very_same_bytes():
    plain = await compressed(LARGE, "")

    assert (LARGE.body, (("vary", "accept-encoding"),)) == (plain.body, plain.headers)
    little = json_response(200, {})
    assert little is await compressed(little, "gzip")


async def test_while_a_large_answer_is_compressed_others_go_on():
    numbers = HttpResponse(200, msgspec.json.encode(list(range(2_000_000))))
    turns = 0

    async def take_turns():
        nonlocal turns
        while True:
            turns += 1
            await trio.sleep(0.001)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(take_turns)
        await compressed(numbers, "gzip")
        nursery.cancel_scope.cancel()

    assert 5 < turns
