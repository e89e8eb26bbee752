"""How a request is refused: a status, and words for the person who reads them.

Nothing was written. The body is what clients of this API expect, or a problem of RFC 9457 for those
who ask for that.
"""

from collections.abc import Sequence

import msgspec

WORDS_CHARACTERS_MAX = 1_000  # of each sentence of a refusal; the rest is left out


class Validation(msgspec.Struct, frozen=True):
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
    """Raised by whoever finds that a request cannot be served; answered at the door."""

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
        self.refusal = RefusalBody(
            _cut(message),
            _cut(detail),
            tuple(Validation(_cut(each.field), _cut(each.detail)) for each in validations),
            kind,
        )
        self.headers = tuple(headers)


def _cut(words: str) -> str:
    """Many of them repeat what was sent."""
    return words if len(words) <= WORDS_CHARACTERS_MAX else f"{words[:WORDS_CHARACTERS_MAX]}…"


def not_found() -> HttpError:
    """There is no such thing, or this caller may not know of it: he cannot tell which."""
    return HttpError(404, "Resource not found or you do not have access to this resource")


def forbidden(detail: str = "") -> HttpError:
    return HttpError(403, "Forbidden.", detail=detail)


def foreign_origin(detail: str) -> HttpError:
    """A page of somebody else has made a browser ask."""
    return HttpError(403, "Origin not allowed.", detail=detail)


def body_refused(error: msgspec.DecodeError) -> HttpError:
    """The body is not JSON, or not what is wanted there; says where."""
    text = str(error)
    fact, _, place = text.partition(" - at `$")
    field = place.rstrip("`").lstrip(".")
    validations = (Validation(field, fact),) if field else ()
    return HttpError(400, "Request body must be valid JSON.", detail=text, validations=validations)
