"""Rows of a history as messages of a prompt, with their files and tool results. Pure.

Tool results are stored like this: text that is JSON as it is, other text under `output`, an error
under `error` (or as a JSON string), media as `data`, `mime_type` and `text`.
"""

import base64
import binascii
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from actors.law.chat import Message, Role
from actors.law.ids import FileId
from actors.law.parts.json_text import is_object, parsed
from actors.law.parts.message import (
    ContextFilePart,
    FilePart,
    FileReferencePart,
    HookContextPart,
    JsonText,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from actors.law.parts.prompt import (
    AssistantOutput,
    PromptMessage,
    ToolAnswer,
    ToolResults,
    UserInput,
)

PASTED_BYTES_MAX = 128 * 1024  # of a pasted text; the rest is cut, and the text says so


Accepts = Callable[[str], bool]  # does the target take files of this media type?


@dataclass(frozen=True, slots=True)
class StoredFile:
    media_type: str
    name: str
    data: bytes
    # In base64, of a large one, made where it holds up nothing else; "": it is made when wanted.
    encoded: str = field(default="", compare=False, repr=False)


StoredFiles = Mapping[FileId, StoredFile]


_NOT_IN_IDS = re.compile(r"[^A-Za-z0-9_-]")


def system_texts(rows: tuple[Message, ...]) -> tuple[str, ...]:
    parts = (part for row in rows if row.body.role is Role.SYSTEM for part in row.body.parts)
    return tuple(part.text for part in map(_text, parts) if part is not None)


def prompt_message(row: Message, files: StoredFiles, takes: Accepts | None) -> PromptMessage | None:
    """Return the row as a message of a prompt, or None if there is nothing in it for a model."""
    parts = row.body.parts
    match row.body.role:
        case Role.SYSTEM:
            return None
        case Role.USER:
            user = tuple(_user(parts, files, takes))
            return UserInput(user) if user else None
        case Role.ASSISTANT:
            return assistant_output(parts)
        case Role.TOOL:
            results = (part for part in parts if isinstance(part, ToolResultPart))
            answers = tuple(
                tool_answer(part, clean_id(part.id))
                for part in results
                if not part.provider_executed
            )
            return ToolResults(answers) if answers else None


def assistant_output(parts: tuple[Part, ...]) -> AssistantOutput | None:
    """Return what an assistant said as a message of a prompt, or None if it was nothing."""
    said = tuple(_assistant(parts))
    return AssistantOutput(said) if said else None


def clean_id(id: str) -> str:
    return _NOT_IN_IDS.sub("_", id)


def _user(
    parts: tuple[Part, ...], files: StoredFiles, takes: Accepts | None
) -> Iterator[TextPart | FilePart]:
    for part in parts:
        found = file_part(part, files, takes) if isinstance(part, FilePart) else _text(part)
        if found is not None:
            yield found


def _text(part: Part) -> TextPart | None:
    """Return the part as text, if it is words to a model. Sources, notices and skills are not."""
    match part:
        case TextPart():
            return part if part.text.strip() else None
        case HookContextPart(text):
            return TextPart(text) if text.strip() else None
        case ContextFilePart():
            return TextPart(_context_file(part)) if part.content.strip() else None
        case FileReferencePart():
            return TextPart(_reference(part))
        case _:
            return None


def _assistant(
    parts: tuple[Part, ...],
) -> Iterator[TextPart | ReasoningPart | ToolCallPart | ToolResultPart]:
    """Yield what the assistant said. Files that it attached are not shown to it again."""
    for part in parts:
        match part:
            case TextPart() if part.text.strip():
                yield part
            case ReasoningPart() if part.text.strip() or part.provider_metadata:
                yield part
            case ToolCallPart():
                yield ToolCallPart(
                    clean_id(part.id),
                    part.name,
                    _object(part.args),
                    part.provider_executed,
                    provider_metadata=part.provider_metadata,
                )
            case ToolResultPart() if part.provider_executed:
                yield ToolResultPart(
                    clean_id(part.id),
                    part.name,
                    part.result,
                    part.is_error,
                    provider_executed=True,
                    provider_metadata=part.provider_metadata,
                )


def _object(args: JsonText | None) -> JsonText:
    """Return arguments that are an object. Others would cost the whole call, and orphan its
    result."""
    return args if args and is_object(args) else JsonText("{}")


def _context_file(part: ContextFilePart) -> str:
    cut = "\n[the rest of the file is not shown]" if part.truncated else ""
    return f"[instructions from {part.path}]\n{part.content}{cut}"


def _reference(part: FileReferencePart) -> str:
    runs = re.findall(r"`+", part.content)
    fence = "`" * max(3, 1 + max(map(len, runs), default=0))
    lines = f"lines {part.start_line}-{part.end_line}"
    return f"[from {part.file_name}, {lines}]\n{fence}\n{part.content}\n{fence}"


_PASTED = re.compile(r"pasted-text-\d{4}(-\d\d){5}\.txt")
_INLINE = ("text/plain", "text/markdown", "text/csv", "application/json")
_UNKNOWN = "application/octet-stream"


def file_part(
    part: FilePart, files: StoredFiles, takes: Accepts | None
) -> TextPart | FilePart | None:
    """Return the file as a part of a prompt, or None if it is empty."""
    found = _stored_file(part, files)
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


def _stored_file(part: FilePart, files: StoredFiles) -> StoredFile | None:
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


NO_RESULT = "the tool call was interrupted before it produced a result"


# What may be a text or a text alone in an object. Anything else goes out as it stands, and need not
# be read: in a long history that is most of it.
_MAY_BE_TEXT = re.compile(r'\s*("|\{\s*"(output|error|[^"]*\\))')


def tool_answer(part: ToolResultPart, id: str) -> ToolAnswer:
    if not part.is_media and _MAY_BE_TEXT.match(part.result) is None:
        return ToolAnswer(id, part.name, part.result, part.is_error)
    value = _value(part.result)
    if part.is_media and isinstance(value, dict):
        return _media(part, id, value)
    return ToolAnswer(id, part.name, _answer_text(part.result, value), part.is_error)


def text_of(result: JsonText) -> str | None:
    """Return the text in a stored result, if it is nothing but a text."""
    value = _value(result)
    if isinstance(value, dict) and len(value) == 1:
        value = value.get("output", value.get("error"))
    return value if isinstance(value, str) and value.strip() else None


def interrupted_answer(id: str, name: str) -> ToolAnswer:
    return ToolAnswer(id, name, NO_RESULT, is_error=True)


def _value(result: str) -> object:
    try:
        value: object = parsed(result)
        return value
    except ValueError:
        return None


def _answer_text(result: str, value: object) -> str:
    if isinstance(value, dict) and len(value) == 1:
        only = value.get("output", value.get("error"))
        if isinstance(only, str):
            return only
    return value if isinstance(value, str) else result


def _media(part: ToolResultPart, id: str, value: dict[str, object]) -> ToolAnswer:
    """Return the answer with its media. Media that cannot be read back leave their text."""
    text, data, kind = (value.get(name) for name in ("text", "data", "mime_type"))
    said = text if isinstance(text, str) else ""
    if isinstance(data, str) and isinstance(kind, str) and _is_base64(data):
        file = FilePart(kind, data=data)
        return ToolAnswer(id, part.name, said, part.is_error, file)
    return ToolAnswer(id, part.name, said or "[unreadable media]", part.is_error)


def _is_base64(data: str) -> bool:
    try:
        return bool(base64.b64decode(data, validate=True))
    except binascii.Error:
        return False
