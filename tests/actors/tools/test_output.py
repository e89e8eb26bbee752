"""Both ends of what a command writes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.tools.output import (
    BUDGET_MIN,
    BUDGET_UNKNOWN,
    CUT,
    HEAD_BYTES_MAX,
    LINE_BYTES_MAX,
    TAIL_BYTES_MAX,
    CommandOutput,
    OutputExcerpt,
    result_bytes_max,
    truncate,
)

BOTH = HEAD_BYTES_MAX + TAIL_BYTES_MAX


def shown(*pieces):
    output = CommandOutput()
    for piece in pieces:
        output.add(piece)
    return output.shown


def test_as_long_as_there_is_room_everything_is_kept():
    data = b"0123456\n" * (BOTH // 8)

    assert OutputExcerpt(data.decode(), BOTH, BOTH) == shown(data)
    assert 0 == shown(data).omitted_bytes


def test_nothing_is_nothing():
    assert OutputExcerpt("", 0, 0) == shown()


def test_beyond_it_the_middle_is_left_out():
    head, tail = b"a" * 15 + b"\n", b"b" * 15 + b"\n"

    seen = shown(head * (HEAD_BYTES_MAX // 16), b"x" * 1_000, tail * (TAIL_BYTES_MAX // 16))

    before, _, after = seen.text.partition(
        "\n\n[… 1000 bytes of the output are left out here …]\n\n"
    )
    assert head.decode() * (HEAD_BYTES_MAX // 16) == before
    assert tail.decode() * (TAIL_BYTES_MAX // 16) == after
    assert (BOTH + 1_000, BOTH, 1_000) == (
        seen.original_bytes,
        seen.retained_bytes,
        seen.omitted_bytes,
    )


def test_a_long_line_is_cut():
    text = shown(b"x" * (LINE_BYTES_MAX + 1) + b"\nshort\n").text

    assert "x" * LINE_BYTES_MAX + CUT + "\nshort\n" == text


def test_what_is_no_text_is_not_lost_from_a_long_line():
    text = shown(b"\xff" + b"x" * LINE_BYTES_MAX).text

    assert f"\ufffd{'x' * (LINE_BYTES_MAX - 1)}{CUT}" == text


@given(st.binary(max_size=200), st.lists(st.integers(0, 200)))
def test_it_does_not_matter_in_which_pieces_it_comes(data, cuts):
    data = data * 400
    at = sorted({cut * 400 for cut in cuts})
    pieces = [data[a:b] for a, b in zip([0, *at], [*at, len(data)], strict=True)]

    assert shown(data) == shown(*pieces)


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        (None, BUDGET_UNKNOWN),
        (0, BUDGET_UNKNOWN),
        (1_000, BUDGET_MIN),
        (200_000, 199_998),
        (100_001, 99_999),
    ],
)
def test_a_result_may_take_a_third_of_the_window(limit, expected):
    assert expected == result_bytes_max(limit)


@given(st.text(max_size=4_000), st.integers(1, 3_000))
def test_what_is_left_fits_and_is_made_of_the_ends(text, bytes_max):
    cut = truncate(text, bytes_max)

    whole = text.encode()
    if len(whole) <= bytes_max:
        assert text == cut
        return
    assert len(cut.encode()) <= bytes_max
    head, _, tail = cut.partition("\n\n[… ")
    assert text.startswith(head)
    assert text.endswith(tail.partition("…]\n\n")[2])


def test_the_words_between_say_how_much_is_missing():
    cut = truncate("a" * 5_000 + "b" * 5_000, 1_000)

    head, words, tail = cut.split("\n\n")
    assert (496, 248) == (len(head), len(tail))
    assert f"{10_000 - 496 - 248} bytes" in words


def test_a_tiny_budget_has_room_for_the_beginning_only():
    assert "é" * 5 == truncate("é" * 500, 11)
