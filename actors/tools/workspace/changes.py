"""Edits of whole files: what comes of them, shown as a diff. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import unified_diff
from itertools import islice

from actors.tools.workspace.editing import CannotEdit, Edit, edited

# Changed lines that are compared one by one, of the old text and the new; comparing takes the
# square of them. Beyond it a diff says only how many there are.
COMPARED_LINES_MAX = 2_000
DIFF_LINES_MAX = 1_000  # of one file; the rest is only counted

_LINE = re.compile(r"[^\n]*\n|[^\n]+")


@dataclass(frozen=True, slots=True)
class FileEdits:
    path: str
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Edited:
    path: str
    diff: str


def applied(content: str, edits: Sequence[Edit]) -> str | CannotEdit:
    """One after the other, each on what the one before has left."""
    for index, edit in enumerate(edits):
        changed = edited(content, edit)
        if isinstance(changed, CannotEdit):
            return CannotEdit(f"edits[{index}]: {changed.says}") if len(edits) > 1 else changed
        content = changed
    return content


def diff(path: str, old: str, new: str) -> str:
    """As a unified diff with three lines around each change."""
    before, after = _LINE.findall(old), _LINE.findall(new)
    if min(_changed(before, after)) > COMPARED_LINES_MAX:
        return f"--- {path}\n+++ {path}\n… too many changes to show …\n"
    lines = unified_diff(before, after, path, path)
    shown = [_whole(line) for line in islice(lines, DIFF_LINES_MAX)]
    left = sum(1 for _ in lines)
    return "".join(shown) + (f"… {left} more lines …\n" if left else "")


def _changed(before: Sequence[str], after: Sequence[str]) -> tuple[int, int]:
    """How many lines stand between what both begin with and what both end with."""
    ahead = _common(before, after)
    behind = _common(before[ahead:][::-1], after[ahead:][::-1])
    return len(before) - ahead - behind, len(after) - ahead - behind


def _common(before: Sequence[str], after: Sequence[str]) -> int:
    pairs = zip(before, after, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(before), len(after)))


def _whole(line: str) -> str:
    return line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
