"""Words that a command does not know, and the ones that were perhaps meant. Pure.

argparse would print its whole usage, and would first complain about what is missing. Here the words
are looked at before: the first unknown command or flag is named, with the nearest that there is.
"""

import argparse
import difflib
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import NoReturn

LIKENESS = 0.7  # of a word to the one that was perhaps meant; less, and none is offered
WRONG_USAGE = 2
NUMBER = re.compile(r"-\d+(\.\d*)?")


@dataclass(frozen=True, slots=True)
class UnknownWord:
    """A word that means nothing to a command, or to a verb of it."""

    parser: argparse.ArgumentParser
    kind: str  # option or command
    word: str
    nearest: str | None

    def __str__(self) -> str:
        meant = "" if self.nearest is None else f"; did you mean {self.nearest}?"
        return f"unknown {self.kind} {self.word}{meant}"


class CommandParser(argparse.ArgumentParser):
    """A parser whose errors are two lines: what is wrong, and where the help is."""

    def error(self, message: str) -> NoReturn:
        self.exit(
            WRONG_USAGE, f"{self.prog}: {message}\n`{self.prog} --help` says how it is used\n"
        )


def parse(parser: argparse.ArgumentParser, words: Sequence[str]) -> argparse.Namespace:
    """Read the words of a command line; exit with 2 if some are wrong."""
    unknown = unknown_word(parser, words)
    if unknown is not None:
        unknown.parser.error(str(unknown))
    return parser.parse_args(words)


def unknown_word(parser: argparse.ArgumentParser, words: Sequence[str]) -> UnknownWord | None:
    """Return the first word that no command and no flag explains, or None."""
    left = iter(words)
    for word in left:
        if word == "--":
            return None
        if word.startswith("-") and word != "-" and not NUMBER.fullmatch(word):
            action = _action_of(parser, word)
            if action is None:
                name = word.partition("=")[0]
                flags = [each for each in _flags(parser) if each.startswith("--")]
                return UnknownWord(parser, "option", name, _nearest(name, flags))
            _skip_values(action, word, left)
        elif (verbs := verbs_of(parser)) is not None:
            if word not in verbs:
                return UnknownWord(parser, "command", word, _nearest(word, verbs))
            parser = verbs[word]
    return None


def verbs_of(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser] | None:
    """Return the commands below a parser, or None if it has none."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return None


def _flags(parser: argparse.ArgumentParser) -> Sequence[str]:
    return [flag for action in parser._actions for flag in action.option_strings]


def _action_of(parser: argparse.ArgumentParser, word: str) -> argparse.Action | None:
    """Return the flag that a word is: `--name`, `--name=value`, `-n` or `-nvalue`."""
    name = word.partition("=")[0] if word.startswith("--") else word[:2]
    return next((each for each in parser._actions if name in each.option_strings), None)


def _skip_values(action: argparse.Action, word: str, left: Iterator[str]) -> None:
    """Leave out the value behind a flag, which may begin with a hyphen as well."""
    is_joined = "=" in word if word.startswith("--") else len(word) > 2
    if action.nargs is None and not is_joined:
        next(left, None)


def _nearest(word: str, known: Collection[str]) -> str | None:
    found = difflib.get_close_matches(word, known, n=1, cutoff=LIKENESS)
    return found[0] if found else None
