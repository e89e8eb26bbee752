"""Refusals: why a request was refused. Pure data.

A refusal is an ordinary answer, and nothing was written. `str(refusal)` is one line for logs and
clients.
"""

from dataclasses import dataclass

from actors.law.ids import ChatId, FileId, MessageId, QueuedId, chat_name
from actors.law.states import State


@dataclass(frozen=True, slots=True)
class NotAUserMessage:
    """An edit of a message that is not a user's."""

    message_id: MessageId

    def __str__(self) -> str:
        return f"message {self.message_id} is not a user's"


@dataclass(frozen=True, slots=True)
class DuplicateResult:
    tool_call_id: str

    def __str__(self) -> str:
        return f"tool call {self.tool_call_id} is answered twice"


@dataclass(frozen=True, slots=True)
class InvalidResult:
    tool_call_id: str

    def __str__(self) -> str:
        return f"the output for tool call {self.tool_call_id} is not valid JSON"


@dataclass(frozen=True, slots=True)
class MissingResult:
    tool_call_id: str

    def __str__(self) -> str:
        return f"tool call {self.tool_call_id} is not answered; answer all of them in one request"


@dataclass(frozen=True, slots=True)
class UnexpectedResult:
    tool_call_id: str

    def __str__(self) -> str:
        return f"nobody asked for tool call {self.tool_call_id}"


@dataclass(frozen=True, slots=True)
class NotAwaitingDecision:
    tool_call_id: str

    def __str__(self) -> str:
        return f"tool call {self.tool_call_id} does not wait for a decision"


ResultFault = DuplicateResult | InvalidResult | MissingResult | UnexpectedResult


NO_TRANSITION = "no such transition"


@dataclass(frozen=True, slots=True)
class NotAllowed:
    """A request that has no transition from this state, or a condition of which does not hold."""

    transition: str
    state: State | None  # None: the chat does not exist yet
    rule: str
    fault: NotAUserMessage | ResultFault | NotAwaitingDecision | None = None

    def __str__(self) -> str:
        where = "a new chat" if self.state is None else self.state.value
        return f"{self.transition} is not allowed from {where}: {self.fault or self.rule}"


@dataclass(frozen=True, slots=True)
class InvalidState:
    """A stored combination of columns that is none of the states. Reconcile the chat first."""

    transition: str

    def __str__(self) -> str:
        return f"{self.transition} is not possible: the chat is in an invalid state, reconcile it"


@dataclass(frozen=True, slots=True)
class ChatNotFound:
    chat: ChatId

    def __str__(self) -> str:
        return f"{chat_name(self.chat)}: not found"


@dataclass(frozen=True, slots=True)
class MessageNotFound:
    message_id: MessageId

    def __str__(self) -> str:
        return f"message {self.message_id}: not found in this chat"


@dataclass(frozen=True, slots=True)
class QueuedNotFound:
    queued_id: QueuedId

    def __str__(self) -> str:
        return f"queued message {self.queued_id}: not found in this chat"


@dataclass(frozen=True, slots=True)
class QueueMoved:
    """A new order of the queue that is not an order of what is queued now."""

    queued_ids: tuple[QueuedId, ...]

    def __str__(self) -> str:
        ids = ", ".join(map(str, self.queued_ids)) or "nothing"
        return f"the queue has changed: it holds {ids}; order exactly these"


@dataclass(frozen=True, slots=True)
class QueueFull:
    rows_max: int

    def __str__(self) -> str:
        return f"the queue is full ({self.rows_max} messages wait): delete one, or wait"


@dataclass(frozen=True, slots=True)
class FilesFull:
    files_max: int

    def __str__(self) -> str:
        return f"too many files: a chat can hold {self.files_max} different ones"


@dataclass(frozen=True, slots=True)
class FilesUnavailable:
    files: tuple[FileId, ...]

    def __str__(self) -> str:
        return f"files not available: {', '.join(map(str, self.files))}"


@dataclass(frozen=True, slots=True)
class NotRoot:
    chat: ChatId

    def __str__(self) -> str:
        return f"{chat_name(self.chat)}: is a child; only a root chat can be archived"


@dataclass(frozen=True, slots=True)
class AlreadyServed:
    """A request that has been served before, or whose key another request has used."""

    key: str

    def __str__(self) -> str:
        return f"request {self.key}: served already"


Refusal = (
    NotAllowed
    | InvalidState
    | ChatNotFound
    | MessageNotFound
    | QueuedNotFound
    | QueueMoved
    | QueueFull
    | FilesFull
    | FilesUnavailable
    | NotRoot
    | AlreadyServed
)
