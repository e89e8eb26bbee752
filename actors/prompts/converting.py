"""A row of the history as what was said, in the words of a prompt. Pure."""

import re
from collections.abc import Iterator

from actors.law.chat import Message, Role
from actors.law.parts.json_text import is_object
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
from actors.law.parts.prompt import AssistantOutput, PromptMessage, ToolResults, UserInput
from actors.prompts.files import Accepts, Files, file_said
from actors.prompts.results import answer_said

_NOT_IN_IDS = re.compile(r"[^A-Za-z0-9_-]")


def system_texts(rows: tuple[Message, ...]) -> tuple[str, ...]:
    parts = (part for row in rows if row.body.role is Role.SYSTEM for part in row.body.parts)
    return tuple(part.text for part in map(_text, parts) if part is not None)


def said(row: Message, files: Files, takes: Accepts | None) -> PromptMessage | None:
    """None: there is nothing in it for a model."""
    parts = row.body.parts
    match row.body.role:
        case Role.SYSTEM:
            return None
        case Role.USER:
            user = tuple(_user(parts, files, takes))
            return UserInput(user) if user else None
        case Role.ASSISTANT:
            assistant = tuple(_assistant(parts))
            return AssistantOutput(assistant) if assistant else None
        case Role.TOOL:
            results = (part for part in parts if isinstance(part, ToolResultPart))
            answers = tuple(
                answer_said(part, clean_id(part.id))
                for part in results
                if not part.provider_executed
            )
            return ToolResults(answers) if answers else None


def clean_id(id: str) -> str:
    return _NOT_IN_IDS.sub("_", id)


def _user(
    parts: tuple[Part, ...], files: Files, takes: Accepts | None
) -> Iterator[TextPart | FilePart]:
    for part in parts:
        found = file_said(part, files, takes) if isinstance(part, FilePart) else _text(part)
        if found is not None:
            yield found


def _text(part: Part) -> TextPart | None:
    """The parts that are words to a model. Sources, notices and skills are not."""
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
    """Files that an assistant attached are not shown to it again."""
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
    """Arguments that are no object would cost the whole call, and orphan its result."""
    return args if args and is_object(args) else JsonText("{}")


def _context_file(part: ContextFilePart) -> str:
    cut = "\n[the rest of the file is not shown]" if part.truncated else ""
    return f"[instructions from {part.path}]\n{part.content}{cut}"


def _reference(part: FileReferencePart) -> str:
    runs = re.findall(r"`+", part.content)
    fence = "`" * max(3, 1 + max(map(len, runs), default=0))
    lines = f"lines {part.start_line}-{part.end_line}"
    return f"[from {part.file_name}, {lines}]\n{fence}\n{part.content}\n{fence}"
