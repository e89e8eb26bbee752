"""Shell commands as models write them: what they mean, which others they run, and advice to the
model. Pure."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from posixpath import basename

from actors.law.parts.shell import ShellPart, read_command
from actors.law.parts.shell_words import ShellWord

_UNITS = {
    "ns": 1e-9,
    "us": 1e-6,
    "\u00b5s": 1e-6,  # the micro sign
    "\u03bcs": 1e-6,  # the Greek letter
    "ms": 1e-3,
    "s": 1.0,
    "m": 60.0,
    "h": 3600.0,
}
_DURATION = re.compile(
    r"\+?(0|(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:ns|us|\u00b5s|\u03bcs|ms|s|m|h))+)"
)
_PIECE = re.compile(r"([0-9.]+)([a-z\u00b5\u03bc]+)")
DURATION_CHARACTERS_MAX = 64  # of a longer one nothing is made

_BEHIND = re.compile(r"(?<![&|\\>])&\s*\Z")
_SEARCH = re.compile(r"\s*(?:rg|grep)\s(?P<options>[^|;&]*)")
_LISTS_ONLY = re.compile(r"(?:^|\s)-[a-zA-Z]*l")


def seconds_of(duration: str) -> float | None:
    """Return the seconds in a text such as "90s", "1m30s" or "500ms", or None if it is none."""
    text = duration.strip()
    if len(text) > DURATION_CHARACTERS_MAX or not _DURATION.fullmatch(text):
        return None
    return sum((float(number) * _UNITS[unit] for number, unit in _PIECE.findall(text)), 0.0)


@dataclass(frozen=True, slots=True)
class ParsedCommand:
    text: str
    background: bool


def parse_command(command: str, *, background: bool) -> ParsedCommand:
    """Read a command. One that ends with `&` is to run in the background, which we do ourselves."""
    if background or not _BEHIND.search(command):
        return ParsedCommand(command, background)
    return ParsedCommand(_BEHIND.sub("", command).rstrip(), True)


def advice(command: str) -> str:
    """Return what would have served better than this command, or "" if nothing would."""
    if command.lstrip().startswith("cat "):
        return "read_file shows a file with the numbers of its lines, and in pieces"
    search = _SEARCH.match(command)
    if search is None:
        return ""
    options = search["options"]
    if "--include-all" in options or _LISTS_ONLY.search(options):
        return "read_file shows what is in the files that were found"
    return ""


# Commands that run other commands.

WORDS_MAX = 256  # of a program that runs others; behind them any command may stand
SCRIPTS_MAX = 4  # scripts within scripts, as in sh -c "sh -c …"; a deeper one counts as unread
LETTERS_MAX = 4  # of options in front of a value that is written without a blank, as in -vSrm
# A shell that stands among the first words of a program, with none but options behind it, reads
# its commands from a file or a pipe.
SHELL_WITHIN = 4

_SCRIPT = re.compile(r"[\s;|&$<>(){}]")
_ANY_COMMAND = (ShellWord("", is_fixed=False),)
_LONG_VALUE = re.compile(r"--[^=]+=(.+)", re.DOTALL)
_SHELLS = frozenset({"sh", "bash", "dash", "ash", "ksh", "zsh", "fish"})
# They run what stands among their arguments.
RUNNERS = _SHELLS | frozenset(
    {
        *("sudo", "doas", "su", "env", "xargs", "nohup", "timeout", "nice", "ionice", "setsid"),
        *("stdbuf", "command", "builtin", "exec", "eval", "find", "busybox", "chroot", "time"),
        *("watch", "parallel", "ssh", "unshare", "script", "flock", "trap", "ltrace", "strace"),
        *("toybox", "taskset", "chrt", "setpriv", "runuser", "pkexec", "systemd-run", "nsenter"),
        *("unbuffer", "chronic", "caffeinate", "proxychains", "proxychains4", "fakeroot", "gdb"),
        *("sg", "newgrp", "setarch", "numactl", "prlimit", "torsocks", "dbus-run-session", "entr"),
    }
)


class Fit(IntEnum):
    """The certainty with which a rule is about a part of a call."""

    NO = 0
    MAYBE = 1
    YES = 2


FoundCommand = tuple[Sequence[ShellWord], Fit]
"""The words of a command, and whether it is run for certain."""


def commands_within(
    words: Sequence[ShellWord], scripts: int = SCRIPTS_MAX
) -> Iterator[FoundCommand]:
    """Yield a command and those that it may run, and for each whether it is one for certain.

    A command without the assignments in front of it is the same command. What a program such as
    `sudo` runs begins with its first argument that is no option, or somewhere behind it, or within
    an option, as in `env -S'rm x'`.
    """
    yield words, Fit.YES
    program = ShellPart(tuple(words)).program
    if len(program) < len(words):
        yield program, Fit.YES
    if not program or basename(program[0].text) not in RUNNERS:
        return
    certain = next((at for at in range(1, len(program)) if not _is_option(program[at].text)), 0)
    if len(program) > WORDS_MAX or _reads_commands(program):
        yield _ANY_COMMAND, Fit.MAYBE
    for at in range(1, min(len(program), WORDS_MAX)):
        word, behind = program[at], program[at + 1 : at + WORDS_MAX]
        yield (word, *behind), Fit.YES if at == certain else Fit.MAYBE
        if word.text.startswith("-"):
            yield from ((each, Fit.MAYBE) for each in _commands_in_option(word, behind))
        elif _SCRIPT.search(word.text):
            yield from _commands_in(word, scripts)


def _is_option(text: str) -> bool:
    return text.startswith("-") or "=" in text


def _reads_commands(program: Sequence[ShellWord]) -> bool:
    """Tell whether a shell reads what it runs from a file or a pipe, as in `… | sudo sh`."""
    last = next(
        (at for at in reversed(range(len(program))) if not program[at].text.startswith("-")), 0
    )
    return last < SHELL_WITHIN and basename(program[last].text) in _SHELLS


def _commands_in(word: ShellWord, scripts: int) -> Iterator[FoundCommand]:
    """Yield the commands in a word that is a script; one of which nothing is known if there may be
    others."""
    script = read_command(word.text)
    if script.unread or not word.is_fixed or scripts == 0:
        yield _ANY_COMMAND, Fit.MAYBE
    for part in script.parts if scripts else ():
        yield from commands_within(part.words, scripts - 1)


def _commands_in_option(
    word: ShellWord, behind: Sequence[ShellWord]
) -> Iterator[Sequence[ShellWord]]:
    """Yield the commands that may begin within an option, as its value. A value with blanks may be
    anything: which of the option's characters are the value is not known."""
    text = word.text
    if not word.is_fixed or _SCRIPT.search(text):
        yield _ANY_COMMAND
    elif value := _LONG_VALUE.fullmatch(text):
        yield (ShellWord(value[1]), *behind)
    elif not text.startswith("--"):
        for at in range(2, min(len(text), 2 + LETTERS_MAX)):
            yield (ShellWord(text[at:]), *behind)
