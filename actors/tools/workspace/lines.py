"""Texts as lines: what is in them, what is around it, and how they end. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd

BLANKS = " \t"
_LINE = re.compile(r"([^\n]*?)(\r\n|\n|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Line:
    """`lead` and `trail` are the blanks around `body`; `ending` is "" for a last line without."""

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


def lines_of(text: str) -> list[Line]:
    """A text that ends in a line's end has no line behind it."""
    found = [_line(match[1], match[2]) for match in _LINE.finditer(text)]
    while found and not str(found[-1]):
        found.pop()
    return found


def _line(text: str, ending: str) -> Line:
    inner = text.rstrip(BLANKS)
    body = inner.lstrip(BLANKS)
    return Line(inner[: len(inner) - len(body)], body, text[len(inner) :], ending)


def dominant_ending(text: str) -> str:
    """CRLF only where it is the more frequent one."""
    crlf = text.count("\r\n")
    return "\r\n" if crlf > text.count("\n") - crlf else "\n"


def only_ending(text: str) -> str | None:
    """The one that all lines inside the text end with; None: there is none, or more than one."""
    inside = text[:-1].removesuffix("\r") if text.endswith("\n") else text
    crlf = inside.count("\r\n")
    lf = inside.count("\n") - crlf
    if crlf and not lf:
        return "\r\n"
    return "\n" if lf and not crlf else None


def with_ending(text: str, ending: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", ending)


def indent_unit(lines: Sequence[Line]) -> str | None:
    """A tab, or as many blanks as all indents are multiples of; None: mixed, or none at all."""
    leads = [line.lead for line in lines if line.lead and not line.is_blank]
    if not leads:
        return None
    if all(set(lead) == {"\t"} for lead in leads):
        return "\t"
    if all(set(lead) == {" "} for lead in leads):
        return " " * gcd(*map(len, leads))
    return None
