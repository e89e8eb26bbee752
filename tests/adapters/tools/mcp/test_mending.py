"""Halves of characters in JSON, and what only looks like them."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.tools.mcp.mending import Mending, mended

PIECES = st.sampled_from(
    [
        rb"\ud83d",
        rb"\ude00",
        rb"\uD83D",
        rb"\\",
        rb"\n",
        rb"\u00e9",
        b"a",
        "é".encode(),
        b'"',
        b"\n",
    ]
)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (rb'"cut \ud83d"', rb'"cut \ufffd"'),
        (rb'"\uDE00 cut"', rb'"\ufffd cut"'),
        (rb'"\ud83d\ude00"', rb'"\ud83d\ude00"'),
        (rb'"\ud83d\ud83d\ude00\ude00"', rb'"\ufffd\ud83d\ude00\ufffd"'),
        (rb'"\\ud83d"', rb'"\\ud83d"'),
        (rb'"\\\ud83d"', rb'"\\\ufffd"'),
        (rb'"\u00e9\ud7ff"', rb'"\u00e9\ud7ff"'),
    ],
)
def test_only_halves_are_mended(data, expected):
    assert expected == mended(data)


@given(st.lists(PIECES, max_size=12).map(b"".join), st.lists(st.integers(1, 9), max_size=40))
def test_a_stream_is_mended_however_it_is_cut(data, sizes):
    mending, said, rest = Mending(), b"", data
    for size in sizes:
        said += mending.feed(rest[:size])
        rest = rest[size:]
    said += mending.feed(rest) + mending.rest()

    assert mended(data) == said


@given(st.text(st.characters(codec=None), max_size=20))
def test_what_was_mended_can_be_read_by_all(text):
    read = json.loads(mended(json.dumps(text).encode()))

    assert len(read.encode()) >= len(text.encode(errors="ignore"))


def test_what_is_over_is_not_held_back():
    event = b'data: {"text":"a\\n"}\n\n'

    assert event == Mending().feed(event)
