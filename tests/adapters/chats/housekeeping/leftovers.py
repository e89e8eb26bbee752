"""Looks through a whole database, and a folder, for what should be gone.

Every column of every table is searched, as text and as bytes: a table of tomorrow as well.
"""

import os
from pathlib import Path

RECEIPTS = "erasures"  # name the chat: they are kept, without anything that was in it


async def rows_with(run, *needles):
    """The tables that have any of these texts or ids in any row, and how many rows each."""
    found = {}
    tables = await run(
        "SELECT table_name FROM information_schema.tables"
        " WHERE table_schema = current_schema() AND table_type = 'BASE TABLE'"
    )
    assert len(tables) > 20, "the walk has to see the tables"
    for (table,) in tables:
        for needle in needles:
            hexed = str(needle).encode().hex()
            [(count,)] = await run(
                f"SELECT count(*) FROM {table} t"  # a name of our own schema
                " WHERE strpos(lower(t::text), lower(%(text)s)) > 0"
                " OR strpos(t::text, %(hex)s) > 0",
                {"text": str(needle), "hex": hexed},
            )
            if count:
                found[table] = found.get(table, 0) + count
    return found


def files_with(folder, needle):
    """The paths below a folder that have a text in their name or in what they contain. The daemon
    may remove them at this moment."""
    return [
        path
        for top, folders, files in os.walk(folder)
        for path in (Path(top, name) for name in (*folders, *files))
        if needle in path.name or needle.encode() in _content(path)
    ]


def _content(path):
    try:
        return path.read_bytes() if path.is_file() else b""
    except FileNotFoundError:
        return b""
