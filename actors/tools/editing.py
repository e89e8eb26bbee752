"""Edits of files: where an edit fits, what comes of it, its diff, and why it fits nowhere. Pure.

Three searches are made, and the first that finds something wins: the text as it is; line by line,
ignoring blanks at the ends of lines; line by line, ignoring blanks around them. In the latter two
LF and CRLF are the same, and what the caller did not mean to change stays as the file has it:
indents, blanks at the ends, line endings.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import unified_diff
from itertools import groupby, islice
from math import gcd


@dataclass(frozen=True, slots=True)
class Edit:
    old: str
    new: str
    replace_all: bool = False


@dataclass(frozen=True, slots=True)
class CannotEdit:
    """The reason why an edit is not made, in words that help the model to do better."""

    says: str


@dataclass(frozen=True, slots=True)
class FileEdits:
    path: str
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class EditedFile:
    path: str
    diff: str


BLANKS = " \t"


_LINE_AND_END = re.compile(r"([^\n]*?)(\r\n|\n|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class TextLine:
    """A line of text. `lead` and `trail` are the blanks around `body`; `ending` is "" for a last
    line without one."""

    lead: str
    body: str
    trail: str
    ending: str

    def __str__(self) -> str:
        return f"{self.lead}{self.body}{self.trail}{self.ending}"

    @property
    def is_blank(self) -> bool:
        return not self.body

    @property
    def unended(self) -> str:
        return f"{self.lead}{self.body}"


def apply_edit(content: str, edit: Edit) -> str | CannotEdit:
    if not edit.old:
        return CannotEdit("old_text is empty; give the text that is to be replaced")
    count = content.count(edit.old)
    if count:
        return _too_many(count, edit) or content.replace(edit.old, _fitting(edit, content))
    endings = only_ending(edit.old), only_ending(edit.new)
    changes_endings = None not in endings and endings[0] != endings[1]
    if not changes_endings:
        file, old = lines_of(content), lines_of(edit.old)
        for same in (_same_but_for_ends, _same_but_for_blanks):
            if places := _places(file, old, same):
                wrong = _too_many(len(places), edit)
                return wrong or _rewritten(file, places, old, lines_of(edit.new))
    return CannotEdit(f"old_text is not in the file{edit_hint(content, edit.old, edit.new)}")


def _fitting(edit: Edit, content: str) -> str:
    """Return the new text for a place where the old text stands exactly as it is.

    Where the old text shows the line endings of its place, the new text is meant as it is written.
    Where it shows none, the new text gets the line endings of the file. An LF that begins the old
    text shows nothing: it may be the second half of a CRLF, whose first half is not written again.
    """
    shown, new = edit.old.removeprefix("\n"), edit.new
    if "\n" in shown or only_ending(new) is None:
        return new
    kept = "\n" if shown != edit.old and new.startswith("\n") else ""
    return kept + with_ending(new[len(kept) :], dominant_ending(content))


def _too_many(count: int, edit: Edit) -> CannotEdit | None:
    if count == 1 or edit.replace_all:
        return None
    return CannotEdit(
        f"old_text is in the file {count} times; give more of the text around it,"
        " or set replace_all"
    )


_Same = Callable[[TextLine, TextLine], bool]


def _same_but_for_ends(ours: TextLine, theirs: TextLine) -> bool:
    return ours.unended == theirs.unended


def _same_but_for_blanks(ours: TextLine, theirs: TextLine) -> bool:
    return ours.body == theirs.body


def _places(file: Sequence[TextLine], old: Sequence[TextLine], same: _Same) -> list[int]:
    """Return where the lines of `old` begin in the file. Places do not overlap."""
    if all(line.is_blank for line in old):
        return []  # blanks fit everywhere
    places, at = [], 0
    while at + len(old) <= len(file):
        if all(map(same, file[at : at + len(old)], old)):
            places.append(at)
            at += len(old)
        else:
            at += 1
    return places


def _rewritten(
    file: Sequence[TextLine],
    places: Sequence[int],
    old: Sequence[TextLine],
    new: Sequence[TextLine],
) -> str:
    style = _Style(
        dominant_ending("".join(map(str, file))), indent_unit(file), indent_unit([*old, *new])
    )
    out: list[str] = []
    done = 0
    for place in places:
        out += map(str, file[done:place])
        done = place + len(old)
        out.append(_written(file[place:done], old, new, style))
    out += map(str, file[done:])
    return "".join(out)


@dataclass(frozen=True, slots=True)
class _Style:
    """The style in which the file is written, and that of the edit."""

    ending: str
    file_unit: str | None
    editor_unit: str | None


def _written(
    found: Sequence[TextLine], old: Sequence[TextLine], new: Sequence[TextLine], style: _Style
) -> str:
    """Return the new lines in the place of those that were found, in the file's own style."""
    lines: list[TextLine] = []
    for line, partner in zip(new, _partners(old, new), strict=True):
        if partner is None:
            lines.append(_inserted(line, lines, found, old, style))
        else:
            lines.append(_changed_line(found[partner], old[partner], line, style))
    return "".join(map(str, lines[:-1])) + _last(lines, found, old, new, style)


