"""The events of streams: as clients get them, encoded once for all watchers, in frames. Pure.

An event is encoded into bytes that go to every watcher. `decode_place` reads back as much of such
bytes as a client needs in order to go on after them.

{"type":"message_part","chat_id":"…","message_part":{"role":"assistant",
 "part":{"type":"text","text":"Hel",…},"history_version":3,"generation_attempt":1,"seq":7}}
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, assert_never
from uuid import UUID

import msgspec
from msgspec import UNSET, Raw, UnsetType

from actors.law.chat import Message, QueuedMessage
from actors.law.ids import ChatId, EpisodeKey
from actors.law.parts.message import HookContextPart, TextPart
from actors.streams.feeds import events
from actors.streams.feeds.events import Event
from actors.streams.pieces import ArgsPiece, NumberedPiece, Piece, ReasoningPiece, ResultPiece
from adapters.chats.wire.messages import (
    ChatError,
    ChatMessage,
    ChatMessagePart,
    ChatQueuedMessage,
    ChatStreamRetry,
    error_of,
    message_of,
    part_of,
    queued_of,
    retry_of,
)
from adapters.http.host.websockets import framed
from adapters.postgres.codec.parts import with_valid_text
from adapters.tools.approvals.presenters import approval_of
from adapters.tools.approvals.schemas import ChatApproval


class ChatStreamStatus(msgspec.Struct, frozen=True):
    status: str


class ChatStreamMessagePart(msgspec.Struct, frozen=True):
    """A piece of an attempt: shown while it runs, and kept nowhere."""

    role: str
    part: ChatMessagePart
    history_version: int
    generation_attempt: int
    seq: int  # from 1, without gaps
    truncated: bool | UnsetType = UNSET  # the last one: the attempt goes on, the rest is not shown


class ChatStreamToolCall(msgspec.Struct, frozen=True):
    tool_call_id: str
    tool_name: str
    args: str  # JSON as text


class ChatStreamActionRequired(msgspec.Struct, frozen=True):
    tool_calls: tuple[ChatStreamToolCall, ...]


EventType = Literal[
    "message_part",
    "message",
    "status",
    "error",
    "queue_update",
    "retry",
    "action_required",
    "approvals",
    "preview_reset",
    "history_reset",
]


class ChatStreamEvent(msgspec.Struct, frozen=True, kw_only=True):
    """An event of one chat. `type` says which other field is there; the resets have none."""

    type: EventType
    chat_id: UUID
    message: ChatMessage | UnsetType = UNSET
    message_part: ChatStreamMessagePart | UnsetType = UNSET
    status: ChatStreamStatus | UnsetType = UNSET
    error: ChatError | UnsetType = UNSET
    retry: ChatStreamRetry | UnsetType = UNSET
    queued_messages: tuple[ChatQueuedMessage, ...] | UnsetType = UNSET  # absent: it is empty now
    action_required: ChatStreamActionRequired | UnsetType = UNSET
    approvals: tuple[ChatApproval, ...] | UnsetType = UNSET  # all that its family waits for


WatchKind = Literal[
    "status_change",
    "summary_change",
    "chat_summary_change",
    "title_change",
    "created",
    "deleted",
    "diff_status_change",
    "action_required",
    "context_dirty",
    "shared",
    "unshared",
]


class ChatWatchEvent(msgspec.Struct, frozen=True):
    """News of a chat of a user's list.

    `chat` is the chat as a list shows it. In an event `unshared` it has only its id.
    """

    kind: WatchKind
    chat: Raw


class MessagePlace(msgspec.Struct, frozen=True):
    """The place of a message, as far as it is read back."""

    id: int


class PiecePlace(msgspec.Struct, frozen=True):
    """The place of a piece of an attempt, as far as it is read back."""

    history_version: int
    generation_attempt: int
    seq: int


class EventPlace(msgspec.Struct, frozen=True):
    """The place of an event in a chat, read back from its bytes."""

    type: str
    message: MessagePlace | None = None
    message_part: PiecePlace | None = None


# Server-sent events leave out the empty fields of parts, which would be most of a short event.
# WebSockets send them, because older clients want them.


class SparseMessagePart(ChatMessagePart, frozen=True, kw_only=True, omit_defaults=True):
    """A part without its empty fields, but for `text`, which clients add to."""

    text: str


class SparseMessage(ChatMessage, frozen=True, kw_only=True):
    content: tuple[SparseMessagePart, ...] | UnsetType = UNSET


class SparseQueuedMessage(ChatQueuedMessage, frozen=True, kw_only=True):
    content: tuple[SparseMessagePart, ...]


class SparsePiece(ChatStreamMessagePart, frozen=True):
    part: SparseMessagePart


class SparseStreamEvent(ChatStreamEvent, frozen=True, kw_only=True):
    """An event of one chat whose parts are without their empty fields."""

    message: SparseMessage | UnsetType = UNSET
    message_part: SparsePiece | UnsetType = UNSET
    queued_messages: tuple[SparseQueuedMessage, ...] | UnsetType = UNSET


encode_json = msgspec.json.Encoder().encode
decode_place = msgspec.json.Decoder(EventPlace).decode
decode_sparse = msgspec.json.Decoder(SparseStreamEvent).decode

_ON_ONE_LINE = bytes.maketrans(b"\r\n", b"  ")  # in JSON they can only stand between values


# events


def encode_event(chat: ChatId, event: Event) -> bytes:
    """Encode an event of a chat. Fulfils `actors.streams.feeds.ports.EncodeEvent`."""
    try:
        return encode_json(event_of(chat, event))
    except UnicodeEncodeError:
        return encode_json(event_of(chat, _whole_event(event)))


def event_of(chat: ChatId, event: Event) -> ChatStreamEvent:
    match event:
        case events.MessageChanged(message):
            return ChatStreamEvent(type="message", chat_id=chat, message=message_of(chat, message))
        case events.HistoryReset():
            return ChatStreamEvent(type="history_reset", chat_id=chat)
        case events.QueueChanged(queue):
            rows = tuple([queued_of(chat, row) for row in queue])
            # Absent, not empty, when nothing waits any more: clients know it so.
            return ChatStreamEvent(type="queue_update", chat_id=chat, queued_messages=rows or UNSET)
        case events.StatusChanged(status):
            return ChatStreamEvent(
                type="status", chat_id=chat, status=ChatStreamStatus(status.value)
            )
        case events.ChatFailed(error):
            return ChatStreamEvent(type="error", chat_id=chat, error=error_of(error))
        case events.ActionRequired(calls):
            asked = ChatStreamActionRequired(
                tuple([ChatStreamToolCall(call.id, call.name, call.args or "") for call in calls])
            )
            return ChatStreamEvent(type="action_required", chat_id=chat, action_required=asked)
        case events.ApprovalsChanged(family):
            approvals = tuple(
                [approval_of(one.chat, one.title, call) for one in family for call in one.approvals]
            )
            return ChatStreamEvent(type="approvals", chat_id=chat, approvals=approvals)
        case events.RetryScheduled(retry):
            return ChatStreamEvent(type="retry", chat_id=chat, retry=retry_of(retry))
        case events.PreviewReset():
            return ChatStreamEvent(type="preview_reset", chat_id=chat)
        case _:
            assert_never(event)


def _whole_event(event: Event) -> Event:
    """Return the event without halves of characters, as the store keeps it."""
    match event:
        case events.MessageChanged(message):
            return events.MessageChanged(_whole_message(message))
        case events.QueueChanged(queue):
            return events.QueueChanged(tuple(map(_whole_row, queue)))
        case events.ChatFailed(error):
            return events.ChatFailed(with_valid_text(error))
        case events.RetryScheduled(retry):
            return events.RetryScheduled(with_valid_text(retry))
        case events.ActionRequired(calls):
            return events.ActionRequired(tuple(map(with_valid_text, calls)))
        case _:
            return event


def _whole_message(message: Message) -> Message:
    body = message.body
    return replace(message, body=replace(body, parts=tuple(map(with_valid_text, body.parts))))


def _whole_row(row: QueuedMessage) -> QueuedMessage:
    message = row.message
    return replace(row, message=replace(message, parts=tuple(map(with_valid_text, message.parts))))


# pieces of attempts


def encode_piece(key: EpisodeKey, said: NumberedPiece) -> bytes:
    """Encode a piece of an attempt. Fulfils `actors.streams.previews.EncodePiece`."""
    try:
        return encode_json(_piece_event(key, said, said.piece))
    except UnicodeEncodeError:
        return encode_json(_piece_event(key, said, with_valid_text(said.piece)))


def _piece_event(key: EpisodeKey, said: NumberedPiece, piece: Piece) -> ChatStreamEvent:
    return ChatStreamEvent(
        type="message_part",
        chat_id=key.chat,
        message_part=ChatStreamMessagePart(
            said.role.value,
            _part_of_piece(piece),
            key.history_version,
            key.attempt,
            said.seq,
            said.is_cut or UNSET,
        ),
    )


def _part_of_piece(piece: Piece) -> ChatMessagePart:
    """Return the piece as clients get it. Most of them are text, so that is asked first."""
    if type(piece) is TextPart:
        return ChatMessagePart(type="text", text=piece.text)
    match piece:
        case ReasoningPiece(text=text, created_at=created_at):
            return ChatMessagePart(type="reasoning", text=text, created_at=created_at or UNSET)
        case ArgsPiece(id=id, name=name, args_delta=delta):
            return ChatMessagePart(
                type="tool-call",
                tool_call_id=id or UNSET,
                tool_name=name or UNSET,
                mcp_server_config_id=piece.mcp_server_config_id,
                args_delta=delta or UNSET,
                provider_executed=piece.provider_executed or UNSET,
            )
        case ResultPiece(id=id, name=name, result_delta=delta, resets=resets):
            return ChatMessagePart(
                type="tool-result",
                tool_call_id=id or UNSET,
                tool_name=name or UNSET,
                result_delta=delta or UNSET,
                result_reset=resets or UNSET,
            )
        case HookContextPart():
            raise AssertionError("what a hook tells the model is shown to no watcher")
        case _:
            return part_of(piece)


# frames


def as_frame(events: Sequence[bytes]) -> bytes:
    """Pack the events into one text frame: a JSON array, a newline behind it."""
    return framed(b"[" + b",".join(events) + b"]\n")


def as_frames(events: Sequence[bytes]) -> bytes:
    """Pack each event into a text frame: one JSON value, a newline behind it."""
    return b"".join([framed(event + b"\n") for event in events])


def as_sse(events: Sequence[bytes]) -> bytes:
    """Pack the events as server-sent events, with the place to go on from as the id."""
    return b"".join(map(_as_sse, events))


def _as_sse(event: bytes) -> bytes:
    told = decode_sparse(event)
    line = b"data: " + encode_json(told).translate(_ON_ONE_LINE) + b"\n\n"
    if not isinstance(told.message, UnsetType):
        return b"id: %d\n" % told.message.id + line
    if not isinstance(told.message_part, UnsetType):
        piece = told.message_part
        numbers = (piece.history_version, piece.generation_attempt, piece.seq)
        return b"id: %d.%d.%d\n" % numbers + line
    return line
