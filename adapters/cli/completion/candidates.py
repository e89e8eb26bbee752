"""The words that may come next on a command line, one line each: the word, a tab, what it is.

Shells run it at each key of tab: `promptcorner completion words SHELL -- WORD...`. The last word is
the one that is being typed. A line that is `:file` or `:dir` lets the shell offer those.
"""

import json
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

WORDS_FILE = Path(__file__).with_name("words.json")
SECONDS_MAX = 1.0  # for everything; then nothing is offered
TEXT_CHARACTERS_MAX = 60  # of what a word is; the rest is cut
FILE, DIRECTORY = ":file", ":dir"

Candidate = tuple[str, str]
Ask = Callable[[str], Sequence[Candidate]]
"""Returns the words of a kind that only the daemon knows: chat, model_id, model_name, provider."""


def candidates(table: Mapping[str, Any], words: Sequence[str], ask: Ask) -> Sequence[Candidate]:
    """Return what may stand in the place of the last word, behind the others."""
    *before, typed = words
    command, awaited, positionals = _walk(table, before)
    if awaited is not None:
        return _fitting(_values(awaited, ask), typed)
    if typed.startswith("-"):
        name, equals, value = typed.partition("=")
        if equals:
            kind = command["flags"].get(name, ["", None])[1]
            found = _values(kind, ask) if kind else []
            return [(f"{name}={word}", text) for word, text in _fitting(found, value)]
        flags = [(flag, help) for flag, (help, _) in command["flags"].items()]
        return _fitting(flags, typed)
    if command["verbs"] and positionals:
        return []  # what was typed is no command
    if command["verbs"]:
        verbs = [(name, verb["help"]) for name, verb in command["verbs"].items()]
        return _fitting(verbs, typed)
    kinds = command["positionals"]
    kind = kinds[positionals] if positionals < len(kinds) else ""
    return _fitting(_values(kind, ask), typed)


def _walk(
    table: Mapping[str, Any], words: Sequence[str]
) -> tuple[Mapping[str, Any], str | None, int]:
    """Return the command that the words name, the kind of the value that its last flag awaits, and
    how many words stand beside its flags."""
    command, awaited, positionals = table, None, 0
    for word in words:
        if awaited is not None:
            awaited = None
        elif word.startswith("-"):
            name, equals, _ = word.partition("=")
            awaited = None if equals else command["flags"].get(name, ["", None])[1]
        elif word in command["verbs"]:
            command, positionals = command["verbs"][word], 0
        else:
            positionals += 1
    return command, awaited, positionals


def _values(kind: str, ask: Ask) -> Sequence[Candidate]:
    """Return the values of a kind; `a|b|c` are the values themselves."""
    if kind in (FILE, DIRECTORY):
        return [(kind, "")]
    if kind.startswith("="):
        return [(each, "") for each in kind[1:].split("|")]
    return ask(kind) if kind else []


def _fitting(found: Sequence[Candidate], typed: str) -> Sequence[Candidate]:
    return [
        (word, text) for word, text in found if word.startswith(typed) or word in (FILE, DIRECTORY)
    ]


def as_lines(found: Sequence[Candidate], shell: str, typed: str) -> str:
    """Return the candidates as a shell reads them; bash has cut the last word at `:` and `=`."""
    cut = max(typed.rfind(":"), typed.rfind("=")) + 1 if shell == "bash" else 0
    lines = []
    for word, text in found:
        kept = word if word in (FILE, DIRECTORY) else word[cut:]
        lines.append(f"{_plain(kept)}\t{_plain(text)}".rstrip("\t") + "\n")
    return "".join(lines)


def _plain(text: str) -> str:
    """Return a text on one line, without what would move the cursor."""
    shown = "".join(each if each.isprintable() else " " for each in text)
    return shown if len(shown) <= TEXT_CHARACTERS_MAX else shown[:TEXT_CHARACTERS_MAX] + "…"


def main(arguments: Sequence[str]) -> int:
    """Print the candidates for `SHELL -- WORD...`; print nothing if anything is wrong."""
    signal.signal(signal.SIGALRM, lambda number, frame: os._exit(0))
    signal.setitimer(signal.ITIMER_REAL, SECONDS_MAX)
    shell, _, *words = arguments
    table = json.loads(WORDS_FILE.read_text())
    found = candidates(table, words or [""], _ask_daemon)
    sys.stdout.write(as_lines(found, shell, words[-1] if words else ""))
    sys.stdout.flush()
    return 0


def _ask_daemon(kind: str) -> Sequence[Candidate]:
    from adapters.cli.completion import asking  # HTTP is not needed for names of commands

    asks = {
        "chat": asking.chats,
        "model_id": asking.model_ids,
        "model_name": asking.model_names,
        "provider": asking.providers,
    }
    return asks[kind](os.environ)
