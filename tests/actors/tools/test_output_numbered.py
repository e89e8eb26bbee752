"""Some lines of a file, with their numbers."""

import pytest

from actors.tools.output import (
    CUT,
    LINES_MAX,
    READ_LINE_BYTES_MAX,
    SHOWN_BYTES_MAX,
    NumberedLines,
    number_lines,
)


@pytest.mark.parametrize(
    ("content", "offset", "limit", "shown"),
    [
        (b"", 1, 10, NumberedLines("", 0, 0)),
        (b"", 5, 10, NumberedLines("", 0, 0)),
        (b"a", 1, 10, NumberedLines("1\ta", 1, 1)),
        (b"a\n", 1, 10, NumberedLines("1\ta\n2\t", 2, 2)),
        (b"a\r\nb", -3, 1, NumberedLines("1\ta\r", 2, 1)),
        (b"a\nb\nc", 2, 1, NumberedLines("2\tb", 3, 1)),
        (b"a\nb\nc", 3, 99, NumberedLines("3\tc", 3, 1)),
        (b"\xff", 1, 10, NumberedLines("1\t\ufffd", 1, 1)),
    ],
)
def test_lines_are_counted_from_one(content, offset, limit, shown):
    assert shown == number_lines(content, offset=offset, limit=limit)


def test_there_is_nothing_behind_the_last_line():
    assert "offset 3 is beyond the last line (2)" == number_lines(b"a\n", offset=3, limit=1)


def test_a_long_line_is_cut_between_characters():
    line = "ä".encode() * READ_LINE_BYTES_MAX

    shown = number_lines(b"x" + line, offset=1, limit=1)

    assert f"1\tx{'ä' * (READ_LINE_BYTES_MAX // 2 - 1)}{CUT}" == shown.content
    assert CUT not in number_lines(b"x" * READ_LINE_BYTES_MAX, offset=1, limit=1).content


def test_what_is_no_text_is_not_lost_from_a_long_line():
    shown = number_lines(b"\xff" + b"x" * READ_LINE_BYTES_MAX, offset=1, limit=1)

    assert f"1\t\ufffd{'x' * (READ_LINE_BYTES_MAX - 1)}{CUT}" == shown.content


def test_too_many_lines_are_refused():
    content = b"\n" * LINES_MAX

    assert "2001 lines are too many (at most 2000)" in number_lines(content, offset=1, limit=5_000)
    assert LINES_MAX == number_lines(content, offset=1, limit=LINES_MAX).read


def test_too_many_bytes_are_refused():
    line = b"x" * 1_022  # with its number and a tab 1024

    whole = number_lines(b"\n".join([line] * 9), offset=1, limit=9)
    refused = number_lines(b"\n".join([line] * 40), offset=1, limit=40)

    assert 9 == whole.read
    assert f"too many for one reading (at most {SHOWN_BYTES_MAX}); set a smaller limit" in refused
