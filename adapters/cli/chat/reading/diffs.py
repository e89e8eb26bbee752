"""Changes of files as people read them: what a call would write, and what one has written. Pure."""

import difflib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

CONTEXT_LINES = 3
WRITES = frozenset({"edit_files", "write_file"})


@dataclass(frozen=True, slots=True)
class FileChange:
    """The change of one file: the lines of its diff, without the two that name the file."""

    path: str
    lines: Sequence[str]
    is_whole: bool = False  # the lines are the whole file as it is to be

    @property
    def added(self) -> int:
        return sum(line.startswith("+") for line in self.lines)

    @property
    def removed(self) -> int:
        return sum(line.startswith("-") for line in self.lines)

    @property
    def summary(self) -> str:
        """Return the path and how much of it changes."""
        counts = f"+{self.added}" + (f" -{self.removed}" if not self.is_whole else "")
        return f"{self.path}  {counts}"


def changes_of(name: str, arguments: object, result: object = None) -> list[FileChange]:
    """Return what a call changes: as its result says, or else as its arguments ask for."""
    told = list(_told(result))
    if told or name not in WRITES or not isinstance(arguments, Mapping):
        return told
    if name == "write_file":
        lines = [f"+{line}" for line in text_at(arguments, "content").splitlines()]
        return [FileChange(text_at(arguments, "path"), lines, is_whole=True)]
    return [_asked(file) for file in _list(arguments.get("files")) if isinstance(file, Mapping)]


def is_readable_change(name: str, arguments: object) -> bool:
    """Tell whether a diff says all that such a call asks for.

    A call with arguments that are not understood is shown as it came, so that nobody allows what
    they have not seen.
    """
    if not isinstance(arguments, Mapping):
        return False
    if name == "write_file":
        return set(arguments) == {"path", "content"} and _are_texts(arguments.values())
    if name != "edit_files" or set(arguments) != {"files"}:
        return False
    files = _list(arguments["files"])
    return bool(files) and all(map(_is_readable_file, files))


def _is_readable_file(file: object) -> bool:
    if not isinstance(file, Mapping) or set(file) != {"path", "edits"}:
        return False
    edits = _list(file["edits"])
    return bool(edits) and all(
        isinstance(edit, Mapping)
        and set(edit) - {"replace_all"} in ({"old_text", "new_text"}, {"search", "replace"})
        and _are_texts(value for name, value in edit.items() if name != "replace_all")
        for edit in edits
    )


def _told(result: object) -> Iterator[FileChange]:
    """Yield the changes that a result tells of, each with a diff."""
    if not isinstance(result, Mapping):
        return
    for file in _list(result.get("files")):
        if isinstance(file, Mapping) and isinstance(diff := file.get("diff"), str):
            lines = [line for line in diff.splitlines() if not line.startswith(("--- ", "+++ "))]
            yield FileChange(text_at(file, "path"), lines)


def _asked(file: Mapping[str, Any]) -> FileChange:
    lines: list[str] = []
    for edit in _list(file.get("edits")):
        if not isinstance(edit, Mapping):
            continue
        everywhere = edit.get("replace_all") is True
        lines.append("@@ wherever it stands @@" if everywhere else "@@")
        old = text_at(edit, "old_text") or text_at(edit, "search")
        new = text_at(edit, "new_text") or text_at(edit, "replace")
        lines += _difference(old.splitlines(), new.splitlines())
    return FileChange(text_at(file, "path"), lines)


def _difference(old: list[str], new: list[str]) -> list[str]:
    """Return the lines of a diff of two texts, without its heads."""
    told = difflib.unified_diff(old, new, lineterm="", n=max(len(old), len(new)))
    return [line for line in told if not line.startswith(("---", "+++", "@@"))] or [
        f" {line}" for line in old
    ]


def text_at(found: Mapping[str, Any], name: str) -> str:
    """Return a field that is to be a text; anything else as JSON, and nothing for an absent one."""
    value = found.get(name, "")
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _are_texts(values: Any) -> bool:
    return all(isinstance(value, str) for value in values)


def _list(value: object) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else ()
