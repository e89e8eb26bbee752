"""The requests that may be made of a stored chat. Pure data; `transitions` says what each does."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import Enum
from types import MappingProxyType
from uuid import UUID

from actors.law.chat import Body, Chat, ChatError, RetryState, UserMessage, Verdict
from actors.law.ids import ChatId, Holder, MessageId, ModelConfigId, QueuedId, UserId
from actors.law.parts.message import JsonText
from actors.law.states import Status


class BusyBehaviour(Enum):
    """The effect of a message that arrives while a turn is running."""

    QUEUE = "queue"  # waits until the turn is over
    INTERRUPT = "interrupt"  # ends the turn and comes next
    STEER = "steer"  # enters the running turn at its next step boundary


# Asked by users


NO_PARAMETERS = JsonText("{}")


@dataclass(frozen=True, slots=True)
class DynamicTool:
    """A tool that the client executes."""

    name: str
    description: str = ""
    input_schema: JsonText = NO_PARAMETERS


@dataclass(frozen=True, slots=True)
class NewChat:
    """The columns that a chat is created with and that no transition changes."""

    id: ChatId
    owner_id: UserId
    title: str = ""
    parent_id: ChatId | None = None
    root_id: ChatId | None = None
    client_type: str = "api"
    plan_mode: str = ""
    mode: str = ""
    workspace_id: UUID | None = None
    labels: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    mcp_server_ids: tuple[UUID, ...] = ()
    dynamic_tools: tuple[DynamicTool, ...] = ()
    approval_policy: str = ""

    def initial_chat(self) -> Chat:
        """Return the chat before anything is said in it: with work to do, and held by no
        process."""
        return Chat(
            id=self.id,
            owner_id=self.owner_id,
            parent_id=self.parent_id,
            status=Status.RUNNING,
            archived=False,
            holder=None,
            last_error=None,
            retry_state=None,
            requires_action_deadline_at=None,
            compaction_requested_at=None,
            snapshot_version=1,
            history_version=0,
            queue_version=0,
            retry_state_version=0,
            generation_attempt=0,
            pin_order=0,
            dynamic_tools=frozenset(tool.name for tool in self.dynamic_tools),
            root_id=self.root_id,
            plan_mode=self.plan_mode,
            mode=self.mode,
            workspace_id=self.workspace_id,
            mcp_server_ids=self.mcp_server_ids,
            approval_policy=self.approval_policy,
        )


@dataclass(frozen=True, slots=True)
class CreateChat:
    chat: NewChat
    messages: tuple[Body, ...]


@dataclass(frozen=True, slots=True)
class SetArchived:
    """Put the chat into the archive, or take it out again."""

    archived: bool


@dataclass(frozen=True, slots=True)
class ChatOptions:
    """Settings of a chat that a message may change: its plan mode and its servers. None: no
    change."""

    plan_mode: str | None = None
    mcp_server_ids: tuple[UUID, ...] | None = None

    def of(self, chat: Chat) -> Chat:
        """Return the chat with these options."""
        plan_mode = chat.plan_mode if self.plan_mode is None else self.plan_mode
        servers = chat.mcp_server_ids if self.mcp_server_ids is None else self.mcp_server_ids
        return replace(chat, plan_mode=plan_mode, mcp_server_ids=servers)


SAME_OPTIONS = ChatOptions()


@dataclass(frozen=True, slots=True)
class SendMessage:
    """Add a user's message, or put it into the queue if the chat is at work or waits for others."""

    message: UserMessage
    busy: BusyBehaviour = BusyBehaviour.QUEUE
    options: ChatOptions = SAME_OPTIONS


@dataclass(frozen=True, slots=True)
class EditMessage:
    """Replace a user's message and forget all that came after it."""

    message_id: MessageId
    message: UserMessage  # a model or effort left out is taken from the replaced message
    then: tuple[Body, ...] = ()  # rows that follow the replacement


@dataclass(frozen=True, slots=True)
class RequestCompaction:
    """Have the conversation summed up before the model is asked anything else."""


@dataclass(frozen=True, slots=True)
class RetryTurn:
    """Make the next attempt now: after one that failed, in its pause or when the chat has stopped
    with the error. None: the model and effort of the chat."""

    model_config_id: ModelConfigId | None = None
    reasoning_effort: str | None = None


@dataclass(frozen=True, slots=True)
class DeleteQueued:
    queued_id: QueuedId


@dataclass(frozen=True, slots=True)
class PromoteQueued:
    """Make a queued message the next one, now: a turn that is under way is interrupted."""

    queued_id: QueuedId


