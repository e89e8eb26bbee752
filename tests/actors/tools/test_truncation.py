"""A result within its share of the window."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.tools.truncation import BUDGET_MIN, BUDGET_UNKNOWN, budget, truncated


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
    assert expected == budget(limit)


@given(st.text(max_size=4_000), st.integers(1, 3_000))
def test_what_is_left_fits_and_is_made_of_the_ends(text, bytes_max):
    cut = truncated(text, bytes_max)

    whole = text.encode()
    if len(whole) <= bytes_max:
        assert text == cut
        return
    assert len(cut.encode()) <= bytes_max
    head, _, tail = cut.partition("\n\n[… ")
    assert text.startswith(head)
    assert text.endswith(tail.partition("…]\n\n")[2])


def test_the_words_between_say_how_much_is_missing():
    cut = truncated("a" * 5_000 + "b" * 5_000, 1_000)

    head, words, tail = cut.split("\n\n")
    assert (496, 248) == (len(head), len(tail))
    assert f"{10_000 - 496 - 248} bytes" in words


def test_a_tiny_budget_has_room_for_the_beginning_only():
    assert "é" * 5 == truncated("é" * 500, 11)
