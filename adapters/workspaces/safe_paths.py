"""A path below a directory, walked component by component, so that no link leads out of it.

Each component is looked at and opened through the directory above it, which is open already, and
never through a symbolic link: those we read and follow ourselves. So it does not matter what a
command makes of the path meanwhile: whatever we have open lies beneath the root, and `..` is a
step back in what we have walked, not what the disk says it is.
"""

import errno
import os
import stat
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from posixpath import isabs

LINKS_MAX = 40  # symbolic links on one path; more are a circle, or as good as one
COMPONENTS_MAX = 256  # of one path, links included; while it is walked each directory is open
DIRECTORY_MODE = 0o755  # of directories that are made on the way

_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
_OPEN_DIRECTORY = _OPEN | os.O_DIRECTORY
# What a component has become since it was looked at: it is looked at again.
_CHANGED = frozenset({errno.ELOOP, errno.ENOTDIR, errno.EINVAL, errno.ENOENT, errno.EEXIST})


class PathDenied(Exception):
    """The path may not be used; the words say why, for the model."""


@dataclass(frozen=True, slots=True)
class FoundPath:
    """The place that a path leads to: `name` in the open `directory`. An empty name is the root
    itself."""

    directory: int
    name: str
    path: str  # without symbolic links
    status: os.stat_result | None  # None: there is nothing, and nothing below it

    @property
    def is_directory(self) -> bool:
        return self.status is not None and stat.S_ISDIR(self.status.st_mode)

    @property
    def is_file(self) -> bool:
        return self.status is not None and stat.S_ISREG(self.status.st_mode)


@contextmanager
def walk_below(root: str, path: str, *, makes: bool = False) -> Iterator[FoundPath]:
    """Find where `path` leads, and hold its directory open for the length of the block. With
    `makes`, directories that are missing on the way are made."""
    walk = _Walk(root, path, makes=makes)
    try:
        found = walk.to_the_end()
        walk.keep(found.directory)
        yield found
    finally:
        walk.close()


@contextmanager
def open_found(found: FoundPath) -> Iterator[int]:
    """Open what was found for reading. It has to be a file; it need no longer be the one that was
    looked at, but it lies in the same place."""
    # Without O_NONBLOCK it would wait for the writer of a fifo that has just been put there.
    descriptor = os.open(found.name, _OPEN | os.O_NONBLOCK, dir_fd=found.directory)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise PathDenied(f"{found.path}: not a file any more; look at it again")
        yield descriptor
    finally:
        os.close(descriptor)


def components_of(root: str, path: str) -> deque[str] | None:
    """Return the components of an absolute path below the root, or None if it does not begin with
    the root."""
    whole = _split(path)
    top = _split(root)
    below = list(whole)[len(top) :]
    return deque(below) if list(whole)[: len(top)] == list(top) else None


def _split(path: str) -> deque[str]:
    return deque(part for part in path.split("/") if part not in ("", "."))


class _Walk:
    def __init__(self, root: str, path: str, *, makes: bool) -> None:
        self._root = root
        self._asked = path
        self._makes = makes
        self._descriptors: list[int] = []
        self._names: list[str] = []
        self._links = self._steps = 0
        parts = components_of(root, path)
        if parts is None:
            raise self._outside()
        self._parts = parts

    def to_the_end(self) -> FoundPath:
        self._descriptors.append(os.open(self._root, _OPEN_DIRECTORY))
        while self._parts:
            found = self._step(self._parts.popleft())
            if found is not None:
                return found
        name = self._names[-1] if self._names else ""
        above = self._descriptors[-2] if self._names else self._descriptors[-1]
        return FoundPath(above, name, self._here(), os.fstat(self._descriptors[-1]))

    def keep(self, directory: int) -> None:
        """Hold only this directory open. There is no way back from here."""
        for descriptor in self._descriptors:
            if descriptor != directory:
                os.close(descriptor)
        self._descriptors = [directory]

    def close(self) -> None:
        for descriptor in self._descriptors:
            os.close(descriptor)

    def _step(self, part: str) -> FoundPath | None:
        """Walk one component further. Return what it finds if the walk ends there."""
        self._steps += 1
        if self._steps > COMPONENTS_MAX:
            raise PathDenied(
                f"{self._asked}: more than {COMPONENTS_MAX} components; use a shorter path"
            )
        if part == "..":
            if not self._names:
                raise self._outside()
            self._names.pop()
            os.close(self._descriptors.pop())
            return None
        status = self._look(part)
        if status is None:
            return self._missing(part)
        if stat.S_ISLNK(status.st_mode):
            self._follow(part)
            return None
        if stat.S_ISDIR(status.st_mode):
            self._enter(part)
            return None
        if self._parts:
            raise PathDenied(f"{self._asked}: {self._here(part)} is not a directory")
        return FoundPath(self._descriptors[-1], part, self._here(part), status)

    def _look(self, part: str) -> os.stat_result | None:
        try:
            return os.stat(part, dir_fd=self._descriptors[-1], follow_symlinks=False)
        except FileNotFoundError:
            return None

    def _missing(self, part: str) -> FoundPath | None:
        if self._makes and self._parts:
            try:
                os.mkdir(part, DIRECTORY_MODE, dir_fd=self._descriptors[-1])
            except FileExistsError:
                self._again(part)
                return None
            self._enter(part)
            return None
        if ".." in self._parts:
            raise PathDenied(f"{self._asked}: there is no {self._here(part)}")
        tail = "/".join([part, *self._parts])
        self._parts.clear()
        return FoundPath(self._descriptors[-1], part, self._here(tail), None)

    def _enter(self, part: str) -> None:
        try:
            directory = os.open(part, _OPEN_DIRECTORY, dir_fd=self._descriptors[-1])
        except OSError as error:
            if error.errno not in _CHANGED:
                raise
            self._again(part)
            return
        self._descriptors.append(directory)
        self._names.append(part)

    def _follow(self, part: str) -> None:
        self._links += 1
        if self._links > LINKS_MAX:
            raise PathDenied(f"{self._asked}: more than {LINKS_MAX} symbolic links on the way")
        try:
            target = os.readlink(part, dir_fd=self._descriptors[-1])
        except OSError as error:
            if error.errno not in _CHANGED:
                raise
            self._again(part)
            return
        below = _split(target)
        if isabs(target):
            inside = components_of(self._root, target)
            if inside is None:
                raise self._outside()
            below = inside
            self._back_to_root()
        self._parts.extendleft(reversed(below))

    def _again(self, part: str) -> None:
        """Walk this component once more: it has just become something else."""
        self._parts.appendleft(part)

    def _back_to_root(self) -> None:
        while len(self._descriptors) > 1:
            os.close(self._descriptors.pop())
        self._names.clear()

    def _here(self, *more: str) -> str:
        return "/".join([self._root, *self._names, *more])

    def _outside(self) -> PathDenied:
        return PathDenied(
            f"{self._asked}: outside the workspace, which is {self._root};"
            " files elsewhere can only be looked at by commands"
        )
