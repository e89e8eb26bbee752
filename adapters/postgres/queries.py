"""Named SQL: the .sql files of the adapters are the only place with SQL, this the only reader.

A file is a sequence of `-- name: x`, one line or more that say why, and the statement. What
several statements share is a `-- part: x`, put in wherever `{x}` stands.

A `Record` is the shape of one row, and its select list is made of it: `{Name}` stands for its
fields, and `{t.Name}` for the same of table `t`. A field that is no column of its name has its
expression in the file, as `-- column: Name.field`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, Self, get_type_hints

import msgspec

_HEADER = re.compile(r"^-- (name|part|column): ([\w.]+)\n(?:-- .*\n)+", re.MULTILINE)
_RECORD = re.compile(r"\{(?:(\w+)\.)?([A-Z]\w*)\}")


class Record(msgspec.Struct, array_like=True, frozen=True):
    """The shape of one row: its fields are the columns, by name and in their order.

    A record that extends another has the columns of both. Columns of JSON are bytes; those of
    records that a statement also builds as JSON arrays are `msgspec.Raw`, which both ways fill.
    """

    @classmethod
    def of(cls, row: Sequence[Any]) -> Self:
        """Return a row of an answer as this record, each value as the type of its field."""
        raw = _raw_fields(cls)
        if raw:
            row = list(row)
            for place in raw:
                row[place] = msgspec.Raw(row[place])
        return msgspec.convert(row, cls)


@cache
def _raw_fields(record: type[Record]) -> tuple[int, ...]:
    hints = get_type_hints(record)
    return tuple(
        place for place, name in enumerate(record.__struct_fields__) if hints[name] is msgspec.Raw
    )


class Statements(Mapping[str, str]):
    """Statements by name. A select list is put in when its statement is first used: by then the
    module that defines the record has been imported."""

    def __init__(self, statements: Mapping[str, str], columns: Mapping[str, str]) -> None:
        self._statements = statements
        self._columns = columns  # expressions of fields: {"Name.field": "now()"}
        self._filled: dict[str, str] = {}

    def __getitem__(self, name: str) -> str:
        filled = self._filled.get(name)
        if filled is None:
            filled = self._filled[name] = _RECORD.sub(self._select_list, self._statements[name])
        return filled

    def __iter__(self) -> Iterator[str]:
        return iter(self._statements)

    def __len__(self) -> int:
        return len(self._statements)

    def _select_list(self, mark: re.Match[str]) -> str:
        table, name = mark.groups()
        record = _records()[name]
        prefix = f"{table}." if table else ""
        columns = ", ".join(
            self._expression(record, field) or prefix + field for field in record.__struct_fields__
        )
        return _RECORD.sub(self._select_list, columns)  # an expression may hold a record itself

    def _expression(self, record: type[Record], field: str) -> str | None:
        owners = (base.__name__ for base in record.__mro__)
        return next(filter(None, (self._columns.get(f"{owner}.{field}") for owner in owners)), None)


def _records() -> dict[str, type[Record]]:
    """Return all records that have been imported, by name."""
    found: dict[str, type[Record]] = {}
    waiting = Record.__subclasses__()
    while waiting:
        record = waiting.pop()
        assert found.setdefault(record.__name__, record) is record, f"two records: {record}"
        waiting += record.__subclasses__()
    return found


def parse(text: str) -> Statements:
    """Read the statements of a text. Each has a name and at least one line that says why."""
    _, *pieces = _HEADER.split(text)
    headed = list(zip(pieces[0::3], pieces[1::3], pieces[2::3], strict=True))
    names = [name for _, name, _ in headed]
    assert len(set(names)) == len(names), "two statements share a name"
    parts = {f"{{{name}}}": body.strip() for kind, name, body in headed if kind == "part"}
    return Statements(
        {
            name: _filled(body.strip().rstrip(";"), parts)
            for kind, name, body in headed
            if kind == "name"
        },
        {name: _filled(body.strip(), parts) for kind, name, body in headed if kind == "column"},
    )


def _filled(statement: str, parts: dict[str, str]) -> str:
    """Put the parts into a statement. Parts may hold parts that stand before them in the file."""
    for mark, text in reversed(parts.items()):
        statement = statement.replace(mark, text)
    return statement


def _read() -> Statements:
    return parse("\n".join(_body(file.read_text()) for file in _sql_files(files("adapters"))))


def _sql_files(folder: Traversable) -> Iterator[Traversable]:
    """Yield the files of the folder and those below it. Migrations are steps, not statements."""
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        if file.is_dir() and file.name != "migrations":
            yield from _sql_files(file)
        elif file.name.endswith(".sql"):
            yield file


def _body(text: str) -> str:
    """Return a file without its head, which belongs to none of its statements."""
    first = _HEADER.search(text)
    assert first is not None, "a file of statements holds at least one"
    return text[first.start() :]


SQL = _read()
