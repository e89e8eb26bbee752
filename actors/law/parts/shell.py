"""Shell commands, read without running them: the programs that a command starts, and the files that
it reads and writes by redirection. Pure.

The reader understands what `sh` and `bash` understand alike. What the two read differently, and
what cannot be known before it runs, is not guessed: the command counts as unread, and the reason is
kept. So of a command that is read whole, each program that `sh` would start stands among its parts.
"""

import re
from dataclasses import dataclass

from actors.law.parts.shell_words import BRACED, ShellWord, UnreadError, WordReader

CHARACTERS_MAX = 65_536  # of a longer command nothing is read
PARTS_MAX = 256  # of a command with more, the rest is not read
DEPTH_MAX = 32  # of commands within commands; a deeper one is not read

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
_REDIRECTION = re.compile(r"[0-9]*(?:<<-?|<>|<&|>>|>&|>\||<|>)")
_DESCRIPTOR = re.compile(r"[0-9]+|-")
_HARMLESS_FILES = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin", "/dev/tty"})


@dataclass(frozen=True, slots=True)
class ShellPart:
    """A simple command with its words, assignments in front included; or a redirection, whose words
    are `<` or `>` and a file."""

    words: tuple[ShellWord, ...]
    is_redirection: bool = False

    @property
    def program(self) -> tuple[ShellWord, ...]:
        """Return the program and its arguments; nothing if the part only assigns variables."""
        for at, word in enumerate(self.words):
            if not _ASSIGNMENT.match(word.text):
                return self.words[at:]
        return ()


@dataclass(frozen=True, slots=True)
class ShellCommand:
    """The parts of a command in the order in which they are written. `unread` says why there may be
    others; it is empty for a command that was read whole."""

    parts: tuple[ShellPart, ...]
    unread: str = ""


def read_command(text: str) -> ShellCommand:
    """Read a command as `sh -c` would."""
    if len(text) > CHARACTERS_MAX:
        return ShellCommand((), f"it has more than {CHARACTERS_MAX} characters")
    reader = _Reader(text)
    try:
        reader.read()
    except UnreadError as why:
        return ShellCommand(tuple(reader.parts), str(why))
    return ShellCommand(tuple(reader.parts))


def parsed_commands(text: str) -> tuple[tuple[str, ...], ...]:
    """Return of each simple command the program, and its first argument if it has one. Clients show
    them; of a command that cannot be read whole they are those that were read."""
    return tuple(
        tuple(word.text for word in program[:2])
        for part in read_command(text).parts
        if not part.is_redirection and (program := part.program)
    )


@dataclass(slots=True)
class _Document:
    """A here-document whose text comes after the line."""

    end: str
    is_literal: bool
    strips_tabs: bool


