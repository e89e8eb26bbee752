"""Completion of what is typed: commands and what they take, and `@files`."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from adapters.cli.chat.deciding.mentions import expanded, mention_before
from adapters.cli.chat.deciding.slash_commands import commands_like

FILES_MAX = 200  # names that are proposed; more letters find the others
ENTRIES_MAX = 5_000  # of a directory that are looked at
Values = Callable[[str], Sequence[tuple[str, str]]]
"""Return what a command may take, each with a note."""


class ChatCompleter(Completer):
    """Completes the line that is typed; `values` knows models, chats and the like."""

    def __init__(self, values: Values) -> None:
        self._values = values

    def get_completions(self, document: Document, event: CompleteEvent) -> Iterable[Completion]:
        text = document.text_before_cursor
        if (typed := mention_before(text)) is not None:
            yield from file_completions(typed, Path.cwd())
        elif text.startswith("/") and "\n" not in text:
            yield from self._of_command(text)

    def _of_command(self, text: str) -> Iterator[Completion]:
        word, space, rest = text[1:].partition(" ")
        if not space:
            for command in commands_like(word):
                yield Completion(command.name, -len(word), display_meta=command.help)
            return
        wanted = rest.lower()
        for value, note in self._values(word.lower()):
            if wanted in f"{value} {note}".lower():
                yield Completion(value, -len(rest), display=value[:40], display_meta=note)


def file_completions(typed: str, folder: Path) -> Iterator[Completion]:
    """Yield the files and folders that a name may go on with; hidden ones if it begins so."""
    head, slash, start = typed.rpartition("/")
    directory = folder / expanded(head + slash)
    for name, is_folder in entries(directory, start):
        yield Completion(
            name + ("/" if is_folder else ""),
            -len(start),
            display_meta="folder" if is_folder else "",
        )


def entries(directory: Path, start: str) -> list[tuple[str, bool]]:
    """Return the names in a directory that begin so, folders first; none if it cannot be read."""
    found = []
    try:
        with os.scandir(directory) as listing:
            for _, entry in zip(range(ENTRIES_MAX), listing, strict=False):
                is_hidden = entry.name.startswith(".") and not start.startswith(".")
                if entry.name.startswith(start) and not is_hidden:
                    found.append((entry.name, entry.is_dir()))
    except (OSError, ValueError):
        return []
    return sorted(found, key=lambda each: (not each[1], each[0].lower()))[:FILES_MAX]
