"""What a token may be used for. Pure.

`all` is everything its user may do. An area by its name (`chats`) is all of that area, with
`:read` only what changes nothing (GET). A token never lets anybody do more than his user may.
"""

from collections.abc import Iterable

from adapters.http.endpoints import Caller, Endpoint

ALL = "all"
AREAS = ("chats", "models", "settings", "users")
READ_CHATS, READ_USERS = "chats:read", "users:read"
SCOPES = (ALL, *AREAS, *(f"{area}:read" for area in AREAS))

READING = frozenset({"GET", "HEAD"})


def granted(scopes: Iterable[str]) -> frozenset[str]:
    """With what they imply."""
    given = frozenset(scopes)
    return given | {f"{area}:read" for area in AREAS if area in given}


def wanted(row: Endpoint) -> str:
    """What a token has to have for this row; nothing: every token will do."""
    is_reading = row.method in READING and row.scope in AREAS
    return f"{row.scope}:read" if is_reading else row.scope


def covers(caller: Caller, row: Endpoint) -> bool:
    scope = wanted(row)
    return not scope or caller.may(scope)
