"""Files in requests and responses: their names, and what kind of file an upload is. Pure.

What a file looks like decides its media type, and what its sender declares must fit. Text has no
looks of its own, so a name and a content that agree make it Markdown, CSV or JSON. Nothing that a
browser would run (HTML, SVG) is taken under any name.
"""

import csv
import re
from dataclasses import dataclass
from email.message import Message
from pathlib import PurePath, PurePosixPath
from urllib.parse import quote

import msgspec

NAME_BYTES_MAX = 255  # of a file's name; a longer one is cut before its ending

_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_PLAIN = re.compile(r"[ !#-;=?-\[\]-~]*")  # may stand in a quoted string as it is: not " \ < >


def name_in(disposition: str) -> str:
    """Return the file name in a Content-Disposition, cleaned, or "" if there is none to use."""
    header = Message()
    header["Content-Disposition"] = disposition
    return clean_name(_decoded(header.get_filename() or ""))


def clean_name(name: str) -> str:
    """Return a file name without its folders and without invisible characters."""
    name = _UNPRINTABLE.sub("", name.replace("\\", "/")).strip().rpartition("/")[2].strip()
    if name in ("", ".", ".."):
        return ""
    ending = PurePosixPath(name).suffix
    room = NAME_BYTES_MAX - len(ending.encode())
    if room <= 0:
        return _cut(name, NAME_BYTES_MAX)
    stem = name.removesuffix(ending) if ending else name
    return _cut(stem, room) + ending


def disposition_of(name: str, *, inline: bool) -> str:
    """Return the header of a file name. What is not plain stands twice, so that old clients get
    something too."""
    kind = "inline" if inline else "attachment"
    if _PLAIN.fullmatch(name):
        return f'{kind}; filename="{name}"'
    plain = "".join(each if _PLAIN.fullmatch(each) else "_" for each in name)
    return f"{kind}; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"


def _decoded(name: str) -> str:
    """Decode a name that came as Latin-1: many clients mean UTF-8."""
    try:
        return name.encode("latin-1").decode()
    except UnicodeError:
        return name


def _cut(text: str, bytes_max: int) -> str:
    return text.encode()[:bytes_max].decode(errors="ignore")


UNKNOWN = "application/octet-stream"  # declared by senders that do not know
TEXT = "text/plain"

_IMAGES = frozenset({"image/gif", "image/jpeg", "image/png", "image/webp"})
_TEXTS = frozenset({"application/json", "text/csv", "text/markdown", TEXT})
ACCEPTED = _IMAGES | _TEXTS | {"application/pdf"}

_BY_NAME = {
    ".csv": "text/csv",
    ".json": "application/json",
    ".markdown": "text/markdown",
    ".md": "text/markdown",
}

_LOOKS = (
    (re.compile(rb"\x89PNG\r\n\x1a\n"), "image/png"),
    (re.compile(rb"\xff\xd8\xff"), "image/jpeg"),
    (re.compile(rb"GIF8[79]a"), "image/gif"),
    (re.compile(rb"RIFF....WEBPVP8", re.DOTALL), "image/webp"),
    (re.compile(rb"%PDF-"), "application/pdf"),
    # What may stand before its first element: a declaration, comments, a document type.
    (
        re.compile(
            rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]{0,512}>\s*)?(?:<!--.{0,4096}?-->\s*){0,8}"
            rb"(?:<!doctype\s+svg[^>]{0,4096}>\s*)?<svg[\s/>]",
            re.DOTALL | re.IGNORECASE,
        ),
        "image/svg+xml",
    ),
    (
        re.compile(
            rb"(?:\xef\xbb\xbf)?\s*(?:<!--.{0,4096}?-->\s*){0,8}"
            rb"<(?:!doctype\s+html|html|head|body|script|iframe)[\s/>]",
            re.DOTALL | re.IGNORECASE,
        ),
        "text/html",
    ),
    (re.compile(rb"(?:\xef\xbb\xbf)?\s*<\?xml\s"), "text/xml"),
)
# Bytes that no text has: control characters, but for tab, line ends, form feed and escape.
_NO_TEXT = bytes(set(range(32)) - {9, 10, 12, 13, 27})


@dataclass(frozen=True, slots=True)
class UnsupportedType:
    """A type of which no files are taken. `by`: whether its sender declares it, or it looks so."""

    media_type: str
    by: str  # "declared" or "detected"

    def __str__(self) -> str:
        return f"{self.by} media type {self.media_type} is not supported"


@dataclass(frozen=True, slots=True)
class MismatchedType:
    """A file that is not what its sender declares."""

    declared: str
    detected: str

    def __str__(self) -> str:
        return f"declared as {self.declared}, but it is {self.detected}"


def media_type_of(
    declared: str, name: str, content: bytes
) -> str | UnsupportedType | MismatchedType:
    """Return the type of a file, one of `ACCEPTED`, or why it is not taken. `declared` is its
    Content-Type."""
    said = declared.partition(";")[0].strip().lower() or UNKNOWN
    if said != UNKNOWN and said not in ACCEPTED:
        return UnsupportedType(said, "declared")
    seen = _refined(name, content) if (looks := _looks(content)) == TEXT else looks
    if seen not in ACCEPTED:
        return UnsupportedType(seen, "detected")
    fits = said in (UNKNOWN, seen) or (said == TEXT and seen in _TEXTS)
    return seen if fits else MismatchedType(said, seen)


def _looks(content: bytes) -> str:
    for look, media_type in _LOOKS:
        if look.match(content):
            return media_type
    return TEXT if len(content.translate(None, _NO_TEXT)) == len(content) else UNKNOWN


def _refined(name: str, content: bytes) -> str:
    """Return what the name of a text promises, if its content keeps it."""
    promised = _BY_NAME.get(PurePath(name).suffix.lower(), TEXT)
    kept = _KEEPS.get(promised)
    return promised if kept is None or kept(content) else TEXT


def _is_json(content: bytes) -> bool:
    try:
        msgspec.json.decode(content, type=msgspec.Raw)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True


def _is_csv(content: bytes) -> bool:
    try:
        return any(csv.reader(content.decode().splitlines(), strict=True))
    except (UnicodeDecodeError, csv.Error):
        return False


_KEEPS = {"application/json": _is_json, "text/csv": _is_csv}
