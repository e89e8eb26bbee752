"""The files of one workspace. What touches the disk runs in threads."""

import errno
import os
import stat
from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from itertools import islice
from secrets import token_hex
from typing import TypeVar

import trio

from actors.tools.editing import CannotEdit, EditedFile, FileEdits, apply_edits, diff
from actors.tools.workspaces import DirectoryEntry, WorkspaceRefusal
from adapters.workspaces.disk import Disk, DiskSilent
from adapters.workspaces.safe_paths import FoundPath, PathDenied, open_found, walk_below

EDITED_BYTES_MAX = 1024 * 1024  # of a file; a larger one is refused
WRITTEN_BYTES_MAX = 10 * 1024 * 1024  # of a file; a larger one is refused
ENTRIES_MAX = 10_000  # of a directory; those that are over are not listed

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW_MODE = 0o666  # and what the umask leaves of it
_KINDS = (
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)
_SAID = {
    errno.EACCES: "permission denied",
    errno.EPERM: "permission denied",
    errno.ENAMETOOLONG: "a name on this path is too long",
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EROFS: "the disk is read-only",
}

Result = TypeVar("Result")
Room = Callable[[int], Awaitable[WorkspaceRefusal | None]]
"""Why so many bytes more may not be written; None: they may."""


async def _any_room(count: int) -> WorkspaceRefusal | None:
    await trio.lowlevel.checkpoint()
    return None


class LocalFiles:
    """Fulfils `actors.tools.workspaces.Files`."""

    def __init__(self, home: str, room: Room = _any_room, *, name: str = "") -> None:
        """Take the workspace's directory `home`, an absolute path without symbolic links.

        `room` is asked before anything is written, and says if the disk has no room for it. `name`
        is what the workspace is called in messages."""
        self._home = home
        self._room = room
        self._disk = Disk(home, f"the workspace {name}" if name else home)

    async def read(self, path: str, *, bytes_max: int) -> bytes | WorkspaceRefusal:
        return await self._look(path, partial(self._read, path, bytes_max))

    async def write(self, path: str, content: bytes) -> WorkspaceRefusal | None:
        refused = await self._room(len(content))
        return refused or await self._change(path, partial(self._write, path, content))

    async def edit(self, files: Sequence[FileEdits]) -> Sequence[EditedFile] | WorkspaceRefusal:
        new = sum(len(edit.new.encode(errors="replace")) for file in files for edit in file.edits)
        refused = await self._room(new)
        if refused is not None:
            return refused
        return await self._change("", partial(self._edit, files))

    async def resolve(self, path: str) -> str | WorkspaceRefusal:
        return await self._look(path, partial(self._resolve, path))

    async def entries(self, path: str) -> Sequence[DirectoryEntry] | WorkspaceRefusal:
        return await self._look(path, partial(self._entries, path))

    async def directory(self, path: str) -> str | WorkspaceRefusal:
        """Return what `resolve` does. Refused if the path leads to no directory."""
        return await self._look(path, partial(self._directory, path))

    async def _look(self, path: str, work: Callable[[], Result]) -> Result | WorkspaceRefusal:
        try:
            return await self._disk.read(partial(_attempt, path, work))
        except DiskSilent as silent:
            return WorkspaceRefusal(f"{path}: {silent}")

    async def _change(self, path: str, work: Callable[[], Result]) -> Result | WorkspaceRefusal:
        try:
            return await self._disk.write(partial(_attempt, path, work))
        except DiskSilent as silent:
            return WorkspaceRefusal(f"{path}: {silent}" if path else str(silent))

    def _read(self, path: str, bytes_max: int) -> bytes:
        with walk_below(self._home, path) as found:
            return _content(found, bytes_max)

    def _write(self, path: str, content: bytes) -> None:
        if len(content) > WRITTEN_BYTES_MAX:
            raise PathDenied(
                f"{path}: {len(content)} bytes are too many (at most {WRITTEN_BYTES_MAX})"
            )
        with walk_below(self._home, path, makes=True) as found:
            if found.status is not None:
                _want_file(found)
            _replace(found, content)

    def _edit(self, files: Sequence[FileEdits]) -> Sequence[EditedFile]:
        edited, wrong = [], []
        changed: list[tuple[FoundPath, bytes]] = []
        seen: dict[tuple[int, int], str] = {}
        with ExitStack() as stack:
            for file in files:
                try:
                    found = stack.enter_context(walk_below(self._home, file.path))
                    old = _content(found, EDITED_BYTES_MAX)
                    _want_another(found, file.path, seen)
                    new = _after(file, old)
                except (PathDenied, OSError) as error:
                    wrong.append(_fault_sentence(file.path, error))
                    continue
                changed.append((found, new))
                edited.append(EditedFile(file.path, diff(file.path, _text(old), _text(new))))
            if wrong:
                raise PathDenied("; ".join([*wrong, "nothing was changed"]))
            for found, new in changed:
                _replace(found, new)
        return edited

    def _resolve(self, path: str) -> str:
        with walk_below(self._home, path) as found:
            return found.path

    def _directory(self, path: str) -> str:
        with walk_below(self._home, path) as found:
            _want_directory(found)
            return found.path

    def _entries(self, path: str) -> Sequence[DirectoryEntry]:
        with walk_below(self._home, path) as found:
            _want_directory(found)
            flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
            descriptor = os.open(found.name or ".", flags, dir_fd=found.directory)
        try:
            return _listed(descriptor)
        finally:
            os.close(descriptor)


