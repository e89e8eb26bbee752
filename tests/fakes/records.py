"""Records drawn from the types of their fields, so that a field that is added later is drawn too.

    st_of(ToolCallPart)       a strategy: any record, any value in each field
    full(ToolCallPart)        one record that has something of its own in every field
    other(ToolCallPart)       one that differs from it in every field

A type that is not known here raises `TypeError`: give it a strategy and an example.
"""

from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass, replace
from datetime import UTC, date, datetime
from enum import Enum
from types import NoneType, UnionType
from typing import Any, NewType, Union, get_args, get_origin, get_type_hints
from uuid import UUID

from hypothesis import strategies as st

from actors.law.parts.message import JsonText

TEXTS = st.sampled_from(["", "a", "\n", "ä\U0001f3ad", "\x00", "\ue000", "'; --", "{}", "\\u0000"])
JSON_TEXTS = st.sampled_from(
    ["null", "{}", '{"b": 1, "a": [1,  2.50]}', '"x"', "1e400", '"\\u0000"', "[[]]"]
).map(JsonText)
MOMENTS = st.datetimes(timezones=st.just(UTC))

OTHER = 1_000  # values from here on are those of `other`

_DRAWN: dict[Any, st.SearchStrategy[Any]] = {
    str: TEXTS,
    JsonText: JSON_TEXTS,
    bool: st.booleans(),
    int: st.integers(0, 2**31 - 1),
    bytes: st.binary(max_size=64),
    UUID: st.uuids(),
    date: st.dates(),
    datetime: MOMENTS,
    NoneType: st.none(),
}
_EXAMPLES: dict[Any, Callable[[int], Any]] = {
    str: lambda n: f"text {n} \x00\ue000",
    JsonText: lambda n: JsonText(f'{{"b": [1,  2.50, -0.0, 1e400], "{n}":{{"a":1,"a":2}}}}'),
    bool: lambda n: n < OTHER,
    int: lambda n: n,
    bytes: lambda n: b"%d" % n,
    UUID: lambda n: UUID(int=n),
    date: lambda n: date(2030, 1, 1 + n % 28),
    datetime: lambda n: datetime(2030, 1, 2, 3, 4, n % 60, 678901, tzinfo=UTC),
}


def st_of(kind: Any) -> st.SearchStrategy[Any]:
    """Any value of this type: of a record, with any value in each of its fields."""
    if kind in _DRAWN:
        return _DRAWN[kind]
    if isinstance(kind, NewType):
        return st_of(kind.__supertype__)
    if get_origin(kind) in (UnionType, Union):
        return st.one_of([st_of(one) for one in get_args(kind)])
    if get_origin(kind) in (tuple, Sequence):
        inner = get_args(kind)[0]
        some = st.lists(st_of(inner), max_size=3)
        return some.map(tuple) if get_origin(kind) is tuple else some
    if isinstance(kind, type) and issubclass(kind, Enum):
        return st.sampled_from(kind)
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        return st.builds(kind, **{field.name: st_of(hints[field.name]) for field in fields(kind)})
    raise TypeError(f"no strategy for {kind!r}")


def full(kind: Any, **given: Any) -> Any:
    """A record with a value of its own in every field: not its default, and no other field's."""
    return replace(_record(kind, 1), **given)


def other(kind: Any) -> Any:
    """A record that differs from `full(kind)` in every field."""
    return _record(kind, OTHER)


def unseen(kind: Any, shown: Callable[[Any], Any]) -> set[str]:
    """The fields of which `shown` does not depend."""
    record, changed = full(kind), other(kind)
    return {
        field.name
        for field in fields(kind)
        if shown(record) == shown(replace(record, **{field.name: getattr(changed, field.name)}))
    }


def _record(kind: Any, begin: int) -> Any:
    hints = get_type_hints(kind)
    return kind(
        **{f.name: _example(hints[f.name], n) for n, f in enumerate(fields(kind), start=begin)}
    )


def _example(kind: Any, number: int) -> Any:
    if kind in _EXAMPLES:
        return _EXAMPLES[kind](number)
    if isinstance(kind, NewType):
        return _example(kind.__supertype__, number)
    if get_origin(kind) in (UnionType, Union):
        return _example(next(one for one in get_args(kind) if one is not NoneType), number)
    if get_origin(kind) in (tuple, Sequence):
        inner = get_args(kind)[0]
        return (_example(inner, number), _example(inner, number + 1))
    if isinstance(kind, type) and issubclass(kind, Enum):
        return list(kind)[-1 if number < OTHER else 0]
    if is_dataclass(kind):
        return _record(kind, number)
    raise TypeError(f"no example for {kind!r}")
