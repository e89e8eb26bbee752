"""What is read out of a failed call: status, detail, Retry-After."""

from datetime import UTC, datetime

import pytest

from actors.law.failures.signals import (
    BODY_BYTES_MAX,
    Signals,
    clean,
    raw_detail,
    retry_after_seconds,
    status_of,
    structured_detail,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("status 401", 401),
        ("Status Code: 502 bad", 502),
        ("http=418", 418),
        ("returned 503", 503),
        ("dial tcp 10.0.0.1:503: refused", None),
        ("10.0.0.1:500 returned 503", 503),
        ("stream ID 401 was reset", None),
        ("stream id=503; internal_error", None),
        ("overloaded", None),
        ("took 4291 ms", None),
        ("the year 2503", None),
    ],
)
def test_a_status_is_read_from_text_but_never_made_up(text, status):
    assert status == status_of(Signals(text))


def test_the_status_of_the_response_wins():
    assert status_of(Signals("status 503", status=400)) == 400


@pytest.mark.parametrize(
    ("body", "content_type", "detail"),
    [
        (b'{"error":{"message":"inner"},"message":"outer"}', "application/json", "inner"),
        (b'{"error":"flat","message":"outer"}', "application/json", "outer"),
        (b'{"error":"flat"}', "application/json", "flat"),
        (b'{"detail":"said by the framework"}', "application/json", "said by the framework"),
        (b'{"detail":[{"loc":["body"]}]}', "application/json", None),
        (b'[{"error":{"message":"listed"}}]', "application/json", "listed"),
        (b'{"Message":"aws"}', "application/json", "aws"),
        (b"\n  first line \nsecond", "text/plain", "first line"),
        (b"<html>no</html>", "text/html", None),
        (b'{"no":"message"}', "text/plain", None),
        (b"   \n ", "text/plain", None),
        (b"", "", None),
        (b'{"message":"' + b"x" * BODY_BYTES_MAX + b'"}', "application/json", None),
        (b"[" * 50_000, "application/json", None),
    ],
)
def test_the_detail_is_the_providers_own_sentence(body, content_type, detail):
    signals = Signals("text", body=body, headers={"content-type": content_type})

    assert detail == structured_detail(signals)


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ('POST "https://h/m": 400 Bad Request {"message":"inner"}', "inner"),
        ('POST "https://h/{m}": 400 Bad Request {"message":"inner"}', "inner"),
        ('POST "https://h/m": 400 Bad Request {broken', None),
        ('POST "https://h/m": 400 Bad Request', None),
    ],
)
def test_a_wrapped_response_is_unwrapped(text, detail):
    assert detail == structured_detail(Signals(text))


def test_a_raw_detail_is_one_line_without_credentials_queries_and_keys():
    text = 'get "https://u:pw@host/path?key=abc#f"\n failed: Bearer abc.def sk-ant-REDACTED'

    assert raw_detail(Signals(text)) == 'get "https://host/path" failed: [redacted] [redacted]'


def test_what_cannot_be_shown_or_stored_is_left_out():
    assert clean("a\x00b\ud800c\x1b[31m") == "abc[31m"


def test_a_long_detail_ends_in_an_ellipsis():
    cut = clean("ä" * 510)

    assert (cut, len(cut)) == ("ä" * 499 + "…", 500)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, 0),
        ({"retry-after": "30"}, 30),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after-ms": "1500", "retry-after": "30"}, 1.5),
        ({"retry-after-ms": "-1", "retry-after": "30"}, 30),
        ({"retry-after": "Thu, 01 Jan 2026 00:01:30 GMT"}, 90),
        ({"retry-after": "Thu, 01 Jan 2026 00:01:30 -0000"}, 90),
        ({"retry-after": "Wed, 31 Dec 2025 00:00:00 GMT"}, 0),
        ({"retry-after": "soon"}, 0),
        ({"retry-after": "inf"}, 0),
        ({"retry-after": "nan"}, 0),
        ({"retry-after": "-3"}, 0),
    ],
)
def test_retry_after_is_heeded_if_it_makes_sense(headers, seconds):
    assert seconds == retry_after_seconds(headers, NOW)