def _partners(old: Sequence[TextLine], new: Sequence[TextLine]) -> list[int | None]:
    """Return for each new line the old line that it replaces, or None for a line that is inserted.

    Equal lines at both ends are paired with each other, and those between them one for one.
    """
    ahead = _common(old, new)
    behind = _common(old[ahead:][::-1], new[ahead:][::-1])
    paired = min(len(old), len(new)) - behind
    tail = len(old) - len(new)
    return [
        index if index < paired else index + tail if index >= len(new) - behind else None
        for index in range(len(new))
    ]


def _common(old: Sequence[TextLine], new: Sequence[TextLine]) -> int:
    count = 0
    for ours, theirs in zip(old, new, strict=False):
        if ours.body != theirs.body:
            break
        count += 1
    return count


def _changed_line(found: TextLine, old: TextLine, new: TextLine, style: _Style) -> TextLine:
    """Return a line in which all that the edit leaves alone stays as the file has it."""
    return TextLine(
        found.lead if old.lead == new.lead else new.lead,
        new.body,
        found.trail if old.trail == new.trail else new.trail,
        found.ending or style.ending,
    )


def _inserted(
    line: TextLine,
    before: Sequence[TextLine],
    found: Sequence[TextLine],
    old: Sequence[TextLine],
    style: _Style,
) -> TextLine:
    if line.is_blank:
        return replace(line, ending=style.ending)
    neighbour = next((near for near in reversed(before) if not near.is_blank), found[0])
    lead = _translated(line, found[0], old[0], style)
    return replace(line, lead=neighbour.lead if lead is None else lead, ending=style.ending)


