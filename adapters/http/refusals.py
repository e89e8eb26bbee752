"""Refusals of requests: a status, and words for the person who reads them.

Nothing was written. The body is what clients of this API expect, or a problem of RFC 9457 for
clients that accept it.
"""

from collections.abc import Sequence

import msgspec

WORDS_CHARACTERS_MAX = 1_000  # of each sentence of a refusal; the rest is left out


class Validation(msgspec.Struct, frozen=True):
    """A field of a request, and what is wrong with it."""

    field: str
    detail: str


class RefusalBody(msgspec.Struct, frozen=True, omit_defaults=True):
    """The body of every answer that is not a success."""

    message: str
    detail: str = ""
    validations: Sequence[Validation] = ()
    kind: str = ""


class Problem(msgspec.Struct, frozen=True, omit_defaults=True):
    """The same for those who accept application/problem+json."""

    title: str
    status: int
    type: str = "about:blank"
    detail: str = ""
    validations: Sequence[Validation] = ()
    kind: str = ""


class HttpError(Exception):
    """A request that cannot be served. It may be raised anywhere, and is answered at the door."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        detail: str = "",
        validations: Sequence[Validation] = (),
        kind: str = "",
        headers: Sequence[tuple[str, str]] = (),
    ) -> None:
        super().__init__(f"{status} {message}")
        self.status = status
        self.body = RefusalBody(
            _cut(message),
            _cut(detail),
            tuple(Validation(_cut(each.field), _cut(each.detail)) for each in validations),
            kind,
        )
        self.headers = tuple(headers)


def _cut(words: str) -> str:
    """Cut long words: many of them repeat what was sent."""
    return words if len(words) <= WORDS_CHARACTERS_MAX else f"{words[:WORDS_CHARACTERS_MAX]}…"


def not_found() -> HttpError:
    """Refuse what is not there, or what this caller may not know of: they cannot tell which."""
    return HttpError(404, "Resource not found or you do not have access to this resource")


def forbidden(detail: str = "") -> HttpError:
    """Refuse what this caller may not do."""
    return HttpError(403, "Forbidden.", detail=detail)


def foreign_origin(detail: str) -> HttpError:
    """Refuse a request that a page of another site made a browser send."""
    return HttpError(403, "Origin not allowed.", detail=detail)


def query_refused(name: str, fact: str) -> HttpError:
    """Refuse a parameter of the query."""
    return HttpError(400, "invalid query parameters", validations=(Validation(name, fact),))


def body_refused(error: msgspec.DecodeError) -> HttpError:
    """Refuse a body that is no JSON, or not what is expected, and say where."""
    text = str(error)
    fact, _, place = text.partition(" - at `$")
    field = place.rstrip("`").lstrip(".")
    validations = (Validation(field, fact),) if field else ()
    return HttpError(400, "Request body must be valid JSON.", detail=text, validations=validations)
