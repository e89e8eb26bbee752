"""Heads of requests and responses, in HTTP/1.1, rendered by hand: they are few and simple. Pure."""

from dataclasses import dataclass
from http import HTTPStatus

from adapters.rehearsal.said import Json
from adapters.rehearsal.wires.sse import compact

_REASONS = {status.value: status.phrase for status in HTTPStatus} | {529: "Overloaded"}
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Head:
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
    """Of a JSON document."""
    length = ("content-length", str(len(body)))
    return _head(status, ("content-type", "application/json"), *headers, length)


def response(status: int, document: Json, *headers: tuple[str, str]) -> bytes:
    body = compact(document)
    return whole_head(status, body, *headers) + body


def _head(status: int, *headers: tuple[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} {_REASONS.get(status, 'Refused')}"]
    lines += [f"{name}: {value}" for name, value in headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()
