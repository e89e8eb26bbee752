"""The entries of a directory of a workspace, in pages. What is here blocks: it runs in threads.

A path is one of tools, absolute and in the workspace, or one relative to it. A name that is not
UTF-8 cannot be said in an address: such an entry is listed, and has no path.
"""

import errno
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from posixpath import isabs, join
from typing import TypeVar

from adapters.http.refusals import HttpError, not_found, query_refused
from adapters.workspaces.files import ENTRIES_MAX
from adapters.workspaces.safe_paths import FoundPath, PathDenied, walk_below

PATH_CHARACTERS_MAX = 4_096  # of a path that is asked for; a longer one is refused
LINK_CHARACTERS_MAX = 1_024  # of the text of a symbolic link; the rest is left out

ELSEWHERE = "its directory is not on the machine of this daemon, or was removed by hand"
DIRECTORY_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_GONE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class ListedEntry:
    """An entry of a directory. `kind` is file, directory, link, or other: pipes and devices."""

    name: str  # as the disk has it, with surrogates for what is not UTF-8
    kind: str
    size_bytes: int
    modified_at: datetime | None
    is_executable: bool
    link_to: str = ""


def shown_text(name: str) -> str:
    """Return a name as it can be shown: what is not UTF-8 is replaced."""
    return name.encode(errors="surrogateescape").decode(errors="replace")


def is_utf8(name: str) -> bool:
    return name.isascii() or name == shown_text(name)


@dataclass(frozen=True, slots=True)
class ListedDirectory:
    """A page of a directory. `count` is of all pages; with `is_cut` there are still more."""

    path: str  # absolute, without symbolic links
    entries: Sequence[ListedEntry]
    count: int
    is_cut: bool
    is_in_repository: bool


def path_in(home: str, said: str) -> str:
    """Return the absolute path that is asked for. One that is too long is refused."""
    if len(said) > PATH_CHARACTERS_MAX:
        raise query_refused("path", f"has more than {PATH_CHARACTERS_MAX} characters")
    return said if isabs(said) else join(home, said)


@contextmanager
def found_below(home: str, path: str) -> Iterator[FoundPath]:
    """Find a path for a request. HttpError: it leads nowhere, or out of the workspace, or may not
    be read."""
    try:
        with walk_below(home, path) as found:
            if found.status is None:
                raise not_found()
            yield found
    except PathDenied as denied:
        raise query_refused("path", str(denied)) from denied
    except OSError as error:
        if not os.path.isdir(home):
            raise HttpError(
                409, "The files of the workspace are not here.", detail=ELSEWHERE
            ) from error
        if error.errno in _GONE:  # it has gone meanwhile
            raise not_found() from error
        if error.errno in (errno.EACCES, errno.EPERM):
            raise HttpError(403, "The file may not be read.", detail=_words(error)) from error
        raise query_refused("path", _words(error)) from error


def _words(error: OSError) -> str:
    return os.strerror(error.errno or 0).lower()


def list_directory(home: str, path: str, *, offset: int, limit: int) -> ListedDirectory:
    """Return a page of a directory: folders first, then by name."""
    with found_below(home, path) as found:
        if not found.is_directory:
            raise query_refused("path", "is not a directory; ask for its content instead")
        descriptor = os.open(found.name or ".", DIRECTORY_FLAGS, dir_fd=found.directory)
        try:
            with os.scandir(descriptor) as entries:
                names = [(not _is_folder(each), each.name) for each in islice(entries, ENTRIES_MAX)]
                is_cut = next(entries, None) is not None
            names.sort()
            shown = [_entry(descriptor, name) for _, name in names[offset : offset + limit]]
        finally:
            os.close(descriptor)
        return ListedDirectory(
            found.path,
            [each for each in shown if each is not None],
            len(names),
            is_cut,
            _is_in_repository(home, found.path),
        )


def _is_folder(entry: os.DirEntry[str]) -> bool:
    with suppress(OSError):
        return entry.is_dir(follow_symlinks=False)
    return False


def _entry(directory: int, name: str) -> ListedEntry | None:
    """Return an entry, or None if it has gone meanwhile."""
    try:
        status = os.stat(name, dir_fd=directory, follow_symlinks=False)
        is_link = stat.S_ISLNK(status.st_mode)
        target = os.readlink(name, dir_fd=directory) if is_link else ""
    except OSError:
        return None
    return ListedEntry(
        name,
        kind_of(status.st_mode),
        status.st_size,
        time_of(status.st_mtime),
        stat.S_ISREG(status.st_mode) and bool(status.st_mode & stat.S_IXUSR),
        shown_text(target[:LINK_CHARACTERS_MAX]),
    )


def kind_of(mode: int) -> str:
    """Return the kind of what has this mode."""
    kinds: Sequence[tuple[Callable[[int], bool], str]] = (
        (stat.S_ISREG, "file"),
        (stat.S_ISDIR, "directory"),
        (stat.S_ISLNK, "link"),
    )
    return next((kind for is_one, kind in kinds if is_one(mode)), "other")


def time_of(seconds: float) -> datetime | None:
    """Return the time, or None for one that no calendar has: anybody can set it on a file."""
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError):
        return None


def _is_in_repository(home: str, path: str) -> bool:
    """Return whether git may have something to say of this directory."""
    below = path.removeprefix(home).split("/")
    tops = ("/".join([home, *below[1:count]]) for count in range(len(below), 0, -1))
    return any(os.path.lexists(f"{top}/.git") for top in tops)
