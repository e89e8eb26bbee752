"""Whole numbers in queries and paths. Pure."""

import re

from adapters.http.endpoints import Call
from adapters.http.refusals import HttpError, Validation

NUMBER_MAX = 2**63 - 1  # what the database counts with; a larger one is refused

_WHOLE = re.compile(r"[0-9]{1,19}", re.ASCII)


def number(
    call: Call, name: str, *, default: int = 0, least: int = 0, most: int = NUMBER_MAX
) -> int:
    """A parameter of the query; `default` if it is not there. Refused if it is none of those."""
    text = call.one(name)
    if not text:
        return default
    value = _read(text)
    if value is None:
        raise query_refused(name, f"{text[:32]!r} is not a whole number")
    if not least <= value <= most:
        raise query_refused(name, f"{value} is not {least} to {most}")
    return value


def row_id(call: Call, name: str) -> int:
    """The number in the path that names a row. Refused if it can be none."""
    value = _read(call.path[name])
    if not value:
        raise HttpError(
            400,
            f"invalid {name} id",
            detail=f"{call.path[name][:32]!r} is not a whole number above 0",
            validations=(Validation(name, "must be a whole number above 0"),),
        )
    return value


def query_refused(name: str, fact: str) -> HttpError:
    return HttpError(400, "invalid query parameters", validations=(Validation(name, fact),))


def _read(text: str) -> int | None:
    value = int(text) if _WHOLE.fullmatch(text) else None
    return None if value is None or value > NUMBER_MAX else value
