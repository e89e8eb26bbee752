"""Statements and values on their way to the server and back.

A statement is (sql, parameters). In the SQL, `%(name)s` takes from a mapping and `%s` from a
sequence; without parameters the text goes as it is. Three rules keep a statement ONE prepared
statement whatever is passed to it:

- Every parameter travels as text and untyped: PostgreSQL infers its type from where it stands.
  Where it cannot (`%(x)s IS NULL`, `jsonb_build_object('a', %(x)s)`) the SQL says `%(x)s::bigint`.
- bytes are a bytea. JSON is a str, or Json(bytes) as msgspec makes them.
- A list is an array of any of these.

Rows come back in binary: uuid as UUID, timestamptz as an aware datetime in UTC, json and jsonb as
raw bytes, which the caller decodes. Enums come as str.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Any
from uuid import UUID

import psycopg
from psycopg.adapt import AdaptersMap, Buffer, Dumper, Loader, PyFormat
from psycopg.pq import Format
from psycopg.types.bool import BoolDumper
from psycopg.types.datetime import DateDumper, DatetimeDumper, TimedeltaDumper
from psycopg.types.numeric import DecimalDumper, FloatDumper, Int8BinaryLoader, Int8Dumper
from psycopg.types.string import ByteaBinaryLoader, BytesBinaryDumper, TextBinaryLoader
from psycopg.types.uuid import UUIDDumper

Parameters = Sequence[Any] | Mapping[str, Any]
Statement = tuple[str, Parameters]
Row = tuple[Any, ...]

# Texts of which the parsed form is kept; the least recently used goes. Ours are in .sql files and
# far fewer, only searches make new ones.
PARSED_STATEMENTS_MAX = 1_000

_PLACEHOLDER = re.compile(r"%(?:\((?P<name>\w+)\)s|(?P<next>s)|(?P<percent>%)|(?P<wrong>.?))")
_XID8, _ANY_OTHER = 5069, 0


class Json(bytes):
    """JSON as bytes, for a json or jsonb parameter."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """A statement in the server's spelling, and how its parameters are picked."""

    sql: bytes
    names: tuple[str, ...] | None  # of $1, $2, …; None if they come as a sequence
    formats: list[PyFormat]

    def pick(self, parameters: Parameters) -> Sequence[Any]:
        if self.names is None:
            assert len(parameters) == len(self.formats), "as many parameters as placeholders"
            return parameters  # type: ignore[return-value]
        return [parameters[name] for name in self.names]  # type: ignore[call-overload]


@lru_cache(PARSED_STATEMENTS_MAX)
def parse(sql: str) -> Parsed:
    """Parse a statement with placeholders."""
    names: list[str] = []
    nexts = 0

    def number(match: re.Match[str]) -> str:
        nonlocal nexts
        if match["percent"]:
            return "%"
        assert match["wrong"] is None, f"a lone % in a statement, write %%: {sql}"
        if match["next"]:
            nexts += 1
            return f"${nexts}"
        if match["name"] not in names:
            names.append(match["name"])
        return f"${names.index(match['name']) + 1}"

    text = _PLACEHOLDER.sub(number, sql)
    assert not (names and nexts), f"named and unnamed parameters in one statement: {sql}"
    formats = [PyFormat.AUTO] * (len(names) or nexts)
    return Parsed(text.encode(), tuple(names) if names else None, formats)


@lru_cache(PARSED_STATEMENTS_MAX)
def verbatim(sql: str) -> Parsed:
    """Return a statement without parameters: its % signs are its own."""
    return Parsed(sql.encode(), None, [])


class _JsonText(Dumper):
    def dump(self, obj: Json) -> Buffer:
        return obj


class _Array(Dumper):
    """A list as an array literal, one pass, without looking at the elements' types first."""

    def dump(self, obj: list[Any]) -> Buffer:
        literal = _array(obj)
        if "\0" in literal:  # the server would take what stands before it for all there is
            raise psycopg.DataError("an array of PostgreSQL takes no text with U+0000 in it")
        return literal.encode()


def _array(items: list[Any]) -> str:
    return "{" + ",".join([_ELEMENT.get(type(item), _other)(item) for item in items]) + "}"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _other(item: Any) -> str:
    if isinstance(item, str):  # StrEnum
        return _quoted(str(item))
    raise TypeError(f"no array element is made of {type(item).__name__}")


_ELEMENT: dict[type, Callable[[Any], str]] = {
    type(None): lambda _: "NULL",
    bool: lambda item: "t" if item else "f",
    int: str,
    float: repr,
    str: _quoted,
    UUID: lambda item: item.hex,
    Json: lambda item: _quoted(item.decode()),
    bytes: lambda item: '"\\\\x' + item.hex() + '"',
    datetime: lambda item: _quoted(item.isoformat()),
    list: _array,
}


class _JsonbBinary(Loader):
    format = Format.BINARY

    def load(self, data: Buffer) -> bytes:
        return bytes(data)[1:]  # the first byte is the version of the format, 1


_AS_TEXT: dict[type, type[Dumper]] = {
    bool: BoolDumper,
    int: Int8Dumper,
    float: FloatDumper,
    Decimal: DecimalDumper,
    UUID: UUIDDumper,
    datetime: DatetimeDumper,
    date: DateDumper,
    timedelta: TimedeltaDumper,
}


def _adapters() -> AdaptersMap:
    adapters = AdaptersMap(psycopg.adapters)
    # Of several dumpers for a type, the last one registered is the one that is used.
    for python_type, dumper in _AS_TEXT.items():
        adapters.register_dumper(python_type, dumper)
    adapters.register_dumper(bytes, BytesBinaryDumper)
    adapters.register_dumper(Json, _JsonText)
    adapters.register_dumper(list, _Array)
    adapters.register_loader("json", ByteaBinaryLoader)
    adapters.register_loader("jsonb", _JsonbBinary)
    adapters.register_loader(_XID8, Int8BinaryLoader)
    adapters.register_loader(_ANY_OTHER, TextBinaryLoader)
    return adapters


ADAPTERS = _adapters()
