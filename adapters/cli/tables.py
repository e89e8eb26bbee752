"""What commands print: plain tables for people, documents for programs. Pure."""

import json
from collections.abc import Iterable, Sequence

GAP = "  "


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A line for the head and for each row; the last column is as ragged as it likes."""
    lines = [[name.upper() for name in head], *([plain(cell) for cell in row] for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    return "".join(
        GAP.join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        + "\n"
        for line in lines
    )


def plain(text: str) -> str:
    """Names are others' to choose: none of them moves the cursor or breaks a line."""
    return "".join(each if each.isprintable() else "?" for each in text)


def documented(document: object) -> str:
    return json.dumps(document, indent=2) + "\n"
