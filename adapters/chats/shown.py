"""What a commit added to a chat, as clients are shown it. Pure."""

from msgspec import UNSET

from actors.law.chat import Message, Visibility
from actors.law.ids import ChatId, MessageId
from actors.law.store.ports import Applied
from adapters.chats.wire.messages import (
    ChatMessage,
    ChatQueuedMessage,
    is_body_shown,
    message_of,
    queued_of,
)
from adapters.chats.wire.sending import CreateChatMessageResponse, EditChatMessageResponse
from adapters.postgres.conversation.pages import Page


def added_messages(applied: Applied) -> tuple[ChatMessage, ...]:
    """The messages that users see of it, in their order."""
    chat = applied.chat
    return tuple(
        message_of(chat.id, Message(id, chat.snapshot_version, applied.at, False, body))
        for id, body in zip(applied.message_ids, applied.change.added, strict=True)
        if is_body_shown(body)
    )


def queue_shown(applied: Applied) -> tuple[ChatQueuedMessage, ...]:
    """What waits now, in the order in which it will be taken."""
    return tuple(queued_of(applied.chat.id, row) for row in applied.stored.queue)


def sent_response(applied: Applied) -> CreateChatMessageResponse:
    """A message was sent: it waits, or it is the last that was added."""
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


def sent_again_response(chat: ChatId, page: Page, *, was_queued: bool) -> CreateChatMessageResponse:
    """The same, from what still stands of it: what waited then may have been said since."""
    messages = tuple(message_of(chat, message) for message in page.messages)
    queued = tuple(queued_of(chat, row) for row in page.queue)
    return CreateChatMessageResponse(
        message=messages[-1] if messages and not was_queued else UNSET,
        messages=messages or UNSET,
        queued_message=queued[0] if queued else UNSET,
        queued=was_queued,
    )


def edited_response(applied: Applied) -> EditChatMessageResponse:
    """A message was replaced: closed calls come before it, nothing after it."""
    messages = added_messages(applied)
    gone = [
        MessageId(row.id)
        for row in applied.change.deleted
        if row.visibility is not Visibility.MODEL
    ]
    return EditChatMessageResponse(
        message=messages[-1], messages=messages, deleted_message_ids=gone or UNSET
    )
