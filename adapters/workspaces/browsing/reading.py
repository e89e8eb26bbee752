"""The bytes of one file of a workspace, or of a range of them, as they are sent.

A file is looked at first: how large it is, and what it looks like. It is opened again when it is
sent, and has to be the same file then. One that changes while it is sent ends the connection, so
that a part of it is not taken for the whole.

Nothing in a workspace runs as a page of ours: only pictures and plain text are opened in place,
everything else is a download; what a browser would run is sent as plain text. The header of the
policy says the same once more.
"""

import os
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from mimetypes import guess_type
from posixpath import basename

import trio

from adapters.http.endpoints import Call, HttpResponse
from adapters.http.files import (
    TEXT,
    UNKNOWN,
    MismatchedType,
    UnsupportedType,
    clean_name,
    disposition_of,
    media_type_of,
)
from adapters.http.refusals import HttpError, query_refused
from adapters.workspaces.browsing.listing import found_below, shown_text
from adapters.workspaces.disk import Disk, DiskSilent
from adapters.workspaces.safe_paths import open_found

PIECE_BYTES = 256 * 1024  # that are read and sent at once
LOOKED_AT_BYTES = 4_096  # of the beginning of a file, which says what it is
ETAG_CHARACTERS = 32

_PICTURES = frozenset({"image/gif", "image/jpeg", "image/png", "image/webp"})
# What looks like one of these is shown as what it is written in.
_RUN_BY_BROWSERS = frozenset({"image/svg+xml", "text/html", "text/xml"})
_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})", re.ASCII)
SAFE_HEADERS = (
    ("cache-control", "private, no-cache"),
    ("content-security-policy", "default-src 'none'; sandbox"),
    ("cross-origin-resource-policy", "same-origin"),
)


@dataclass(frozen=True, slots=True)
class FileFacts:
    """A file as it was when it was looked at."""

    path: str
    identity: tuple[int, ...]  # another one is another file, or the same after a change
    size: int
    head: bytes

    @property
    def name(self) -> str:
        shown = shown_text(basename(self.path))
        return clean_name(shown) or "file"

    @property
    def etag(self) -> str:
        said = "/".join(map(str, self.identity)).encode()
        return f'"{sha256(said).hexdigest()[:ETAG_CHARACTERS]}"'


@dataclass(frozen=True, slots=True)
class ByteRange:
    """The bytes of a file that are sent."""

    begin: int
    count: int


def look_at_file(home: str, path: str) -> FileFacts:
    """Look at a file. It blocks. HttpError: it is none, or may not be read."""
    with found_below(home, path) as found:
        if found.is_directory:
            raise query_refused("path", "is a directory; ask for its entries or its archive")
        if not found.is_file:
            raise query_refused("path", "is no file but a pipe, a socket or a device")
        with open_found(found) as descriptor:
            head = os.pread(descriptor, LOOKED_AT_BYTES, 0)
            return FileFacts(found.path, *_now(descriptor), head)


def _now(descriptor: int) -> tuple[tuple[int, ...], int]:
    status = os.fstat(descriptor)
    identity = (status.st_dev, status.st_ino, status.st_mtime_ns, status.st_size)
    return identity, status.st_size


def shown_type(name: str, head: bytes) -> tuple[str, bool]:
    """Return the media type of a file for a browser, and whether it is opened in place."""
    found = media_type_of("", name, head)
    assert not isinstance(found, MismatchedType), "no type was declared"
    if found in _PICTURES:
        return str(found), True
    if not isinstance(found, UnsupportedType):
        is_text = found != "application/pdf"
        return (f"{TEXT}; charset=utf-8", True) if is_text else (found, False)
    if found.media_type in _RUN_BY_BROWSERS:
        return f"{TEXT}; charset=utf-8", True
    guessed = guess_type(name)[0] or UNKNOWN
    # A name promises what it likes; what is no text is at least not taken for one.
    return (UNKNOWN if guessed.startswith("text/") else guessed), False


def range_of(header: str, size: int) -> ByteRange | None:
    """Return the range that is asked for, or None where the whole is sent: several ranges at once
    are not served. HttpError: there is no such range."""
    asked = _RANGE.fullmatch(header.strip().replace(" ", ""))
    if asked is None or not (asked[1] or asked[2]):
        return None
    if asked[1]:
        begin = int(asked[1])
        last = min(int(asked[2]), size - 1) if asked[2] else size - 1
        if asked[2] and int(asked[2]) < begin:
            return None  # RFC 9110, 14.1.1: then it is as if none had been asked for
    else:
        begin, last = max(0, size - int(asked[2])), size - 1
    if begin >= size or last < begin:
        headers = (("content-range", f"bytes */{size}"),)
        detail = f"the file has {size} bytes"
        raise HttpError(416, "There is no such range.", detail=detail, headers=headers)
    return ByteRange(begin, last - begin + 1)


def file_response(call: Call, facts: FileFacts, home: str, disk: Disk) -> HttpResponse:
    """Return the response to a request for a file."""
    media_type, in_place = shown_type(facts.name, facts.head)
    in_place = in_place and call.one("download") != "true"
    headers = [
        *SAFE_HEADERS,
        ("etag", facts.etag),
        ("accept-ranges", "bytes"),
        ("content-disposition", disposition_of(facts.name, inline=in_place)),
    ]
    if _knows(call.headers.get("if-none-match", ""), facts.etag):
        return HttpResponse(304, b"", headers=headers)
    asked = None
    if call.headers.get("if-range", facts.etag) == facts.etag:
        asked = range_of(call.headers.get("range", ""), facts.size)
    sent = asked or ByteRange(0, facts.size)
    if asked is not None:
        last = sent.begin + sent.count - 1
        headers.append(("content-range", f"bytes {sent.begin}-{last}/{facts.size}"))
    headers.append(("content-length", str(sent.count)))
    status = 200 if asked is None else 206
    return HttpResponse(status, _pieces(facts, home, disk, sent), media_type, headers)


def _knows(if_none_match: str, etag: str) -> bool:
    return if_none_match.strip() == "*" or etag in (
        word.strip().removeprefix("W/") for word in if_none_match.split(",")
    )


async def _pieces(facts: FileFacts, home: str, disk: Disk, sent: ByteRange) -> AsyncIterator[bytes]:
    """Yield the bytes. trio.BrokenResourceError: the file is not what it was, and the connection
    ends."""
    begin, end = sent.begin, sent.begin + sent.count
    while begin < end:
        count = min(PIECE_BYTES, end - begin)
        try:
            piece = await disk.read(partial(_piece, facts, home, begin, count))
        except (DiskSilent, HttpError) as error:
            raise trio.BrokenResourceError("the file cannot be read any more") from error
        if len(piece) < count:
            raise trio.BrokenResourceError("the file has changed while it was sent")
        yield piece
        begin += count


def _piece(facts: FileFacts, home: str, begin: int, count: int) -> bytes:
    """Read a piece of the file that was looked at; nothing of another one. It blocks."""
    with found_below(home, facts.path) as found:
        if not found.is_file:
            return b""
        with open_found(found) as descriptor:
            piece = os.pread(descriptor, count, begin)
            return piece if _now(descriptor) == (facts.identity, facts.size) else b""
