"""The requests that can be made of a daemon, as values. Pure.

    client.request(api.create_chat(organization, "Hello"))
    client.request(api.send(chat.id, "And now?", busy="steer"))

Each names the type of its answer. Requests that may be made twice without harm say so: reads, and
those with an idempotency key. A client makes them again when the connection breaks or the daemon is
busy.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar
from urllib.parse import quote
from uuid import UUID

import msgspec

from promptcorner_client.wire import (
    Chat,
    ChatApproval,
    ChatApprovalDecision,
    ChatApprovals,
    ChatCount,
    ChatMessage,
    ChatMessagesResponse,
    ChatPromptsResponse,
    ChatTitle,
    ConsentTrial,
    CreateChatMessageResponse,
    EditChatMessageResponse,
    OwnConsentRules,
    UploadChatFileResponse,
)

T = TypeVar("T")
U = TypeVar("U")

CHATS = "/api/experimental/chats"

Content = str | Sequence[Mapping[str, Any]]
"""A text, or the parts of a message as the API takes them."""


@dataclass(frozen=True, slots=True)
class ApiRequest(Generic[T]):
    """One request: what is sent, and the status and type of a good answer."""

    method: str
    path: str
    answer: type[T]
    status: int = 200
    query: Sequence[tuple[str, str]] = ()
    body: Mapping[str, Any] | None = None
    content: bytes = b""  # instead of a body
    headers: Mapping[str, str] = field(default_factory=dict)
    is_repeatable: bool = False


class Empty(msgspec.Struct, frozen=True):
    """The answer to requests that are answered by their status alone."""


class UserRole(msgspec.Struct, frozen=True):
    """A role of a user."""

    name: str


class CurrentUser(msgspec.Struct, frozen=True):
    """The user whose token it is."""

    id: UUID
    username: str
    organization_ids: tuple[UUID, ...]
    roles: tuple[UserRole, ...] = ()


class ModelSummary(msgspec.Struct, frozen=True):
    """A model that chats may use."""

    id: UUID
    ai_provider_id: UUID
    model: str
    display_name: str
    enabled: bool
    is_default: bool
    context_limit: int = 0  # tokens of its window; 0: it is not known
    reasoning_efforts: Sequence[str] = ()


class CostSummary(msgspec.Struct, frozen=True):
    """The cost of a chat so far, with its agents."""

    total_cost_micros: int
    request_count: int
    unpriced_request_count: int


def me() -> ApiRequest[CurrentUser]:
    """Get the user whose token it is."""
    return _get("/api/v2/users/me", CurrentUser)


def models() -> ApiRequest[list[ModelSummary]]:
    """List the models that chats may use."""
    return _get(f"{CHATS}/model-configs", list[ModelSummary])


# Chats


def create_chat(organization: UUID, content: Content, **more: Any) -> ApiRequest[Chat]:
    """Create a chat with its first message.

    `more` are fields of the request: model_config_id, labels, unsafe_dynamic_tools, …
    """
    body = {"organization_id": str(organization), "content": parts(content), **_present(more)}
    return ApiRequest("POST", CHATS, Chat, 201, body=body)


def list_chats(
    q: str = "",
    *,
    labels: Mapping[str, str] | None = None,
    limit: int = 50,
    after_id: UUID | None = None,
    excerpts: bool = False,
) -> ApiRequest[list[Chat]]:
    """List chats, the newest first: those that match the search `q` and have all `labels`.

    `excerpts`: with the words around what was found.
    """
    query = [("limit", str(limit))]
    query += [("excerpts", "true")] if excerpts else []
    query += [("q", q)] if q else []
    query += [("after_id", str(after_id))] if after_id else []
    query += [("label", f"{key}:{value}") for key, value in (labels or {}).items()]
    return replace(_get(CHATS, list[Chat]), query=query)


def count_chats(q: str = "", *, labels: Mapping[str, str] | None = None) -> ApiRequest[ChatCount]:
    """Count the chats that match a search, as `list_chats` has them: `needs_me:true`, …"""
    query = [("q", q)] if q else []
    query += [("label", f"{key}:{value}") for key, value in (labels or {}).items()]
    return replace(_get(f"{CHATS}/count", ChatCount), query=query)


def get_chat(chat: UUID) -> ApiRequest[Chat]:
    """Get one chat."""
    return _get(f"{CHATS}/{chat}", Chat)


def update_chat(chat: UUID, **fields: Any) -> ApiRequest[Empty]:
    """Change some of title, labels, archived, pin_order, plan_mode, approval_policy."""
    return ApiRequest("PATCH", f"{CHATS}/{chat}", Empty, 204, body=_present(fields))


def mark_read(chat: UUID, *, is_read: bool = True) -> ApiRequest[Empty]:
    """Note that the owner has seen what is said in a chat, or still has to see the last of it."""
    path, body = f"{CHATS}/{chat}/read-status", {"is_read": is_read}
    return ApiRequest("PUT", path, Empty, 204, body=body)


def archive(chat: UUID) -> ApiRequest[Empty]:
    """Archive a chat."""
    return update_chat(chat, archived=True)


def prompts(chat: UUID, limit: int = 500) -> ApiRequest[ChatPromptsResponse]:
    """List the messages that users have sent, the newest first, as texts."""
    request = _get(f"{CHATS}/{chat}/prompts", ChatPromptsResponse)
    return replace(request, query=[("limit", str(limit))])


def cost(chat: UUID) -> ApiRequest[CostSummary]:
    """Get what a chat has cost."""
    return _get(f"{CHATS}/{chat}/cost", CostSummary)


def regenerate_title(chat: UUID) -> ApiRequest[Chat]:
    """Have a model write a new title for a chat."""
    return ApiRequest("POST", f"{CHATS}/{chat}/title/regenerate", Chat)


def propose_title(chat: UUID) -> ApiRequest[ChatTitle]:
    """Have a model propose a title, and change nothing."""
    return ApiRequest("POST", f"{CHATS}/{chat}/title/propose", ChatTitle)


# Messages


def messages(
    chat: UUID,
    *,
    before_id: int = 0,
    after_id: int = 0,
    limit: int = 50,
    results: str = "",
    costs: bool = False,
) -> ApiRequest[ChatMessagesResponse]:
    """Get a page of messages, the newest first.

    `results="cut"`: large results of tools are cut; `message` gets them whole. `costs`: with what
    each message cost.
    """
    query = [("limit", str(limit))]
    query += [("before_id", str(before_id))] if before_id else []
    query += [("after_id", str(after_id))] if after_id else []
    query += [("results", results)] if results else []
    query += [("costs", "true")] if costs else []
    return replace(_get(f"{CHATS}/{chat}/messages", ChatMessagesResponse), query=query)


def message(chat: UUID, id: int) -> ApiRequest[ChatMessage]:
    """Get one message, with all of its results and what it cost."""
    return _get(f"{CHATS}/{chat}/messages/{id}", ChatMessage)


def send(
    chat: UUID, content: Content, *, busy: str = "", **more: Any
) -> ApiRequest[CreateChatMessageResponse]:
    """Send a message. `busy`: what becomes of it at work: queue (the default), interrupt, steer."""
    choice = {"busy_behavior": busy} if busy else {}
    body = {"content": parts(content), **_present(more), **choice}
    return ApiRequest("POST", f"{CHATS}/{chat}/messages", CreateChatMessageResponse, body=body)


def edit(
    chat: UUID, message: int, content: Content, **more: Any
) -> ApiRequest[EditChatMessageResponse]:
    """Replace a message of a user, and delete all that came after it."""
    path = f"{CHATS}/{chat}/messages/{message}"
    body = {"content": parts(content), **_present(more)}
    return ApiRequest("PATCH", path, EditChatMessageResponse, body=body)


def interrupt(chat: UUID) -> ApiRequest[Chat]:
    """Interrupt the turn that runs; refused with 409 if the chat rests."""
    return ApiRequest("POST", f"{CHATS}/{chat}/interrupt", Chat)


def retry(chat: UUID, **more: Any) -> ApiRequest[Chat]:
    """Make the next attempt of a turn now: in the pause after one that failed, or after an error.

    `more` are model_config_id and reasoning_effort, of this attempt and the chat from then on.
    Refused with 409 if no attempt has failed.
    """
    return ApiRequest("POST", f"{CHATS}/{chat}/retry", Chat, body=_present(more))


def compact(chat: UUID) -> ApiRequest[Chat]:
    """Have a model summarise the chat, and go on with the summary."""
    return ApiRequest("POST", f"{CHATS}/{chat}/compact", Chat)


def tool_results(chat: UUID, results: Sequence[Mapping[str, Any]]) -> ApiRequest[Empty]:
    """Send the results of all pending calls: [{"tool_call_id": …, "output": …, "is_error": …}]."""
    body = {"results": list(results)}
    return ApiRequest("POST", f"{CHATS}/{chat}/tool-results", Empty, 204, body=body)


def approvals(chat: UUID) -> ApiRequest[ChatApprovals]:
    """Get what waits for consent in the whole family, what is always allowed, what was decided."""
    return _get(f"{CHATS}/{chat}/approvals", ChatApprovals)


def decide(
    approval: ChatApproval,
    decision: str,
    words: str = "",
    *,
    rules: Sequence[str] = (),
    scope: str = "",
) -> ApiRequest[ChatApprovalDecision]:
    """Answer a call that waits for consent: `decision` is allow_once, allow_always or deny.

    With `rules`, such as those in `approval.suggested_rules`, allow_always allows what they cover
    and not the whole tool: in this chat, or with the scope "user" in all chats of the user.
    Refused with 409 if another user has decided already.
    """
    path = f"{CHATS}/{approval.chat_id}/approvals/{quote(approval.tool_call_id, safe='')}"
    body = _present(
        {
            "decision": decision,
            "words": words or None,
            "requested_at": approval.requested_at.isoformat(),
            "rules": list(rules) or None,
            "scope": scope or None,
        }
    )
    return ApiRequest("POST", path, ChatApprovalDecision, body=body)


def approval_rules() -> ApiRequest[OwnConsentRules]:
    """List the user's own rules of consent."""
    return _get(f"{CHATS}/approval-rules", OwnConsentRules)


