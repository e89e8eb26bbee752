"""A directory of a workspace as a zip file, made while it is sent.

It is walked twice: once to see that it is within the bounds, which can still be answered with a
refusal; and once to be sent. What changes between the two is sent as it is then; if it is more than
the bounds allow, or cannot be read, the connection ends before the file does, so that a part of it
is not taken for the whole.

Symbolic links are kept as links and never followed. Pipes, sockets and devices are left out.
"""

import os
import stat
import zipfile
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from time import localtime
from typing import IO, Annotated, cast

import trio

from adapters.http.refusals import HttpError, query_refused
from adapters.workspaces.browsing.listing import DIRECTORY_FLAGS, found_below, shown_text
from adapters.workspaces.disk import Disk, DiskSilent
from adapters.workspaces.safe_paths import PathDenied
from runtime.statistics import CounterMetric, GaugeMetric

ENTRIES_MAX = 50_000  # of an archive; a larger directory is refused
BYTES_MAX = 2 * 1024**3  # of its files together, before they are packed; likewise
DEPTH_MAX = 100  # of directories in each other: each that is walked is open; likewise
ARCHIVES_MAX = 8  # that are made at once; one more is refused until one is done
PIECE_BYTES = 256 * 1024  # that are sent at once
LEVEL = 3  # of packing: more takes much longer for little
EARLIEST = (1980, 1, 1, 0, 0, 0)  # that a zip file can say
LATEST_YEAR = 2107

_FILE_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


@dataclass(frozen=True, slots=True)
class ArchiveLimits:
    """Bounds of one archive."""

    entries: int = ENTRIES_MAX
    size: int = BYTES_MAX
    depth: int = DEPTH_MAX


DEFAULT_ARCHIVE_LIMITS = ArchiveLimits()


class ArchiveTooLarge(Exception):
    """A directory is larger than an archive may be; the words say which bound it is."""


@dataclass(frozen=True, slots=True)
class _Node:
    directory: int  # open
    name: str
    path: str  # in the archive
    status: os.stat_result


class _Walk:
    """The entries of an open directory and of all below it, within bounds."""

    def __init__(self, limits: ArchiveLimits) -> None:
        self._limits = limits
        self._entries = self._bytes = 0

    def nodes(self, directory: int, above: str = "", depth: int = 1) -> Iterator[_Node]:
        if depth > self._limits.depth:
            raise ArchiveTooLarge(f"more than {self._limits.depth} folders lie in each other")
        for name in self._names(directory):
            try:
                status = os.stat(name, dir_fd=directory, follow_symlinks=False)
            except FileNotFoundError:
                continue
            self._count(status)
            path = f"{above}{name}"
            yield _Node(directory, name, path, status)
            if stat.S_ISDIR(status.st_mode):
                below = _opened(name, directory)
                if below is not None:
                    try:
                        yield from self.nodes(below, f"{path}/", depth + 1)
                    finally:
                        os.close(below)

    def _names(self, directory: int) -> list[str]:
        """Return the names in a folder in their order; of one that is too large not all are
        read."""
        with os.scandir(directory) as entries:
            names = [each.name for each in islice(entries, self._limits.entries + 1)]
        if len(names) > self._limits.entries:
            raise self._too_many()
        return sorted(names)

    def _too_many(self) -> ArchiveTooLarge:
        return ArchiveTooLarge(f"it has more than {self._limits.entries} entries")

    def _count(self, status: os.stat_result) -> None:
        self._entries += 1
        if self._entries > self._limits.entries:
            raise self._too_many()
        if stat.S_ISREG(status.st_mode):
            self.note_bytes(status.st_size)

    def note_bytes(self, count: int) -> None:
        """Count bytes of files."""
        self._bytes += count
        if self._bytes > self._limits.size:
            raise ArchiveTooLarge(f"its files have more than {self._limits.size} bytes")


def _opened(name: str, directory: int) -> int | None:
    """Open a folder; None if it is none any more, or may not be read."""
    with suppress(FileNotFoundError, NotADirectoryError, PermissionError):
        return os.open(name, DIRECTORY_FLAGS, dir_fd=directory)
    return None


class _Sink:
    """A file that a zip file is written to and that is read from its other end."""

    def __init__(self) -> None:
        self.written = bytearray()

    def write(self, data: bytes) -> int:
        self.written += data
        return len(data)

    def flush(self) -> None:
        """Do nothing: what is written is there."""

    def taken(self) -> bytes:
        data, self.written = bytes(self.written), bytearray()
        return data


def check_archive(home: str, path: str, limits: ArchiveLimits) -> str:
    """Return the name of the directory. It blocks. HttpError: it is none, or too large."""
    with found_below(home, path) as found:
        if not found.is_directory:
            raise query_refused("path", "is not a directory; ask for its content instead")
        directory = os.open(found.name or ".", DIRECTORY_FLAGS, dir_fd=found.directory)
        try:
            for _ in _Walk(limits).nodes(directory):
                pass
        except ArchiveTooLarge as error:
            detail = f"{error}; download parts of it, or pack it with a command"
            raise HttpError(413, "The folder is too large.", detail=detail) from error
        finally:
            os.close(directory)
        return found.path.removeprefix(home).rpartition("/")[2]


