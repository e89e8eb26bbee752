"""Anthropic Messages: requests, streams, documents and errors as the vendor writes them. Pure."""

from collections.abc import Iterator
from typing import Any

import msgspec

from adapters.rehearsal.dialogue import (
    AnsweredCall,
    HttpRefusal,
    Json,
    ModelRequest,
    ScriptedAnswer,
    StreamEvent,
)
from adapters.rehearsal.wires.http import compact, decode, named_event

_STOP_REASONS = {
    "stop": "end_turn",
    "tools": "tool_use",
    "length": "max_tokens",
    "refusal": "refusal",
    "filter": "refusal",
    "pause": "pause_turn",
}
_ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}
_MESSAGES = {
    401: "invalid x-api-key",
    429: "This request would exceed your organization's rate limit",
    500: "Internal server error",
    529: "Overloaded",
}


class _Block(msgspec.Struct):
    type: str
    text: str = ""


class _Message(msgspec.Struct):
    role: str
    content: str | list[_Block]


class _Tool(msgspec.Struct):
    name: str
    input_schema: dict[str, Any] | None = None


class _Choice(msgspec.Struct):
    type: str = "auto"
    name: str | None = None


class _Format(msgspec.Struct):
    type: str = ""
    schema: dict[str, Any] | None = None


class _Output(msgspec.Struct):
    format: _Format | None = None


class _Request(msgspec.Struct):
    model: str
    max_tokens: int
    messages: list[_Message]
    stream: bool = False
    tools: list[_Tool] | None = None
    tool_choice: _Choice | None = None
    output_config: _Output | None = None


_DECODER = msgspec.json.Decoder(_Request)


def read(body: bytes, path: str) -> ModelRequest:
    request = decode(_DECODER, body)
    text, rounds = _last_said(request.messages)
    tools = request.tools or []
    choice = request.tool_choice or _Choice()
    forced = next((tool for tool in tools if tool.name == choice.name), None)
    return ModelRequest(
        model=request.model,
        streamed=request.stream,
        text=text,
        rounds=rounds,
        offers_tools=bool(tools) and choice.type != "none",
        forced=forced.name if forced else None,
        schema=forced.input_schema if forced else _schema(request),
        body_bytes=len(body),
        said_before=_said_before(request.messages[-1:]),
    )


def _schema(request: _Request) -> dict[str, Any] | None:
    output = request.output_config
    return output.format.schema if output and output.format else None


def _said_before(last: list[_Message]) -> str:
    """Return the text of a last message that is the model's own: an answer that is to go on."""
    if not last or last[0].role != "assistant":
        return ""
    blocks = last[0].content
    return blocks if isinstance(blocks, str) else "".join(block.text for block in blocks)


def _last_said(messages: list[_Message]) -> tuple[str, int]:
    rounds = 0
    for message in reversed(messages):
        if message.role != "user":
            continue
        blocks = message.content
        if isinstance(blocks, str):
            return blocks, rounds
        text = "\n".join(block.text for block in blocks if block.type == "text")
        if text:  # results in the same message stand before it
            return text, rounds
        rounds += any(block.type == "tool_result" for block in blocks)
    return "", rounds


def stream(answer: ScriptedAnswer) -> Iterator[StreamEvent]:
    start = _message(answer, content=[], stop=None, usage=_usage(answer, output=1))
    yield _event("message_start", {"message": start})
    index = 0
    if answer.reasoning.deltas:
        empty = {"type": "thinking", "thinking": "", "signature": ""}
        deltas = _deltas(index, "thinking_delta", "thinking", answer.reasoning.deltas)
        yield from _block(index, empty, deltas, signature=_signature(answer))
        index += 1
    if answer.text.deltas:
        deltas = _deltas(index, "text_delta", "text", answer.text.deltas)
        yield from _block(index, {"type": "text", "text": ""}, deltas)
        index += 1
    for index, call in enumerate(answer.calls, index):  # noqa: B020 - it goes on where text ended
        deltas = _deltas(index, "input_json_delta", "partial_json", (b'""', *call.arguments.deltas))
        yield from _block(index, _tool_use(call, {}), deltas)
    yield _event("message_delta", {"delta": _stop(answer), "usage": _final_usage(answer)})
    yield _event("message_stop", {})


def _block(
    index: int, empty: dict[str, Any], deltas: Iterator[StreamEvent], *, signature: str = ""
) -> Iterator[StreamEvent]:
    yield _event("content_block_start", {"index": index, "content_block": empty})
    if index == 0:
        yield StreamEvent(b'event: ping\ndata: {"type": "ping"}\n\n')
    yield from deltas
    if signature:
        delta = {"type": "signature_delta", "signature": signature}
        yield _event("content_block_delta", {"index": index, "delta": delta})
    yield _event("content_block_stop", {"index": index})