@dataclass(frozen=True, slots=True)
class EditQueued:
    """Reword a queued message before its turn comes. It keeps its place."""

    queued_id: QueuedId
    message: UserMessage  # a model or effort left out stays as chosen before


@dataclass(frozen=True, slots=True)
class ReorderQueued:
    """Put the whole queue into a new order. It names every row, so that none is moved unseen."""

    order: tuple[QueuedId, ...]


@dataclass(frozen=True, slots=True)
class Interrupt:
    """End the turn, or the wait for a client and people, because a user wants that."""

    reason: str = "interrupted by user"


@dataclass(frozen=True, slots=True)
class DynamicResult:
    """A client's answer to one tool call. The output is as received, not yet known to be JSON."""

    tool_call_id: str
    output: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class CompleteRequiresAction:
    """Add a client's results of its own tools, for which the chat waits."""

    results: tuple[DynamicResult, ...]
    submitted_by: UserId
    model_config_id: ModelConfigId | None = None
    then: tuple[Body, ...] = ()  # rows that follow the results


@dataclass(frozen=True, slots=True)
class DecideApproval:
    """Record a person's decision about a call."""

    tool_call_id: str
    verdict: Verdict
    decided_by: UserId
    words: str = ""  # with which it is denied: the model reads them
    asked_at: datetime | None = None  # of the approval that the person saw; None: the one there is
    # Rules by which calls are allowed in the whole family from now on; kept with the decision.
    grants: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReconcileInvalidState:
    """Bring a chat whose columns fit no state into its error state."""

    error: ChatError | None = None


# Asked by the process that runs chats


@dataclass(frozen=True, slots=True)
class Acquire:
    """Take the chat. `after_death`: its last holder did not give it back; its lease has run out."""

    holder: Holder
    after_death: bool = False


@dataclass(frozen=True, slots=True)
class TakeUp:
    """Acquire the chat and begin an attempt, if it has work to begin and no process holds it.

    It stands behind the request that puts the chat to work, in the same bundle, so that the
    sender's process goes on with it. Otherwise it does nothing.
    """

    holder: Holder


@dataclass(frozen=True, slots=True)
class Abandon:
    """Give the chat back: it stays as it is, and any process may take it."""


@dataclass(frozen=True, slots=True)
class RecordGenerationAttempt:
    """Count an attempt, before it begins."""


@dataclass(frozen=True, slots=True)
class RecordRetryState:
    """Count a failure of the provider, and say when the next attempt is made."""

    retry: RetryState


@dataclass(frozen=True, slots=True)
class CommitStep:
    """Add the messages of a step of the turn."""

    messages: tuple[Body, ...]
    consumes_compaction: bool = False
    ends_turn: bool = False  # `FinishTurn` follows: no boundary, what steers is its next message


@dataclass(frozen=True, slots=True)
class CallToApprove:
    """A call without a result that may not run before a person has allowed it."""

    tool_call_id: str
    tool: str
    args: JsonText


@dataclass(frozen=True, slots=True)
class EnterRequiresAction:
    """Wait until a client has answered its calls, and people have decided about others."""

    calls_to_approve: tuple[CallToApprove, ...] = ()
    approval_seconds: float = 0.0  # then nobody has allowed them; 0: they wait as long as it takes


@dataclass(frozen=True, slots=True)
class CancelRequiresAction:
    """Answer for a client that did not answer in time."""

    reason: str = "timed out"


@dataclass(frozen=True, slots=True)
class ExpireApprovals:
    """Deny the calls that nobody has decided about in time."""


@dataclass(frozen=True, slots=True)
class FinishInterruption:
    """End an interrupted turn, and keep what was said in it."""

    partials: tuple[Body, ...] = ()
    gives_back: bool = False  # if the chat comes to rest, its holder lets it go in the same write


@dataclass(frozen=True, slots=True)
class FinishTurn:
    """End the turn. If a message is queued, the next turn begins with it."""

    gives_back: bool = False  # if the chat comes to rest, its holder lets it go in the same write


@dataclass(frozen=True, slots=True)
class FinishError:
    """Stop the chat with an error, until a user goes on with it."""

    error: ChatError


Request = (
    SetArchived
    | SendMessage
    | EditMessage
    | RequestCompaction
    | RetryTurn
    | DeleteQueued
    | PromoteQueued
    | EditQueued
    | ReorderQueued
    | Interrupt
    | CompleteRequiresAction
    | DecideApproval
    | ReconcileInvalidState
    | Acquire
    | TakeUp
    | Abandon
    | RecordGenerationAttempt
    | RecordRetryState
    | CommitStep
    | EnterRequiresAction
    | CancelRequiresAction
    | ExpireApprovals
    | FinishInterruption
    | FinishTurn
    | FinishError
)
