"""Markdown that grows: blocks that are finished are cut off its front, once each. Pure.

A block is what can be drawn by itself: a heading, a paragraph, an item of a list with all that is
indented below it, a table, a piece of code. It is finished when what follows it is known not to
belong to it. Long code is cut every so many lines, so that what is unfinished stays small, however
long the answer is.
"""

import re
from dataclasses import dataclass

CODE_LINES_MAX = 30  # of one block; longer code goes on in the next one

_INDENTED_FENCE = re.compile(r"^\s*(`{3,}|~{3,})")
_HEADING = re.compile(r"^ {0,3}#{1,6}(\s|$)")
_LIST = re.compile(r"^ {0,3}([-*+]|\d{1,9}[.)])\s")


@dataclass(frozen=True, slots=True)
class MarkdownBlock:
    """A finished block of an answer. `goes_on`: it continues the code of the block before it."""

    text: str
    goes_on: bool = False


class GrowingMarkdown:
    """A text that comes in pieces, and how far its blocks have been handed out."""

    def __init__(self) -> None:
        self.text = ""
        self._start = 0  # of what is not handed out
        self._opener = ""  # the first line of code that was cut, and goes on

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
        return f"{self._opener}\n{text}" if self._opener else text

    def _cut(self, end: int, opener: str) -> MarkdownBlock:
        """Cut off the block that ends there; `opener`: it is code that goes on."""
        block, goes_on = self._opened(self.text[self._start : end]), bool(self._opener)
        self._start, self._opener = end, opener
        if opener and (fence := _INDENTED_FENCE.match(opener)):
            block = f"{block.rstrip()}\n{fence[1]}\n"
        return MarkdownBlock(block, goes_on)

    def _end_of_block(self) -> tuple[int, str] | None:
        """Return where the first block ends, and the opening line if that is in its code."""
        fence, opener, is_nested = self._opener, self._opener, False
        lines, seen, is_list, is_blank = 0, bool(self._opener), False, False
        at = self._start
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
                seen, is_blank = True, False
            at = after
        return self._end_before(at, is_blank=is_blank, is_code=bool(fence))

    def _end_before(self, at: int, *, is_blank: bool, is_code: bool) -> tuple[int, str] | None:
        """Return the end of a block before the last line, of which only the beginning is known."""
        begun = self.text[at:]
        is_next = is_blank and bool(begun.strip()) and not begun.startswith((" ", "\t"))
        return (at, "") if is_next and not is_code else None


def _closes(line: str, opener: str) -> bool:
    """Tell whether a line ends the code that this line, or this fence, has opened."""
    found = _INDENTED_FENCE.match(opener)
    fence = found[1] if found else opener
    text = line.strip()
    return len(text) >= len(fence) and text == fence[0] * len(text)
