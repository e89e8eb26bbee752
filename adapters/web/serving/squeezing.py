"""JavaScript without comments and needless blanks. Names stay, and so does the order. Pure.

    squeezed("const a = 1; // one")     "const a=1;"

Nothing is understood but where strings, templates, regular expressions and comments are. In
templates of views (`html`) a line's indentation goes; all others stay as they are.
"""

import re

_TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)
    |(?P<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
    |(?P<blank>\s+)
    |(?P<word>[\w$]+)
    |(?P<template>`)
    |(?P<brace>[{}])
    |(?P<slash>/)
    |(?P<sign>[^\s\w$"'`/{}])""",
    re.DOTALL | re.VERBOSE,
)
_REGULAR = re.compile(r"/(?:[^\\/\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]*")
_PIECE = re.compile(r"(?:[^`\\$]|\\.|\$(?!\{))*", re.DOTALL)  # of a template
_INDENTED = re.compile(r"\n\s*")

# Words and signs after which a slash begins a regular expression.
_BEFORE_REGULAR = frozenset(
    (
        *("return", "typeof", "case", "in", "of", "delete", "void", "throw", "new", "=>"),
        *("instanceof", "else", "do", "await", "yield"),
    )
)
_OPENING = frozenset("(,=:[!&|?{;+-*%~^<>\n")
_GLUED_AFTER = frozenset("{(,;[=&|?:!<>*%")  # a blank or a new line after these is needless
_GLUED_BEFORE = frozenset("})],;=&|?:<>*%.")  # likewise before these
_DOUBLED = frozenset("+-/")  # not glued to each other
_STARTS = re.compile(r"(?:import|export)\b(?!\()")  # these begin a line


def squeezed(source: str) -> str:
    """Return the same program with fewer characters."""
    return _Squeezer(source).run()


class _Squeezer:
    def __init__(self, source: str) -> None:
        self._source = source
        self._at = 0
        self._out: list[str] = []
        self._blank = ""  # what was between the last token and this one
        self._last = "\n"  # the last token that was written
        self._open: list[str] = []  # "{" of code; "html" or "text" of a template around it

    def run(self) -> str:
        while self._at < len(self._source):
            token = _TOKEN.match(self._source, self._at)
            assert token is not None, "every character begins a token"
            self._at = token.end()
            self._take(token.lastgroup or "", token[0])
        return "".join(self._out)

    def _take(self, kind: str, words: str) -> None:
        if kind == "comment" or kind == "blank":
            is_line = "\n" in words or words.startswith("//")
            self._blank = "\n" if is_line or self._blank == "\n" else " "
        elif kind == "slash" and self._begins_regular():
            found = _REGULAR.match(self._source, self._at - 1)
            if found is None:
                self._write(words)
                return
            self._at = found.end()
            self._write(found[0])
        elif kind == "template":
            kind = "html" if self._last == "html" else "text"
            self._write(words)
            self._template(kind)
        elif words == "{":
            self._open.append(words)
            self._write(words)
        elif words == "}":
            around = self._open.pop() if self._open else "{"
            self._write(words)
            if around != "{":
                self._template(around)
        else:
            self._write(words)

    def _template(self, kind: str) -> None:
        """Take a piece of a template, to its end or to where code begins in it."""
        piece = _PIECE.match(self._source, self._at)
        assert piece is not None, "a piece may be empty"
        self._at = piece.end()
        inside = _INDENTED.sub("\n", piece[0]) if kind == "html" else piece[0]
        if self._source.startswith("${", self._at):
            self._at += 2
            self._open.append(kind)
            inside += "${"
        else:
            self._at += 1
            inside += "`"
        self._out.append(inside)
        self._last, self._blank = inside[-1], ""

    def _begins_regular(self) -> bool:
        return self._last in _BEFORE_REGULAR or self._last[-1] in _OPENING

    def _write(self, words: str) -> None:
        if self._blank and self._out:
            self._out.append(self._between(words))
        self._blank = ""
        self._out.append(words)
        self._last = words

    def _between(self, words: str) -> str:
        """Return the blank that is needed before a token."""
        before, after = self._last[-1], words[0]
        if self._blank == "\n" and _STARTS.match(self._source, self._at - len(words)):
            return "\n"
        if before in _DOUBLED and after in _DOUBLED:
            return self._blank
        if before in _GLUED_AFTER or after in _GLUED_BEFORE:
            return ""
        if self._blank == "\n":
            return "\n"
        is_word = before.isalnum() or before in "_$"
        return " " if is_word and (after.isalnum() or after in "_$") else ""
