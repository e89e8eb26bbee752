"""HTTP and WebSocket as bytes, and the events of a turn."""

import json

import pytest

from adapters.cli.bench.processes.conversation import WatchedTalk, stamp
from adapters.cli.bench.processes.lines import (
    BODY_BYTES_MAX,
    HEAD_BYTES_MAX,
    BadAnswer,
    FrameReader,
    masked,
    read_answer,
)

OK = b"HTTP/1.1 200 OK\r\n"


@pytest.mark.parametrize(
    ("data", "status", "body", "rest"),
    [
        (OK + b"Content-Length: 2\r\n\r\nhim", 200, b"hi", b"m"),
        (
            OK + b"Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n1;x\r\nm\r\n0\r\n\r\n!",
            200,
            b"him",
            b"!",
        ),
        (b"HTTP/1.1 204 No Content\r\n\r\n", 204, b"", b""),
        (b"HTTP/1.1 100 Continue\r\n\r\n" + OK + b"Content-Length: 0\r\n\r\n", 200, b"", b""),
        (
            b"HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\n\r\n\x81\x02hi",
            101,
            b"",
            b"\x81\x02hi",
        ),
    ],
)
def test_an_answer_is_read_however_it_is_cut(data, status, body, rest):
    found = read_answer(data)

    assert (status, body, rest) == (found.status, found.body, found.rest)
    whole = len(data) - len(rest)
    assert [None] * (whole - 1) == [read_answer(data[:end]) for end in range(1, whole)]


@pytest.mark.parametrize(
    "data",
    [
        b"SSH-2.0-OpenSSH\r\n\r\n",
        OK + b"Content-Length: many\r\n\r\n",
        OK + b"Content-Length: %d\r\n\r\n" % (BODY_BYTES_MAX + 1),
        OK + b"X: " + b"y" * HEAD_BYTES_MAX,
    ],
)
def test_what_is_no_answer_or_has_no_end_is_refused(data):
    with pytest.raises(BadAnswer):
        read_answer(data)


def test_frames_are_read_however_they_are_cut():
    long = b"y" * 70_000
    data = (
        b"\x81\x02hi" + b"\x01\x01a\x89\x02is\x80\x01b" + b"\x81\x7f" + len(long).to_bytes(8) + long
    )
    for size in (1, 7, len(data)):
        reader, messages, reply = FrameReader(), [], b""
        for at in range(0, len(data), size):
            found, back, is_over = reader.feed(data[at : at + size])
            messages, reply = messages + found, reply + back
            assert not is_over
        assert [b"hi", b"ab", long] == messages
        assert masked(10, b"is") == reply
    assert ([], b"", True) == FrameReader().feed(b"\x88\x02\x03\xe8")


def status(name):
    return {"type": "status", "status": {"status": name}}


def part(text):
    return {"type": "message_part", "message_part": {"part": {"text": text}}}


OUTPUT = {"type": "message", "message": {"role": "assistant"}}
OWN = {"type": "message", "message": {"role": "user"}}


@pytest.mark.parametrize(
    ("events", "ended"),
    [
        ([status("running"), part("x"), status("waiting")], "waiting"),
        ([status("running"), OUTPUT, status("waiting")], "waiting"),
        ([status("running"), OWN, status("waiting")], None),
        ([status("waiting")], "waiting"),  # so it was before the first turn: a bogus result
        ([status("running"), status("error")], "error"),
        ([status("running"), status("requires_action"), part("x")], None),
    ],
)
def test_a_turn_ends_as_the_load_generator_of_the_reference_says(events, ended):
    talk = WatchedTalk()
    talk.begin(1.0)

    overs = [talk.hear(json.dumps([event]).encode(), 2.0) for event in events]

    assert ended == talk.turn.ended
    assert (ended is not None) is any(overs)


def test_a_later_turn_does_not_end_with_the_status_before_it():
    talk = WatchedTalk()
    talk.begin(1.0)
    talk.hear(json.dumps([part("x"), status("waiting")]).encode(), 2.0)
    talk.begin(3.0)

    assert not talk.hear(json.dumps([status("waiting")]).encode(), 4.0)
    assert talk.hear(json.dumps([status("running"), part("x"), status("waiting")]).encode(), 5.0)
    assert (2, 5.0) == (talk.completed, talk.turn.ended_at)


def test_a_turn_that_is_interrupted_ends_before_it_has_said_anything():
    talk = WatchedTalk()
    talk.begin(1.0)
    talk.hear(json.dumps([part("x"), status("waiting")]).encode(), 2.0)
    talk.begin(3.0).is_interrupted = True

    assert not talk.hear(json.dumps([status("waiting")]).encode(), 4.0)
    assert talk.hear(json.dumps([status("running"), status("waiting")]).encode(), 5.0)
    assert ("waiting", 5.0) == (talk.turn.ended, talk.turn.ended_at)


def test_moments_of_the_provider_are_heard_when_the_digits_begin_anew():
    talk = WatchedTalk()
    asked, sent, heard = 999.999990, 1000.0, 1000.000010
    talk.begin(999.0)

    talk.hear(json.dumps([part(f"@{stamp(asked)}{stamp(sent)}the house")]).encode(), heard)
    talk.hear(json.dumps([part(stamp(sent) + "is in" + stamp(sent) + "and")]).encode(), heard)
    talk.hear(json.dumps([part("no moment; at all")]).encode(), heard)

    assert asked == pytest.approx(talk.turn.asked, abs=2e-6)
    assert [10e-6, 10e-6] == pytest.approx(talk.turn.delays, abs=2e-6)
    assert 4 == talk.turn.deltas


def test_retries_and_the_words_of_an_error_are_kept():
    talk = WatchedTalk()
    talk.begin(1.0)
    error = {"type": "error", "error": {"message": "no room"}}

    talk.hear(json.dumps([{"type": "retry"}, error, status("error")]).encode(), 2.0)

    assert (1, "no room", "error") == (talk.retries, talk.error, talk.turn.ended)
