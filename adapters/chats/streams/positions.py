"""What a client says that it has of a chat: `after_id`, `after_part`, `Last-Event-ID`. Pure.

A message's id stands for all messages up to it. A piece of an attempt, `3.1.7` (history version,
attempt, number), stands for the pieces before it and for all messages as of that history version.
"""

import re
from collections.abc import Callable

from actors.streams.feeds.diff import Position
from adapters.http.endpoints import Call
from adapters.http.refusals import HttpError, Validation

_WHOLE = re.compile(r"-?[0-9]{1,19}", re.ASCII)
_PART = re.compile(r"([0-9]{1,18})\.([0-9]{1,9})\.([0-9]{1,9})", re.ASCII)
_MOST = 2**63 - 1  # what the database counts with


def have_of(call: Call) -> Position:
    """Of the query. Refused if it says something else."""
    after_id, after_part = call.one("after_id"), call.one("after_part")
    has_part = _checked("after_part", after_part, _piece) if after_part else Position()
    if after_id:
        id = _checked("after_id", after_id, _message).message_id
        return Position(id, has_part.history_version, has_part.attempt, has_part.seq)
    return has_part


def have_of_event(call: Call) -> Position:
    """Of an event stream that goes on: the event that was seen last says more than the query with
    which it was opened. Whatever does not look like one of ours was never seen."""
    last = call.headers.get("last-event-id", "")
    return _piece(last) or _message(last) or have_of(call)


def _message(text: str) -> Position | None:
    if not _WHOLE.fullmatch(text) or int(text) > _MOST:
        return None
    return Position(message_id=max(0, int(text)))


def _piece(text: str) -> Position | None:
    found = _PART.fullmatch(text)
    if found is None:
        return None
    history_version, attempt, seq = map(int, found.groups())
    return Position(0, history_version, attempt, seq)


def _checked(name: str, text: str, read: Callable[[str], Position | None]) -> Position:
    found = read(text)
    if found is None:
        detail = f"{text[:64]!r} is no place in a chat"
        raise HttpError(400, "invalid query parameters", validations=(Validation(name, detail),))
    return found
