"""Server-sent events: any cut of the bytes gives the same events."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.models.providers import sse
from adapters.models.providers.faults import BrokenStream
from adapters.models.providers.sse import EventParser

PIECES = st.sampled_from(
    [
        b"event: a\n",
        b"data: one\n",
        b"data:two\r\n",
        b"data\r",
        b": comment\n",
        b"id: 7\r\n",
        b"\n",
        b"\r\n",
        b"\r",
        b"data: {\xc3\xa9}\n\n",
    ]
)


def events(*pieces):
    parser = EventParser()
    return [event for piece in pieces for event in parser.feed(piece)]


@pytest.mark.slow
@given(st.lists(PIECES).map(b"".join), st.data())
def test_any_cut_gives_the_same_events(stream, data):
    cuts = sorted(data.draw(st.sets(st.integers(0, len(stream)))))
    borders = [0, *cuts, len(stream)]

    pieces = [stream[a:b] for a, b in itertools.pairwise(borders)]

    assert events(stream) == events(*pieces)


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_an_event_has_a_name_and_the_lines_of_its_data(end):
    stream = end.join([b"event: greet", b"data: a", b"data:  b", b"", b"data: c", b"", b""])

    assert events(stream) == [(b"greet", b"a\n b"), (b"", b"c")]


def test_a_line_end_that_arrives_in_two_pieces_is_one():
    pieces = (b"data: x\r", b"\n", b"\n", b"data: y\r", b"\r", b"\n")

    assert [(b"", b"x"), (b"", b"y")] == events(*pieces)


def test_a_byte_order_mark_comments_ids_and_unknown_fields_are_read_over():
    stream = b"\xef\xbb\xbfdata: x\n: ping\nid: 1\nretry: 5\nother\n\n"

    assert events(stream) == [(b"", b"x")]


def test_an_event_without_data_is_none_and_its_name_is_forgotten():
    assert events(b"event: a\n\ndata: x\n\n") == [(b"", b"x")]


def test_an_event_that_the_stream_does_not_finish_is_none():
    assert events(b"data: x\n") == []


@pytest.mark.parametrize("piece", [b"x" * 10, b"data: x\n", b"data:\n", b"data\n" * 10])
def test_an_event_without_end_breaks_the_stream(piece, monkeypatch):
    monkeypatch.setattr(sse, "EVENT_BYTES_MAX", 1000)
    parser = EventParser()

    with pytest.raises(BrokenStream, match=r"^event stream: an event of more than 1000 bytes$"):
        [parser.feed(piece) for _ in range(2000)]


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        (b'{"a":"\xff\xc3\xa9"}', '{"a":"\ufffd\u00e9"}'.encode()),
        (b'{"a":"\\ud83d"}', b'{"a":"\\ufffd"}'),
        (b'{"a":"\\uD83D\\uDE00 \xf0\x9f\x98\x80"}', None),
    ],
)
def test_what_is_no_text_in_an_event_is_replaced(sent, read):
    assert [(b"", read or sent)] == events(b"data: " + sent + b"\n\n")
