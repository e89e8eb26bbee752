"""The events that a watcher of a chat is told, beside the pieces of running attempts. Pure data."""

from dataclasses import dataclass

from actors.law.chat import Approval, ChatError, Message, QueuedMessage, RetryState
from actors.law.ids import ChatId
from actors.law.parts.message import ToolCallPart
from actors.law.states import Status


@dataclass(frozen=True, slots=True)
class MessageChanged:
    """A message is new or has changed."""

    message: Message


@dataclass(frozen=True, slots=True)
class HistoryReset:
    """An order to forget all messages: those that are left follow."""


@dataclass(frozen=True, slots=True)
class QueueChanged:
    """The whole queue, in the order in which it will be taken."""

    queue: tuple[QueuedMessage, ...]


@dataclass(frozen=True, slots=True)
class StatusChanged:
    """The chat has another status."""

    status: Status


@dataclass(frozen=True, slots=True)
class ChatFailed:
    """The chat has stopped with an error."""

    error: ChatError


@dataclass(frozen=True, slots=True)
class ActionRequired:
    """The client has to answer these calls."""

    calls: tuple[ToolCallPart, ...]


@dataclass(frozen=True, slots=True)
class RetryScheduled:
    """An attempt failed and will be made again."""

    retry: RetryState


@dataclass(frozen=True, slots=True)
class PreviewReset:
    """An order to forget the pieces: their attempt, or its place in the history, is over."""


@dataclass(frozen=True, slots=True)
class PendingApprovals:
    """The calls of one chat that wait for consent."""

    chat: ChatId
    title: str
    approvals: tuple[Approval, ...]


@dataclass(frozen=True, slots=True)
class ApprovalsChanged:
    """The calls of the chat and its agents that wait for consent are other ones: all of them."""

    family: tuple[PendingApprovals, ...]


Event = (
    MessageChanged
    | HistoryReset
    | QueueChanged
    | StatusChanged
    | ChatFailed
    | ActionRequired
    | RetryScheduled
    | ApprovalsChanged
    | PreviewReset
)
