"""Notices of the system that something in a directory has changed (inotify). They are hints only,
and may get lost.

Where the system has no inotify there are no notices, so those who rely on them have to look now and
then.
"""

import ctypes
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import trio

NOTICES_BYTES = 64 * 1024  # read at once

_MODIFIED, _ATTRIBUTES, _CLOSED = 0x002, 0x004, 0x008
_MOVED_FROM, _MOVED_TO, _CREATED, _DELETED = 0x040, 0x080, 0x100, 0x200
_SELF_DELETED, _SELF_MOVED = 0x400, 0x800
_OVERFLOW, _IGNORED = 0x4000, 0x8000
_ONLY_DIRECTORIES, _NO_LINKS = 0x1000000, 0x2000000
_WANTED = (
    _MODIFIED | _ATTRIBUTES | _CLOSED | _MOVED_FROM | _MOVED_TO | _CREATED | _DELETED
    | _SELF_DELETED | _SELF_MOVED | _ONLY_DIRECTORIES | _NO_LINKS
)  # fmt: skip
_HEAD = struct.Struct("iIII")


@dataclass(frozen=True, slots=True)
class Notice:
    """A change in a directory. `place` is the number that `listen` gave for the directory, and
    `name` is what has changed in it, "" for the directory itself."""

    place: int
    name: str
    is_last: bool = False  # nothing will be heard of this directory any more


@dataclass(frozen=True, slots=True)
class NoticesLost:
    """Notices were lost, as there were more than the system keeps: anything may have changed."""


class Notices:
    """Notices of changes in the directories that are listened to. Made by `open_notices`."""

    def __init__(self, descriptor: int, library: ctypes.CDLL) -> None:
        self._descriptor = descriptor
        self._library = library

    def listen(self, place: str) -> int | None:
        """Listen to a directory. Return its number, which is the same if it is asked for again, or
        None if it does not exist or too many are listened to already."""
        number: int = self._library.inotify_add_watch(self._descriptor, os.fsencode(place), _WANTED)
        return None if number < 0 else number

    def ignore(self, place: int) -> None:
        self._library.inotify_rm_watch(self._descriptor, place)

    async def next(self) -> list[Notice | NoticesLost]:
        """Wait until there are notices, and return them."""
        await trio.lowlevel.wait_readable(self._descriptor)
        return self.pending()

    def pending(self) -> list[Notice | NoticesLost]:
        with suppress(BlockingIOError):
            return list(_parsed(os.read(self._descriptor, NOTICES_BYTES)))
        return []


def _parsed(data: bytes) -> Iterator[Notice | NoticesLost]:
    at = 0
    while at < len(data):
        place, mask, _, length = _HEAD.unpack_from(data, at)
        at += _HEAD.size
        name = os.fsdecode(data[at : at + length].rstrip(b"\0"))
        at += length
        if mask & _OVERFLOW:
            yield NoticesLost()
        else:
            yield Notice(place, name, is_last=bool(mask & _IGNORED))


@contextmanager
def open_notices() -> Iterator[Notices | None]:
    """Give the system's notices for the length of the block, or None if it has none, or no more of
    them."""
    library = ctypes.CDLL(None, use_errno=True)
    descriptor = -1
    with suppress(AttributeError):  # no Linux
        descriptor = library.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    if descriptor < 0:
        yield None
        return
    try:
        yield Notices(descriptor, library)
    finally:
        os.close(descriptor)
