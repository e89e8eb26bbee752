"""Footnotes as a rule of the parser of Markdown, the same as `assets/text/footnotes.js`. Pure.

`[^1]` in a text leads to the paragraph `[^1]: words`, which is shown where it is written. A mark
without a note stays text.
"""

import re
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline

_DEFINED = re.compile(r"\[\^([^ \t\n\[\]]{1,60})\]:[ \t]*")
_MARK = re.compile(r"\[\^([^ \t\n\[\]]{1,60})\]")


def footnotes(reader: MarkdownIt) -> None:
    """Teach a parser footnotes; its renderer shows `footnote_open`, `_close` and `_mark`."""
    ends = {"alt": ["paragraph", "reference", "blockquote"]}
    reader.block.ruler.before("reference", "footnote", _note, ends)  # type: ignore[arg-type]
    reader.inline.ruler.before("link", "footnote_mark", _mark)


def _name(label: str) -> str:
    """Return the name of a note among the definitions of links, which have no small letters."""
    return f"note {label.lower().upper()}"


def _note(state: StateBlock, first: int, end: int, silent: bool) -> bool:
    if state.sCount[first] - state.blkIndent > 3:
        return False
    line = state.src[state.bMarks[first] + state.tShift[first] : state.eMarks[first]]
    found = _DEFINED.match(line)
    if found is None or silent:
        return found is not None
    behind = _line_behind(state, first, end)
    words = state.getLines(first, behind, state.blkIndent, False).strip(" \t\n")
    state.env.setdefault("references", {}).setdefault(_name(found[1]), {"href": "", "title": ""})
    state.line = behind
    token = state.push("footnote_open", "p", 1)
    token.info = found[1]
    token.map = [first, behind]
    token = state.push("inline", "", 0)
    token.content = words[len(found[0].rstrip()) :].strip(" \t\n")
    token.map = [first, behind]
    token.children = []
    state.push("footnote_close", "p", -1)
    return True


def _line_behind(state: StateBlock, first: int, end: int) -> int:
    """Return the line behind the paragraph that begins at this one."""
    enders = state.md.block.ruler.getRules("paragraph")
    outer, state.parentType = state.parentType, "paragraph"
    line = first + 1
    while line < end and not state.isEmpty(line) and not _is_ended(state, enders, line, end):
        line += 1
    state.parentType = outer
    return line


def _is_ended(state: StateBlock, enders: Any, line: int, end: int) -> bool:
    if state.sCount[line] < 0 or state.sCount[line] - state.blkIndent > 3:
        # A line that is indented further goes on with the paragraph.
        return False
    return any(rule(state, line, end, True) for rule in enders)


def _mark(state: StateInline, silent: bool) -> bool:
    found = _MARK.match(state.src, state.pos)
    if found is None or _name(found[1]) not in state.env.get("references", {}):
        return False
    if not silent:
        state.push("footnote_mark", "", 0).content = found[1]
    state.pos += len(found[0])
    return True
