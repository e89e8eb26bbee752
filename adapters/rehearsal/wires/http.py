"""JSON, server-sent events and the heads of HTTP/1.1, as the vendors write them. Pure.

Heads are rendered by hand, because they are few and simple.
"""

from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, TypeVar

import msgspec

from adapters.rehearsal.dialogue import BadRequest, Json

_REASONS = {status.value: status.phrase for status in HTTPStatus} | {529: "Overloaded"}
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


@dataclass(frozen=True, slots=True)
class RequestHead:
    """A request without its body."""

    method: str
    path: str  # without the query, which may have a key in it
    headers: tuple[tuple[str, str], ...] = ()  # names in lower case

    def header(self, name: str) -> str | None:
        return next((value for known, value in self.headers if known == name), None)


def stream_head(request_id: str) -> bytes:
    return _head(
        200,
        ("content-type", "text/event-stream; charset=utf-8"),
        ("cache-control", "no-cache"),
        ("x-request-id", request_id),
        ("transfer-encoding", "chunked"),
    )


def whole_head(status: int, body: bytes, *headers: tuple[str, str]) -> bytes:
    """Return the head of a JSON document."""
    length = ("content-length", str(len(body)))
    return _head(status, ("content-type", "application/json"), *headers, length)


def response(status: int, document: Json, *headers: tuple[str, str]) -> bytes:
    body = compact(document)
    return whole_head(status, body, *headers) + body


def _head(status: int, *headers: tuple[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} {_REASONS.get(status, 'Refused')}"]
    lines += [f"{name}: {value}" for name, value in headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


_Wire = TypeVar("_Wire")


def decode(decoder: "msgspec.json.Decoder[_Wire]", body: bytes) -> _Wire:
    """Return a body as its type. Raises BadRequest."""
    try:
        return decoder.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadRequest(str(error)) from None


def compact(value: Any) -> bytes:
    return msgspec.json.encode(value)


def pretty(value: Any) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n"


def named_event(name: str, data: bytes) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (name.encode(), data)


def unnamed_event(data: bytes) -> bytes:
    return b"data: %b\n\n" % data
