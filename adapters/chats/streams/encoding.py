"""Events of a chat as bytes: encoded once, whoever gets them. Pure."""

from dataclasses import replace
from typing import assert_never

from msgspec import UNSET

from actors.law.chat import Message, QueuedMessage
from actors.law.ids import ChatId
from actors.streams.feeds import events
from actors.streams.feeds.events import Event
from adapters.chats.wire import streams as wire
from adapters.chats.wire.messages import error_of, message_of, queued_of, retry_of
from adapters.chats.wire.streams import ChatStreamEvent
from adapters.postgres.codec.parts import whole
from adapters.tools.approvals.wire import approval_of


def encoded(chat: ChatId, event: Event) -> bytes:
    """Fulfils `actors.streams.feeds.ports.Encode`."""
    try:
        return wire.encoded(event_of(chat, event))
    except UnicodeEncodeError:
        return wire.encoded(event_of(chat, _mended(event)))


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
                type="status", chat_id=chat, status=wire.ChatStreamStatus(status.value)
            )
        case events.ChatFailed(error):
            return ChatStreamEvent(type="error", chat_id=chat, error=error_of(error))
        case events.ActionRequired(calls):
            asked = wire.ChatStreamActionRequired(
                tuple(
                    [wire.ChatStreamToolCall(call.id, call.name, call.args or "") for call in calls]
                )
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


def _mended(event: Event) -> Event:
    """Without halves of characters, as the store keeps it."""
    match event:
        case events.MessageChanged(message):
            return events.MessageChanged(_mended_message(message))
        case events.QueueChanged(queue):
            return events.QueueChanged(tuple(map(_mended_row, queue)))
        case events.ChatFailed(error):
            return events.ChatFailed(whole(error))
        case events.RetryScheduled(retry):
            return events.RetryScheduled(whole(retry))
        case events.ActionRequired(calls):
            return events.ActionRequired(tuple(map(whole, calls)))
        case _:
            return event


def _mended_message(message: Message) -> Message:
    body = message.body
    return replace(message, body=replace(body, parts=tuple(map(whole, body.parts))))


def _mended_row(row: QueuedMessage) -> QueuedMessage:
    message = row.message
    return replace(row, message=replace(message, parts=tuple(map(whole, message.parts))))
