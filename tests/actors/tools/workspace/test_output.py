"""Both ends of what a command writes."""

from hypothesis import given
from hypothesis import strategies as st

from actors.tools.workspace.output import (
    CUT,
    HEAD_BYTES_MAX,
    LINE_BYTES_MAX,
    TAIL_BYTES_MAX,
    Output,
    Shown,
)

BOTH = HEAD_BYTES_MAX + TAIL_BYTES_MAX


def shown(*pieces):
    output = Output()
    for piece in pieces:
        output.add(piece)
    return output.shown


def test_as_long_as_there_is_room_everything_is_kept():
    data = b"0123456\n" * (BOTH // 8)

    assert Shown(data.decode(), BOTH, BOTH) == shown(data)
    assert 0 == shown(data).omitted_bytes


def test_nothing_is_nothing():
    assert Shown("", 0, 0) == shown()


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
