"""Chats as their users see them, apart from what is said in them: rows and records. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from uuid import UUID

from actors.law.chat import Approval, ChatError
from actors.law.ids import ChatId, FileId, MessageId, ModelConfigId, UserId
from actors.law.states import Status
from adapters.chats.changes.pull_requests import PullRequest
from adapters.postgres.queries import Record


class Attention(Enum):
    """The reason why a chat waits for a person."""

    CONSENT = "consent"  # a call waits to be allowed or denied
    TOOL_RESULTS = "tool_results"  # its client has to answer calls
    QUESTION = "question"  # it has asked its user
    PLAN = "plan"  # it has handed in a plan
    ERROR = "error"  # it stopped


ASKING_TOOLS = {"ask_user_question": Attention.QUESTION, "propose_plan": Attention.PLAN}


class FileInfo(Record, frozen=True):
    """A file, without its content."""

    id: FileId
    owner_id: UserId
    name: str
    media_type: str
    size_bytes: int
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextState:
    """The state of what a chat knows of its workspace: it may be old, or could not be read."""

    dirty_since: datetime | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffState:
    """The branch that a chat works on, and what its forge says of it."""

    branch: str
    pull_request: PullRequest | None
    refreshed_at: datetime | None  # None: the forge has not answered yet
    stale_at: datetime | None  # None: the forge is not asked again until the chat works there


class OverviewRow(Record, frozen=True):
    """A chat as a statement returns it for users."""

    id: ChatId
    owner_id: UserId
    username: str
    name: str
    parent_id: ChatId | None
    root_id: ChatId  # its own, if it is a root
    title: str
    client_type: str
    plan_mode: str
    approval_policy: str  # allow, ask or deny; "": the deployment's
    approvals: bytes
    labels: bytes
    mcp_server_ids: tuple[UUID, ...]
    created_at: datetime
    updated_at: datetime
    status: Status
    archived: bool
    last_error: bytes | None
    pin_order: int
    last_model_config_id: ModelConfigId | None
    last_reasoning_effort: str | None
    last_turn_summary: str | None
    summary: str | None
    workspace_id: UUID | None
    context: bytes | None
    diff: bytes | None
    shared: bool
    has_unread: bool
    asked_by: str | None  # the tool by which the turn that ended asks its user; None: it does not
    question: str | None  # that it asks, the first of them


class SingleOverviewRow(OverviewRow, frozen=True):
    """An overview with the chat's files: of one chat that was asked for, or of its children."""

    place_in_line: int | None  # as in ChatOverview
    takeover_seconds: float | None  # as in ChatOverview
    files: bytes | None


@dataclass(frozen=True, slots=True)
class ChatOverview:
    """A chat as its users see it: what clients are shown, and nothing that only the law needs."""

    row: OverviewRow
    labels: Mapping[str, str]
    approvals: Sequence[Approval]  # calls that wait for a person's consent
    last_error: ChatError | None
    context: ContextState | None
    diff: DiffState | None = None  # None: nothing is known of a branch
    children: Sequence["ChatOverview"] = ()
    files: Sequence[FileInfo] = ()
    # These two are None in lists, which do not ask for them.
    place_in_line: int | None = None  # None: a process runs the chat, or it has nothing to do
    takeover_seconds: float | None = None  # of a silent process until another one takes the chat


def attention_of(chat: ChatOverview) -> Attention | None:
    """Return why the owner of a chat has to look at it, or None. Its agents count by themselves."""
    if chat.row.archived:
        return None
    match chat.row.status:
        case Status.ERROR:
            return Attention.ERROR
        case Status.REQUIRES_ACTION:
            return Attention.CONSENT if chat.approvals else Attention.TOOL_RESULTS
        case Status.WAITING:
            return ASKING_TOOLS.get(chat.row.asked_by or "")
        case _:
            return None


@dataclass(frozen=True, slots=True)
class SearchExcerpt:
    """The message in which a search found something, and the words around it."""

    message_id: MessageId
    text: str


@dataclass(frozen=True, slots=True)
class CostSum:
    """The cost of requests to models, in millionths of a US dollar."""

    micros: int = 0
    requests: int = 0
    unpriced: int = 0  # requests whose cost is not known

    def __add__(self, other: "CostSum") -> "CostSum":
        return CostSum(
            self.micros + other.micros,
            self.requests + other.requests,
            self.unpriced + other.unpriced,
        )


@dataclass(frozen=True, slots=True)
class TreeCost:
    """The cost of a root and its children: of messages, and of what was bought beside them."""

    whole: CostSum
    own: CostSum  # of the chat that was asked about
    beside: Mapping[str, CostSum]  # of the whole, by what it was for: all that is no message
