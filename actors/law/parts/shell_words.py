"""The words of shell commands: quotes, expansions, blanks and comments. Pure.

What shells read differently is refused with `UnreadError`, and never guessed.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

_BLANKS = " \t"
_ENDS_WORD = frozenset(" \t\n|&;()<>")
_GLOBS = frozenset("*?[")
_ESCAPED_IN_QUOTES = frozenset('$`"\\\n')
_PARAMETER = re.compile(r"\$(?:[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-])")
BRACED = re.compile(r"\$\{#?(?:[A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*#?$!-])\}")
_ONLY_BASH = re.compile(r"\|&|&>|<<<|[<>]\(|;&|;;&|\(\(")
_OPENING = frozenset({"if", "while", "until", "for", "case", "{", "!"})
_CLOSING = frozenset({"then", "elif", "else", "fi", "do", "done", "esac", "}"})
_OTHER_RESERVED = frozenset({"time", "function", "select", "coproc", "[[", "]]"})
_RESERVED = _OPENING | _CLOSING | _OTHER_RESERVED


@dataclass(frozen=True, slots=True)
class ShellWord:
    """A word of a command, without its quotes.

    A word is not fixed if the shell expands it: it may become other characters, several words or
    none. Its text is then what was written.
    """

    text: str
    is_fixed: bool = True


class UnreadError(Exception):
    """The rest of a command is not read. The message says why."""


@dataclass(slots=True)
class _Word:
    """A word while it is read."""

    characters: list[str] = field(default_factory=list)
    is_fixed: bool = True
    has_brace: bool = False

    def finished(self) -> ShellWord:
        text = "".join(self.characters)
        return ShellWord(text, self.is_fixed and not (self.has_brace and text != "{}"))


class WordReader(ABC):
    """A position in a command, and the steps by which it moves over words and blanks."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    @abstractmethod
    def _within(self) -> None:
        """Read commands in brackets, up to the closing one."""

    @abstractmethod
    def _read_documents(self) -> None:
        """Read the texts of the here-documents that the line before has begun."""

    def _words(self) -> Iterator[ShellWord]:
        self._skip_blanks()
        while (word := self._word()) is not None:
            yield word.finished()
            self._skip_blanks()

    def _need_word(self) -> ShellWord:
        self._skip_blanks()
        self._refuse_bash()
        word = self._word()
        if word is None:
            raise UnreadError("a word is missing")
        return word.finished()

    def _word(self) -> _Word | None:
        """Read a word, or return None where there is none."""
        word, start = _Word(), self._at
        while self._rest() and (character := self._text[self._at]) not in _ENDS_WORD:
            if character == "\\":
                self._escape(word)
            elif character == "'":
                end = self._text.find("'", self._at + 1)
                if end < 0:
                    raise UnreadError("a quote is not closed")
                word.characters.append(self._text[self._at + 1 : end])
                self._at = end + 1
            elif character == '"':
                self._double_quotes(word)
            elif character in "$`":
                self._expansion(word, is_quoted=False)
            else:
                word.is_fixed &= not self._is_expanded(character)
                word.has_brace |= character in "{}"
                word.characters.append(character)
                self._at += 1
        return None if self._at == start else word

    def _escape(self, word: _Word) -> None:
        if self._at + 1 >= len(self._text):
            raise UnreadError("it ends with a backslash")
        escaped = self._text[self._at + 1]
        if escaped == "\n":
            raise UnreadError("a word goes on in the next line")
        word.characters.append(escaped)
        self._at += 2

    def _double_quotes(self, word: _Word) -> None:
        self._at += 1
        while self._rest():
            character = self._text[self._at]
            if character == '"':
                self._at += 1
                return
            if character in "$`":
                self._expansion(word, is_quoted=True)
                continue
            if character == "\\" and self._text[self._at + 1 : self._at + 2] in _ESCAPED_IN_QUOTES:
                self._escape(word)
                continue
            word.characters.append(character)
            self._at += 1
        raise UnreadError("a quote is not closed")

    def _expansion(self, word: _Word, *, is_quoted: bool) -> None:
        """Read what begins with a dollar sign. Commands in it are parts like others."""
        start = self._at
        if self._is_next("`"):
            raise UnreadError("backquotes are not read; $( ) is")
        if self._is_next("$(("):
            raise UnreadError("it calculates with $(( ))")
        if self._is_next("$["):
            raise UnreadError("$[ is read differently by shells")
        if self._is_next("$("):
            self._at += 2
            self._within()
        elif found := BRACED.match(self._text, start) or _PARAMETER.match(self._text, start):
            self._at = found.end()
        elif self._is_next("${"):
            raise UnreadError("an expansion with ${ } is more than a name")
        elif not is_quoted and self._is_next("$'", '$"'):
            raise UnreadError("quotes after a dollar sign are read differently by shells")
        else:
            word.characters.append("$")
            self._at += 1
            return
        word.is_fixed = False
        word.characters.append(self._text[start : self._at])

    def _is_expanded(self, character: str) -> bool:
        """Tell whether a shell makes something else of this character, which no quotes protect.

        What is neither a blank nor a plain character is a blank to some shells. The program `[` is
        no pattern of names.
        """
        before, after = self._text[self._at - 1 : self._at], self._text[self._at + 1 : self._at + 2]
        match character:
            case "~":
                return before in ("", "=", ":") or before in _ENDS_WORD
            case "[":
                return not all(each == "" or each in _ENDS_WORD for each in (before, after))
            case _:
                return character in _GLOBS or not "!" <= character <= "~"

    # small steps

    def _rest(self) -> bool:
        return self._at < len(self._text)

    def _is_next(self, *texts: str) -> bool:
        return self._text.startswith(texts, self._at)

    def _expect(self, text: str) -> None:
        self._skip_lines()
        if not self._is_next(text):
            raise UnreadError(f"{text} is missing")
        self._at += len(text)

    def _refuse_bash(self) -> None:
        if found := _ONLY_BASH.match(self._text, self._at):
            raise UnreadError(f"{found[0]} is read differently by shells")

    def _reserved(self, also: Sequence[str] = ()) -> str:
        """Return the reserved word that stands here, or "" if there is none."""
        self._skip_blanks()
        end = self._at
        while end < len(self._text) and self._text[end] not in _ENDS_WORD:
            end += 1
        word = self._text[self._at : end]
        return word if word in _RESERVED or word in also else ""

    def _keyword(self, word: str) -> None:
        self._skip_lines()
        if self._reserved() != word:
            raise UnreadError(f"{word} is missing")
        self._at += len(word)
        self._skip_blanks()

    def _skip_blanks(self) -> None:
        """Go to the next word or operator. A comment counts as blank, its end of line does not."""
        while self._rest():
            if self._text[self._at] in _BLANKS:
                self._at += 1
            elif self._is_next("\\\n"):
                self._at += 2
            else:
                break
        if self._is_next("#") and (self._at == 0 or self._text[self._at - 1] in _ENDS_WORD):
            end = self._text.find("\n", self._at)
            self._at = end if end >= 0 else len(self._text)

    def _skip_lines(self) -> None:
        self._skip_blanks()
        while self._is_next("\n"):
            self._at += 1
            self._read_documents()
            self._skip_blanks()