def _attempt(path: str, work: Callable[[], Result]) -> Result | WorkspaceRefusal:
    try:
        return work()
    except (PathDenied, OSError, ValueError) as error:  # ValueError: a zero byte in a path
        return WorkspaceRefusal(_fault_sentence(path, error))


def _fault_sentence(path: str, error: Exception) -> str:
    if isinstance(error, PathDenied):
        return str(error)
    if isinstance(error, OSError) and error.errno is not None:
        fact = _SAID.get(error.errno) or os.strerror(error.errno).lower()
        return f"{path}: {fact}" if path else fact
    return f"{path!r}: not a path"


def _want_file(found: FoundPath) -> None:
    if found.status is None:
        raise PathDenied(f"{found.path}: not found")
    if found.is_directory:
        raise PathDenied(f"{found.path}: a directory, not a file")
    mode = found.status.st_mode
    kind = next((word for is_one, word in _KINDS if is_one(mode)), None)
    if kind is not None or not found.is_file:
        raise PathDenied(f"{found.path}: {kind or 'something else'}, not a file")


def _want_directory(found: FoundPath) -> None:
    if found.status is None:
        raise PathDenied(f"{found.path}: not found")
    if not found.is_directory:
        raise PathDenied(f"{found.path}: not a directory")


def _want_another(found: FoundPath, path: str, seen: dict[tuple[int, int], str]) -> None:
    assert found.status is not None, "it has just been read"
    key = (found.status.st_dev, found.status.st_ino)
    other = seen.setdefault(key, path)
    if other != path:
        raise PathDenied(f"{path}: the same file as {other}; put all its edits under one path")


def _content(found: FoundPath, bytes_max: int) -> bytes:
    _want_file(found)
    with open_found(found) as descriptor:
        size = os.fstat(descriptor).st_size
        # One byte more than we take: what grows meanwhile is seen.
        content = b"" if size > bytes_max else _read_up_to(descriptor, bytes_max + 1)
    if max(size, len(content)) > bytes_max:
        raise PathDenied(
            f"{found.path}: {max(size, len(content))} bytes are too many (at most {bytes_max});"
            " take a piece of it with grep, sed or awk"
        )
    return content


def _read_up_to(descriptor: int, count: int) -> bytes:
    pieces = bytearray()
    while len(pieces) < count and (piece := os.read(descriptor, count - len(pieces))):
        pieces += piece
    return bytes(pieces)


def _after(file: FileEdits, old: bytes) -> bytes:
    """Return the content after the edits. Bytes that are no text are kept as they are."""
    new = apply_edits(old.decode(errors="surrogateescape"), file.edits)
    if isinstance(new, CannotEdit):
        raise PathDenied(f"{file.path}: {new.says}")
    content = new.encode(errors="surrogateescape")
    if len(content) > WRITTEN_BYTES_MAX:
        raise PathDenied(
            f"{file.path}: would have {len(content)} bytes (at most {WRITTEN_BYTES_MAX})"
        )
    return content


def _text(content: bytes) -> str:
    return content.decode(errors="replace")


def _replace(found: FoundPath, content: bytes) -> None:
    """Write the content beside the file first, then put it in its place, so that no reader sees
    half a file."""
    beside = f".{token_hex(8)}.tmp"
    descriptor = os.open(beside, _NEW, _NEW_MODE, dir_fd=found.directory)
    try:
        try:
            if found.status is not None:
                os.fchmod(descriptor, stat.S_IMODE(found.status.st_mode) & 0o777)
            _write_all(descriptor, content)
        finally:
            os.close(descriptor)
        os.rename(beside, found.name, src_dir_fd=found.directory, dst_dir_fd=found.directory)
    except OSError:
        with suppress(FileNotFoundError):
            os.unlink(beside, dir_fd=found.directory)
        raise


def _write_all(descriptor: int, content: bytes) -> None:
    left = memoryview(content)
    while left:
        left = left[os.write(descriptor, left) :]


def _listed(directory: int) -> Sequence[DirectoryEntry]:
    found: list[DirectoryEntry] = []
    with os.scandir(directory) as entries:
        for entry in islice(entries, ENTRIES_MAX):
            with suppress(FileNotFoundError):  # it is gone already
                size = entry.stat(follow_symlinks=False).st_size
                found.append(DirectoryEntry(entry.name, entry.is_dir(follow_symlinks=False), size))
    return sorted(found, key=lambda entry: (not entry.is_directory, entry.name))
