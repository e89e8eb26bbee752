"""What is asked and answered around messages. Pure."""

from collections.abc import Sequence
from uuid import UUID

import msgspec
from msgspec import UNSET, Raw, UnsetType

from adapters.chats.wire.content import ChatInputPart
from adapters.chats.wire.messages import ChatMessage, ChatQueuedMessage


class CreateChatMessageRequest(msgspec.Struct, frozen=True):
    content: Sequence[ChatInputPart] | None = None
    model_config_id: UUID | None = None
    mcp_server_ids: Sequence[UUID] | None = None  # null: as they are; none: cleared
    busy_behavior: str | None = None
    plan_mode: str | None = None  # null: as it is
    reasoning_effort: str | None = None


class EditChatMessageRequest(msgspec.Struct, frozen=True):
    content: Sequence[ChatInputPart] | None = None
    model_config_id: UUID | None = None
    reasoning_effort: str | None = None


class EditQueuedMessageRequest(msgspec.Struct, frozen=True):
    content: Sequence[ChatInputPart] | None = None
    model_config_id: UUID | None = None
    reasoning_effort: str | None = None


class OrderQueueRequest(msgspec.Struct, frozen=True):
    order: Sequence[int] | None = None


class ToolResult(msgspec.Struct, frozen=True):
    tool_call_id: str | None = None
    output: Raw | UnsetType = UNSET
    is_error: bool | None = None


class SubmitToolResultsRequest(msgspec.Struct, frozen=True):
    results: Sequence[ToolResult] | None = None


class ChatMessagesResponse(msgspec.Struct, frozen=True):
    messages: Sequence[ChatMessage]
    queued_messages: Sequence[ChatQueuedMessage]
    has_more: bool


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
    """An answer that only tells a person what was done."""

    message: str
