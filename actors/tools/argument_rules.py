"""Rules about the arguments of a call: commands, paths, and other arguments by their names. Pure.

A rule that allows has to cover everything that a call would do, and one that denies or asks fits
as soon as a part of the call may be meant. So a command is read in its parts
(actors/law/parts/shell), and each needs a rule of its own: `git status && rm -rf x` is not allowed
by a rule for `git *`. What cannot be read is allowed by no rule of this kind, and a person is asked
about it where such rules restrict the same tool.
"""

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from posixpath import basename, normpath
from typing import Any

from actors.law.parts.message import EXECUTE, JsonText
from actors.law.parts.shell import read_command
from actors.law.parts.shell_words import ShellWord
from actors.tools.commands import RUNNERS, Fit, FoundCommand, commands_within

PATH_TOOLS = frozenset({"read_file", "write_file", "edit_files", "attach_file"})
PATTERN_CHARACTERS_MAX = 500  # of a rule's brackets; a longer rule is refused
PATTERNS_MAX = 4_096  # that are kept read; the one unused for longest is read again

_UUID = re.compile(r"(?<=/)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/")
_JOINS_COMMANDS = re.compile(r"[;&|()`\n]|\$\(")


@dataclass(frozen=True)
class CallSubject:
    """A part of a call about which rules say something: a command, a path, or all arguments."""

    words: tuple[ShellWord, ...] = ()
    path: str = ""
    arguments: Mapping[str, Any] | None = None

    @cached_property
    def commands(self) -> Mapping[str, Sequence[FoundCommand]]:
        """Return the command and those that it runs, by the names of their programs; by "*" all of
        them, and by "" those whose program is not known."""
        found: dict[str, list[FoundCommand]] = {"*": []}
        for words, certainty in commands_within(self.words):
            first = words[0] if words else ShellWord("*")
            for name in {first.text, basename(first.text), "*"} if first.is_fixed else {"", "*"}:
                found.setdefault(name, []).append((words, certainty))
        return found

    def __str__(self) -> str:
        if self.words:
            return " ".join(_quoted(word) for word in self.words)
        return self.path or "all arguments"


@dataclass(frozen=True, slots=True)
class CallSubjects:
    """The parts of a call. `unread` says why there may be others."""

    all: tuple[CallSubject, ...]
    unread: str = ""


NOTHING_READ = CallSubjects((), "what it runs is not known before it runs")


def subjects_of(tool: str, args: JsonText | None) -> CallSubjects:
    """Return the parts of a call of this tool."""
    try:
        found = json.loads(args or "{}")
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        return CallSubjects((), "its arguments cannot be read")
    if tool == EXECUTE:
        command = read_command(str(found.get("command", "")))
        subjects = tuple(CallSubject(part.words) for part in command.parts)
        return CallSubjects(subjects, command.unread)
    if tool in PATH_TOOLS:
        paths = [str(path).strip() for path in _paths(found)]
        return CallSubjects(tuple(CallSubject(path=_plain_path(path)) for path in paths))
    return CallSubjects((CallSubject(arguments=found),))


def _paths(found: Mapping[str, Any]) -> Iterator[object]:
    files = found.get("files")
    for file in files if isinstance(files, list) else ():
        yield file.get("path", "") if isinstance(file, dict) else ""
    if "path" in found:
        yield found["path"]


def _plain_path(path: str) -> str:
    return re.sub(r"^//+", "/", normpath(path))


# What stands in the brackets of a rule.