def archive_bytes(home: str, path: str, limits: ArchiveLimits) -> Generator[bytes, None, None]:
    """Yield the archive. It blocks."""
    sink = _Sink()
    with found_below(home, path) as found:
        directory = os.open(found.name or ".", DIRECTORY_FLAGS, dir_fd=found.directory)
    try:
        # The sink cannot be gone back in: sizes stand behind the files.
        file = cast("IO[bytes]", sink)
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=LEVEL) as packed:
            walk = _Walk(limits)
            for node in walk.nodes(directory):
                for _ in _packed(packed, node, walk):
                    if len(sink.written) >= PIECE_BYTES:
                        yield sink.taken()
    finally:
        os.close(directory)
    yield sink.taken()


def _packed(packed: zipfile.ZipFile, node: _Node, walk: _Walk) -> Iterator[None]:
    """Pack one entry, and yield after each piece of it."""
    mode = node.status.st_mode
    name = shown_text(node.path)
    info = zipfile.ZipInfo(f"{name}/" if stat.S_ISDIR(mode) else name, _time(node.status.st_mtime))
    info.external_attr = (mode & 0xFFFF) << 16
    info.compress_type = zipfile.ZIP_DEFLATED
    if stat.S_ISDIR(mode):
        info.external_attr |= 0x10  # a folder, for systems that know nothing of modes
        packed.writestr(info, b"")
    elif stat.S_ISLNK(mode):
        with suppress(OSError):  # it has gone
            packed.writestr(info, os.fsencode(os.readlink(node.name, dir_fd=node.directory)))
    elif stat.S_ISREG(mode):
        yield from _packed_file(packed, info, node, walk)
    yield


def _packed_file(
    packed: zipfile.ZipFile, info: zipfile.ZipInfo, node: _Node, walk: _Walk
) -> Iterator[None]:
    try:
        descriptor = os.open(node.name, _FILE_FLAGS, dir_fd=node.directory)
    except (FileNotFoundError, PermissionError):  # it has gone, or is none of ours
        return
    with open(descriptor, "rb", buffering=0) as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return
        info.file_size = node.status.st_size
        with packed.open(info, "w", force_zip64=True) as target:
            count = 0
            while piece := file.read(PIECE_BYTES):
                count += len(piece)
                if count > node.status.st_size:  # it grows while it is read
                    walk.note_bytes(len(piece))
                target.write(piece)
                yield


def _time(seconds: float) -> tuple[int, int, int, int, int, int]:
    with suppress(OverflowError, ValueError, OSError):
        time = localtime(seconds)
        if EARLIEST[0] <= time.tm_year <= LATEST_YEAR:
            return (*time[:5], min(time.tm_sec, 59))
    return EARLIEST


@dataclass(frozen=True, slots=True)
class ArchivesStatistics:
    making: Annotated[int, GaugeMetric("Archives of folders that are being sent.")]
    made_count: Annotated[int, CounterMetric("Archives of folders that were sent whole.")]
    cut_count: Annotated[
        int, CounterMetric("Archives of folders that were cut: the client left, or a file changed.")
    ]


class Archives:
    """The archives that this process is making."""

    def __init__(self, limits: ArchiveLimits = DEFAULT_ARCHIVE_LIMITS) -> None:
        self._limits = limits
        self._making = self._made_count = self._cut_count = 0
        self._places = trio.CapacityLimiter(ARCHIVES_MAX)

    def checking(self, home: str, path: str) -> Callable[[], str]:
        """Return what looks whether a directory can be sent, in a thread, and returns its name."""
        if self._making >= ARCHIVES_MAX:
            retry = (("retry-after", "10"),)
            detail = f"{ARCHIVES_MAX} are made at once; try again in a moment"
            raise HttpError(503, "Too many folders are downloaded.", detail=detail, headers=retry)
        return partial(check_archive, home, path, self._limits)

    async def send(self, home: str, path: str, disk: Disk) -> AsyncIterator[bytes]:
        """Yield the archive. Requests that were let in at the same moment wait here for a place.
        trio.BrokenResourceError: it cannot be finished."""
        is_whole, place = False, object()
        await self._places.acquire_on_behalf_of(place)
        self._making += 1
        pieces = archive_bytes(home, path, self._limits)
        try:
            while (piece := await disk.read(partial(next, pieces, None))) is not None:
                yield piece
            is_whole = True
        except (DiskSilent, HttpError, ArchiveTooLarge, OSError, PathDenied) as error:
            raise trio.BrokenResourceError("the folder has changed while it was sent") from error
        finally:
            self._places.release_on_behalf_of(place)
            self._making -= 1
            self._made_count += is_whole
            self._cut_count += not is_whole
            with suppress(ValueError):  # a thread is still at it, and closes it at its end
                pieces.close()

    def statistics(self) -> ArchivesStatistics:
        return ArchivesStatistics(self._making, self._made_count, self._cut_count)