def _deltas(index: int, kind: str, member: str, pieces: tuple[bytes, ...]) -> Iterator[StreamEvent]:
    before = (
        "event: content_block_delta\n"
        f'data: {{"type":"content_block_delta","index":{index},'
        f'"delta":{{"type":"{kind}","{member}":'
    ).encode()
    for piece in pieces:
        yield StreamEvent(b"%b%b}}\n\n" % (before, piece), timed=piece != b'""')


def whole(answer: ScriptedAnswer) -> bytes:
    content: list[dict[str, Any]] = []
    if answer.reasoning.deltas:
        thinking = {"type": "thinking", "thinking": answer.reasoning.whole}
        content.append({**thinking, "signature": _signature(answer)})
    if answer.text.deltas:
        content.append({"type": "text", "text": answer.text.whole})
    for call in answer.calls:
        content.append(_tool_use(call, msgspec.Raw(call.arguments.whole.encode())))
    usage = _usage(answer, output=answer.usage.output)
    return compact(_message(answer, content=content, stop=_stop(answer), usage=usage))


def refusal(status: int, message: str = "", overflow: bool = False) -> HttpRefusal:
    if overflow:
        message = "prompt is too long: 212345 tokens > 200000 maximum"
    error = {
        "type": _ERROR_TYPES.get(status, "api_error"),
        "message": message or _MESSAGES.get(status, f"refused with {status}"),
    }
    return HttpRefusal(status, {"type": "error", "error": error, "request_id": "req_rehearsal"})


def error_event(answer: ScriptedAnswer, sequence: int) -> bytes:
    error = {"details": None, "type": "overloaded_error", "message": "Overloaded"}
    return _event("error", {"error": error, "request_id": f"req_{answer.id}"}).data


def models(names: tuple[str, ...]) -> Json:
    created = "2026-01-01T00:00:00Z"
    data = [
        {"type": "model", "id": name, "display_name": name, "created_at": created} for name in names
    ]
    return {"data": data, "has_more": False, "first_id": names[0], "last_id": names[-1]}


def _event(name: str, members: dict[str, Any]) -> StreamEvent:
    return StreamEvent(named_event(name, compact({"type": name, **members})))


def _message(
    answer: ScriptedAnswer,
    *,
    content: list[dict[str, Any]],
    stop: dict[str, Any] | None,
    usage: dict[str, Any],
) -> dict[str, Any]:
    return {
        "model": answer.request.model,
        "id": f"msg_{answer.id}",
        "type": "message",
        "role": "assistant",
        "content": content,
        **(stop or {"stop_reason": None, "stop_sequence": None}),
        "usage": usage,
    }


def _stop(answer: ScriptedAnswer) -> dict[str, Any]:
    stop = {"stop_reason": _STOP_REASONS[answer.finish], "stop_sequence": None}
    if stop["stop_reason"] != "refusal":
        return stop
    explanation = "The rehearsal was told to refuse."
    details = {"type": "refusal", "category": "general_harms", "explanation": explanation}
    return {**stop, "stop_details": details}


def _tool_use(call: AnsweredCall, arguments: object) -> dict[str, Any]:
    return {
        "type": "tool_use",
        "id": f"toolu_{call.id}",
        "name": call.name,
        "input": arguments,
        "caller": {"type": "direct"},
    }


def _signature(answer: ScriptedAnswer) -> str:
    return f"RXhhbXBsZQ{answer.id}=="


def _counts(answer: ScriptedAnswer) -> dict[str, int]:
    usage = answer.usage
    return {
        "input_tokens": max(usage.input - usage.cached - usage.cache_write, 0),
        "cache_creation_input_tokens": usage.cache_write,
        "cache_read_input_tokens": usage.cached,
    }


def _usage(answer: ScriptedAnswer, output: int) -> dict[str, Any]:
    written = {
        "ephemeral_5m_input_tokens": answer.usage.cache_write,
        "ephemeral_1h_input_tokens": 0,
    }
    return {
        **_counts(answer),
        "cache_creation": written,
        "output_tokens": output,
        "service_tier": "standard",
        "inference_geo": "not_available",
    }


def _final_usage(answer: ScriptedAnswer) -> dict[str, int]:
    return {**_counts(answer), "output_tokens": answer.usage.output}
