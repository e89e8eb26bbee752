"""What kind of file an upload is: by what its sender says, its name, and its looks. Pure.

What it looks like decides; what the sender says must fit. Text has no looks of its own, so a name
and a content that agree make it Markdown, CSV or JSON. Nothing that a browser would run (HTML,
SVG) is taken under any name.
"""

import csv
import re
from dataclasses import dataclass
from pathlib import PurePath

import msgspec

UNKNOWN = "application/octet-stream"  # of a sender: "see for yourself"
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
class Unsupported:
    """Files of this type are not taken. `by`: whether its sender says so, or its looks."""

    media_type: str
    by: str  # "declared" or "detected"

    def __str__(self) -> str:
        return f"{self.by} media type {self.media_type} is not supported"


@dataclass(frozen=True, slots=True)
class Mismatched:
    """It is not what its sender says."""

    declared: str
    detected: str

    def __str__(self) -> str:
        return f"declared as {self.declared}, but it is {self.detected}"


def media_type_of(declared: str, name: str, content: bytes) -> str | Unsupported | Mismatched:
    """What the file is, one of `ACCEPTED`; or why it is not taken. `declared`: a Content-Type."""
    said = declared.partition(";")[0].strip().lower() or UNKNOWN
    if said != UNKNOWN and said not in ACCEPTED:
        return Unsupported(said, "declared")
    seen = _refined(name, content) if (looks := _looks(content)) == TEXT else looks
    if seen not in ACCEPTED:
        return Unsupported(seen, "detected")
    fits = said in (UNKNOWN, seen) or (said == TEXT and seen in _TEXTS)
    return seen if fits else Mismatched(said, seen)


def _looks(content: bytes) -> str:
    for look, media_type in _LOOKS:
        if look.match(content):
            return media_type
    return TEXT if len(content.translate(None, _NO_TEXT)) == len(content) else UNKNOWN


def _refined(name: str, content: bytes) -> str:
    """Of a text: what its name promises, if its content keeps it."""
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
