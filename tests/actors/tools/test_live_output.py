"""What watchers are shown of a command's output while it runs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.tools.live_output import (
    GATHER_SECONDS,
    SELDOM_BYTES_MAX,
    SELDOM_SECONDS,
    WHOLE_BYTES_MAX,
    LiveOutput,
    LivePiece,
)
from actors.tools.output import HEAD_BYTES_MAX, TAIL_BYTES_MAX, CommandOutput

BOTH = HEAD_BYTES_MAX + TAIL_BYTES_MAX


@pytest.fixture
def output():
    return CommandOutput()


def left_out(count):
    return f"[… {count} bytes of the output are left out here …]\n"


def test_each_bit_is_shown_once(output):
    live = LiveOutput()
    output.add(b"one\n")
    first = live.next(output)
    output.add(b"two\n")
    output.add(b"three")

    assert (LivePiece("one\n"), LivePiece("two\nthree")) == (first, live.next(output))
    assert not live.is_behind(output)


def test_half_a_character_waits_for_its_other_half(output):
    live = LiveOutput()
    output.add("é".encode()[:1])

    assert live.next(output) is None
    output.add("é".encode()[1:])
    assert LivePiece("é") == live.next(output)


def test_what_was_dropped_meanwhile_is_said_and_the_end_is_shown(output):
    live = LiveOutput()
    output.add(b"first\n")
    live.next(output)
    output.add(b"a line of sixteen\n" * 10_000)

    piece = live.next(output)

    shown = piece.text.partition("\n")[2]
    assert piece.resets
    assert left_out(output.total - len(shown)) == piece.text[: -len(shown)]
    assert shown.startswith("a line of sixteen\n"), "it begins with a whole line"
    assert TAIL_BYTES_MAX - 18 <= len(shown) <= TAIL_BYTES_MAX
    output.add(b"last\n")
    assert LivePiece("last\n") == live.next(output), "it goes on behind that"


def test_one_that_writes_on_and_on_is_shown_seldom_and_by_its_last_lines(output):
    live = LiveOutput()
    assert GATHER_SECONDS == live.pause_seconds
    shown = 0
    while live.pause_seconds == GATHER_SECONDS:
        output.add(b"0123456\n" * 1_024)
        shown += len(live.next(output).text)
    assert WHOLE_BYTES_MAX == shown

    output.add(b"here\n")
    piece = live.next(output)

    assert SELDOM_SECONDS == live.pause_seconds
    assert piece.resets
    assert piece.text.endswith("0123456\nhere\n"), "the lines before it are still seen"
    assert len(piece.text) < SELDOM_BYTES_MAX + 100


@given(st.lists(st.lists(st.binary(max_size=3 * TAIL_BYTES_MAX), max_size=4), max_size=6))
def test_what_is_shown_is_always_the_end_of_what_was_written(looks):
    output, live, seen = CommandOutput(), LiveOutput(), ""
    for written in looks:
        for data in written:
            output.add(data)
        piece = live.next(output) if live.is_behind(output) else None
        if piece is not None:
            seen = piece.text if piece.resets else seen + piece.text

    whole = b"".join(data for written in looks for data in written)
    if seen.startswith("[… "):
        said, _, seen = seen.partition("\n")
        whole = whole[int(said.split()[1]) :]
    text = whole.decode(errors="replace")
    assert text.startswith(seen)
    assert len(text) - len(seen) <= 3, "no more than the beginning of a character is kept back"


@given(st.lists(st.binary(max_size=BOTH)), st.integers(0, 4 * BOTH))
def test_output_is_found_behind_any_place(pieces, position):
    output, whole = CommandOutput(), b"".join(pieces)
    for piece in pieces:
        output.add(piece)

    begins, data = output.since(min(position, len(whole)))

    assert whole[begins:] == data
    assert begins >= min(position, len(whole))