@dataclass(frozen=True, slots=True)
class CommandPattern:
    """A pattern for one command. `*` stands for any characters within a word, but never for a way
    up (`..`); as the last word it stands for any further words, and for none."""

    words: tuple[str, ...]
    is_open: bool

    def covers(self, subject: CallSubject) -> bool:
        words = subject.words
        if len(words) < len(self.words) or (len(words) > len(self.words) and not self.is_open):
            return False
        fixed = words[: len(self.words)]
        return all(
            word.is_fixed
            and matches(pattern, word.text)
            and not (pattern != word.text and ".." in word.text.split("/"))
            for pattern, word in zip(self.words, fixed, strict=True)
        )

    def fit(self, subject: CallSubject) -> Fit:
        """Return whether this restricts a command, or one that it runs."""
        program = "*" if not self.words or "*" in self.words[0] else self.words[0]
        within = [each for name in {program, ""} for each in subject.commands.get(name, ())]
        found = (min(self._fit(words), certainty) for words, certainty in within)
        return max(found, default=Fit.NO)

    def _fit(self, words: Sequence[ShellWord]) -> Fit:
        for at, pattern in enumerate(self.words):
            if at >= len(words):
                return Fit.NO
            if not words[at].is_fixed:
                return Fit.MAYBE
            text = words[at].text
            names = {text, basename(text)} if at == 0 and "/" not in pattern else {text}
            if not any(matches(pattern, name) for name in names):
                return Fit.NO
        rest = words[len(self.words) :]
        if self.is_open or not rest:
            return Fit.YES
        return Fit.NO if any(word.is_fixed for word in rest) else Fit.MAYBE


@dataclass(frozen=True, slots=True)
class PathPattern:
    """A pattern for a path. `*` stands for any characters but a slash, `**` for any characters.

    Without a slash in front it is meant below the directory of the workspace, whose name is the
    first id in the path.
    """

    pattern: str

    def covers(self, subject: CallSubject) -> bool:
        path = subject.path
        if not path.startswith("/"):
            return False
        if not self.pattern.startswith("/"):
            found = _UUID.search(path)
            if found is None:
                return False
            path = path[found.end() :]
        return path_matches(self.pattern, path)

    def fit(self, subject: CallSubject) -> Fit:
        return Fit.YES if self.covers(subject) else Fit.NO


@dataclass(frozen=True, slots=True)
class ArgumentPattern:
    """Patterns for some arguments of a call, all of which have to match. Of an argument that is not
    text, its JSON is compared."""

    patterns: tuple[tuple[str, str], ...]

    def covers(self, subject: CallSubject) -> bool:
        values = subject.arguments or {}
        return all(
            name in values and matches(pattern, _text(values[name]))
            for name, pattern in self.patterns
        )

    def fit(self, subject: CallSubject) -> Fit:
        return Fit.YES if self.covers(subject) else Fit.NO


BracketPattern = CommandPattern | PathPattern | ArgumentPattern


@lru_cache(PATTERNS_MAX)
def read_pattern(tool: str, text: str) -> BracketPattern:
    """Return the pattern in the brackets of a rule for this tool, or raise ValueError."""
    if not text.strip():
        raise ValueError(f"{tool}(): write something in the brackets, or leave them out")
    if len(text) > PATTERN_CHARACTERS_MAX:
        raise ValueError(f"{tool}(…): more than {PATTERN_CHARACTERS_MAX} characters in brackets")
    if tool == EXECUTE:
        return _command_pattern(text)
    if tool in PATH_TOOLS:
        return PathPattern(_plain_path(text.strip()))
    return _argument_pattern(tool, text)


def _command_pattern(text: str) -> CommandPattern:
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise ValueError(f"execute({text}): {str(error).lower()}") from None
    unquoted = re.sub(r"'[^']*'|\"[^\"]*\"|\\.", "", text)
    if found := _JOINS_COMMANDS.search(unquoted):
        raise ValueError(f"execute({text}): a rule is for one command, without {found[0]!r}")
    if words and words[0] == ">>":
        words[0] = ">"
    is_open = words[-1] == "*"
    return CommandPattern(tuple(words[:-1] if is_open else words), is_open)


def _argument_pattern(tool: str, text: str) -> ArgumentPattern:
    found = []
    for each in text.split(";"):
        name, equals, pattern = (part.strip() for part in each.partition("="))
        if not (name and equals):
            raise ValueError(f"{tool}({text}): write ARGUMENT=PATTERN, and ; between two of them")
        found.append((name, pattern))
    return ArgumentPattern(tuple(found))


def matches(pattern: str, text: str) -> bool:
    """Return whether a text matches a pattern in which `*` stands for anything.

    Each piece between two `*` is looked for once, so that no pattern of a user takes long.
    """
    first, *others = pattern.split("*")
    if not others:
        return text == pattern
    *between, last = others
    if not (text.startswith(first) and text.endswith(last)):
        return False
    at, end = len(first), len(text) - len(last)
    for piece in between:
        found = text.find(piece, at, end)
        if found < 0:
            return False
        at = found + len(piece)
    return at <= end


