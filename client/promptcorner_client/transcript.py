"""The picture of a chat that its events draw. Pure."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import msgspec
from msgspec import UNSET, UnsetType

from promptcorner_client.wire import (
    ChatApproval,
    ChatError,
    ChatMessage,
    ChatMessagePart,
    ChatQueuedMessage,
    ChatStreamEvent,
    ChatStreamMessagePart,
    ChatStreamRetry,
    ChatStreamToolCall,
)

IDLE = frozenset({"waiting", "error", "requires_action"})  # nothing happens until somebody acts


@dataclass(slots=True)
class Transcript:
    """A chat as its events tell of it: `apply` each one that `follow` passes on."""

    messages: dict[int, ChatMessage] = field(default_factory=dict)  # by id
    preview: list[ChatMessagePart] = field(default_factory=list)  # of the attempt that runs now
    is_cut: bool = False  # nothing more of that attempt is shown: its message comes whole
    status: str = ""  # "" until it is known
    queue: tuple[ChatQueuedMessage, ...] = ()
    error: ChatError | None = None
    retry: ChatStreamRetry | None = None
    pending: tuple[ChatStreamToolCall, ...] = ()  # calls that wait for a client's results
    approvals: tuple[ChatApproval, ...] = ()  # calls that wait for consent, its agents' too
    messages_max: int | None = None  # further ones take the place of the oldest; None: all are kept

    def apply(self, event: ChatStreamEvent) -> None:
        """Change the picture by one event."""
        match event.type:
            case "message" if event.message is not UNSET:
                self.messages[event.message.id] = event.message
                while self.messages_max is not None and len(self.messages) > self.messages_max:
                    del self.messages[min(self.messages)]
            case "message_part" if event.message_part is not UNSET:
                self.retry = None
                self.is_cut = event.message_part.truncated is True
                if not self.is_cut:
                    self._add_piece(event.message_part)
            case "history_reset":
                self.messages.clear()
            case "preview_reset":
                self.preview.clear()
                self.is_cut = False
            case "status" if event.status is not UNSET:
                self._set_status(event.status.status)
            case "queue_update":
                self.queue = event.queued_messages or ()
            case "error":
                self.error = event.error or None
            case "retry":
                self.retry = event.retry or None
            case "action_required" if event.action_required is not UNSET:
                self.pending = event.action_required.tool_calls
            case "approvals" if event.approvals is not UNSET:
                self.approvals = event.approvals

    @property
    def is_idle(self) -> bool:
        """Tell whether nothing happens until somebody acts."""
        return self.status in IDLE

    def rests_since(self, message: int = 0) -> bool:
        """Tell whether the chat rests after this message, and all that it waits for is known.

        A chat that rests in an error, or waits for tools or consent, is complete only once the
        event has come that says in which error, or for which calls.
        """
        if not self.is_idle or max(self.messages, default=0) < message:
            return False
        match self.status:
            case "error":
                return self.error is not None
            case "requires_action":
                return bool(self.pending or self.approvals)
        return True

    @property
    def history(self) -> list[ChatMessage]:
        """Return the messages in order."""
        return [self.messages[id] for id in sorted(self.messages)]

    @property
    def answer(self) -> str:
        """Return the model's last answer, finished or not."""
        if self.preview:
            return text_of(self.preview)
        for message in reversed(self.history):
            if message.role == "assistant":
                return text_of(message.content or ())
        return ""

    def _set_status(self, status: str) -> None:
        self.status = status
        if status != "error":
            self.error = None
        if status != "requires_action":
            self.pending = ()
        if status != "running":
            self.retry = None

    def _add_piece(self, event_part: ChatStreamMessagePart) -> None:
        """Join a piece of text, reasoning, arguments or a result with what it continues."""
        piece = event_part.part
        last = self.preview[-1] if self.preview else None
        if piece.type in ("text", "reasoning") and last is not None and last.type == piece.type:
            self.preview[-1] = msgspec.structs.replace(last, text=last.text + piece.text)
            return
        index = self._index_of(piece)
        if index is None:
            self.preview.append(piece)
        else:
            self.preview[index] = joined(self.preview[index], piece)

    def _index_of(self, piece: ChatMessagePart) -> int | None:
        """Return where the call or the result stands that a piece belongs to."""
        if piece.type not in ("tool-call", "tool-result") or piece.tool_call_id is UNSET:
            return None
        keys = ((part.type, part.tool_call_id) for part in self.preview)
        wanted = (piece.type, piece.tool_call_id)
        return next((index for index, key in enumerate(keys) if key == wanted), None)


def joined(part: ChatMessagePart, piece: ChatMessagePart) -> ChatMessagePart:
    """Return a call or a result with one piece more; a whole one replaces its pieces."""
    if piece.args_delta is UNSET and piece.result_delta is UNSET:
        return piece
    begins_anew = piece.result_reset is True
    return msgspec.structs.replace(
        part,
        args_delta=_added(part.args_delta, piece.args_delta),
        result_delta=_added(UNSET if begins_anew else part.result_delta, piece.result_delta),
    )


def _added(text: str | UnsetType, more: str | UnsetType) -> str | UnsetType:
    return text if more is UNSET else (text or "") + more


def text_of(parts: Iterable[ChatMessagePart]) -> str:
    """Return the text in parts of a message, without reasoning, calls and results."""
    return "".join(part.text for part in parts if part.type == "text")


def new_text(events: Iterator[ChatStreamEvent]) -> Iterator[str]:
    """Yield the pieces of the model's text, as a terminal would show them."""
    for event in events:
        piece = event.message_part
        if piece is not UNSET and piece.role == "assistant" and piece.part.type == "text":
            yield piece.part.text
