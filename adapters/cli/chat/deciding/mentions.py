"""Files that are named in a message as `@path`. Pure, apart from the question whether one exists.

A name ends at a space; one with spaces stands in quotes: @"my file.txt". What names no file stays a
word of the message.
"""

import mimetypes
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

FILES_MAX = 20  # of one message; the others stay words, and the user is told
FILE_BYTES_MAX = 10 * 1024 * 1024  # the daemon takes no larger ones
MEDIA_TYPE = "application/octet-stream"
_MENTION = re.compile(r'(?:^|(?<=[\s(]))@(?:"([^"\n]+)"|([^\s"]+))')
_TRAILING = ".,;:!?)"


@dataclass(frozen=True, slots=True)
class Mention:
    """A file that a message names."""

    path: Path
    media_type: str


def mentions_in(
    text: str, folder: Path, *, is_file: Callable[[Path], bool] | None = None
) -> list[Mention]:
    """Return the files that a message names, each once, in order."""
    found: dict[Path, Mention] = {}
    for quoted, bare in _MENTION.findall(text):
        for name in (quoted,) if quoted else (bare, bare.rstrip(_TRAILING)):
            path = folder / expanded(name)
            if name and (is_file or is_a_file)(path):
                found.setdefault(path, Mention(path, media_type_of(path)))
                break
    return list(found.values())


def expanded(name: str) -> Path:
    """Return the path of a name; `~name` of a user who is not there is a name like another."""
    try:
        return Path(name).expanduser()
    except RuntimeError:
        return Path(name)


def is_a_file(path: Path) -> bool:
    """Tell whether a path is a file; one that we may not look at is, so that reading it says so."""
    try:
        return path.is_file()
    except PermissionError:
        return True
    except OSError:  # the name is too long for one
        return False


def media_type_of(path: Path) -> str:
    """Return the type of a file by its name; the daemon looks at the content, too."""
    return mimetypes.guess_type(path.name)[0] or MEDIA_TYPE


def mention_before(text: str) -> str | None:
    """Return what is typed of a name right before the cursor, for completion."""
    found = re.search(r'(?:^|[\s(])@("?)([^\s"]*)$', text)
    return None if found is None else found[2]
