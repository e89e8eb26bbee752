"""Markdown that grows: blocks that are finished are cut off its front, once each. Pure.

A block is what can be drawn by itself: a heading, a paragraph, an item of a list with all that is
indented below it, a table, a piece of code. It is finished when what follows it is known not to
belong to it. Long code is cut every so many lines, and so is a long table, whose head is repeated:
what is unfinished and what is printed at once stay small, however long the answer is.
"""

import re
from dataclasses import dataclass

CODE_LINES_MAX = 30  # of one block; longer code goes on in the next one
TABLE_ROWS_MAX = 40  # likewise; it takes about 15 ms to draw so many

_INDENTED_FENCE = re.compile(r"^\s*(`{3,}|~{3,})")
_HEADING = re.compile(r"^ {0,3}#{1,6}(\s|$)")
_DELIMITER = re.compile(r":?-+:?")  # of a column, below its name
_COLUMN = re.compile(r"(?<!\\)\|")
_LIST = re.compile(r"^ {0,3}([-*+]|\d{1,9}[.)])\s")


@dataclass(frozen=True, slots=True)
class MarkdownBlock:
    """A finished block of an answer. `goes_on`: it continues the code or table before it."""

    text: str
    goes_on: bool = False


class GrowingMarkdown:
    """A text that comes in pieces, and how far its blocks have been handed out."""

    def __init__(self) -> None:
        self.text = ""
        self._start = 0  # of what is not handed out
        self._opener = ""  # the first line of code that was cut, or the head of a table

    @property
    def rest(self) -> str:
        """Return what is unfinished, as Markdown that can be drawn."""
        return self._opened(self.text[self._start :])

    @property
    def taken(self) -> str:
        """Return what has been handed out, as it came."""
        return self.text[: self._start]

    def take(self, text: str) -> list[MarkdownBlock]:
        """Take the whole text as it is so far, and return the blocks that are finished now."""
        self.text = text
        blocks = []
        while (found := self._end_of_block()) is not None:
            blocks.append(self._cut(*found))
        return [block for block in blocks if block.text.strip()]

    def finish(self, text: str) -> list[MarkdownBlock]:
        """Take the whole text, which does not grow any more, and return all that is left of it."""
        blocks = self.take(text)
        rest = MarkdownBlock(self.rest, goes_on=bool(self._opener))
        self._start, self._opener = len(text), ""
        return [*blocks, rest] if rest.text.strip("`~\n ") else blocks

    def _opened(self, text: str) -> str:
        if not self._opener or ("\n" in self._opener and not text.strip()):
            return text  # a head without rows is not printed again
        return f"{self._opener}\n{text}"

    def _cut(self, end: int, opener: str) -> MarkdownBlock:
        """Cut off the block that ends there; `opener`: it is code that goes on."""
        block, goes_on = self._opened(self.text[self._start : end]), bool(self._opener)
        self._start, self._opener = end, opener
        if opener and (fence := _INDENTED_FENCE.match(opener)):
            block = f"{block.rstrip()}\n{fence[1]}\n"
        return MarkdownBlock(block, goes_on)

    def _end_of_block(self) -> tuple[int, str] | None:
        """Return where the first block ends, and the opener if that is in its code or table."""
        is_table = "\n" in self._opener  # the head has two lines
        fence, opener = "" if is_table else self._opener, self._opener
        lines, seen, is_list, is_blank, is_nested = 0, bool(opener), False, False, False
        at, before = self._start, ""
        while (newline := self.text.find("\n", at)) >= 0:
            line, after = self.text[at:newline], newline + 1
            if fence:
                lines += 1
                if _closes(line, fence):
                    if not is_nested:
                        return after, ""
                    fence = ""
                elif lines >= CODE_LINES_MAX and not is_nested:
                    return after, opener
            elif not line.strip():
                is_blank = seen
            else:
                if is_blank and not line.startswith(("  ", "\t")):
                    return at, ""
                if found := _INDENTED_FENCE.match(line):
                    if seen and not is_list:
                        return at, ""
                    fence, opener, is_nested = found[1], line, is_list
                elif _HEADING.match(line):
                    return (at, "") if seen else (after, "")
                elif _LIST.match(line):
                    if seen and not is_list:
                        return at, ""
                    is_list = True
                elif is_table:
                    lines += 1
                    if lines >= TABLE_ROWS_MAX:
                        return after, opener
                elif not is_list and _are_head(before, line):
                    is_table, opener, lines = True, f"{before}\n{line}", 0
                before = line
                seen, is_blank = True, False
            at = after
        return self._end_before(at, is_blank=is_blank, is_code=bool(fence))

    def _end_before(self, at: int, *, is_blank: bool, is_code: bool) -> tuple[int, str] | None:
        """Return the end of a block before the last line, of which only the beginning is known."""
        begun = self.text[at:]
        is_next = is_blank and bool(begun.strip()) and not begun.startswith((" ", "\t"))
        return (at, "") if is_next and not is_code else None


def _are_head(names: str, delimiters: str) -> bool:
    """Tell whether two lines are the head of a table: each column has a name and a delimiter."""
    if "|" not in names or delimiters.strip(" \t|:-"):
        return False
    below = _columns(delimiters)
    is_one = all(_DELIMITER.fullmatch(column.strip()) for column in below)
    return is_one and len(below) == len(_columns(names))


def _columns(row: str) -> list[str]:
    return _COLUMN.split(row.strip().removeprefix("|").removesuffix("|"))


def _closes(line: str, opener: str) -> bool:
    """Tell whether a line ends the code that this line, or this fence, has opened."""
    found = _INDENTED_FENCE.match(opener)
    fence = found[1] if found else opener
    text = line.strip()
    return len(text) >= len(fence) and text == fence[0] * len(text)
