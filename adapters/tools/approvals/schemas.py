"""Calls that wait for a person's consent, as clients see them. Pure."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated
from uuid import UUID

from msgspec import Struct

from actors.law.chat import Approval
from actors.law.ids import ChatId
from adapters.http.schemas import REQUIRED


class ChatApproval(Struct, frozen=True):
    """A call that does not run before a person has allowed it."""

    chat_id: UUID  # whose call it is: a chat's own, or an agent's of its family
    chat_title: str
    tool_call_id: str
    # `workspace:` before it: of a server that the workspace brings along; `start:`: its start.
    tool_name: str
    args: str  # JSON as text; of the start of a server, what would be run
    requested_at: datetime
    expires_at: datetime | None  # then it is denied; null: it waits as long as it takes


class ChatApprovalGrant(Struct, frozen=True):
    """A tool that the family may use without being asked again."""

    tool_name: str
    granted_by: str
    granted_at: datetime


class ChatApprovalDecision(Struct, frozen=True):
    chat_id: UUID
    tool_call_id: str
    tool_name: str
    decision: str  # allow_once, allow_always or deny
    words: str
    decided_by: str | None  # null: no person, and the time was over
    decided_at: datetime


class ChatApprovals(Struct, frozen=True):
    """The calls that wait, the grants and the latest decisions of a whole family of chats."""

    approvals: Sequence[ChatApproval]  # that wait
    always: Sequence[ChatApprovalGrant]
    decided: Sequence[ChatApprovalDecision]  # the latest, the newest first


class ConsentRule(Struct, frozen=True):
    """A rule of the deployment for tools; `*` stands for anything in its pattern."""

    tool: str
    policy: str  # allow, ask or deny


class ConsentRules(Struct, frozen=True):
    """The rules of the deployment, for chats that have none of their own."""

    policy: str  # of chats that have none: allow, ask or deny
    rules: Sequence[ConsentRule]
    deadline_seconds: float  # then a call that waits is denied; 0: it waits as long as it takes


class DecideApprovalRequest(Struct, frozen=True, kw_only=True):
    decision: Annotated[str | None, REQUIRED] = None  # allow_once, allow_always or deny
    words: str | None = None  # with which it is denied: the model reads them
    chat_id: UUID | None = None  # where several chats of a family wait with calls of one id
    requested_at: datetime | None = None  # as it was shown: of no later call of this id


def approval_of(chat: ChatId, title: str, approval: Approval) -> ChatApproval:
    return ChatApproval(
        chat,
        title,
        approval.tool_call_id,
        approval.tool,
        approval.args,
        approval.asked_at,
        approval.until,
    )
