"""The tools of the MCP server. Each asks rows of the API on behalf of its caller, so that whatever
holds there holds here: who may see and change a chat, what a token allows, which values are right.
What is told of the answers is less: ids, states and what was said. Pure.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any
from uuid import UUID

from msgspec import Meta, Struct, json, structs

CHATS = "/api/v2/chats"
CHAT = CHATS + "/{chat}"
TEXT_CHARACTERS_MAX = 20_000  # of one message; the rest is cut, and the message says so
ANSWER_CHARACTERS_MAX = 200_000  # of all messages in one answer; older ones are left out
MESSAGES_DEFAULT, MESSAGES_MAX = 20, 100
_QUIET_PARTS = frozenset({"context-file", "skill", "hook-notice"})

_ChatId = Annotated[UUID, Meta(description="The id of the chat.")]
_ModelId = Annotated[
    UUID | None,
    Meta(description="A model of coder_list_chat_model_configs; left out: the chat's, or default."),
]


class NewChatArguments(Struct, frozen=True, forbid_unknown_fields=True):
    prompt: Annotated[str, Meta(description="What the agent is asked to do.", min_length=1)]
    organization_id: Annotated[
        UUID | None, Meta(description="The organization; left out: the only one.")
    ] = None
    model_config_id: _ModelId = None
    labels: Annotated[
        Mapping[str, str] | None, Meta(description="Labels of the chat, to find it again.")
    ] = None


class OneChatArguments(Struct, frozen=True, forbid_unknown_fields=True):
    chat_id: _ChatId


class MessagesArguments(Struct, frozen=True, forbid_unknown_fields=True):
    chat_id: _ChatId
    before_id: Annotated[
        Annotated[int, Meta(ge=1)] | None,
        Meta(description="Only messages before this id, to read further back."),
    ] = None
    after_id: Annotated[
        Annotated[int, Meta(ge=1)] | None,
        Meta(description="Only messages after this id: what is new."),
    ] = None
    limit: Annotated[int, Meta(description="How many messages at most.", ge=1, le=MESSAGES_MAX)] = (
        MESSAGES_DEFAULT
    )


class SendArguments(Struct, frozen=True, forbid_unknown_fields=True):
    chat_id: _ChatId
    message: Annotated[str, Meta(description="What is said to the agent.", min_length=1)]
    busy_behavior: Annotated[
        str, Meta(description="While the agent works: queue, or interrupt what it does.")
    ] = "queue"
    model_config_id: _ModelId = None


class NoArguments(Struct, frozen=True, forbid_unknown_fields=True):
    pass


@dataclass(frozen=True, slots=True)
class RowRequest:
    """A request to a row of the API."""

    method: str
    path: str  # of the row, with its names in braces
    names: Mapping[str, str] = field(default_factory=dict)  # what stands in their places
    query: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class ChatTool:
    """A tool: its arguments, what it asks, and what it tells of the answer (None: it was empty)."""

    name: str
    description: str
    arguments: type[Struct]
    ask: Callable[[Any, UUID], RowRequest]  # of the arguments, and the only organization
    tell: Callable[[Any, Any], Mapping[str, Any]]  # of the arguments and the answer
    is_reading: bool = False

    @property
    def listed(self) -> Mapping[str, Any]:
        """Return the tool as it stands in `tools/list`."""
        _, found = json.schema_components([self.arguments])
        schema = found[self.arguments.__name__]
        return {
            "name": self.name,
            "description": self.description,
            "inputSchema": {"properties": {}, **schema},
            "annotations": {"readOnlyHint": self.is_reading, "openWorldHint": not self.is_reading},
        }


def _of_chat(
    method: str, rest: str = "", body: Mapping[str, Any] | None = None
) -> Callable[[Any, UUID], RowRequest]:
    def ask(asked: Any, organization: UUID) -> RowRequest:
        return RowRequest(method, CHAT + rest, {"chat": str(asked.chat_id)}, body=body)

    return ask


def _create(asked: NewChatArguments, organization: UUID) -> RowRequest:
    body = {
        "organization_id": asked.organization_id or organization,
        "content": [{"type": "text", "text": asked.prompt}],
        "model_config_id": asked.model_config_id,
        "labels": asked.labels,
        "client_type": "api",
    }
    return RowRequest("POST", CHATS, body=body)


def _send(asked: SendArguments, organization: UUID) -> RowRequest:
    body = {
        "content": [{"type": "text", "text": asked.message}],
        "busy_behavior": asked.busy_behavior,
        "model_config_id": asked.model_config_id,
    }
    return RowRequest("POST", f"{CHAT}/messages", {"chat": str(asked.chat_id)}, body=body)


def _messages(asked: MessagesArguments, organization: UUID) -> RowRequest:
    numbers = structs.asdict(asked)
    query = {
        name: str(numbers[name])
        for name in ("before_id", "after_id", "limit")
        if numbers[name] is not None
    }
    names = {"chat": str(asked.chat_id)}
    return RowRequest("GET", f"{CHAT}/messages", names, {**query, "results": "cut"})


# What is told of the answers.

_ABOUT_CHAT = (
    *("title", "status", "last_error", "last_turn_summary", "summary", "workspace_id", "archived"),
    *("labels", "files", "created_at", "updated_at", "approvals"),
)


def _chat(asked: object, chat: Mapping[str, Any]) -> Mapping[str, Any]:
    found = {name: chat[name] for name in _ABOUT_CHAT if chat.get(name) not in (None, [], {})}
    return {"chat_id": chat["id"], **found}


def _page(asked: MessagesArguments, page: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a page of messages, the oldest first, and how to read on."""
    messages: list[Mapping[str, Any]] = []
    characters, is_whole = 0, True
    newest_first = sorted(page["messages"], key=lambda each: each["id"], reverse=True)
    if asked.after_id is not None and asked.before_id is None:
        newest_first.reverse()
    for each in newest_first:
        message = _message(each)
        characters += len(message["text"])
        if messages and characters > ANSWER_CHARACTERS_MAX:
            is_whole = False
            break
        messages.append(message)
    messages.sort(key=lambda each: each["id"])
    queued = [_message(each) for each in page.get("queued_messages") or ()]
    return {
        "chat_id": str(asked.chat_id),
        "messages": messages,
        "has_more": bool(page.get("has_more")) or not is_whole,
        "queued": [{"id": each["id"], "text": each["text"]} for each in queued],
    }


