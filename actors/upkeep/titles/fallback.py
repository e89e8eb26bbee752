"""The title that a chat is born with: the first words of what its user said. Pure.

It is made twice, for the new chat and when a better one is looked for; only as long as both are the
same nobody has given the chat another title.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from actors.law.ids import FileId
from actors.law.parts.message import FilePart, FileReferencePart, Part, TextPart
from actors.prompts.files import Files, StoredFile, file_said

TITLE_CHARACTERS_MAX = 80  # a longer title is cut
FALLBACK_WORDS_MAX = 6
SOURCE_CHARACTERS_MAX = 16 * 1024  # of what was said, and of each pasted text; the rest is not read
UNTITLED = "New Chat"

NO_FILES: Files = MappingProxyType[FileId, StoredFile]({})

_UNPRINTABLE = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff]")


def fallback_title(source: str) -> str:
    words = source.split(maxsplit=FALLBACK_WORDS_MAX)
    title = " ".join(words[:FALLBACK_WORDS_MAX])
    if len(words) > FALLBACK_WORDS_MAX:
        title += "…"
    if len(title) > TITLE_CHARACTERS_MAX:
        title = title[: TITLE_CHARACTERS_MAX - 1] + "…"
    return title or UNTITLED


def source_of(parts: Sequence[Part], files: Files = NO_FILES) -> str:
    """What there is to make a title of: what was written; if nothing was, what was pasted."""
    return _joined(map(_written, parts)) or _joined(_pasted(part, files) for part in parts)


def may_be_pasted(parts: Sequence[Part]) -> frozenset[FileId]:
    """The files that have to be read first; none where something was written."""
    if source_of(parts):
        return frozenset()
    files = (part for part in parts if isinstance(part, FilePart))
    return frozenset(
        file.file_id for file in files if file.file_id is not None and _may_be_text(file.media_type)
    )


def printable(text: str) -> str:
    """Without what no title may hold, and no database takes."""
    return _UNPRINTABLE.sub("", text).strip()


def _joined(texts: Iterable[str]) -> str:
    return printable("\n".join(filter(None, texts))[:SOURCE_CHARACTERS_MAX])


def _may_be_text(media_type: str) -> bool:
    return media_type.startswith("text/") or media_type in ("", "application/octet-stream")


def _written(part: Part) -> str:
    match part:
        case TextPart(text=text):
            return text
        case FileReferencePart(file_name=name, start_line=first, end_line=last, content=content):
            return f"{name}:{first}-{last} {content}"
        case _:
            return ""


def _pasted(part: Part, files: Mapping[FileId, StoredFile]) -> str:
    """Only a pasted text is said as text to everybody; other files stay files."""
    if not isinstance(part, FilePart) or part.file_id not in files:
        return ""
    said = file_said(part, files, None)
    return said.text[:SOURCE_CHARACTERS_MAX] if isinstance(said, TextPart) else ""
