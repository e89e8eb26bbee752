"""The signs of a failed call, and what they tell. Pure.

A detail is read by a person: it is one line, without HTML, without credentials, cut at 500
characters.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import Enum

BODY_BYTES_MAX = 64 * 1024  # a longer body is not looked at: it is not an error message
DETAIL_CHARACTERS_MAX = 500  # the rest is cut, and an ellipsis says so


class TransportEnd(Enum):
    """The way in which a call ended without an answer, where the transport knows."""

    RESET = "reset"  # the connection failed, in either direction
    DEADLINE = "deadline"  # our own limit for the call passed
    CANCELLED = "cancelled"  # somebody called it off


@dataclass(frozen=True, slots=True)
class Http2Reset:
    """A stream that was reset: by whom, and with which code, as HTTP/2 writes it."""

    code: str
    by_peer: bool


@dataclass(frozen=True, slots=True)
class Signals:
    """All that can be seen of a failed call. Header names are in lower case."""

    text: str
    provider: str | None = None  # as configured
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    cut: TransportEnd | None = None
    reset: Http2Reset | None = None


_AFTER_WORD = re.compile(r"\b(?:status(?: code)?|http)\s*[:=]?\s*([1-5]\d\d)\b")
_ALONE = re.compile(
    r"(?<![\d.:])(?<!stream id )(?<!stream id=)\b(401|403|408|429|500|502|503|504|529)\b"
)
_WRAPPED = re.compile(r'^[A-Z]+ "[^"]*": \d{3} [^{]*(\{.*)$', re.DOTALL)
_URL = re.compile(r"(\w+://)(?:[^\s/@\"']*@)?([^\s?#\"']*)(?:[?#][^\s\"']*)?")
_SECRET = re.compile(
    r"(?:\b(?:sk|pk|rk|xai|gsk|ABSK|AIza|AKIA|ASIA)[-_]?[\w\-.*]{12,}|(?i:\bbearer\s+)\S+)"
)


def status_of(signals: Signals) -> int | None:
    """Return the status of the response, else the one in the text. It is never guessed from
    words."""
    if signals.status is not None:
        return signals.status
    text = signals.text.lower()
    found = _AFTER_WORD.search(text) or _ALONE.search(text)
    return int(found[1]) if found else None


def structured_detail(signals: Signals) -> str | None:
    """Return the provider's own words about what went wrong, or None."""
    if len(signals.body) > BODY_BYTES_MAX:
        return None
    found = message_in(signals.body) or _first_line(signals) or _unwrapped(signals.text)
    return clean(found) if found else None


def raw_detail(signals: Signals) -> str | None:
    """Return our own words about what went wrong, or None."""
    return clean(signals.text) or None


def message_in(body: bytes | str) -> str | None:
    """Return the message of a JSON object: `error.message`, `message`, `error` or `detail`."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, list) and len(value) == 1:
        value = value[0]  # Google answers some streams with a list of one error
    if not isinstance(value, dict):
        return None
    error = value.get("error")
    nested = error.get("message") if isinstance(error, dict) else None
    others = (value.get(name) for name in ("message", "Message", "error", "detail"))
    texts = (found for found in (nested, *others) if isinstance(found, str) and found.strip())
    return next(texts, None)


def clean(text: str) -> str:
    """Return one line that can be shown, without credentials, queries and fragments of URLs, or
    keys."""
    line = "".join(filter(str.isprintable, " ".join(text.split())))
    line = _SECRET.sub("[redacted]", _URL.sub(r"\1\2", line))
    if len(line) <= DETAIL_CHARACTERS_MAX:
        return line
    return line[: DETAIL_CHARACTERS_MAX - 1] + "…"


def retry_after_seconds(headers: Mapping[str, str], now: datetime) -> float:
    """Return how long the provider asks us to wait; 0 if it does not say, or says nothing
    sensible."""
    milliseconds = _positive(headers.get("retry-after-ms"))
    if milliseconds:
        return milliseconds / 1000
    value = headers.get("retry-after")
    return _positive(value) or _until(value, now)


def _first_line(signals: Signals) -> str | None:
    content_type = signals.headers.get("content-type", "").split(";")[0].strip().lower()
    if content_type != "text/plain" or _is_json(signals.body):
        return None
    lines = signals.body.decode("utf-8", "replace").splitlines()
    return next((line.strip() for line in lines if line.strip()), None)


def _unwrapped(text: str) -> str | None:
    wrapped = _WRAPPED.match(text)
    return message_in(wrapped[1]) if wrapped else None


def _is_json(body: bytes) -> bool:
    try:
        json.loads(body)
    except (ValueError, RecursionError):
        return False
    return True


def _positive(value: str | None) -> float:
    try:
        number = float(value or "")
    except ValueError:
        return 0.0
    return number if 0 < number < float("inf") else 0.0


def _until(value: str | None, now: datetime) -> float:
    try:
        then = parsedate_to_datetime(value or "")
    except (TypeError, ValueError):
        return 0.0
    if then.tzinfo is None:
        then = then.replace(tzinfo=UTC)
    return max(0.0, (then - now).total_seconds())
