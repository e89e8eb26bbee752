"""Calls that wait for a person's consent, as clients see them. Pure."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from msgspec import Struct

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
    # For calls like this one, such as `execute(git status *)`: together they would allow it. There
    # are none if rules cannot.
    suggested_rules: Sequence[str] = ()


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
    """A rule for a tool, or with brackets for some of its calls; `*` stands for anything."""

    tool: str  # `execute`, `mcp:*`, `execute(git status *)`
    policy: str  # allow, ask or deny
    id: UUID | None = None  # null: it stands in the daemon's configuration
    changed_by: str | None = None
    changed_at: datetime | None = None


class ConsentRules(Struct, frozen=True):
    """The rules of the deployment, and what holds in chats without a policy of their own."""

    policy: str  # of chats that have none: allow, ask or deny
    rules: Sequence[ConsentRule]
    deadline_seconds: float  # then a call that waits is denied; 0: it waits as long as it takes


class OwnConsentRules(Struct, frozen=True):
    """The rules of a user for their own chats."""

    rules: Sequence[ConsentRule]


class PutConsentRuleRequest(Struct, frozen=True, kw_only=True):
    tool: Annotated[str | None, REQUIRED] = None  # `execute`, `execute(git status *)`
    policy: Annotated[str | None, REQUIRED] = None  # allow, ask or deny


class TryConsentRequest(Struct, frozen=True, kw_only=True):
    tool: str = "execute"
    command: str | None = None  # of execute; instead of its arguments
    args: dict[str, Any] | None = None  # the arguments of a call, as an object
    policy: str | None = None  # of the chat; what the deployment says if left out


class ConsentVerdict(Struct, frozen=True):
    """A part of a call, and its verdict."""

    part: str  # a command, a path; empty: the call as a whole
    decision: str  # allow, ask or deny
    rule: str | None  # which says so; null: the policy of the chat
    place: str | None  # of the rule: deployment or user
    unread: str  # why something of the call is not known; empty: all is known


class ConsentTrial(Struct, frozen=True):
    """The verdict on a call that was only tried."""

    decision: str  # allow, ask or deny: the strictest of its parts
    parts: Sequence[ConsentVerdict]
    suggested_rules: Sequence[str]


class DecideApprovalRequest(Struct, frozen=True, kw_only=True):
    decision: Annotated[str | None, REQUIRED] = None  # allow_once, allow_always or deny
    words: str | None = None  # with which it is denied: the model reads them
    chat_id: UUID | None = None  # where several chats of a family wait with calls of one id
    requested_at: datetime | None = None  # as it was shown: of no later call of this id
    # With allow_always, what is allowed in the place of the whole tool: `execute(git status *)`.
    # They have to cover the call.
    rules: Sequence[str] | None = None
    scope: str | None = None  # of the rules: chat (its family), which is usual, or user
