"""What a chat looks like to somebody who follows it. Pure: events in, the picture out."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import msgspec
from msgspec import UNSET, UnsetType

from adapters.chats.wire.messages import (
    ChatError,
    ChatMessage,
    ChatMessagePart,
    ChatQueuedMessage,
    ChatStreamRetry,
)
from adapters.chats.wire.streams import ChatStreamEvent, ChatStreamMessagePart, ChatStreamToolCall
from adapters.tools.approvals.wire import ChatApproval

IDLE = frozenset({"waiting", "error", "requires_action"})  # nothing happens before somebody acts


@dataclass(slots=True)
class Transcript:
    """`apply` every event that `Following` (or a stream that never broke) passes on."""

    messages: dict[int, ChatMessage] = field(default_factory=dict)  # by id
    preview: list[ChatMessagePart] = field(default_factory=list)  # of the attempt that runs
    status: str = ""  # "" until it is known
    queue: tuple[ChatQueuedMessage, ...] = ()
    error: ChatError | None = None
    retry: ChatStreamRetry | None = None
    pending: tuple[ChatStreamToolCall, ...] = ()  # calls that wait for the client's results
    approvals: tuple[ChatApproval, ...] = ()  # of it and its agents: that wait for consent

    def apply(self, event: ChatStreamEvent) -> None:
        match event.type:
            case "message" if event.message is not UNSET:
                self.messages[event.message.id] = event.message
            case "message_part" if event.message_part is not UNSET:
                self.retry = None
                self._show(event.message_part)
            case "history_reset":
                self.messages.clear()
            case "preview_reset":
                self.preview.clear()
            case "status" if event.status is not UNSET:
                self._turn(event.status.status)
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
        return self.status in IDLE

    def rests_since(self, message: int = 0) -> bool:
        """Whether the chat rests, and had been told of this message before; and if it rests in an
        error, for a client's tools or for consent, whether it is known in which."""
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
        return [self.messages[id] for id in sorted(self.messages)]

    @property
    def answer(self) -> str:
        """What the model has said last, whether it is kept already or still being said."""
        if self.preview:
            return text_of(self.preview)
        for message in reversed(self.history):
            if message.role == "assistant":
                return text_of(message.content or ())
        return ""

    def _turn(self, status: str) -> None:
        self.status = status
        if status != "error":
            self.error = None
        if status != "requires_action":
            self.pending = ()
        if status != "running":
            self.retry = None

    def _show(self, said: ChatStreamMessagePart) -> None:
        """Pieces of text, of thoughts, of arguments and of results join what they go on with."""
        piece = said.part
        shown = self.preview[-1] if self.preview else None
        if piece.type in ("text", "reasoning") and shown is not None and shown.type == piece.type:
            self.preview[-1] = msgspec.structs.replace(shown, text=shown.text + piece.text)
            return
        at = self._begun(piece)
        if at is None:
            self.preview.append(piece)
        else:
            self.preview[at] = joined(self.preview[at], piece)

    def _begun(self, piece: ChatMessagePart) -> int | None:
        if piece.type not in ("tool-call", "tool-result") or piece.tool_call_id is UNSET:
            return None
        named = ((part.type, part.tool_call_id) for part in self.preview)
        wanted = (piece.type, piece.tool_call_id)
        return next((at for at, name in enumerate(named) if name == wanted), None)


def joined(shown: ChatMessagePart, piece: ChatMessagePart) -> ChatMessagePart:
    """A call or a result and one piece more of it; a whole one takes the place of its pieces."""
    if piece.args_delta is UNSET and piece.result_delta is UNSET:
        return piece
    begins_anew = piece.result_reset is True
    return msgspec.structs.replace(
        shown,
        args_delta=_added(shown.args_delta, piece.args_delta),
        result_delta=_added(UNSET if begins_anew else shown.result_delta, piece.result_delta),
    )


def _added(shown: str | UnsetType, more: str | UnsetType) -> str | UnsetType:
    return shown if more is UNSET else (shown or "") + more


def text_of(parts: Iterable[ChatMessagePart]) -> str:
    return "".join(part.text for part in parts if part.type == "text")


def new_text(events: Iterator[ChatStreamEvent]) -> Iterator[str]:
    """Of a stream of events, what a terminal would show: the text that the model says."""
    for event in events:
        piece = event.message_part
        if piece is not UNSET and piece.role == "assistant" and piece.part.type == "text":
            yield piece.part.text
