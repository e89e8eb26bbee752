"""A list to choose from: what is typed narrows it, a key does something with a row. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rich.cells import cell_len

from adapters.cli.chat.reading.drawing import fitted

ROWS_MAX = 12  # shown at once; the list scrolls
MARGIN = 4  # columns before a row


@dataclass(frozen=True, slots=True)
class ListRow:
    """A row: its id, its text, a note at its end, and a preview of it."""

    id: str
    text: str
    note: str = ""
    preview: str = ""
    depth: int = 0


@dataclass(frozen=True, slots=True)
class PickList:
    """A list, what was typed to narrow it, and the row that is chosen."""

    title: str
    rows: Sequence[ListRow]
    hint: str = "Enter chooses · Esc closes"
    keys: Sequence[str] = ()  # further keys that do something with the row that is chosen
    query: str = ""
    index: int = 0

    @property
    def found(self) -> Sequence[ListRow]:
        """Return the rows that have all words of the query, in their order."""
        words = self.query.lower().split()
        return [
            row
            for row in self.rows
            if all(
                word in f"{row.text} {row.note} {row.preview} {row.id}".lower() for word in words
            )
        ]

    @property
    def chosen(self) -> ListRow | None:
        rows = self.found
        return rows[min(self.index, len(rows) - 1)] if rows else None

    def moved(self, by: int) -> "PickList":
        """Return the list with the choice moved; it stops at both ends."""
        last = max(0, len(self.found) - 1)
        return replace(self, index=min(max(0, min(self.index, last) + by), last))

    def narrowed(self, query: str) -> "PickList":
        return replace(self, query=query, index=0)

    def lines(self, width: int) -> list[tuple[str, str]]:
        """Return the lines as (style, text), the chosen row marked."""
        rows, chosen = self.found, self.chosen
        at = min(self.index, max(0, len(rows) - 1))
        first = max(0, min(at - ROWS_MAX // 2, len(rows) - ROWS_MAX))
        count = f" {at + 1}/{len(rows)}" if rows else " nothing found"
        lines = [("class:title", fitted(self.title, width - len(count)) + count)]
        for row in rows[first : first + ROWS_MAX]:
            mark = "> " if row is chosen else "  "
            note = f"  {row.note}" if row.note else ""
            room = max(10, width - cell_len(note) - 1)
            text = fitted(f"{mark}{'  ' * row.depth}{row.text}", room)
            style = "class:chosen" if row is chosen else ""
            lines.append((style, fitted(f"{text}{note}", width)))
        if chosen is not None and chosen.preview:
            preview = chosen.preview.splitlines()[:3]
            lines += [("class:dim", "  " + fitted(line, width - 3)) for line in preview]
        return [*lines, ("class:dim", fitted(self.hint, width - 1))]


def moved_in_order(ids: Sequence[int], id: int, by: int) -> list[int]:
    """Return the order with one id moved; at an end it stays."""
    order = list(ids)
    if id not in order:
        return order
    at = order.index(id)
    order.insert(max(0, min(at + by, len(order) - 1)), order.pop(at))
    return order
