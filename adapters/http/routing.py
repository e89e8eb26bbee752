"""The row that a method and a path lead to: a tree of segments, one step for each. Pure.

A word that stands in the rows goes before a place that takes any word. Superfluous slashes do not
matter, neither at the end nor between. A place that takes the rest of a path goes last of all.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from adapters.http.endpoints import Endpoint
from adapters.http.requests import segments


@dataclass(frozen=True, slots=True)
class RouteMatch:
    """A row, and what its places were filled with."""

    row: Endpoint
    path: dict[str, str]  # what stood in the places


@dataclass(frozen=True, slots=True)
class OtherMethods:
    """A path at which there are rows, but none for this method."""

    methods: Sequence[str]


@dataclass(slots=True)
class _Node:
    words: dict[str, "_Node"] = field(default_factory=dict)
    place: "_Node | None" = None
    rest: "_Node | None" = None
    rows: dict[str, tuple[Endpoint, Sequence[str]]] = field(default_factory=dict)  # by method


class RouteTree:
    """The tree of all rows. Two rows with the same method and path are a bug."""

    def __init__(self, rows: Iterable[Endpoint]) -> None:
        self._root = _Node()
        for row in rows:
            for path in row.addresses:
                self._plant(row, path)

    def find(self, method: str, path: Sequence[str]) -> RouteMatch | OtherMethods | None:
        """Return the row for a path, or None if there is nothing at it."""
        places: list[str] = []
        node = _reach(self._root, path, 0, places)
        if node is None:
            return None
        rows = node.rows
        row = rows.get(method) or (rows.get("GET") if method == "HEAD" else None)
        if row is None:
            return OtherMethods(sorted(_with_head(rows)))
        return RouteMatch(row[0], dict(zip(row[1], places, strict=True)))

    def _plant(self, row: Endpoint, address: str) -> None:
        node, names = self._root, []
        path = segments(address)
        for at, segment in enumerate(path, 1):
            if segment.startswith("{"):
                names.append(segment[1:-1])
                if row.takes_rest and at == len(path):
                    node.rest = node = node.rest or _Node()
                else:
                    node.place = node = node.place or _Node()
            else:
                node = node.words.setdefault(segment, _Node())
        assert row.method not in node.rows, f"{row.method} {address} is there twice"
        node.rows[row.method] = row, names


def _reach(node: _Node, path: Sequence[str], at: int, places: list[str]) -> _Node | None:
    """Return where the rest of the path leads. `places` gets what stood in those on the way."""
    taken: tuple[_Node, list[str]] | None = None
    for step in range(at, len(path)):
        if node.rest is not None:
            taken = node.rest, [*places, "/".join(path[step:])]
        word, place = node.words.get(path[step]), node.place
        if word is not None and place is not None:  # the word, unless it leads nowhere
            tried: list[str] = []
            reached = _reach(word, path, step + 1, tried)
            if reached is not None:
                places += tried
                return reached
        if place is not None:
            places.append(path[step])
            node = place
        elif word is not None:
            node = word
        else:
            break
    else:
        if node.rows:
            return node
    if taken is None:
        return None
    node, places[:] = taken
    return node


def _with_head(rows: Iterable[str]) -> set[str]:
    return {*rows, "HEAD"} if "GET" in rows else set(rows)