def _message(message: Mapping[str, Any]) -> Mapping[str, Any]:
    lines = [
        line for part in message.get("content") or () if (line := _line(part)) and line.strip()
    ]
    text = "\n".join(lines)
    if len(text) > TEXT_CHARACTERS_MAX:
        text = f"{text[:TEXT_CHARACTERS_MAX]}\n[cut; it has {len(text)} characters]"
    return {"id": message["id"], "role": message.get("role", "user"), "text": text}


def _line(part: Mapping[str, Any]) -> str:
    """Return a part as a reader of the conversation sees it."""
    match part.get("type"):
        case "text":
            return str(part.get("text", ""))
        case "tool-call":
            return f"[calls {part.get('tool_name')}]"
        case "tool-result":
            how = "failed" if part.get("is_error") else "done"
            return f"[{part.get('tool_name')}: {how}]"
        case "file":
            return f"[file {part.get('name') or part.get('media_type')}, id {part.get('file_id')}]"
        case "source":
            return f"[source {part.get('url')}]"
        case "reasoning" | None:
            return ""
        case kind:
            return "" if kind in _QUIET_PARTS else f"[{kind}]"


def _sent(asked: SendArguments, answer: Mapping[str, Any]) -> Mapping[str, Any]:
    message = answer.get("queued_message") or answer.get("message") or {}
    return {
        "chat_id": str(asked.chat_id),
        "is_queued": answer["queued"],
        "message_id": message.get("id"),
    }


def _archived(asked: OneChatArguments, answer: None) -> Mapping[str, Any]:
    return {"chat_id": str(asked.chat_id), "archived": True}


def _models(asked: NoArguments, configs: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    about = ("id", "provider", "model", "display_name", "is_default", "context_limit")
    found = [
        {name: each[name] for name in about if each.get(name) is not None}
        for each in configs
        if each.get("enabled")
    ]
    return {"model_configs": found}


TOOLS = (
    ChatTool(
        "coder_create_chat",
        "Start a chat: an agent that works on what it is asked, by itself. It returns at once;"
        " follow it by coder_get_chat, and read what it says by coder_get_chat_messages.",
        NewChatArguments,
        _create,
        _chat,
    ),
    ChatTool(
        "coder_get_chat",
        "Get the state of a chat: waiting (the agent has finished its turn), running, interrupting,"
        " requires_action (a person has to decide something) or error.",
        OneChatArguments,
        _of_chat("GET"),
        _chat,
        is_reading=True,
    ),
    ChatTool(
        "coder_get_chat_messages",
        "Read what was said in a chat, the oldest message first; without an id the newest ones.",
        MessagesArguments,
        _messages,
        _page,
        is_reading=True,
    ),
    ChatTool(
        "coder_send_chat_message",
        "Say something to the agent of a chat. While it works the message waits, or interrupts it.",
        SendArguments,
        _send,
        _sent,
    ),
    ChatTool(
        "coder_interrupt_chat",
        "Stop what the agent of a chat is doing. What it has done stays.",
        OneChatArguments,
        _of_chat("POST", "/interrupt"),
        _chat,
    ),
    ChatTool(
        "coder_archive_chat",
        "Put a chat and its agents away. It can be brought back.",
        OneChatArguments,
        _of_chat("PATCH", body={"archived": True}),
        _archived,
    ),
    ChatTool(
        "coder_list_chat_model_configs",
        "List the models that chats can ask.",
        NoArguments,
        lambda asked, organization: RowRequest("GET", f"{CHATS}/model-configs"),
        _models,
        is_reading=True,
    ),
)
