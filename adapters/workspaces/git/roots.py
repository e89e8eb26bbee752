"""The repositories that lie where tool calls have touched a workspace. It looks at a disk.

A path belongs to the repository of the nearest directory above it that has `.git` in it: a
directory, or the file that a submodule or a further working tree has there. A command that ran in a
directory of no repository may have made one in it, so there the directories one level below count,
too.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice

REPOSITORIES_MAX = 32  # of one workspace; of more those are shown that were touched last
BELOW_MAX = 200  # entries of a directory that are looked at for repositories; the rest is not


@dataclass(frozen=True, slots=True)
class TouchedPath:
    """A path that a call has touched: a file, or the directory in which a command ran."""

    path: str  # absolute, or below the workspace's home
    is_workdir: bool = False


def roots_of(home: str, touched: Iterable[TouchedPath]) -> list[str]:
    """Return the roots of repositories, those touched first coming first. `home` is a path without
    symbolic links; what lies outside of it does not count."""
    found: dict[str, None] = {}
    seen: dict[str, str | None] = {}
    for each in touched:
        start = _resolved(home, each)
        if start is None:
            continue
        root = _root_above(home, start, seen)
        if root is not None:
            found[root] = None
        elif each.is_workdir:
            found |= dict.fromkeys(_roots_below(start))
    return list(found)[:REPOSITORIES_MAX]


def is_root(path: str) -> bool:
    """Return whether this directory is the root of a repository."""
    return os.path.lexists(f"{path}/.git")


def _resolved(home: str, touched: TouchedPath) -> str | None:
    """Return the directory of a path, without symbolic links; None if it is outside."""
    path = os.path.join(home, touched.path)
    try:
        start = os.path.realpath(path if touched.is_workdir else os.path.dirname(path))
    except (OSError, ValueError):  # ValueError: a zero byte
        return None
    is_inside = start == home or start.startswith(f"{home}/")
    return start if is_inside and _can_be_told(start) else None


def _can_be_told(path: str) -> bool:
    """Return whether a path is one line of text. A disk may have names that are not UTF-8."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return "\n" not in path


def _root_above(home: str, start: str, seen: dict[str, str | None]) -> str | None:
    """Return the nearest root at or above a directory, up to the home."""
    passed, root, at = [], None, start
    while True:
        if at in seen:
            root = seen[at]
            break
        passed.append(at)
        if is_root(at):
            root = at
            break
        if at == home:
            break
        at = os.path.dirname(at)
    seen |= dict.fromkeys(passed, root)
    return root


def _roots_below(directory: str) -> Iterator[str]:
    with suppress(OSError), os.scandir(directory) as entries:
        below = [
            entry.path
            for entry in islice(entries, BELOW_MAX)
            if entry.is_dir(follow_symlinks=False) and _can_be_told(entry.name)
        ]
        yield from (path for path in sorted(below) if is_root(path))
