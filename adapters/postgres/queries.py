"""Named SQL: the .sql files of the adapters are the only place with SQL, this the only reader.

A file is a sequence of `-- name: x`, one line or more that say why, and the statement. What
several statements share is a `-- part: x`, put in wherever `{x}` stands.
"""

import re
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from types import MappingProxyType

_HEADER = re.compile(r"^-- (name|part): (\w+)\n(?:-- .*\n)+", re.MULTILINE)


def parse(text: str) -> dict[str, str]:
    """{name: statement}. Every statement has a name and at least one line that says why."""
    _, *pieces = _HEADER.split(text)
    headed = list(zip(pieces[0::3], pieces[1::3], pieces[2::3], strict=True))
    names = [name for _, name, _ in headed]
    assert len(set(names)) == len(names), "two statements share a name"
    parts = {f"{{{name}}}": body.strip() for kind, name, body in headed if kind == "part"}
    return {
        name: _filled(body.strip().rstrip(";"), parts)
        for kind, name, body in headed
        if kind == "name"
    }


def _filled(statement: str, parts: dict[str, str]) -> str:
    """Parts may hold parts that stand before them in the file."""
    for mark, text in reversed(parts.items()):
        statement = statement.replace(mark, text)
    return statement


def _read() -> dict[str, str]:
    return parse("\n".join(_body(file.read_text()) for file in _sql_files(files("adapters"))))


def _sql_files(folder: Traversable) -> Iterator[Traversable]:
    """Of the folder and those below it. Migrations are steps, not statements."""
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        if file.is_dir() and file.name != "migrations":
            yield from _sql_files(file)
        elif file.name.endswith(".sql"):
            yield file


def _body(text: str) -> str:
    """What a file says about itself belongs to none of its statements."""
    first = _HEADER.search(text)
    assert first is not None, "a file of statements holds at least one"
    return text[first.start() :]


SQL = MappingProxyType(_read())
