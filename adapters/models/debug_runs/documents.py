"""The documents of a record: what a model was asked, what it said, and each exchange with it. Pure.

They are the same for every provider. A conversation that is too long for a record keeps its
beginning out: what was said last is what a reader of the record looks for.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, assert_never

import msgspec

from actors.law.chat import Body, Message, Role, Visibility
from actors.law.parts.assemble import ModelAnswer
from actors.law.parts.deltas import ProviderFailure
from actors.law.parts.message import (
    FilePart,
    JsonText,
    Part,
    ReasoningPart,
    SourcePart,
    TextPart,
    TokenUsage,
    ToolCallPart,
    ToolResultPart,
)
from actors.law.parts.prompt import (
    AssistantOutput,
    Prompt,
    PromptMessage,
    ToolAnswer,
    ToolResults,
    UserInput,
)
from adapters.models.debug_runs.redaction import (
    clean,
    safe_body,
    safe_headers,
    safe_json,
    safe_mapping,
    safe_url,
    short_text,
)

MESSAGES_BYTES_MAX = 256 * 1024  # of a prompt's messages; those before are left out, and counted
LABEL_CHARACTERS_MAX = 200
KEPT_BYTES_MAX = 256 * 1024  # of a response's body; the rest is only counted

Document = dict[str, Any]


@dataclass(eq=False, slots=True)
class NotedExchange:
    """One HTTP exchange of a recorded call, as it goes on."""

    method: str
    url: str
    request_headers: Sequence[tuple[str, str]] = field(repr=False)
    request_body: bytes = field(repr=False)
    started_at: datetime
    finished_at: datetime | None = None
    response_status: int | None = None
    response_headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    response_body: bytearray = field(default_factory=bytearray, repr=False)
    response_bytes: int = 0  # those that were not kept are counted, too
    error: str = ""
    retry_classification: str = ""
    retry_delay_ms: int | None = None

    def heard(self, data: bytes) -> None:
        """Keep a piece of the body, as far as there is room."""
        self.response_bytes += len(data)
        room = KEPT_BYTES_MAX - len(self.response_body)
        if room > 0:
            self.response_body += data[:room]

    @property
    def size(self) -> int:
        return len(self.request_body) + len(self.response_body)

    @property
    def is_completed(self) -> bool:
        status = self.response_status
        return not self.error and status is not None and 200 <= status < 300


def attempt_document(exchange: NotedExchange) -> Document:
    """Return an exchange as a record has it, without its secrets."""
    ended = exchange.finished_at
    url = safe_url(exchange.url)
    found: Document = {
        "status": "completed" if exchange.is_completed else "failed",
        "method": exchange.method,
        "url": url,
        "path": path_of(url),
        "started_at": exchange.started_at,
        "request_headers": safe_headers(exchange.request_headers),
        "request_body": safe_body(
            exchange.request_body, _media_type(dict(exchange.request_headers))
        ),
    }
    if ended is not None:
        taken = ended - exchange.started_at
        found |= {"finished_at": ended, "duration_ms": round(taken.total_seconds() * 1000)}
    if exchange.response_status is not None:
        found |= {
            "response_status": exchange.response_status,
            "response_headers": safe_headers(exchange.response_headers.items()),
            "response_body": safe_body(
                bytes(exchange.response_body),
                _media_type(exchange.response_headers),
                size=exchange.response_bytes,
            ),
        }
    if exchange.error:
        found["error"] = clean(exchange.error)
    if exchange.retry_classification:
        found["retry_classification"] = exchange.retry_classification
    if exchange.retry_delay_ms is not None:
        found["retry_delay_ms"] = exchange.retry_delay_ms
    return found


def endpoint_of(exchanges: Sequence[NotedExchange]) -> str | None:
    """Return method and path of the first exchange that was completed."""
    first = next((each for each in exchanges if each.is_completed), None)
    return None if first is None else f"{first.method} {path_of(safe_url(first.url))}"


def path_of(url: str) -> str:
    scheme, separator, rest = url.partition("://")
    path = rest.partition("/")[2] if separator else scheme
    return "/" + path.partition("?")[0]


def _media_type(headers: Mapping[str, str]) -> str:
    named = {name.lower(): text for name, text in headers.items()}
    return named.get("content-type", "")


def request_document(prompt: Prompt) -> Document:
    """Return what a model is asked, as far as a record has room for it."""
    messages, left_out = _last_messages(prompt.messages)
    found: Document = {
        "model": clean(prompt.model),
        "system": [short_text(text) for text in prompt.system],
        "messages": messages,
        "tools": [{"name": clean(tool.name)} for tool in prompt.tools],
        "provider_tools": [type(tool).__name__ for tool in prompt.provider_tools],
        "tool_choice": prompt.tool_choice
        if isinstance(prompt.tool_choice, str)
        else {"name": prompt.tool_choice.name},
        "settings": _settings(prompt),
    }
    if left_out:
        found["messages_left_out"] = left_out
    if prompt.answer_schema is not None:
        found["answer_schema"] = clean(prompt.answer_schema.name)
    return found


def _settings(prompt: Prompt) -> Document:
    builtins = msgspec.to_builtins(prompt.settings)
    found = {name: value for name, value in builtins.items() if value is not None}
    return safe_mapping(found)


def _last_messages(messages: Sequence[PromptMessage]) -> tuple[list[Document], int]:
    """Return the last messages, as many as there is room for, and how many are before them."""
    shown: list[Document] = []
    room = MESSAGES_BYTES_MAX
    for message in reversed(messages):
        document = _message(message)
        room -= len(msgspec.json.encode(document))
        if room < 0 and shown:
            break
        shown.append(document)
    shown.reverse()
    return shown, len(messages) - len(shown)


def _message(message: PromptMessage) -> Document:
    match message:
        case UserInput(parts):
            return {"role": "user", "parts": [_part(part) for part in parts]}
        case AssistantOutput(parts):
            return {"role": "assistant", "parts": [_part(part) for part in parts]}
        case ToolResults(answers):
            return {"role": "tool", "parts": [_answer(answer) for answer in answers]}
        case _:
            assert_never(message)


def _answer(answer: ToolAnswer) -> Document:
    found: Document = {
        "type": "tool-result",
        "tool_call_id": clean(answer.id),
        "tool_name": clean(answer.name),
        "result": _json(JsonText(answer.text)),
        "is_error": answer.is_error,
    }
    return found if answer.media is None else {**found, "media": _part(answer.media)}


def _part(part: Part) -> Document:
    match part:
        case TextPart(text):
            return {"type": "text", "text": short_text(text)}
        case ReasoningPart(text):
            return {"type": "reasoning", "text": short_text(text)}
        case ToolCallPart():
            return {
                "type": "tool-call",
                "tool_call_id": clean(part.id),
                "tool_name": clean(part.name),
                "args": _json(part.args or JsonText("")),
                "provider_executed": part.provider_executed,
            }
        case ToolResultPart():
            return {
                "type": "tool-result",
                "tool_call_id": clean(part.id),
                "tool_name": clean(part.name),
                "result": _json(part.result),
                "is_error": part.is_error,
            }
        case SourcePart():
            return {"type": "source", "url": safe_url(part.url), "title": short_text(part.title)}
        case FilePart():
            size = len(part.data) * 3 // 4 if part.data else 0
            return {
                "type": "file",
                "media_type": clean(part.media_type),
                "name": clean(part.name),
                "size_bytes": size,
            }
        case _:
            return {"type": "other", "kind": type(part).__name__}


def _json(text: JsonText) -> Any:
    """Return JSON that a tool was given, or said; what is none, or is long, as a text."""
    if len(text) <= 4 * MESSAGES_BYTES_MAX:
        try:
            shown = safe_json(msgspec.json.decode(text.encode(errors="replace")))
        except (msgspec.MsgspecError, RecursionError):
            return short_text(text)
        encoded = msgspec.json.encode(shown)
        return shown if len(encoded) <= MESSAGES_BYTES_MAX else short_text(encoded.decode())
    return short_text(text)


def response_document(answer: ModelAnswer) -> Document:
    """Return what a model said."""
    found: Document = {
        "finish_reason": answer.reason.value,
        "content": [_part(part) for part in answer.parts],
    }
    if answer.response_id:
        found["response_id"] = clean(answer.response_id)
    return found


def usage_document(usage: TokenUsage) -> Document:
    """Return the tokens that were counted; those that the provider did not tell are left out."""
    counted = msgspec.to_builtins(usage)
    return {name: count for name, count in counted.items() if count is not None}


def failure_document(failure: ProviderFailure) -> Document:
    found: Document = {
        "kind": failure.kind.value,
        "message": clean(failure.message),
        "retryable": failure.retryable,
    }
    if failure.status_code is not None:
        found["status_code"] = failure.status_code
    if failure.detail:
        found["detail"] = clean(failure.detail)
    return found


def prompt_label(prompt: Prompt) -> str:
    """Return the beginning of what a user said last in a prompt."""
    for message in reversed(prompt.messages):
        if isinstance(message, UserInput):
            return label_of(message.parts)
    return ""


def label_of(parts: Sequence[Part]) -> str:
    """Return the beginning of a message in one line."""
    text = " ".join(part.text for part in parts if isinstance(part, TextPart))
    return clean(" ".join(text[: 4 * LABEL_CHARACTERS_MAX].split())[:LABEL_CHARACTERS_MAX])


def trigger_of(history: Sequence[Message]) -> Message | None:
    """Return the message that a turn answers: what a user said last."""
    return next((row for row in reversed(history) if _is_prompt(row)), None)


def _is_prompt(row: Message) -> bool:
    body: Body = row.body
    is_said = body.role is Role.USER and body.visibility is not Visibility.MODEL
    return is_said and not row.deleted and not body.compressed
