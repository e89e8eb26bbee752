"""Why an edit fits nowhere: what is nearly the same, or was turned round. Pure."""

from collections.abc import Iterator
from itertools import groupby, islice

HINTS_MAX = 3
LINES_MAX = 5  # whose numbers one hint names


def hint(content: str, old: str, new: str) -> str:
    """What to look at, as the end of a sentence; "" if nothing comes to mind."""
    lines = content.splitlines()
    found = list(islice(_miscounted(lines, old.splitlines()), HINTS_MAX))
    if found:
        return "; " + "; ".join(found)
    wanted = new.strip()
    if wanted and wanted in content:
        first = wanted.splitlines()[0].strip()
        where = _numbers(number for number, line in enumerate(lines, 1) if first in line)
        return f"; new_text is there already (line {where}): are old_text and new_text swapped?"
    return "; read the file again, it may have changed"


def _miscounted(lines: list[str], wanted: list[str]) -> Iterator[str]:
    """Lines that differ in nothing but how often one character is repeated."""
    runs = [_runs(line) for line in lines]
    for line in wanted:
        ours = _runs(line.strip())
        at: dict[tuple[str, int, int], list[int]] = {}
        for number, theirs in enumerate(runs, 1):
            differs = _difference(ours, theirs)
            if differs is not None:
                at.setdefault(differs, []).append(number)
        for (character, mine, here), numbers in at.items():
            yield (
                f"line {_numbers(iter(numbers))} has {here} x {character!r}"
                f" where old_text has {mine}"
            )


def _runs(line: str) -> list[tuple[str, int]]:
    return [(character, len(list(group))) for character, group in groupby(line.strip())]


def _difference(
    ours: list[tuple[str, int]], theirs: list[tuple[str, int]]
) -> tuple[str, int, int] | None:
    if len(ours) != len(theirs):
        return None
    odd = [(a, b) for a, b in zip(ours, theirs, strict=True) if a != b]
    if len(odd) != 1:
        return None
    [((character, mine), (other, here))] = odd
    return (character, mine, here) if character == other and max(mine, here) > 1 else None


def _numbers(numbers: Iterator[int]) -> str:
    return ", ".join(map(str, islice(numbers, LINES_MAX)))