def put_approval_rule(tool: str, policy: str) -> ApiRequest[OwnConsentRules]:
    """Write a rule for the user's chats, such as `execute(git *)` with `allow`."""
    body = {"tool": tool, "policy": policy}
    return ApiRequest("PUT", f"{CHATS}/approval-rules", OwnConsentRules, body=body)


def delete_approval_rule(rule: UUID) -> ApiRequest[Empty]:
    """Remove a rule of the user."""
    return ApiRequest("DELETE", f"{CHATS}/approval-rules/{rule}", Empty, 204)


def try_consent(command: str, *, policy: str = "") -> ApiRequest[ConsentTrial]:
    """Ask what would become of a command in the user's chats, and by which rules."""
    body = _present({"command": command, "policy": policy or None})
    return ApiRequest("POST", f"{CHATS}/config/approvals/test", ConsentTrial, body=body)


def revoke_always(chat: UUID, tool: str) -> ApiRequest[Empty]:
    """Ask again before calls of a tool that was always allowed."""
    path = f"{CHATS}/{chat}/approvals/always/{quote(tool, safe='')}"
    return ApiRequest("DELETE", path, Empty, 204)


# The queue


def delete_queued(chat: UUID, queued: int) -> ApiRequest[Empty]:
    """Remove a message from the queue."""
    return ApiRequest("DELETE", f"{CHATS}/{chat}/queue/{queued}", Empty, 204)


