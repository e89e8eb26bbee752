"""What a watcher of a chat is told, beside the pieces of running attempts. Pure data."""

from dataclasses import dataclass

from actors.law.chat import Approval, ChatError, Message, Queued, RetryState
from actors.law.ids import ChatId
from actors.law.parts.message import ToolCallPart
from actors.law.states import Status


@dataclass(frozen=True, slots=True)
class MessageChanged:
    """A message is new or has changed."""

    message: Message


@dataclass(frozen=True, slots=True)
class HistoryReset:
    """Forget all messages: those that stand follow."""


@dataclass(frozen=True, slots=True)
class QueueChanged:
    """The whole queue, in the order in which it will be taken."""

    queue: tuple[Queued, ...]


@dataclass(frozen=True, slots=True)
class StatusChanged:
    status: Status


@dataclass(frozen=True, slots=True)
class ChatFailed:
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
    """Forget the pieces: their attempt is over, or its place in the history is."""


@dataclass(frozen=True, slots=True)
class PendingApprovals:
    """A chat that asks for consent to calls."""

    chat: ChatId
    title: str
    asks: tuple[Approval, ...]


@dataclass(frozen=True, slots=True)
class ApprovalsChanged:
    """All that the chat and its agents ask a person for consent to now."""

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
