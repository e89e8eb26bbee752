"""Unified diffs, as git and forges write them: how many lines of how many files they change. Pure.

A hunk says in its head how many lines it has, so a line of the content that looks like the head of
a file, such as `--- a/x`, is counted as what it is.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_HUNK = re.compile(r"@@ -\d{1,10}(?:,(\d{1,10}))? \+\d{1,10}(?:,(\d{1,10}))? @@")
_FILE = "diff --git "
_OLD_FILE = "--- "


@dataclass(frozen=True, slots=True)
class DiffCounts:
    """The number of lines that a diff adds and takes away, and of files that it is about."""

    additions: int = 0
    deletions: int = 0
    changed_files: int = 0


def diff_counts(diff: str) -> DiffCounts:
    """Count the lines and files of a unified diff. Text that is no diff counts nothing.

    A diff of git has a line `diff --git` for each file, binary ones and mere renames among them;
    where there is none, each pair of `---` and `+++` stands for a file.
    """
    additions = deletions = git_files = plain_files = 0
    lines = iter(diff.split("\n"))
    for line in lines:
        hunk = _HUNK.match(line)
        if hunk is not None:
            added, removed = _count_hunk(lines, _length(hunk[1]), _length(hunk[2]))
            additions += added
            deletions += removed
        elif line.startswith(_FILE):
            git_files += 1
        elif line.startswith(_OLD_FILE):
            plain_files += 1
    return DiffCounts(additions, deletions, git_files or plain_files)


def _length(told: str | None) -> int:
    return 1 if told is None else int(told)


def _count_hunk(lines: Iterator[str], old: int, new: int) -> tuple[int, int]:
    """Take the lines of one hunk, `old` and `new` of them. Return how many are added, and how many
    taken away."""
    additions = deletions = 0
    while old > 0 or new > 0:
        match next(lines, None):
            case None:
                break  # the diff was cut
            case line if line.startswith("+"):
                additions += 1
                new -= 1
            case line if line.startswith("-"):
                deletions += 1
                old -= 1
            case line if line.startswith("\\"):  # no newline at the end of the file
                pass
            case _:
                old -= 1
                new -= 1
    return additions, deletions
