"""A chat as its users see it, apart from what is said in it. Pure data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from actors.law.chat import Approval, ChatError
from actors.law.ids import ChatId, FileId, ModelConfigId, UserId
from actors.law.states import Status


@dataclass(frozen=True, slots=True, kw_only=True)
class FileInfo:
    """A file that a chat holds, without its content."""

    id: FileId
    owner_id: UserId
    name: str
    media_type: str
    size_bytes: int
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextState:
    """What it knows of its workspace, as far as that may be old, or could not be read."""

    dirty_since: datetime | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatOverview:
    """A chat as its shelf knows it: what clients are shown, and nothing that only the law needs."""

    id: ChatId
    owner_id: UserId
    owner_username: str
    owner_name: str
    parent_id: ChatId | None
    root_id: ChatId  # its own, if it is a root
    title: str
    client_type: str
    plan_mode: str
    approval_policy: str  # allow, ask or deny; "": the deployment's
    asks: Sequence[Approval]  # calls that wait for a person's consent
    labels: Mapping[str, str]
    mcp_server_ids: Sequence[UUID]
    created_at: datetime
    updated_at: datetime
    status: Status
    archived: bool
    last_error: ChatError | None
    pin_order: int
    last_model_config_id: ModelConfigId | None
    last_reasoning_effort: str | None
    last_turn_summary: str | None
    summary: str | None
    workspace_id: UUID | None
    context: ContextState | None
    shared: bool
    has_unread: bool
    children: Sequence["ChatOverview"] = ()
    files: Sequence[FileInfo] = ()
    is_unheld: bool = False  # it has work to do and nobody who does it; not known of lists


@dataclass(frozen=True, slots=True)
class CostSum:
    """Of requests to models, in millionths of a US dollar."""

    micros: int = 0
    requests: int = 0
    unpriced: int = 0  # requests of which nobody knows what they cost

    def __add__(self, other: "CostSum") -> "CostSum":
        return CostSum(
            self.micros + other.micros,
            self.requests + other.requests,
            self.unpriced + other.unpriced,
        )


@dataclass(frozen=True, slots=True)
class TreeCost:
    """What a root and its children have cost: messages, and what was bought beside them."""

    whole: CostSum
    own: CostSum  # of the chat that was asked about
    beside: Mapping[str, CostSum]  # of the whole, what is no message