class _Reader(WordReader):
    """A position in a command, and the parts that were found before it."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._depth = 0
        self._documents: list[_Document] = []
        self.parts: list[ShellPart] = []

    def read(self) -> None:
        if "\0" in self._text or "\r" in self._text:
            raise UnreadError("it has a control character that shells read differently")
        self._list(frozenset())
        if self._at < len(self._text):
            raise UnreadError(f"{self._text[self._at]!r} stands where no shell expects it")
        if self._documents:
            raise UnreadError("a here-document has no text")

    # lists, pipelines, compound commands

    def _list(self, closing: frozenset[str]) -> None:
        """Read commands up to a closing word, a closing character or the end."""
        self._depth += 1
        if self._depth > DEPTH_MAX:
            raise UnreadError(f"more than {DEPTH_MAX} commands stand within each other")
        while True:
            self._skip_lines()
            if not self._rest() or self._is_next(")", ";;") or self._reserved() in closing:
                break
            self._pipeline()
            self._skip_blanks()
            while self._is_next("&&", "||"):
                self._at += 2
                self._skip_lines()
                self._pipeline()
                self._skip_blanks()
            if self._is_next(";;"):
                break
            elif self._is_next(";", "&"):
                self._at += 1
            elif not (not self._rest() or self._is_next("\n", ")")):
                raise UnreadError(f"{self._text[self._at]!r} stands where no shell expects it")
        self._depth -= 1

    def _pipeline(self) -> None:
        while self._reserved() == "!":
            self._at += 1
            self._skip_blanks()
        self._command()
        self._skip_blanks()
        while self._is_next("|") and not self._is_next("||"):
            self._at += 1
            self._skip_lines()
            self._command()
            self._skip_blanks()

    def _command(self) -> None:
        self._refuse_bash()
        if self._is_next("("):
            self._at += 1
            self._within()
            self._redirections()
            return
        match self._reserved():
            case "":
                self._simple_command()
                return
            case "{":
                self._keyword("{")
                self._list(frozenset({"}"}))
                self._keyword("}")
            case "if":
                self._conditional()
            case "while" | "until" as word:
                self._keyword(word)
                self._list(frozenset({"do"}))
                self._loop_body()
            case "for":
                self._for()
            case "case":
                self._case()
            case word:
                raise UnreadError(f"{word} stands where this reader expects a command")
        self._redirections()

    def _conditional(self) -> None:
        self._keyword("if")
        while True:
            self._list(frozenset({"then"}))
            self._keyword("then")
            self._list(frozenset({"elif", "else", "fi"}))
            if self._reserved() != "elif":
                break
            self._keyword("elif")
        if self._reserved() == "else":
            self._keyword("else")
            self._list(frozenset({"fi"}))
        self._keyword("fi")

    def _loop_body(self) -> None:
        self._keyword("do")
        self._list(frozenset({"done"}))
        self._keyword("done")

    def _for(self) -> None:
        self._keyword("for")
        name = _NAME.match(self._text, self._at)
        if name is None:
            raise UnreadError("for has no name of a variable")
        self._at = name.end()
        self._skip_lines()
        if self._reserved(also=("in",)) == "in":
            self._at += 2
            for _ in self._words():
                pass
        self._skip_blanks()
        if self._is_next(";"):
            self._at += 1
        self._skip_lines()
        self._loop_body()

    def _case(self) -> None:
        self._keyword("case")
        self._need_word()
        self._skip_lines()
        if self._reserved(also=("in",)) != "in":
            raise UnreadError("case has no in")
        self._at += 2
        while True:
            self._skip_lines()
            if self._reserved() == "esac":
                break
            if self._is_next("("):
                self._at += 1
            self._need_word()
            self._skip_blanks()
            while self._is_next("|"):
                self._at += 1
                self._need_word()
                self._skip_blanks()
            self._expect(")")
            self._list(frozenset({"esac"}))
            self._refuse_bash()
            if self._is_next(";;"):
                self._at += 2
            elif self._reserved() != "esac":
                raise UnreadError("a branch of case has no end")
        self._keyword("esac")

    def _within(self) -> None:
        """Read commands in brackets, up to the closing one."""
        if self._documents:  # its text may begin within the brackets
            raise UnreadError("a here-document begins before brackets on its line")
        self._list(frozenset())
        if self._documents:
            raise UnreadError("a here-document begins within brackets that end on its line")
        self._expect(")")

    # simple commands

    def _simple_command(self) -> None:
        words: list[ShellWord] = []
        place = len(self.parts)
        self._skip_blanks()
        while self._rest():
            if self._redirection():
                continue
            self._refuse_bash()
            word = self._word()
            if word is None:
                break
            words.append(word.finished())
            self._skip_blanks()
        if self._is_next("("):
            raise UnreadError("it defines a function, or has brackets inside a command")
        if words:
            self._add(ShellPart(tuple(words)), place)
        elif place == len(self.parts):
            raise UnreadError("a command is missing")

    def _redirections(self) -> None:
        self._skip_blanks()
        while self._redirection():
            pass

    def _redirection(self) -> bool:
        """Read one redirection, if there is one."""
        self._refuse_bash()
        found = _REDIRECTION.match(self._text, self._at)
        if found is None:
            return False
        operator = found[0].lstrip("0123456789")
        self._at = found.end()
        self._skip_blanks()
        start = self._at
        word = self._need_word()
        if operator in ("<<", "<<-"):
            self._begin_document(self._text[start : self._at], word, operator)
        elif operator in ("<&", ">&"):
            if not _DESCRIPTOR.fullmatch(word.text):
                raise UnreadError(f"{operator} with a file is read differently by shells")
        elif not (word.is_fixed and word.text in _HARMLESS_FILES):
            if word.text.startswith(("/dev/tcp/", "/dev/udp/")):
                raise UnreadError(f"{word.text} is a connection in some shells")
            if operator in ("<", "<>"):
                self._add(ShellPart((ShellWord("<"), word), is_redirection=True))
            if operator != "<":
                self._add(ShellPart((ShellWord(">"), word), is_redirection=True))
        self._skip_blanks()
        return True

    def _begin_document(self, written: str, word: ShellWord, operator: str) -> None:
        if not word.is_fixed or "\n" in written or not word.text:
            raise UnreadError("the end of a here-document is not a plain word")
        document = _Document(word.text, written != word.text, operator == "<<-")
        self._documents.append(document)

    def _read_documents(self) -> None:
        """Read the texts of the here-documents that the line before has begun."""
        for document in self._documents:
            while True:
                end = self._text.find("\n", self._at)
                line = self._text[self._at : end if end >= 0 else len(self._text)]
                if end < 0 and line.lstrip("\t" * document.strips_tabs) != document.end:
                    raise UnreadError(f"a here-document has no line {document.end}")
                self._at = end + 1 if end >= 0 else len(self._text)
                if (line.lstrip("\t") if document.strips_tabs else line) == document.end:
                    break
                if not document.is_literal:
                    _check_document_line(line)
        self._documents = []

    def _add(self, part: ShellPart, place: int | None = None) -> None:
        if len(self.parts) >= PARTS_MAX:
            raise UnreadError(f"it has more than {PARTS_MAX} parts")
        self.parts.insert(len(self.parts) if place is None else place, part)


def _check_document_line(line: str) -> None:
    """Raise an error if a line of a here-document could run a command, or joins the next one."""
    is_joined = (len(line) - len(line.rstrip("\\"))) % 2
    if is_joined or any(opening in line for opening in ("`", "$(", "$[")):
        raise UnreadError("the text of a here-document is expanded; quote its end: <<'EOF'")
    rest = BRACED.sub("", line)
    if "${" in rest:
        raise UnreadError("the text of a here-document is expanded; quote its end: <<'EOF'")
