"""The content of a request made into the parts of a message: checked, trimmed, its files looked up.

A new chat, a message, an edit and a queued message do it alike. A refusal names the place of what
is wrong: `content[2].text …`.
"""

from collections.abc import Mapping, Sequence
from typing import NoReturn
from uuid import UUID

from actors.law.ids import FileId, ModelConfigId
from actors.law.parts.message import FilePart, FileReferencePart, Part, TextPart
from adapters.chats.files.store import FileReader, FileStore
from adapters.chats.overview_rows import FileInfo
from adapters.chats.wire.sending import ChatInputPart
from adapters.http.endpoints import Caller
from adapters.http.files import ACCEPTED
from adapters.http.refusals import HttpError, Validation
from adapters.models.choosing import ModelChoice, NoChoice

FoundFiles = Mapping[FileId, FileInfo]


async def parts_of(
    content: Sequence[ChatInputPart] | None, caller: Caller, *, files: FileStore
) -> tuple[Part, ...]:
    """Return the parts of the message that `content` makes. Refused if it makes none."""
    if not content:
        validation = Validation("content", "must hold at least one part")
        raise HttpError(400, "Content is required.", validations=(validation,))
    wanted = frozenset(_file_id(part, at) for at, part in enumerate(content) if _is_file(part))
    found = await files.find(FileReader(caller.id, caller.is_admin), wanted) if wanted else {}
    return tuple(_part(part, at, found) for at, part in enumerate(content))


def choice_or_refusal(answer: ModelChoice | NoChoice) -> ModelChoice:
    """Return the model and effort of a message. Refused if there is no model to ask."""
    if isinstance(answer, ModelChoice):
        return answer
    raise choice_refused(answer)


def choice_refused(answer: NoChoice) -> HttpError:
    validation = Validation(answer.field, answer.detail or answer.message)
    return HttpError(
        400,
        answer.message,
        detail=answer.detail,
        validations=(validation,),
        kind=answer.kind,
    )


def model_id(said: UUID | None) -> ModelConfigId | None:
    """Return the model that a message names: some clients send nil where they mean none."""
    return ModelConfigId(said) if said is not None and said.int else None


def _part(part: ChatInputPart, at: int, found: FoundFiles) -> Part:
    match _kind(part):
        case "text":
            text = (part.text or "").strip()
            return TextPart(text) if text else _refuse(at, "text", "must not be empty")
        case "file":
            return _file(part, at, found)
        case "file-reference":
            return _reference(part, at)
        case kind:
            _refuse(at, "type", f"{kind!r} is none of text, file, file-reference")


def _file(part: ChatInputPart, at: int, found: FoundFiles) -> FilePart:
    file = found.get(_file_id(part, at))
    if file is None:
        _refuse(at, "file_id", "names no file that you can see")
    if file.media_type not in ACCEPTED:
        _refuse(at, "file_id", f"is a file of the type {file.media_type}, which is not supported")
    return FilePart(file.media_type, file.name, file_id=file.id)


def _reference(part: ChatInputPart, at: int) -> FileReferencePart:
    if not part.file_name:
        _refuse(at, "file_name", "must not be empty")
    return FileReferencePart(
        part.file_name, part.start_line or 0, part.end_line or 0, part.content or ""
    )


def _file_id(part: ChatInputPart, at: int) -> FileId:
    if part.file_id is None or part.file_id.int == 0:
        _refuse(at, "file_id", "is required")
    return FileId(part.file_id)


def _is_file(part: ChatInputPart) -> bool:
    return _kind(part) == "file"


def _kind(part: ChatInputPart) -> str:
    return (part.type or "").strip().lower()


def _refuse(at: int, field: str, fact: str) -> NoReturn:
    place = f"content[{at}].{field}"
    raise HttpError(
        400,
        "Invalid input part.",
        detail=f"{place} {fact}",
        validations=(Validation(place, fact),),
    )
