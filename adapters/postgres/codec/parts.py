"""Parts of messages as they lie in a `content` column: parts ↔ JSON. Pure.

Content version 1 is an array of objects, one per part, `type` first. JSON inside a part (arguments,
results, metadata) is kept as the very text it came as, except for blanks around it. PostgreSQL
takes no U+0000, so it is stored as U+E000 `0`, and U+E000 itself as U+E000 `e`; reading turns both
back. A surrogate without its partner is no text, for providers neither, and becomes U+FFFD.
"""

import re
from dataclasses import fields, replace
from datetime import datetime
from functools import reduce
from operator import or_
from types import GenericAlias
from typing import TypeVar, assert_never, get_args
from uuid import UUID

import msgspec

from actors.law.ids import FileId
from actors.law.parts import message as model
from actors.law.parts.message import JsonText, Part

CONTENT_VERSION = 1

T = TypeVar("T")


class Unreadable(AssertionError):
    """Stored content that is not content: `where: what is wrong with it`.

    No program of ours writes such content, so it counts as a failed assertion: reading it again
    does not help, and the task that works on it stops.
    """


_ABSENT = msgspec.Raw()


class _Wire(msgspec.Struct, tag_field="type", omit_defaults=True, frozen=True):
    provider_metadata: msgspec.Raw = _ABSENT


class _Text(_Wire, tag="text", frozen=True):
    text: str = ""
    hook_rewritten: bool = False


class _Reasoning(_Wire, tag="reasoning", frozen=True):
    text: str = ""
    created_at: datetime | None = None
    completed_at: datetime | None = None


class _ToolCall(_Wire, tag="tool-call", frozen=True):
    tool_call_id: str = ""
    tool_name: str = ""
    args: msgspec.Raw = _ABSENT
    provider_executed: bool = False
    hook_rewritten: bool = False
    mcp_server_config_id: UUID | None = None
    parsed_commands: tuple[tuple[str, ...], ...] = ()
    created_at: datetime | None = None


class _ToolResult(_Wire, tag="tool-result", frozen=True):
    tool_call_id: str = ""
    tool_name: str = ""
    result: msgspec.Raw = _ABSENT
    is_error: bool = False
    is_media: bool = False
    provider_executed: bool = False
    mcp_server_config_id: UUID | None = None
    created_at: datetime | None = None


class _Source(_Wire, tag="source", frozen=True):
    source_id: str = ""
    url: str = ""
    title: str = ""


class _File(_Wire, tag="file", frozen=True):
    media_type: str = ""
    name: str = ""
    file_id: UUID | None = None
    data: str | None = None


class _FileReference(_Wire, tag="file-reference", frozen=True):
    file_name: str = ""
    start_line: int = 0
    end_line: int = 0
    content: str = ""


class _ContextFile(_Wire, tag="context-file", frozen=True):
    context_file_path: str = ""
    context_file_content: str = ""
    context_file_truncated: bool = False
    context_file_agent_id: UUID | None = None
    context_file_os: str = ""
    context_file_directory: str = ""


class _Skill(_Wire, tag="skill", frozen=True):
    skill_name: str = ""
    skill_description: str = ""
    skill_dir: str = ""
    context_file_skill_meta_file: str = ""


class _HookContext(_Wire, tag="hook-context", frozen=True):
    text: str = ""
    nudges: bool = False


class _HookNotice(_Wire, tag="hook-notice", frozen=True):
    text: str = ""


_Stored = (
    _Text
    | _Reasoning
    | _ToolCall
    | _ToolResult
    | _Source
    | _File
    | _FileReference
    | _ContextFile
    | _Skill
    | _HookContext
    | _HookNotice
)