def _translated(line: TextLine, found: TextLine, old: TextLine, style: _Style) -> str | None:
    """Return the indent of an inserted line at the level that the edit gave it, in the file's
    units.

    Models may leave out the indent that all of their lines share. None: the level cannot be told.
    """
    ours, theirs = style.file_unit, style.editor_unit
    if ours is None or theirs is None:
        return None
    deeper = len(found.lead) // len(ours) - len(old.lead) // len(theirs)
    return ours * max(0, len(line.lead) // len(theirs) + deeper)


def _last(
    lines: Sequence[TextLine],
    found: Sequence[TextLine],
    old: Sequence[TextLine],
    new: Sequence[TextLine],
    style: _Style,
) -> str:
    """Return the last line. It ends with a line ending as the file does, unless the old and the new
    text of the edit differ in that."""
    was_ended, is_ended = bool(old[-1].ending), bool(new and new[-1].ending)
    ending = found[-1].ending
    if was_ended and not is_ended:
        ending = ""
    elif is_ended and not was_ended:
        ending = style.ending + ending
    return str(replace(lines[-1], ending=ending)) if lines else ending


def lines_of(text: str) -> list[TextLine]:
    """Split a text into lines. A text that ends with a line ending has no line behind it."""
    found = [_line(match[1], match[2]) for match in _LINE_AND_END.finditer(text)]
    while found and not str(found[-1]):
        found.pop()
    return found


def _line(text: str, ending: str) -> TextLine:
    inner = text.rstrip(BLANKS)
    body = inner.lstrip(BLANKS)
    return TextLine(inner[: len(inner) - len(body)], body, text[len(inner) :], ending)


def dominant_ending(text: str) -> str:
    """Return the more frequent line ending: CRLF only where there are more of it."""
    crlf = text.count("\r\n")
    return "\r\n" if crlf > text.count("\n") - crlf else "\n"


def only_ending(text: str) -> str | None:
    """Return the ending that all lines inside the text have; None: they have none, or several."""
    inside = text[:-1].removesuffix("\r") if text.endswith("\n") else text
    crlf = inside.count("\r\n")
    lf = inside.count("\n") - crlf
    if crlf and not lf:
        return "\r\n"
    return "\n" if lf and not crlf else None


def with_ending(text: str, ending: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", ending)


def indent_unit(lines: Sequence[TextLine]) -> str | None:
    """Return a tab, or as many blanks as all indents are multiples of; None if mixed, or without
    any."""
    leads = [line.lead for line in lines if line.lead and not line.is_blank]
    if not leads:
        return None
    if all(set(lead) == {"\t"} for lead in leads):
        return "\t"
    if all(set(lead) == {" "} for lead in leads):
        return " " * gcd(*map(len, leads))
    return None


HINTS_MAX = 3
LINES_MAX = 5  # whose numbers one hint names


def edit_hint(content: str, old: str, new: str) -> str:
    """Return what to look at, as the end of a sentence, or "" if nothing is known."""
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
    """Yield the lines that differ only in how often one character is repeated."""
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


# Changed lines that are compared one by one, of the old text and the new; comparing takes the
# square of them. Beyond it a diff says only how many there are.
COMPARED_LINES_MAX = 2_000
DIFF_LINES_MAX = 1_000  # of one file; the rest is only counted

_LINE = re.compile(r"[^\n]*\n|[^\n]+")


def apply_edits(content: str, edits: Sequence[Edit]) -> str | CannotEdit:
    """Apply the edits one after the other, each to what the one before has left."""
    for index, edit in enumerate(edits):
        changed = apply_edit(content, edit)
        if isinstance(changed, CannotEdit):
            return CannotEdit(f"edits[{index}]: {changed.says}") if len(edits) > 1 else changed
        content = changed
    return content


def diff(path: str, old: str, new: str) -> str:
    """Return a unified diff with three lines around each change."""
    before, after = _LINE.findall(old), _LINE.findall(new)
    if min(_changed(before, after)) > COMPARED_LINES_MAX:
        return f"--- {path}\n+++ {path}\n… too many changes to show …\n"
    lines = unified_diff(before, after, path, path)
    shown = [_whole(line) for line in islice(lines, DIFF_LINES_MAX)]
    left = sum(1 for _ in lines)
    return "".join(shown) + (f"… {left} more lines …\n" if left else "")


def _changed(before: Sequence[str], after: Sequence[str]) -> tuple[int, int]:
    """Return how many lines stand between the common beginning and the common end of both texts."""
    ahead = _common_lines(before, after)
    behind = _common_lines(before[ahead:][::-1], after[ahead:][::-1])
    return len(before) - ahead - behind, len(after) - ahead - behind


def _common_lines(before: Sequence[str], after: Sequence[str]) -> int:
    pairs = zip(before, after, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(before), len(after)))


def _whole(line: str) -> str:
    return line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
