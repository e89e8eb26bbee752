"""Responses as bytes: heads, the bodies of refusals, and writing without waiting."""

import os
from datetime import datetime
from email.utils import format_datetime
from functools import lru_cache
from html import escape
from http import HTTPStatus

import h11
import msgspec
import trio

from adapters.http.endpoints import HttpResponse
from adapters.http.host.bounds import RETRY_SECONDS
from adapters.http.refusals import HttpError, Problem
from runtime.clock import wall

PROBLEM = "application/problem+json"
HTML = "text/html"
REASONS = {status.value: status.phrase.encode() for status in HTTPStatus}
BODYLESS = frozenset({204, 304})

_encode = msgspec.json.Encoder().encode


def refusal(refused: HttpError, accept: str = "") -> HttpResponse:
    """Return a refusal in the form that the client accepts."""
    body = refused.body
    if accept.startswith(HTML) and PROBLEM not in accept:
        headers = (("content-security-policy", "default-src 'none'"), *refused.headers)
        return HttpResponse(refused.status, _page(refused), f"{HTML}; charset=utf-8", headers)
    if PROBLEM not in accept:
        return HttpResponse(refused.status, _encode(body) + b"\n", headers=refused.headers)
    problem = Problem(
        title=body.message,
        status=refused.status,
        detail=body.detail,
        validations=body.validations,
        kind=body.kind,
    )
    return HttpResponse(refused.status, _encode(problem) + b"\n", PROBLEM, refused.headers)


def _page(refused: HttpError) -> bytes:
    """Return a page that says why a person cannot see an address.

    With a `retry-after` the page loads itself again after that time.
    """
    after = next((text for name, text in refused.headers if name == "retry-after"), "")
    again = f'<meta http-equiv="refresh" content="{after}">\n' if after else ""
    return f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
{again}<title>{escape(refused.body.message)}</title>
<h1>{escape(refused.body.message)}</h1>
<p>{escape(refused.body.detail or "")}</p>
<p><a href="/">To the chats</a></p>
</html>
""".encode()


def server_full() -> HttpError:
    """Refuse a request because all places are taken by connections that are being served."""
    return HttpError(
        503,
        "The server is full.",
        detail=f"all its connections are in use; try again in {RETRY_SECONDS} s",
        headers=(("retry-after", str(RETRY_SECONDS)),),
    )


def turned_away_response() -> bytes:
    """Return a whole 503 response, which is sent before anything is read."""
    answer = refusal(server_full())
    protocol = h11.Connection(h11.SERVER)
    head = protocol.send(head_of(answer, closing=True)) or b""
    assert isinstance(answer.body, bytes), "a refusal is there at once"
    return head + (protocol.send(h11.Data(data=answer.body)) or b"")


def head_of(answer: HttpResponse, *, closing: bool) -> h11.Response:
    """Return the head of a response; `closing`: the connection ends with it."""
    headers = [
        ("date", _date(wall().replace(microsecond=0))),
        ("x-content-type-options", "nosniff"),
        *answer.headers,
    ]
    if answer.status not in BODYLESS:
        headers.append(("content-type", answer.media_type))
        if isinstance(answer.body, bytes):
            headers.append(("content-length", str(len(answer.body))))
    if closing:
        headers.append(("connection", "close"))
    reason = REASONS.get(answer.status, b"")
    return h11.Response(status_code=answer.status, headers=headers, reason=reason)


@lru_cache(maxsize=1)
def _date(second: datetime) -> str:
    return format_datetime(second, usegmt=True)


def write_at_once(stream: trio.abc.Stream, data: bytes) -> int:
    """Write what can be written without waiting, and return how many bytes that was: mostly all.

    No other task may write to the stream meanwhile.
    """
    if not isinstance(stream, trio.SocketStream):
        return 0  # it is encrypted first, or lies in memory
    try:
        return os.write(stream.socket.fileno(), data)
    except OSError:
        return 0  # full, or broken: waiting tells which
