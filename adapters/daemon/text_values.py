"""The values of texts of the API that have only some: for the document, and for nothing else.

The structs have plain texts there, so that clients made of them still read the answers of a newer
server that knows more values.
"""

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from typing import get_args

from actors.chat.turn.ports import RecordKind
from actors.law.chat import Role, Verdict
from actors.law.parts.prompt import EFFORTS
from actors.law.requests import BusyBehaviour
from actors.law.states import Status
from actors.tools.approval_rules import Policy
from adapters.chats.housekeeping.erasing import ErasureCause
from adapters.chats.overview_rows import Attention
from adapters.models.choosing import Reason
from adapters.models.debug_runs.store import RecordStatus
from adapters.models.settings import CONTEXTS, OWN_MODES
from adapters.models.snapshot import TYPES, UNSUPPORTED_TYPES, ModelSource
from adapters.people.store.users import UserStatus
from adapters.tools.mcp.servers import AUTH_TYPES, AVAILABILITIES, TRANSPORTS
from adapters.workspaces.routes import STATUSES

MESSAGE_PARTS = (
    *("text", "reasoning", "tool-call", "tool-result", "source", "file", "file-reference"),
    *("context-file", "skill", "hook-notice"),
)
INPUT_PARTS = ("text", "file", "file-reference")
PLAN_MODES = ("plan", "")
CLIENT_TYPES = ("ui", "api")
PROVIDER_TYPES = (*TYPES, *UNSUPPORTED_TYPES)


def text_values() -> Mapping[tuple[str, str], Sequence[str]]:
    """Return the values of each field that has only some, by its struct and its name."""
    return {(struct, field): values for struct, field, values in _rows()}


def _rows() -> Iterator[tuple[str, str, Sequence[str]]]:
    statuses, roles = _values(Status), _values(Role)
    policies, sources = _values(Policy), _values(ModelSource)
    yield "Chat", "status", statuses
    yield "Chat", "attention", _values(Attention)
    yield "Chat", "plan_mode", PLAN_MODES
    yield "Chat", "client_type", CLIENT_TYPES
    yield "Chat", "last_reasoning_effort", EFFORTS
    for struct in ("ChatDebugRunSummary", "ChatDebugRun"):
        yield struct, "kind", get_args(RecordKind)
        yield struct, "status", get_args(RecordStatus)
    yield "ChatDebugStep", "status", get_args(RecordStatus)
    yield "ChatDebugStep", "operation", ("stream", "generate")
    yield "ErasureReceipt", "why", _values(ErasureCause)
    yield "Chat", "approval_policy", policies
    yield "ChatStreamStatus", "status", statuses
    yield "ChatMessage", "role", roles
    yield "ChatStreamMessagePart", "role", roles
    yield "ChatMessagePart", "type", MESSAGE_PARTS
    yield "ChatInputPart", "type", INPUT_PARTS
    yield "ChatQueuedMessage", "busy_behavior", _values(BusyBehaviour)
    yield "CreateChatMessageRequest", "busy_behavior", _values(BusyBehaviour)
    yield "CreateChatRequest", "client_type", CLIENT_TYPES
    yield "CreateChatRequest", "approval_policy", policies
    yield "UpdateChatRequest", "approval_policy", (*policies, "")
    for struct in ("CreateChatRequest", "UpdateChatRequest", "CreateChatMessageRequest"):
        yield struct, "plan_mode", PLAN_MODES
    for struct in (
        *("CreateChatRequest", "CreateChatMessageRequest", "EditChatMessageRequest"),
        *("EditQueuedMessageRequest", "RetryTurnRequest", "ModelOverride", "UpdateModelOverride"),
        *("PersonalOverride", "UpdatePersonalOverride"),
    ):
        yield struct, "reasoning_effort", EFFORTS
    yield "ModelOverride", "context", CONTEXTS
    yield "PersonalOverride", "mode", OWN_MODES
    yield "UpdatePersonalOverride", "mode", OWN_MODES
    yield "ChatModelConfig", "reasoning_efforts", EFFORTS
    yield "ChatModelConfig", "source", sources
    yield "AIProvider", "source", sources
    for struct in ("AIProvider", "CreateAIProviderRequest", "AIProviderSummary"):
        yield struct, "type", PROVIDER_TYPES
    for struct in ("ChatModelProvider", "ChatModelProviderDescriptor"):
        yield struct, "unavailable_reason", get_args(Reason)
    yield "ChatApprovalDecision", "decision", _values(Verdict)
    yield "DecideApprovalRequest", "decision", _values(Verdict)
    yield "ConsentRule", "policy", policies
    for struct in ("MCPServerConfig", "WriteMCPServerConfigRequest"):
        yield struct, "auth_type", AUTH_TYPES
        yield struct, "availability", AVAILABILITIES
    yield "WriteMCPServerConfigRequest", "transport", TRANSPORTS
    yield "ShownUser", "status", _values(UserStatus)
    yield "NewUserAnswer", "status", _values(UserStatus)
    yield "Workspace", "status", tuple(STATUSES)


def _values(kind: type[Enum]) -> Sequence[str]:
    return tuple(str(member.value) for member in kind)
