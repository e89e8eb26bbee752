"""Messages of terminals, and the end of their output."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.workspaces.terminals.wire import (
    SIDE_MAX,
    Scrollback,
    TerminalEnd,
    TerminalSize,
    end_message,
    input_message,
    message_of_terminal,
    message_of_watcher,
    output_message,
    resize_message,
    size_message,
)


def test_messages_say_what_was_meant():
    assert (7, b"\0\xff") == message_of_terminal(output_message(7, b"\0\xff"))
    assert TerminalSize(3, 9) == message_of_terminal(size_message(TerminalSize(3, 9)))
    assert TerminalEnd(1, "why") == message_of_terminal(end_message(TerminalEnd(1, "why")))
    assert b"ls\r" == message_of_watcher(input_message(b"ls\r"))
    assert TerminalSize(3, 9) == message_of_watcher(resize_message(TerminalSize(3, 9)))


@pytest.mark.parametrize(
    "message",
    [
        b"",
        b"x",
        b"r",
        b"r{}x",
        b'r{"rows": 0, "columns": 1}',
        b'r{"rows": 1, "columns": %d}' % (SIDE_MAX + 1),
        b'r{"rows": 1.5}',
        b"r[1, 2]",
        b'r{"rows": "1"}',
        b"o12345678",
    ],
)
def test_what_makes_no_sense_is_none(message):
    assert message_of_watcher(message) is None


@pytest.mark.parametrize("message", [b"", b"o1234567", b"s1", b"e{}", b"i"])
def test_what_no_terminal_says_is_none(message):
    assert message_of_terminal(message) is None


@given(st.binary(max_size=50))
def test_no_message_raises(message):
    message_of_watcher(message)
    message_of_terminal(message)


@given(
    st.lists(st.tuples(st.binary(max_size=60), st.integers(0, 3)), max_size=40),
    st.integers(1, 30),
)
def test_a_watcher_who_reads_at_times_loses_and_doubles_nothing_that_is_kept(written, frame):
    kept, whole, seen, position = Scrollback(100), b"", b"", 0
    for data, looks in written:
        kept.add(data)
        whole += data
        assert kept.ends == len(whole)
        for _ in range(looks):
            begins, some = kept.since(position, frame)
            if begins != position:
                assert begins > position, "it was forgotten"
                assert len(whole) - position > 100
                seen = whole[:begins]
            seen += some
            position = begins + len(some)
            assert whole[: len(seen)] == seen


def test_one_who_has_nothing_begins_at_a_line():
    kept = Scrollback(100)
    for number in range(100):
        kept.add(b"line %d\n" % number)

    begins, data = kept.since(0)

    assert begins > 0
    assert data.startswith(b"line ")
    assert data.endswith(b"line 99\n")


def test_a_position_of_another_terminal_is_none_of_this_one():
    kept = Scrollback()
    kept.add(b"abc")

    assert (0, b"abc") == kept.since(1_000)
    assert (3, b"") == kept.since(3)