def promote_queued(chat: UUID, queued: int) -> ApiRequest[Empty]:
    """Send a message of the queue now, and interrupt what runs."""
    return ApiRequest("POST", f"{CHATS}/{chat}/queue/{queued}/promote", Empty, 202)


# Files


def upload(
    organization: UUID, name: str, media_type: str, content: bytes
) -> ApiRequest[UploadChatFileResponse]:
    """Upload a file, which messages can then name by its id."""
    return ApiRequest(
        "POST",
        f"{CHATS}/files",
        UploadChatFileResponse,
        201,
        query=[("organization", str(organization))],
        content=content,
        headers={
            "content-type": media_type,
            "content-disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}",
        },
    )


# Of every request


def once(request: ApiRequest[T], key: str) -> ApiRequest[T]:
    """Return the request with an idempotency key: made however often, it is carried out once."""
    headers = {**request.headers, "idempotency-key": key}
    return replace(request, headers=headers, is_repeatable=True)


def takes_key(request: ApiRequest[Any]) -> bool:
    """Tell whether the daemon keeps idempotency keys of such requests: new chats, and messages."""
    path = request.path
    return request.method == "POST" and (path == CHATS or path.endswith("/messages"))


def parts(content: Content) -> list[Mapping[str, Any]]:
    """Return content as the parts of a message."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def _get(path: str, answer: type[U]) -> ApiRequest[U]:
    return ApiRequest("GET", path, answer, is_repeatable=True)


def _present(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
