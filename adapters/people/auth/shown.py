"""What a request shows of who asks: every place where a token may stand, in their order. Pure."""

from dataclasses import dataclass

from adapters.http.endpoints import Head, Via

COOKIE = "coder_session_token"
HEADER = "coder-session-token"
PARAMETER = "coder_session_token"
ACCESS_PARAMETER = "access_token"
TICKET_PARAMETER = "ticket"

# A longer one is none of ours, and not worth the work on it.
TOKEN_CHARACTERS_MAX = 512


@dataclass(frozen=True, slots=True)
class Shown:
    """A token, where it stood, and whether it stood in a place that only its holder can fill."""

    token: str
    via: Via
    is_meant: bool  # not only what a browser sends by itself


def shown_by(head: Head) -> Shown | None:
    """The first token that is not empty; an Authorization of another scheme is not ours."""
    places = (
        (Via.COOKIE, cookie(head.headers.get("cookie", ""), COOKIE)),
        (Via.QUERY, head.parameter(PARAMETER)),
        (Via.HEADER, head.headers.get(HEADER, "").strip()),
        (Via.HEADER, bearer(head.headers.get("authorization", ""))),
        (Via.QUERY, head.parameter(ACCESS_PARAMETER)),
    )
    filled = [(via, token) for via, token in places if token]
    if not filled:
        return None
    via, token = filled[0]
    is_meant = any(token == other for place, other in filled if place is not Via.COOKIE)
    return Shown(token, via, is_meant)


def cookie(header: str, name: str) -> str:
    """The first of that name; browsers put the one of the longest path first."""
    for pair in header.split(";"):
        key, _, value = pair.strip().partition("=")
        if key == name and value:
            return value.strip('"')
    return ""


def bearer(authorization: str) -> str:
    scheme, _, token = authorization.strip().partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""
