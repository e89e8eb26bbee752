"""Messages as clients get them, in answers and on streams: our types → the wire. Pure.

A part is flat, and `type` says which of its keys mean something. Some keys are on every part, with
a zero where they mean nothing: clients written for this API have seen them there.

Clients do not see every message: not those that are deleted, of the system, or only for the model
(`is_shown`). Of the parts, what a hook told the model is left out, as are the providers' notes and
what only the prompt needs (the text of context files and skills, data of a file that is stored).
"""

import re
from collections.abc import Iterable
from datetime import datetime
from typing import assert_never
from uuid import UUID

import msgspec
from msgspec import UNSET, Raw, UnsetType

from actors.law import chat as stored
from actors.law.chat import Body, Message, QueuedMessage, RetryState
from actors.law.ids import ChatId
from actors.law.parts import message as model
from actors.law.parts.message import JsonText, Part
from actors.law.requests import BusyBehaviour
from actors.streams.feeds.diff import is_body_shown as is_body_shown
from actors.streams.feeds.diff import is_shown as is_shown


class ChatMessagePart(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a message, its keys in the order of the reference's own."""

    type: str
    text: str = ""
    tool_call_id: str | UnsetType = UNSET
    tool_name: str | UnsetType = UNSET
    mcp_server_config_id: UUID | None = None
    args: Raw | UnsetType = UNSET
    args_delta: str | UnsetType = UNSET
    parsed_commands: tuple[tuple[str, ...], ...] | UnsetType = UNSET
    result: Raw | UnsetType = UNSET
    result_bytes: int | UnsetType = UNSET  # of the whole result, where this one is cut
    result_delta: str | UnsetType = UNSET
    result_reset: bool | UnsetType = UNSET
    is_error: bool | UnsetType = UNSET
    is_media: bool | UnsetType = UNSET
    source_id: str | UnsetType = UNSET
    url: str = ""
    title: str | UnsetType = UNSET
    media_type: str = ""
    name: str | UnsetType = UNSET
    data: str | UnsetType = UNSET
    file_id: UUID | None = None
    file_name: str = ""
    start_line: int = 0
    end_line: int = 0
    content: str = ""
    provider_executed: bool | UnsetType = UNSET
    hook_rewritten: bool | UnsetType = UNSET
    created_at: datetime | UnsetType = UNSET
    completed_at: datetime | UnsetType = UNSET
    context_file_path: str = ""
    context_file_truncated: bool | UnsetType = UNSET
    context_file_agent_id: UUID | None = None
    skill_name: str = ""
    skill_description: str | UnsetType = UNSET


class ChatMessageUsage(msgspec.Struct, frozen=True):
    """The usage of a message; counts of nothing are left out."""

    input_tokens: int | UnsetType = UNSET
    output_tokens: int | UnsetType = UNSET
    total_tokens: int | UnsetType = UNSET
    reasoning_tokens: int | UnsetType = UNSET
    cache_creation_tokens: int | UnsetType = UNSET
    cache_read_tokens: int | UnsetType = UNSET
    context_limit: int | UnsetType = UNSET


_NOTHING_COUNTED = ChatMessageUsage()


class ChatMessage(msgspec.Struct, frozen=True, kw_only=True):
    id: int
    chat_id: UUID
    created_by: UUID | UnsetType = UNSET
    model_config_id: UUID | UnsetType = UNSET
    created_at: datetime
    role: str
    content: tuple[ChatMessagePart, ...] | UnsetType = UNSET
    usage: ChatMessageUsage | UnsetType = UNSET
    cost_micros: int | UnsetType | None = UNSET  # where asked for; null: it is not known
    edited: bool | UnsetType = UNSET  # in pages: it took the place of another message


class ChatQueuedMessage(msgspec.Struct, frozen=True, kw_only=True):
    id: int
    chat_id: UUID
    model_config_id: UUID | UnsetType = UNSET
    content: tuple[ChatMessagePart, ...]
    created_at: datetime
    busy_behavior: str | UnsetType = UNSET  # steer; absent: queue


class ChatError(msgspec.Struct, frozen=True, kw_only=True):
    message: str
    detail: str | UnsetType = UNSET
    kind: str | UnsetType = UNSET
    provider: str | UnsetType = UNSET
    retryable: bool = False
    status_code: int | UnsetType = UNSET


class ChatStreamRetry(msgspec.Struct, frozen=True, kw_only=True):
    attempt: int  # the one that failed, counted from 1
    delay_ms: int
    error: str
    kind: str | UnsetType = UNSET
    provider: str | UnsetType = UNSET
    status_code: int | UnsetType = UNSET
    retrying_at: datetime


def message_of(
    chat: ChatId, message: Message, *, costs: bool = False, is_edited: bool = False
) -> ChatMessage:
    """Return the message as clients see it. `costs`: with what it cost, if it was bought."""
    body = message.body
    return ChatMessage(
        id=message.id,
        chat_id=chat,
        created_by=body.created_by or UNSET,
        model_config_id=body.model_config_id or UNSET,
        created_at=message.created_at,
        role=body.role.value,
        content=parts_of(body.parts) or UNSET,
        usage=_usage_of(body),
        cost_micros=body.cost.micros if costs and body.cost is not None else UNSET,
        edited=True if is_edited else UNSET,
    )


def queued_of(chat: ChatId, queued: QueuedMessage) -> ChatQueuedMessage:
    assert queued.created_at is not None, "what is shown is stored"
    return ChatQueuedMessage(
        id=queued.id,
        chat_id=chat,
        model_config_id=queued.message.model_config_id or UNSET,
        content=parts_of(queued.message.parts),
        created_at=queued.created_at,
        busy_behavior=BusyBehaviour.STEER.value if queued.steers else UNSET,
    )


def error_of(error: stored.ChatError) -> ChatError:
    """Return the error as clients see it. They show it as it is, so a blank text gets words."""
    return ChatError(
        message=error.message or "The chat was stopped by an error.",
        detail=error.detail or UNSET,
        kind=error.kind or "generic",
        provider=error.provider or UNSET,
        retryable=error.retryable,
        status_code=error.status_code or UNSET,
    )


def retry_of(retry: RetryState) -> ChatStreamRetry:
    return ChatStreamRetry(
        attempt=retry.attempt,
        delay_ms=retry.delay_ms,
        error=retry.error,
        kind=retry.kind or UNSET,
        provider=retry.provider or UNSET,
        status_code=retry.status_code or UNSET,
        retrying_at=retry.retrying_at,
    )


def parts_of(parts: Iterable[Part]) -> tuple[ChatMessagePart, ...]:
    """Return those of the parts that clients get to see."""
    return tuple([part_of(p) for p in parts if type(p) is not model.HookContextPart])


def part_of(part: Part) -> ChatMessagePart:
    match part:
        case model.TextPart(text=text, hook_rewritten=rewritten):
            return ChatMessagePart(type="text", text=text, hook_rewritten=rewritten or UNSET)
        case model.ReasoningPart(text=text):
            return ChatMessagePart(
                type="reasoning",
                text=text,
                created_at=part.created_at or UNSET,
                completed_at=part.completed_at or UNSET,
            )
        case model.ToolCallPart():
            return _call_of(part)
        case model.ToolResultPart():
            return _result_of(part)
        case model.SourcePart(id=id, url=url, title=title):
            return ChatMessagePart(
                type="source", source_id=id or UNSET, url=url, title=title or UNSET
            )
        case model.FilePart(media_type=media_type, name=name, file_id=file):
            data = UNSET if file is not None else part.data or UNSET
            return ChatMessagePart(
                type="file", media_type=media_type, name=name or UNSET, file_id=file, data=data
            )
        case model.FileReferencePart():
            return ChatMessagePart(
                type="file-reference",
                file_name=part.file_name,
                start_line=part.start_line,
                end_line=part.end_line,
                content=part.content,
            )
        case model.ContextFilePart(path=path, truncated=truncated, agent_id=agent):
            return ChatMessagePart(
                type="context-file",
                context_file_path=path,
                context_file_truncated=truncated or UNSET,
                context_file_agent_id=agent,
            )
        case model.SkillPart(name=name, description=description):
            return ChatMessagePart(
                type="skill", skill_name=name, skill_description=description or UNSET
            )
        case model.HookNoticePart(text=text):
            return ChatMessagePart(type="hook-notice", text=text)
        case model.HookContextPart():
            raise AssertionError("what a hook tells the model is shown to nobody")
        case _:
            assert_never(part)


def _call_of(part: model.ToolCallPart) -> ChatMessagePart:
    return ChatMessagePart(
        type="tool-call",
        tool_call_id=part.id or UNSET,
        tool_name=part.name or UNSET,
        mcp_server_config_id=part.mcp_server_config_id,
        args=json_of(part.args),
        parsed_commands=part.parsed_commands or UNSET,
        provider_executed=part.provider_executed or UNSET,
        hook_rewritten=part.hook_rewritten or UNSET,
        created_at=part.created_at or UNSET,
    )


def _result_of(part: model.ToolResultPart) -> ChatMessagePart:
    return ChatMessagePart(
        type="tool-result",
        tool_call_id=part.id or UNSET,
        tool_name=part.name or UNSET,
        mcp_server_config_id=part.mcp_server_config_id,
        result=json_of(part.result),
        is_error=part.is_error or UNSET,
        is_media=part.is_media or UNSET,
        provider_executed=part.provider_executed or UNSET,
        created_at=part.created_at or UNSET,
    )


def _usage_of(body: Body) -> ChatMessageUsage | UnsetType:
    usage = body.usage
    counted = ChatMessageUsage(
        usage.input_tokens or UNSET,
        usage.output_tokens or UNSET,
        usage.total_tokens or UNSET,
        usage.reasoning_tokens or UNSET,
        usage.cache_creation_tokens or UNSET,
        usage.cache_read_tokens or UNSET,
        body.context_limit or UNSET,
    )
    return UNSET if counted == _NOTHING_COUNTED else counted


def json_of(text: JsonText | None) -> Raw | UnsetType:
    """Return JSON of a model or a tool so that it does no harm to the document it is put into: on
    one line, without halves of characters, and left out if it is no JSON."""
    if not text:
        return UNSET
    try:
        raw = text.encode().translate(_ONE_LINE)
        if b"\\u" in raw:
            raw = _HALVES.sub(_mended, raw)
        return msgspec.json.decode(raw, type=Raw)
    except (UnicodeEncodeError, msgspec.DecodeError):
        return UNSET


_ONE_LINE = bytes.maketrans(b"\r\n", b"  ")  # inside strings they are always escaped
# A backslash escapes what follows it, so escapes are read in pairs.
_HALVES = re.compile(rb"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u[dD][89a-fA-F]..|\\.")


def _mended(found: re.Match[bytes]) -> bytes:
    is_half = len(found[0]) == 6 and found[0][2] in b"dD"
    return b"\\ufffd" if is_half else found[0]
