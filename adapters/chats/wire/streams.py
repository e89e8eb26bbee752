"""What a stream consists of: events of a chat, and of an owner's chats. Pure.

An event is encoded once, into bytes that go to every watcher; `seen` reads back as much of such
bytes as a client needs in order to go on after them.
"""

from typing import Literal
from uuid import UUID

import msgspec
from msgspec import UNSET, Raw, UnsetType

from adapters.chats.wire.messages import (
    ChatError,
    ChatMessage,
    ChatMessagePart,
    ChatQueuedMessage,
    ChatStreamRetry,
)
from adapters.tools.approvals.wire import ChatApproval


class ChatStreamStatus(msgspec.Struct, frozen=True):
    status: str


class ChatStreamMessagePart(msgspec.Struct, frozen=True):
    """A piece of an attempt: shown while it runs, and kept nowhere."""

    role: str
    part: ChatMessagePart
    history_version: int
    generation_attempt: int
    seq: int  # from 1, without gaps


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
    """`type` says which of the others is there; the resets have none."""

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
]


class ChatWatchEvent(msgspec.Struct, frozen=True):
    """Something has become of a chat of this owner; `chat` is as a list shows it."""

    kind: WatchKind
    chat: Raw


class SeenMessage(msgspec.Struct, frozen=True):
    id: int


class SeenPart(msgspec.Struct, frozen=True):
    history_version: int
    generation_attempt: int
    seq: int


class Seen(msgspec.Struct, frozen=True):
    """As much of an event as tells where a reader of it is."""

    type: str
    message: SeenMessage | None = None
    message_part: SeenPart | None = None


encoded = msgspec.json.Encoder().encode
seen = msgspec.json.Decoder(Seen).decode
