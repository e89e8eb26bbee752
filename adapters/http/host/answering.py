"""What was decided, as a client gets it: heads of answers, and bodies of refusals."""

from datetime import datetime
from email.utils import format_datetime
from functools import lru_cache
from http import HTTPStatus

import h11
import msgspec

from adapters.http.endpoints import HttpResponse
from adapters.http.host.bounds import RETRY_SECONDS
from adapters.http.refusals import HttpError, Problem
from runtime.clock import wall

PROBLEM = "application/problem+json"
REASONS = {status.value: status.phrase.encode() for status in HTTPStatus}
BODYLESS = frozenset({204, 304})

_encode = msgspec.json.Encoder().encode


def refusal(refused: HttpError, accept: str = "") -> HttpResponse:
    """A refusal in the form that was asked for."""
    said = refused.refusal
    if PROBLEM not in accept:
        return HttpResponse(refused.status, _encode(said) + b"\n", headers=refused.headers)
    problem = Problem(
        title=said.message,
        status=refused.status,
        detail=said.detail,
        validations=said.validations,
        kind=said.kind,
    )
    return HttpResponse(refused.status, _encode(problem) + b"\n", PROBLEM, refused.headers)


def full() -> HttpError:
    """All places are taken by connections that are being served."""
    return HttpError(
        503,
        "The server is full.",
        detail=f"all its connections are in use; try again in {RETRY_SECONDS} s",
        headers=(("retry-after", str(RETRY_SECONDS)),),
    )


def turned_away() -> bytes:
    """A whole answer to whatever may be asked: it is sent before anything is read."""
    answer = refusal(full())
    protocol = h11.Connection(h11.SERVER)
    head = protocol.send(head_of(answer, closing=True)) or b""
    assert isinstance(answer.body, bytes), "a refusal is there at once"
    return head + (protocol.send(h11.Data(data=answer.body)) or b"")


def head_of(answer: HttpResponse, *, closing: bool) -> h11.Response:
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
