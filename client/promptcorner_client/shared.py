"""Functions that the daemon has as well: waits between tries, schemas, cut texts.

Copied from the daemon by client/copy_shared.py: change it there."""

from collections.abc import Mapping
from typing import Any, NewType, TypeVar

import msgspec

EXPONENT_MAX = 1000  # beyond it the cap has long been reached; the power stays a float


def delay_seconds(
    attempt: int,
    *,
    first_seconds: float,
    cap_seconds: float,
    spread: float = 0.0,
    chance: float = 0.0,
) -> float:
    """Return the seconds to wait before try number `attempt` (1, 2, …).

    The wait doubles from `first_seconds` up to `cap_seconds`. `chance`, a random number in 0..1
    that the caller draws, takes off up to the share `spread` of it, so that many who wait do not
    all come back at once.
    """
    assert attempt >= 1, f"attempts are counted from 1, not {attempt}"
    assert first_seconds >= 0, "a wait is never negative"
    assert 0 <= spread <= 1, "spread is a share of the delay"
    assert 0 <= chance <= 1, "chance comes from random()"
    doubled = first_seconds * 2.0 ** min(attempt - 1, EXPONENT_MAX)
    return min(cap_seconds, doubled) * (1.0 - spread * chance)


JsonText = NewType("JsonText", str)


_UNTOLD = frozenset({"title", "default"})  # names of our classes; what is left out


def _inlined(schema: Any, components: Mapping[str, Any]) -> Any:
    if isinstance(schema, list):
        return [_inlined(each, components) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        named = components[schema["$ref"].rpartition("/")[2]]
        return _inlined({**named, **{k: v for k, v in schema.items() if k != "$ref"}}, components)
    kept = {key: value for key, value in schema.items() if key not in _UNTOLD}
    inlined = {key: _inlined(value, components) for key, value in kept.items()}
    if "properties" in kept:
        named = kept["properties"].items()
        inlined["properties"] = {name: _inlined(value, components) for name, value in named}
    if not inlined.get("required", True):
        del inlined["required"]
    return inlined


def schema_of(arguments: type[msgspec.Struct]) -> JsonText:
    (reference,), components = msgspec.json.schema_components([arguments])
    schema = _inlined(reference, components)
    shown = {"type": "object", "properties": schema.get("properties", {})}
    if schema.get("required"):
        shown["required"] = schema["required"]
    return JsonText(msgspec.json.encode(shown).decode())


Arguments = TypeVar("Arguments", bound=msgspec.Struct)


def _plain(fact: str) -> str:
    """Return what the decoder says, without the names of its own world."""
    said = fact.replace("Object missing required field", "missing the required argument")
    return said[:1].lower() + said[1:]


def read_arguments(arguments: type[Arguments], args: str) -> Arguments | str:
    """Return the arguments, or what is wrong with them, in words for the model."""
    try:
        return msgspec.json.decode(args, type=arguments)
    except msgspec.DecodeError as error:
        fact, _, place = str(error).partition(" - at `$")
        where = place.rstrip("`").lstrip(".")
        return f"{where}: {_plain(fact)}" if where else _plain(fact)


TINY = 512  # a budget that has no room for both ends and words between them


MARKER_ROOM = 256  # bytes that are kept free for the words about what is missing


def _whole(data: bytes) -> str:
    """Decode text without the halves of characters at its ends."""
    return data.decode("utf-8", "ignore")


def truncate(text: str, bytes_max: int) -> str:
    """Return `text` in at most `bytes_max` bytes of UTF-8, with no character cut in two."""
    data = text.encode("utf-8", "replace")
    if len(data) <= bytes_max:
        return text
    if bytes_max <= TINY:
        return _whole(data[:bytes_max])
    room = bytes_max - MARKER_ROOM
    tail_bytes = room // 3
    head = _whole(data[: room - tail_bytes])
    tail = _whole(data[len(data) - tail_bytes :])
    left = len(data) - len(head.encode()) - len(tail.encode())
    return f"{head}\n\n[… {left} bytes of the output are left out here …]\n\n{tail}"
