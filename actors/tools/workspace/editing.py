"""An edit of a text: where it fits, and what comes of it. Pure.

Three looks, and the first that finds something wins: the text as it is; line by line, whatever
blanks stand at the ends of lines; line by line, whatever blanks stand around them. In the latter
two LF and CRLF are the same, and what the caller did not mean to change stays as the file has it:
indents, blanks at the ends, line endings.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from actors.tools.workspace.hints import hint
from actors.tools.workspace.lines import (
    Line,
    dominant_ending,
    indent_unit,
    lines_of,
    only_ending,
    with_ending,
)


@dataclass(frozen=True, slots=True)
class Edit:
    old: str
    new: str
    replace_all: bool = False


@dataclass(frozen=True, slots=True)
class CannotEdit:
    """Why, in words that help the model to do better."""

    says: str


def edited(content: str, edit: Edit) -> str | CannotEdit:
    if not edit.old:
        return CannotEdit("old_text is empty; give the text that is to be replaced")
    old_ending, new_ending = only_ending(edit.old), only_ending(edit.new)
    changes_endings = None not in (old_ending, new_ending) and old_ending != new_ending
    new = edit.new
    if new_ending is not None and not changes_endings:
        # A place may begin within a CRLF: its first half is not written again.
        kept = "\n" if edit.old.startswith("\n") and new.startswith("\n") else ""
        new = kept + with_ending(new[len(kept) :], dominant_ending(content))
    count = content.count(edit.old)
    if count:
        wrong = _too_many(count, edit)
        return wrong or content.replace(edit.old, new)
    if not changes_endings:
        file, old = lines_of(content), lines_of(edit.old)
        for same in (_same_but_for_ends, _same_but_for_blanks):
            if places := _places(file, old, same):
                wrong = _too_many(len(places), edit)
                return wrong or _rewritten(file, places, old, lines_of(new))
    return CannotEdit(f"old_text is not in the file{hint(content, edit.old, edit.new)}")


def _too_many(count: int, edit: Edit) -> CannotEdit | None:
    if count == 1 or edit.replace_all:
        return None
    return CannotEdit(
        f"old_text is in the file {count} times; give more of the text around it,"
        " or set replace_all"
    )


_Same = Callable[[Line, Line], bool]


def _same_but_for_ends(ours: Line, theirs: Line) -> bool:
    return ours.unended == theirs.unended


def _same_but_for_blanks(ours: Line, theirs: Line) -> bool:
    return ours.body == theirs.body


def _places(file: Sequence[Line], old: Sequence[Line], same: _Same) -> list[int]:
    """Where the lines of `old` begin in the file; places do not overlap."""
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
    file: Sequence[Line], places: Sequence[int], old: Sequence[Line], new: Sequence[Line]
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
    """How the file writes, and how its editor does."""

    ending: str
    file_unit: str | None
    editor_unit: str | None


def _written(found: Sequence[Line], old: Sequence[Line], new: Sequence[Line], style: _Style) -> str:
    """The new lines in the place of those that were found, in the file's own style."""
    lines: list[Line] = []
    for line, partner in zip(new, _partners(old, new), strict=True):
        if partner is None:
            lines.append(_inserted(line, lines, found, old, style))
        else:
            lines.append(_kept(found[partner], old[partner], line, style))
    return "".join(map(str, lines[:-1])) + _last(lines, found, old, new, style)


def _partners(old: Sequence[Line], new: Sequence[Line]) -> list[int | None]:
    """Of each new line the old one that it stands for: from both ends the same, and between them
    one for one. What is over is inserted."""
    ahead = _common(old, new)
    behind = _common(old[ahead:][::-1], new[ahead:][::-1])
    paired = min(len(old), len(new)) - behind
    tail = len(old) - len(new)
    return [
        index if index < paired else index + tail if index >= len(new) - behind else None
        for index in range(len(new))
    ]


def _common(old: Sequence[Line], new: Sequence[Line]) -> int:
    count = 0
    for ours, theirs in zip(old, new, strict=False):
        if ours.body != theirs.body:
            break
        count += 1
    return count


def _kept(found: Line, old: Line, new: Line, style: _Style) -> Line:
    """What the editor left as it was stays as the file has it."""
    return Line(
        found.lead if old.lead == new.lead else new.lead,
        new.body,
        found.trail if old.trail == new.trail else new.trail,
        found.ending or style.ending,
    )


def _inserted(
    line: Line,
    before: Sequence[Line],
    found: Sequence[Line],
    old: Sequence[Line],
    style: _Style,
) -> Line:
    if line.is_blank:
        return replace(line, ending=style.ending)
    neighbour = next((near for near in reversed(before) if not near.is_blank), found[0])
    lead = _translated(line, found[0], old[0], style)
    return replace(line, lead=neighbour.lead if lead is None else lead, ending=style.ending)


def _translated(line: Line, found: Line, old: Line, style: _Style) -> str | None:
    """The level that the editor gave the line, in the file's own indents. Editors may leave out
    the indent that all they write has in common. None: there is no telling."""
    ours, theirs = style.file_unit, style.editor_unit
    if ours is None or theirs is None:
        return None
    deeper = len(found.lead) // len(ours) - len(old.lead) // len(theirs)
    return ours * max(0, len(line.lead) // len(theirs) + deeper)


def _last(
    lines: Sequence[Line],
    found: Sequence[Line],
    old: Sequence[Line],
    new: Sequence[Line],
    style: _Style,
) -> str:
    """The last line. Whether it ends as the file does is for the editor to say: if what he
    replaces and what he writes differ in that, he meant it."""
    was_ended, is_ended = bool(old[-1].ending), bool(new and new[-1].ending)
    ending = found[-1].ending
    if was_ended and not is_ended:
        ending = ""
    elif is_ended and not was_ended:
        ending = style.ending + ending
    return str(replace(lines[-1], ending=ending)) if lines else ending
