"""What can be asked of a daemon, as values. Pure.

    client.do(asks.create_chat(organization, "Hello"))
    client.do(asks.send(chat.id, "And now?", busy="steer"))

Each says what comes back. Whatever may be asked twice without harm says so: reads, and what has an
idempotency key. A client asks these again when the connection breaks, or the daemon is busy.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar
from urllib.parse import quote
from uuid import UUID

import msgspec

from adapters.chats.wire import chats, sending
from adapters.tools.approvals.wire import ChatApproval, ChatApprovalDecision, ChatApprovals

T = TypeVar("T")
U = TypeVar("U")

CHATS = "/api/experimental/chats"

Content = str | Sequence[Mapping[str, Any]]
"""A text, or the parts of a message as the API takes them."""


@dataclass(frozen=True, slots=True)
class Ask(Generic[T]):
    method: str
    path: str
    answer: type[T]
    status: int = 200
    query: Sequence[tuple[str, str]] = ()
    body: Mapping[str, Any] | None = None
    content: bytes = b""  # instead of a body
    headers: Mapping[str, str] = field(default_factory=dict)
    is_repeatable: bool = False


class Nothing(msgspec.Struct, frozen=True):
    """There is no answer but that it was done."""


class Role(msgspec.Struct, frozen=True):
    name: str


class Me(msgspec.Struct, frozen=True):
    id: UUID
    username: str
    organization_ids: tuple[UUID, ...]
    roles: tuple[Role, ...] = ()


class Uploaded(msgspec.Struct, frozen=True):
    id: UUID


class TitleSaid(msgspec.Struct, frozen=True):
    title: str


class ModelShown(msgspec.Struct, frozen=True):
    id: UUID
    ai_provider_id: UUID
    model: str
    display_name: str
    enabled: bool
    is_default: bool


class PromptSaid(msgspec.Struct, frozen=True):
    id: int
    text: str


class PromptsSaid(msgspec.Struct, frozen=True):
    prompts: tuple[PromptSaid, ...]


class CostShown(msgspec.Struct, frozen=True):
    total_cost_micros: int
    request_count: int
    unpriced_request_count: int


def me() -> Ask[Me]:
    return _read("/api/v2/users/me", Me)


def models() -> Ask[list[ModelShown]]:
    return _read(f"{CHATS}/model-configs", list[ModelShown])


# Chats


def create_chat(organization: UUID, content: Content, **more: Any) -> Ask[chats.Chat]:
    """`more` are fields of the request: model_config_id, labels, unsafe_dynamic_tools, …"""
    body = {"organization_id": str(organization), "content": parts(content), **_said(more)}
    return Ask("POST", CHATS, chats.Chat, 201, body=body)


def list_chats(
    q: str = "",
    *,
    labels: Mapping[str, str] | None = None,
    limit: int = 50,
    after_id: UUID | None = None,
) -> Ask[list[chats.Chat]]:
    query = [("limit", str(limit))]
    query += [("q", q)] if q else []
    query += [("after_id", str(after_id))] if after_id else []
    query += [("label", f"{key}:{value}") for key, value in (labels or {}).items()]
    return replace(_read(CHATS, list[chats.Chat]), query=query)


def get_chat(chat: UUID) -> Ask[chats.Chat]:
    return _read(f"{CHATS}/{chat}", chats.Chat)


def update_chat(chat: UUID, **fields: Any) -> Ask[Nothing]:
    """Of title, labels, archived, pin_order, plan_mode, those that are given."""
    return Ask("PATCH", f"{CHATS}/{chat}", Nothing, 204, body=_said(fields))


def archive(chat: UUID) -> Ask[Nothing]:
    return update_chat(chat, archived=True)


def prompts(chat: UUID, limit: int = 500) -> Ask[PromptsSaid]:
    return replace(_read(f"{CHATS}/{chat}/prompts", PromptsSaid), query=[("limit", str(limit))])


def cost(chat: UUID) -> Ask[CostShown]:
    return _read(f"{CHATS}/{chat}/cost", CostShown)


def regenerate_title(chat: UUID) -> Ask[chats.Chat]:
    return Ask("POST", f"{CHATS}/{chat}/title/regenerate", chats.Chat)


def propose_title(chat: UUID) -> Ask[TitleSaid]:
    return Ask("POST", f"{CHATS}/{chat}/title/propose", TitleSaid)


# What is said


def messages(
    chat: UUID, *, before_id: int = 0, after_id: int = 0, limit: int = 50
) -> Ask[sending.ChatMessagesResponse]:
    query = [("limit", str(limit))]
    query += [("before_id", str(before_id))] if before_id else []
    query += [("after_id", str(after_id))] if after_id else []
    return replace(_read(f"{CHATS}/{chat}/messages", sending.ChatMessagesResponse), query=query)


def send(
    chat: UUID, content: Content, *, busy: str = "", **more: Any
) -> Ask[sending.CreateChatMessageResponse]:
    """`busy`: queue (the default), interrupt or steer."""
    body = {"content": parts(content), **_said(more), **({"busy_behavior": busy} if busy else {})}
    return Ask("POST", f"{CHATS}/{chat}/messages", sending.CreateChatMessageResponse, body=body)


def edit(
    chat: UUID, message: int, content: Content, **more: Any
) -> Ask[sending.EditChatMessageResponse]:
    path = f"{CHATS}/{chat}/messages/{message}"
    body = {"content": parts(content), **_said(more)}
    return Ask("PATCH", path, sending.EditChatMessageResponse, body=body)


def interrupt(chat: UUID) -> Ask[chats.Chat]:
    return Ask("POST", f"{CHATS}/{chat}/interrupt", chats.Chat)


def compact(chat: UUID) -> Ask[chats.Chat]:
    return Ask("POST", f"{CHATS}/{chat}/compact", chats.Chat)


def tool_results(chat: UUID, results: Sequence[Mapping[str, Any]]) -> Ask[Nothing]:
    """Of all calls that wait: [{"tool_call_id": …, "output": …, "is_error": …}]."""
    body = {"results": list(results)}
    return Ask("POST", f"{CHATS}/{chat}/tool-results", Nothing, 204, body=body)


def approvals(chat: UUID) -> Ask[ChatApprovals]:
    """What waits for consent in the whole family, what is allowed always, what was decided."""
    return _read(f"{CHATS}/{chat}/approvals", ChatApprovals)


def decide(approval: ChatApproval, decision: str, words: str = "") -> Ask[ChatApprovalDecision]:
    """`decision`: allow_once, allow_always or deny. Refused with 409: somebody was first."""
    path = f"{CHATS}/{approval.chat_id}/approvals/{quote(approval.tool_call_id, safe='')}"
    body = _said(
        {
            "decision": decision,
            "words": words or None,
            "requested_at": approval.requested_at.isoformat(),
        }
    )
    return Ask("POST", path, ChatApprovalDecision, body=body)


def ask_again(chat: UUID, tool: str) -> Ask[Nothing]:
    """What was allowed always is asked about from now on."""
    path = f"{CHATS}/{chat}/approvals/always/{quote(tool, safe='')}"
    return Ask("DELETE", path, Nothing, 204)


# What waits


def delete_queued(chat: UUID, queued: int) -> Ask[Nothing]:
    return Ask("DELETE", f"{CHATS}/{chat}/queue/{queued}", Nothing, 204)


def promote_queued(chat: UUID, queued: int) -> Ask[Nothing]:
    return Ask("POST", f"{CHATS}/{chat}/queue/{queued}/promote", Nothing, 202)


# Files


def upload(organization: UUID, name: str, media_type: str, content: bytes) -> Ask[Uploaded]:
    headers = {
        "content-type": media_type,
        "content-disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}",
    }
    query = [("organization", str(organization))]
    return Ask(
        "POST", f"{CHATS}/files", Uploaded, 201, query=query, content=content, headers=headers
    )


# All of them


def once(ask: Ask[T], key: str) -> Ask[T]:
    """The same, done at most once, however often it is asked with this key."""
    return replace(ask, headers={**ask.headers, "idempotency-key": key}, is_repeatable=True)


def takes_key(ask: Ask[Any]) -> bool:
    """Whether the daemon keeps an idempotency key of it: new chats, and messages."""
    return ask.method == "POST" and (ask.path == CHATS or ask.path.endswith("/messages"))


def parts(content: Content) -> list[Mapping[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def _read(path: str, answer: type[U]) -> Ask[U]:
    return Ask("GET", path, answer, is_repeatable=True)


def _said(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
