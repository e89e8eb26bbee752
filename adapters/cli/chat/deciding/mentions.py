"""Files that are named in a message as `@path`. Pure, apart from the question whether one exists.

A name ends at a space; one with spaces stands in quotes: @"my file.txt". What names nothing stays a
word of the message; so does what is no file, such as a folder, and the user is told.
"""

import mimetypes
import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path

FILES_MAX = 20  # of one message; the others stay words, and the user is told
FILE_BYTES_MAX = 10 * 1024 * 1024  # the daemon takes no larger ones
KINDS = (
    (stat.S_ISREG, ""),
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)
MEDIA_TYPE = "application/octet-stream"
_MENTION = re.compile(r'(?:^|(?<=[\s(]))@(?:"([^"\n]+)"|([^\s"]+))')
_TRAILING = ".,;:!?)"


@dataclass(frozen=True, slots=True)
class Mention:
    """A file that a message names, or something else that stands there."""

    path: Path
    media_type: str
    kind: str = ""  # what it is in words, if it is no file


def mentions_in(text: str, folder: Path) -> list[Mention]:
    """Return what a message names of all that there is, each once, in order."""
    found: dict[Path, Mention] = {}
    for quoted, bare in _MENTION.findall(text):
        for name in (quoted,) if quoted else (bare, bare.rstrip(_TRAILING)):
            path = folder / expanded(name)
            if name and (kind := kind_of(path)) is not None:
                found.setdefault(path, Mention(path, media_type_of(path), kind))
                break
    return list(found.values())


def expanded(name: str) -> Path:
    """Return the path of a name; `~name` of a user who is not there is a name like another."""
    try:
        return Path(name).expanduser()
    except RuntimeError:
        return Path(name)


def kind_of(path: Path) -> str | None:
    """Return what stands there in words, "" for a file, and None if there is nothing.

    What we may not look at is taken for a file, so that reading it says so.
    """
    try:
        mode = path.stat().st_mode
    except PermissionError:
        return ""
    except (OSError, ValueError):  # also a name that is too long, or that can be none
        return "a link that leads nowhere" if os.path.islink(path) else None
    return next((kind for is_kind, kind in KINDS if is_kind(mode)), "no file")


def media_type_of(path: Path) -> str:
    """Return the type of a file by its name; the daemon looks at the content, too."""
    return mimetypes.guess_type(path.name)[0] or MEDIA_TYPE


def mention_before(text: str) -> str | None:
    """Return what is typed of a name right before the cursor, for completion."""
    found = re.search(r'(?:^|[\s(])@("?)([^\s"]*)$', text)
    return None if found is None else found[2]
