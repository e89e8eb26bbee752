"""A chat as it is stored: the columns, rows and facts that the law looks at. Pure data."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from uuid import UUID

from actors.law.ids import ChatId, FileId, Holder, MessageId, ModelConfigId, QueuedId, UserId
from actors.law.parts.message import NO_USAGE, Cost, JsonText, Part, TokenUsage
from actors.law.states import State, Status, state_of

QUEUE_ROWS_MAX = 20  # one more is refused with `QueueFull`
FILES_PER_CHAT_MAX = 50  # a message that would link one more is refused with `FilesFull`

# A summary is shown as a call of this tool, which does not exist, and its result.
SUMMARY_CALL = "chat_summarized"


class Role(Enum):
    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class Visibility(Enum):
    """The readers of a message: users, models, or both."""

    USER = "user"
    MODEL = "model"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class Body:
    """A message without its place in a history: what a transition inserts."""

    role: Role
    parts: tuple[Part, ...]
    visibility: Visibility = Visibility.BOTH
    compressed: bool = False
    created_by: UserId | None = None
    model_config_id: ModelConfigId | None = None
    reasoning_effort: str | None = None
    usage: TokenUsage = NO_USAGE
    context_limit: int | None = None
    runtime_ms: int | None = None
    cost: Cost | None = None  # None: nothing was bought with it


@dataclass(frozen=True, slots=True)
class Message:
    """A row of a history. Order is the order of ids, never of times."""

    id: MessageId
    revision: int
    created_at: datetime
    deleted: bool
    body: Body


@dataclass(frozen=True, slots=True)
class UserMessage:
    """A message that a user sends. It may have to wait in the queue until its turn comes."""

    parts: tuple[Part, ...]
    created_by: UserId
    model_config_id: ModelConfigId | None = None
    reasoning_effort: str | None = None

    def as_body(self) -> Body:
        return Body(
            Role.USER,
            self.parts,
            created_by=self.created_by,
            model_config_id=self.model_config_id,
            reasoning_effort=self.reasoning_effort,
        )


@dataclass(frozen=True, slots=True)
class QueuedMessage:
    """A row of the queue. An id below zero is not stored yet. `steers`: it enters at a step
    boundary."""

    id: QueuedId
    position: int
    message: UserMessage
    steers: bool = False
    created_at: datetime | None = field(default=None, compare=False)  # None: not stored yet


@dataclass(frozen=True, slots=True)
class ChatError:
    """Why a chat stopped, in words for the person who reads it."""

    message: str
    kind: str = "generic"
    provider: str | None = None
    retryable: bool = False
    status_code: int | None = None
    detail: str | None = None
    of_compaction: bool = False  # the turn was to make a summary that a user had asked for


@dataclass(frozen=True, slots=True)
class RetryState:
    """The pause after a failed attempt: why the provider failed, and when the next attempt is
    made."""

    attempt: int  # how many have failed at this history, this one included
    delay_ms: int
    error: str
    retrying_at: datetime
    kind: str | None = None
    provider: str | None = None
    status_code: int | None = None


@dataclass(frozen=True, slots=True)
class Approval:
    """A call that does not run before a person has allowed it.

    It is kept as long as the call has no result: while it waits, and when it is allowed and has not
    run yet.
    """

    tool_call_id: str
    tool: str  # as people know it, whatever it was called by
    args: JsonText
    asked_at: datetime
    until: datetime | None = None  # then it is denied; None: it waits as long as it takes
    allowed_by: UserId | None = None  # None: nobody has decided

    @property
    def is_open(self) -> bool:
        return self.allowed_by is None


class Verdict(Enum):
    """The decision about such a call."""

    ALLOW_ONCE = "allow_once"
    ALLOW_ALWAYS = "allow_always"  # and so is this tool, in the whole family from now on
    DENY = "deny"


@dataclass(frozen=True, slots=True)
class ApprovalDecision:
    """A decision as it is kept, to be read later."""

    tool_call_id: str
    tool: str
    verdict: Verdict
    by: UserId | None  # None: nobody, and the time was over
    words: str = ""


@dataclass(frozen=True, slots=True)
class Chat:
    """The columns of a chat that the law reads or writes."""

    id: ChatId
    owner_id: UserId
    parent_id: ChatId | None
    status: Status
    archived: bool
    holder: Holder | None
    last_error: ChatError | None
    retry_state: RetryState | None
    requires_action_deadline_at: datetime | None
    compaction_requested_at: datetime | None
    snapshot_version: int
    history_version: int
    queue_version: int
    retry_state_version: int
    generation_attempt: int
    pin_order: int
    last_model_config_id: ModelConfigId | None = None
    last_reasoning_effort: str | None = None
    dynamic_tools: frozenset[str] = frozenset()  # names of the tools that a client executes
    root_id: ChatId | None = None  # of a child: the chat that its family began with
    plan_mode: str = ""
    mode: str = ""  # what a child was spawned for, beside its prompt: explore, computer_use
    workspace_id: UUID | None = None
    mcp_server_ids: tuple[UUID, ...] = ()
    approval_policy: str = ""  # allow, ask or deny; "": as the deployment has it
    approvals: tuple[Approval, ...] = ()  # of open calls, in the order in which they were asked
    # At this history, like `generation_attempt`, which counts every attempt, however it ended.
    provider_failures_count: int = 0
    process_deaths_count: int = 0  # of processes that ended, or lost their lease, in an attempt

    @property
    def is_root(self) -> bool:
        return self.parent_id is None

    @property
    def root(self) -> ChatId:
        return self.root_id or self.parent_id or self.id

    @property
    def is_planning(self) -> bool:
        return self.plan_mode == "plan"

    @property
    def open_approvals(self) -> tuple[Approval, ...]:
        """Return the approvals that wait for a person now."""
        return tuple(approval for approval in self.approvals if approval.is_open)


@dataclass(frozen=True, slots=True)
class HistoryRow:
    """The facts of a message that an edit of an earlier one needs."""

    id: MessageId
    visibility: Visibility


@dataclass(frozen=True, slots=True)
class Suffix:
    """The part of a history that an edit replaces: its target, and every later row."""

    target: Message
    later: tuple[HistoryRow, ...]


@dataclass(frozen=True, slots=True)
class KnownFiles:
    """Files known to the store: those linked to the chat already, and those that could be
    linked."""

    linked: frozenset[FileId] = frozenset()
    stored: frozenset[FileId] = frozenset()


NO_FILES = KnownFiles()


@dataclass(frozen=True, slots=True)
class StoredChat:
    """All that a transition may look at, read under one lock or fenced by one version.

    `chat.snapshot_version` has its new value already: one bundle of transitions is one snapshot.
    `tail` is the last assistant message and the tool messages after it, in the history that the
    request leaves standing: for an edit, the history before its target. Of their parts it has at
    least the calls and the results, each with all its fields.
    """

    chat: Chat
    now: datetime
    queue: tuple[QueuedMessage, ...] = ()  # in the order in which it will be taken
    tail: tuple[Body, ...] = ()
    suffix: Suffix | None = None  # only for an edit; None: there is no such message
    files: KnownFiles = NO_FILES

    @property
    def state(self) -> State:
        chat = self.chat
        return state_of(chat.status, queued=bool(self.queue), archived=chat.archived)