def path_matches(pattern: str, path: str) -> bool:
    """Return whether a path matches a pattern. All places of the pattern that may have been reached
    are bits of a number, which moves on with each character: so it takes no longer than both are
    long."""
    pieces = [piece for piece in re.split(r"(\*+)", pattern) if piece]
    stays_always = stays_in_name = at = 0
    moves: dict[str, int] = {}
    for piece in pieces:
        if piece.startswith("*"):
            stays_in_name |= 1 << at
            stays_always |= (1 << at) if len(piece) > 1 else 0
            continue
        for character in piece:
            moves[character] = moves.get(character, 0) | 1 << at
            at += 1
    reached = 1
    for character in path:
        stays = stays_always if character == "/" else stays_in_name
        reached = (reached & moves.get(character, 0)) << 1 | reached & stays
        if not reached:
            return False
    return bool(reached >> at & 1)


def _text(value: object) -> str:
    return (
        value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
    )


# Suggestions.

_SUBCOMMAND = re.compile(r"[a-z][a-z0-9-]*")
# Of these a suggestion names the subcommand, or the very command where there is none.
_WITH_SUBCOMMANDS = frozenset(
    {
        *("git", "npm", "pnpm", "yarn", "cargo", "go", "pip", "uv", "poetry", "gh", "glab", "hg"),
        *("apt", "apt-get", "brew", "systemctl", "terraform", "helm", "dotnet", "mvn", "gradle"),
    }
)
# These can do anything, or much harm, by their arguments: a suggestion is the very command.
_POWERFUL = frozenset(
    {
        *("python", "python3", "node", "ruby", "perl", "php", "deno", "bun", "npx", "uvx", "cd"),
        *("docker", "podman", "kubectl", "make", "awk", "sed", "vim", "rm", "dd", "mv", "cp", "ln"),
        *("tee", "curl", "wget", "chmod", "chown", "kill", "pkill", "killall", ".", "source"),
    }
)


def suggested_patterns(tool: str, args: JsonText | None) -> tuple[str, ...]:
    """Return what to write in brackets so that calls like this one are allowed: one text for each
    part of the call. Nothing if rules of this kind cannot allow it."""
    subjects = subjects_of(tool, args)
    if subjects.unread or tool not in (EXECUTE, *PATH_TOOLS):
        return ()
    if tool == EXECUTE:
        found = [_command_suggestion(each.words) for each in subjects.all]
    else:
        found = [_path_suggestion(each.path) for each in subjects.all]
    return () if None in found else tuple(dict.fromkeys(text for text in found if text))


def _command_suggestion(words: Sequence[ShellWord]) -> str | None:
    """Return a pattern: the program with its subcommand and any further words, or the very command;
    None if that has words that no pattern means."""
    first, name = words[0], basename(words[0].text)
    has_subcommand = len(words) > 1 and _SUBCOMMAND.fullmatch(words[1].text) and words[1].is_fixed
    is_exact = (
        name in RUNNERS | _POWERFUL
        or "=" in name
        or name in ("<", ">")
        or (name in _WITH_SUBCOMMANDS and not has_subcommand)
    )
    shown = words if is_exact else words[:2] if has_subcommand else words[:1]
    if not first.text or any("*" in word.text or not word.is_fixed for word in shown):
        return None
    text = " ".join(map(_quoted, shown)) if is_exact else f"{' '.join(map(_quoted, shown))} *"
    return text if len(text) <= PATTERN_CHARACTERS_MAX else None


def _path_suggestion(path: str) -> str | None:
    found = _UUID.search(path)
    below = path[found.end() :] if found else path
    folder, slash, _ = below.rpartition("/")
    text = f"{folder}/**" if slash and folder else below
    return text if "*" not in below and len(text) <= PATTERN_CHARACTERS_MAX else None


def _quoted(word: ShellWord) -> str:
    return shlex.quote(word.text) if word.is_fixed and word.text not in ("<", ">") else word.text