_CALLS = (_ToolCall, _ToolResult)
_OTHERS = tuple(
    msgspec.defstruct(
        f"_Skipped{kind.__name__}", [], tag_field="type", tag=kind.__struct_config__.tag
    )
    for kind in get_args(_Stored)
    if kind not in _CALLS
)

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(tuple[_Stored, ...])
_calls_decoder = msgspec.json.Decoder(
    GenericAlias(list, reduce(or_, _OTHERS, _ToolCall | _ToolResult))
)


def to_json(parts: tuple[Part, ...]) -> bytes:
    """Return parts as stored content."""
    try:
        return escaped(_encoder.encode([_stored(part) for part in parts]))
    except UnicodeEncodeError:
        return escaped(_encoder.encode([_stored(with_valid_text(part)) for part in parts]))


def with_valid_text(record: T) -> T:
    """Return a dataclass with U+FFFD for each half of a character in its texts, which UTF-8 cannot
    write."""
    texts = ((f.name, getattr(record, f.name)) for f in fields(record))  # type: ignore[arg-type]
    mended = {
        name: text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        for name, text in texts
        if isinstance(text, str)
    }
    return replace(record, **mended)  # type: ignore[type-var]


def from_json(content: bytes, *, version: int, where: str) -> tuple[Part, ...]:
    """Return the parts of stored content, or raise `Unreadable`."""
    _check_version(version, where)
    try:
        return tuple(map(_part, _decoder.decode(unescaped(content))))
    except msgspec.DecodeError as error:
        raise Unreadable(f"{where}: {error}") from error


def calls_from_json(content: bytes, *, version: int, where: str) -> tuple[Part, ...]:
    """Return the calls and the results of stored content, each with all its fields.

    Other parts are not read: a message that is sent to the chat is not refused because of them.
    """
    _check_version(version, where)
    try:
        parts = _calls_decoder.decode(unescaped(content))
    except msgspec.DecodeError as error:
        raise Unreadable(f"{where}: {error}") from error
    return tuple([_part(part) for part in parts if isinstance(part, _CALLS)])


def _check_version(version: int, where: str) -> None:
    if version != CONTENT_VERSION:
        raise Unreadable(
            f"{where}: content version {version}, this program reads {CONTENT_VERSION}"
        )


# A backslash escapes what follows it, so escapes are read in pairs: `\\u0000` is no U+0000.
_ESCAPE = re.compile(
    rb"\\(?:u(0000)|u[dD][89abAB]..\\u[dD][c-fC-F]..|u([dD][89a-fA-F]..)|.)|\xee\x80(\x80)"
)
_UNESCAPED = {b"\xee\x80\x800": b"\\u0000", b"\xee\x80\x80e": b"\xee\x80\x80"}
_UNESCAPE = re.compile(rb"\xee\x80\x80[0e]")


def escaped(json: bytes) -> bytes:
    """Return JSON as PostgreSQL takes it."""
    if any(mark in json for mark in (b"\\u0000", b"\\ud", b"\\uD", b"\xee\x80\x80")):
        return _ESCAPE.sub(_escape, json)
    return json


def unescaped(json: bytes) -> bytes:
    """Return JSON as it was before it was stored."""
    if b"\xee\x80\x80" in json:
        return _UNESCAPE.sub(lambda found: _UNESCAPED[found[0]], json)
    return json


def storable_id(id: str) -> str:
    """Return an id of a provider as a text of PostgreSQL, which cannot hold U+0000."""
    return id.encode("unicode_escape").decode()


def storable_text(text: str) -> str:
    """Return a text for people as a text of PostgreSQL: what cannot be kept is replaced."""
    mended = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return mended.replace("\0", "\ufffd")


def _escape(found: re.Match[bytes]) -> bytes:
    zero, surrogate, mark = found.groups()
    if zero:
        return b"\xee\x80\x800"
    if surrogate:
        return b"\\ufffd"
    return b"\xee\x80\x80e" if mark else found[0]


def _raw(text: JsonText | None) -> msgspec.Raw:
    return _ABSENT if text is None else msgspec.Raw(text.encode())


