"""Requests for new chats, checked field by field; refused at the first field that is wrong."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NoReturn
from uuid import UUID, uuid4

from msgspec import UNSET

from actors.law.chat import Body, UserMessage
from actors.law.ids import ChatId, UserId
from actors.law.parts.message import JsonText, Part
from actors.law.requests import NO_PARAMETERS, CreateChat, DynamicTool, NewChat
from actors.tools.approval_rules import Policy
from adapters.chats.wire import chats as wire
from adapters.http.refusals import HttpError, Validation
from adapters.models.choosing import ModelChoice
from adapters.models.prompt_texts import PROMPT_BYTES_MAX, is_too_long, visible_text
from adapters.tools.mcp.registry import ServerRegistry, unknown_to
from adapters.tools.mcp.servers import forced_on
from adapters.workspaces.store import OwnedWorkspaces, OwnerScope

TOOLS_MAX = 250  # of a client in one chat; one more is refused
PLAN_MODES = ("", "plan")
CLIENT_TYPES = ("api", "ui")
APPROVAL_POLICIES = tuple(policy.value for policy in Policy)
LABELS_MAX = 50  # of a chat; one more is refused
KEY_BYTES_MAX = 64
VALUE_BYTES_MAX = 256
SHOWN_MAX = 80  # characters of what is wrong that a refusal repeats

_KEY = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9._/-]*", re.ASCII)


@dataclass(frozen=True, slots=True)
class CreationFacts:
    """The facts of a new chat that had to be looked up."""

    owner: UserId
    title: str
    choice: ModelChoice
    hidden: tuple[Body, ...]  # rows that only the model sees: they come first
    servers: tuple[UUID, ...] = ()


def check_organization(asked: wire.CreateChatRequest, organization: UUID) -> None:
    """Refuse an organization that is not the caller's."""
    if asked.organization_id is None or asked.organization_id.int == 0:
        invalid("organization_id", "is required")
    if asked.organization_id != organization:
        raise HttpError(403, "Forbidden.", detail="you are not a member of this organization")


async def check_workspace(
    workspace: UUID | None, owner: UserId, workspaces: OwnedWorkspaces
) -> None:
    """Refuse a workspace that does not exist, or belongs to another user than the chat."""
    if workspace is not None and await workspaces.one(workspace, OwnerScope(owner)) is None:
        invalid("workspace_id", f"there is no workspace {workspace}")


def check_model(asked: wire.CreateChatRequest) -> None:
    """Refuse a nil model, which means none in other requests only."""
    if asked.model_config_id is not None and asked.model_config_id.int == 0:
        invalid("model_config_id", "must not be nil")


async def servers_of(
    asked: wire.CreateChatRequest, owner: UserId, known: ServerRegistry
) -> tuple[UUID, ...]:
    """Return the servers of tools that are asked for, and those that every chat has."""
    wanted = tuple(dict.fromkeys(asked.mcp_server_ids or ()))
    if unknown := await unknown_to(known, owner, wanted):
        invalid("mcp_server_ids", f"unknown or disabled: {', '.join(map(str, unknown))}")
    forced = forced_on((await known.servers()).values(), owner)
    return tuple(dict.fromkeys((*wanted, *forced)))


def check_plan_mode(plan_mode: str | None) -> None:
    if (plan_mode or "") not in PLAN_MODES:
        invalid("plan_mode", f"{(plan_mode or '')[:SHOWN_MAX]!r} is neither 'plan' nor empty")


def check_approval_policy(policy: str | None) -> None:
    if policy and policy not in APPROVAL_POLICIES:
        fact = f"{policy[:SHOWN_MAX]!r} is none of {', '.join(APPROVAL_POLICIES)}"
        invalid("approval_policy", fact)


def client_type_of(asked: wire.CreateChatRequest) -> str:
    client_type = asked.client_type or "api"
    if client_type not in CLIENT_TYPES:
        invalid("client_type", f"{client_type[:SHOWN_MAX]!r} is neither 'ui' nor 'api'")
    return client_type


