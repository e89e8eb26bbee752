"""Requests and responses around messages and the queue. Pure."""

from collections.abc import Sequence
from typing import Annotated
from uuid import UUID

import msgspec
from msgspec import UNSET, Raw, UnsetType

from actors.law.chat import Message, QueuedMessage, Visibility
from actors.law.ids import ChatId, MessageId
from actors.law.store.ports import Applied
from adapters.chats.wire.messages import (
    ChatMessage,
    ChatQueuedMessage,
    is_body_shown,
    message_of,
    queued_of,
)
from adapters.http.schemas import REQUIRED
from adapters.postgres.codec.rows import MessagePage


class ChatInputPart(msgspec.Struct, frozen=True):
    """A part of a message in a request.

    Every field may be null, which is as good as absent. Some clients send a nil UUID for a file
    that they do not mean, with parts of any type.
    """

    type: str | None = None
    text: str | None = None
    file_id: UUID | None = None
    file_name: str | None = None
    start_line: int | None = None
    end_line: int | None = None
    content: str | None = None


class CreateChatMessageRequest(msgspec.Struct, frozen=True):
    content: Annotated[Sequence[ChatInputPart] | None, REQUIRED] = None
    model_config_id: UUID | None = None
    mcp_server_ids: Sequence[UUID] | None = None  # null: as they are; none: cleared
    busy_behavior: str | None = None
    plan_mode: str | None = None  # null: as it is
    reasoning_effort: str | None = None


class EditChatMessageRequest(msgspec.Struct, frozen=True):
    content: Annotated[Sequence[ChatInputPart] | None, REQUIRED] = None
    model_config_id: UUID | None = None
    reasoning_effort: str | None = None


class EditQueuedMessageRequest(msgspec.Struct, frozen=True):
    content: Annotated[Sequence[ChatInputPart] | None, REQUIRED] = None
    model_config_id: UUID | None = None
    reasoning_effort: str | None = None


class RetryTurnRequest(msgspec.Struct, frozen=True):
    """The model and effort of the next attempt, and of the chat from then on. null: as they are."""

    model_config_id: UUID | None = None
    reasoning_effort: str | None = None


class OrderQueueRequest(msgspec.Struct, frozen=True):
    order: Annotated[Sequence[int] | None, REQUIRED] = None


class ToolResult(msgspec.Struct, frozen=True):
    tool_call_id: str | None = None
    output: Raw | UnsetType = UNSET
    is_error: bool | None = None


class SubmitToolResultsRequest(msgspec.Struct, frozen=True):
    results: Annotated[Sequence[ToolResult] | None, REQUIRED] = None


class ChatMessagesResponse(msgspec.Struct, frozen=True):
    messages: Sequence[ChatMessage]
    queued_messages: Sequence[ChatQueuedMessage]
    has_more: bool
    history_version: int | UnsetType = UNSET  # as of which it was read: after_part=VERSION.0.0


class ChatPrompt(msgspec.Struct, frozen=True):
    id: int
    text: str


class ChatPromptsResponse(msgspec.Struct, frozen=True):
    prompts: Sequence[ChatPrompt]


class CreateChatMessageResponse(msgspec.Struct, frozen=True, kw_only=True):
    message: ChatMessage | UnsetType = UNSET  # when it is not queued
    messages: Sequence[ChatMessage] | UnsetType = UNSET  # all that were added, the user's last
    queued_message: ChatQueuedMessage | UnsetType = UNSET
    queued: bool
    warnings: Sequence[str] | UnsetType = UNSET  # what was asked for and is not done


class EditChatMessageResponse(msgspec.Struct, frozen=True, kw_only=True):
    message: ChatMessage
    messages: Sequence[ChatMessage] | UnsetType = UNSET
    deleted_message_ids: Sequence[int] | UnsetType = UNSET  # those that were shown


class QueueResponse(msgspec.Struct, frozen=True):
    """The queue in the order in which it will be taken."""

    queued_messages: Sequence[ChatQueuedMessage]


class MessageOnly(msgspec.Struct, frozen=True):
    """A response that only tells a person what was done."""

    message: str


def page_response(chat: ChatId, page: MessagePage, *, costs: bool = False) -> ChatMessagesResponse:
    """Return a page of messages. Its queue is in the order in which it was sent; streams show the
    order in which it will be taken."""
    queue = sorted(page.queue, key=lambda row: (row.created_at, row.id))
    return ChatMessagesResponse(
        [
            message_of(chat, message, costs=costs, is_edited=message.id in page.edited)
            for message in page.messages
        ],
        [queued_of(chat, row) for row in queue],
        page.has_more,
        page.history_version,
    )


def added_messages(applied: Applied) -> tuple[ChatMessage, ...]:
    """Return the messages that a commit added, as far as users see them, in their order."""
    chat = applied.chat
    return tuple(
        message_of(chat.id, Message(id, chat.snapshot_version, applied.at, False, body))
        for id, body in zip(applied.message_ids, applied.change.added, strict=True)
        if is_body_shown(body)
    )


def queue_shown(applied: Applied) -> tuple[ChatQueuedMessage, ...]:
    """Return the queue in the order in which it will be taken."""
    return tuple(queued_of(applied.chat.id, row) for row in applied.stored.queue)


def sent_response(applied: Applied) -> CreateChatMessageResponse:
    """Return the response to a message that was sent: it waits, or it was added last."""
    messages = added_messages(applied)
    new = frozenset(applied.queued_ids)
    waiting = [row for row in applied.stored.queue if row.id in new]
    if not waiting:
        return CreateChatMessageResponse(message=messages[-1], messages=messages, queued=False)
    return CreateChatMessageResponse(
        messages=messages or UNSET,
        queued_message=queued_of(applied.chat.id, waiting[0]),
        queued=True,
    )


def sent_again_response(
    chat: ChatId, said: Sequence[Message], waiting: Sequence[QueuedMessage], *, was_queued: bool
) -> CreateChatMessageResponse:
    """Return the same from what is left of it now: what waited then may have been taken since."""
    messages = tuple(message_of(chat, message) for message in said)
    queued = tuple(queued_of(chat, row) for row in waiting)
    return CreateChatMessageResponse(
        message=messages[-1] if messages and not was_queued else UNSET,
        messages=messages or UNSET,
        queued_message=queued[0] if queued else UNSET,
        queued=was_queued,
    )


def edited_response(applied: Applied) -> EditChatMessageResponse:
    """Return the response to an edit: closed calls come before the message, nothing after it."""
    messages = added_messages(applied)
    gone = [
        MessageId(row.id)
        for row in applied.change.deleted
        if row.visibility is not Visibility.MODEL
    ]
    return EditChatMessageResponse(
        message=messages[-1], messages=messages, deleted_message_ids=gone or UNSET
    )