def _text(raw: msgspec.Raw) -> JsonText | None:
    return JsonText(bytes(raw).decode()) if raw else None


def _stored(part: Part) -> _Wire:
    notes = _raw(part.provider_metadata) if isinstance(part, _ANNOTATED) else _ABSENT
    match part:
        case model.TextPart():
            return _Text(notes, part.text, part.hook_rewritten)
        case model.ReasoningPart():
            return _Reasoning(notes, part.text, part.created_at, part.completed_at)
        case model.ToolCallPart():
            return _ToolCall(
                notes,
                part.id,
                part.name,
                _raw(part.args),
                part.provider_executed,
                part.hook_rewritten,
                part.mcp_server_config_id,
                part.parsed_commands,
                part.created_at,
            )
        case model.ToolResultPart():
            return _ToolResult(
                notes,
                part.id,
                part.name,
                _raw(part.result),
                part.is_error,
                part.is_media,
                part.provider_executed,
                part.mcp_server_config_id,
                part.created_at,
            )
        case model.SourcePart():
            return _Source(notes, part.id, part.url, part.title)
        case model.FilePart():
            return _File(notes, part.media_type, part.name, part.file_id, part.data)
        case model.FileReferencePart():
            return _FileReference(
                notes, part.file_name, part.start_line, part.end_line, part.content
            )
        case model.ContextFilePart():
            return _ContextFile(
                notes,
                part.path,
                part.content,
                part.truncated,
                part.agent_id,
                part.os,
                part.directory,
            )
        case model.SkillPart():
            return _Skill(notes, part.name, part.description, part.directory, part.meta_file)
        case model.HookContextPart():
            return _HookContext(notes, part.text, part.nudges)
        case model.HookNoticePart():
            return _HookNotice(notes, part.text)
        case _:
            assert_never(part)


def _part(wire: _Stored) -> Part:
    notes = _text(wire.provider_metadata)
    match wire:
        case _Text():
            return model.TextPart(wire.text, notes, wire.hook_rewritten)
        case _Reasoning():
            return model.ReasoningPart(wire.text, wire.created_at, wire.completed_at, notes)
        case _ToolCall():
            return model.ToolCallPart(
                wire.tool_call_id,
                wire.tool_name,
                _text(wire.args),
                wire.provider_executed,
                wire.hook_rewritten,
                wire.mcp_server_config_id,
                wire.parsed_commands,
                wire.created_at,
                notes,
            )
        case _ToolResult():
            return model.ToolResultPart(
                wire.tool_call_id,
                wire.tool_name,
                _text(wire.result) or JsonText("null"),
                wire.is_error,
                wire.is_media,
                wire.provider_executed,
                wire.mcp_server_config_id,
                wire.created_at,
                notes,
            )
        case _Source():
            return model.SourcePart(wire.source_id, wire.url, wire.title, notes)
        case _File():
            file = None if wire.file_id is None else FileId(wire.file_id)
            return model.FilePart(wire.media_type, wire.name, file, wire.data, notes)
        case _FileReference():
            return model.FileReferencePart(
                wire.file_name, wire.start_line, wire.end_line, wire.content
            )
        case _ContextFile():
            return model.ContextFilePart(
                wire.context_file_path,
                wire.context_file_content,
                wire.context_file_truncated,
                wire.context_file_agent_id,
                wire.context_file_os,
                wire.context_file_directory,
            )
        case _Skill():
            return model.SkillPart(
                wire.skill_name,
                wire.skill_description,
                wire.skill_dir,
                wire.context_file_skill_meta_file,
            )
        case _HookContext():
            return model.HookContextPart(wire.text, wire.nudges)
        case _HookNotice():
            return model.HookNoticePart(wire.text)
        case _:
            assert_never(wire)


_ANNOTATED = (
    model.TextPart,
    model.ReasoningPart,
    model.ToolCallPart,
    model.ToolResultPart,
    model.SourcePart,
    model.FilePart,
)