def tools_of(asked: wire.CreateChatRequest) -> tuple[DynamicTool, ...]:
    tools = asked.unsafe_dynamic_tools or ()
    if len(tools) > TOOLS_MAX:
        invalid("unsafe_dynamic_tools", f"{len(tools)} are too many, there can be {TOOLS_MAX}")
    names = [(tool.name or "").strip() for tool in tools]
    for at, name in enumerate(names):
        if not name:
            invalid(f"unsafe_dynamic_tools[{at}].name", "must not be empty")
        if "\0" in name:
            invalid(f"unsafe_dynamic_tools[{at}].name", "must not hold a NUL")
        if name in names[:at]:
            invalid(f"unsafe_dynamic_tools[{at}].name", f"{name[:SHOWN_MAX]!r} comes twice")
    return tuple(map(_tool, tools, names))


def check_prompt(asked: wire.CreateChatRequest) -> None:
    if is_too_long(visible_text(asked.system_prompt or "")):
        invalid("system_prompt", f"can have {PROMPT_BYTES_MAX} bytes")


def request_of(
    asked: wire.CreateChatRequest, said: tuple[Part, ...], facts: CreationFacts
) -> CreateChat:
    """Return the request to the law. The fields that were not checked before are checked here."""
    new = NewChat(
        ChatId(uuid4()),
        facts.owner,
        title=facts.title,
        client_type=client_type_of(asked),
        plan_mode=asked.plan_mode or "",
        labels=checked_labels(asked.labels or {}),
        dynamic_tools=tools_of(asked),
        workspace_id=asked.workspace_id,
        mcp_server_ids=facts.servers,
        approval_policy=asked.approval_policy or "",
    )
    choice = facts.choice
    message = UserMessage(said, facts.owner, choice.model, choice.effort)
    return CreateChat(new, (*facts.hidden, message.as_body()))


def _tool(tool: wire.DynamicTool, name: str) -> DynamicTool:
    """Return the tool; with a schema that is no object it has no parameters."""
    schema = NO_PARAMETERS
    if tool.input_schema is not UNSET and _IS_OBJECT.match(bytes(tool.input_schema)):
        schema = JsonText(bytes(tool.input_schema).decode())
    return DynamicTool(name, tool.description or "", schema)


_IS_OBJECT = re.compile(rb"\s*\{")


def invalid(field: str, fact: str) -> NoReturn:
    raise HttpError(
        400, f"Invalid {field}.", detail=f"{field}: {fact}", validations=(Validation(field, fact),)
    )


def checked_labels(labels: Mapping[str, str]) -> Mapping[str, str]:
    """Return the labels as they are. Refused with one fault for each that is wrong."""
    faults = tuple(Validation("labels", fault) for fault in label_faults(labels))
    if faults:
        raise HttpError(400, "Invalid labels.", detail=faults[0].detail, validations=faults)
    return labels


def label_faults(labels: Mapping[str, str]) -> Iterator[str]:
    if len(labels) > LABELS_MAX:
        yield f"{len(labels)} labels are too many, a chat can have {LABELS_MAX}"
    for key, value in labels.items():
        name = repr(key[:SHOWN_MAX])
        if len(key.encode()) > KEY_BYTES_MAX:
            yield f"key {name} has {len(key.encode())} bytes, it can have {KEY_BYTES_MAX}"
        elif not _KEY.fullmatch(key):
            yield f"key {name} must begin with a letter or digit, then also have '.', '_', '/', '-'"
        length = len(value.encode())
        if not 1 <= length <= VALUE_BYTES_MAX:
            yield f"the value of {name} has {length} bytes, it must have 1 to {VALUE_BYTES_MAX}"
        elif "\0" in value:
            yield f"the value of {name} holds U+0000, which cannot be stored"
