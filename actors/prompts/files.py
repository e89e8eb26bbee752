"""A file in a message, as the target understands it. Pure."""

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from actors.law.ids import FileId
from actors.law.parts.message import FilePart, TextPart

PASTED_BYTES_MAX = 128 * 1024  # of a pasted text; the rest is cut, and the text says so

Accepts = Callable[[str], bool]  # does the target take files of this media type?

_PASTED = re.compile(r"pasted-text-\d{4}(-\d\d){5}\.txt")
_INLINE = ("text/plain", "text/markdown", "text/csv", "application/json")
_UNKNOWN = "application/octet-stream"


@dataclass(frozen=True, slots=True)
class StoredFile:
    media_type: str
    name: str
    data: bytes
    # In base64, of a large one, made where it holds up nothing else; "": it is made when wanted.
    encoded: str = field(default="", compare=False, repr=False)


Files = Mapping[FileId, StoredFile]


def file_said(part: FilePart, files: Files, takes: Accepts | None) -> TextPart | FilePart | None:
    """None: an empty file says nothing."""
    found = _found(part, files)
    if found is None:
        return TextPart(_missing(part))
    if not found.data:
        return None
    if _is_pasted(found):
        return TextPart(_cut(found))
    if takes is not None and found.media_type in _INLINE and not takes(found.media_type):
        return TextPart(_labelled(found))
    encoded = found.encoded or base64.b64encode(found.data).decode()
    return FilePart(found.media_type, found.name, data=encoded)


def _found(part: FilePart, files: Files) -> StoredFile | None:
    if part.file_id is not None:
        return files.get(part.file_id)
    try:
        data = base64.b64decode(part.data or "", validate=True)
    except binascii.Error:
        return None
    return StoredFile(part.media_type, part.name, data)


def _missing(part: FilePart) -> str:
    kind = "" if part.media_type in ("", _UNKNOWN) else f" ({part.media_type})"
    return f"[an attached file{kind} is no longer available]"


def _is_pasted(file: StoredFile) -> bool:
    return _PASTED.fullmatch(file.name) is not None and file.media_type.startswith("text/")


def _cut(file: StoredFile) -> str:
    if len(file.data) <= PASTED_BYTES_MAX:
        return file.data.decode("utf-8", "replace")
    kept = file.data[:PASTED_BYTES_MAX].decode("utf-8", "ignore")
    return f"{kept}\n[cut here: {PASTED_BYTES_MAX} of {len(file.data)} bytes are shown]"


def _labelled(file: StoredFile) -> str:
    text = file.data.decode("utf-8", "replace")
    return f"[attached file {file.name or file.media_type}]\n{text}"
