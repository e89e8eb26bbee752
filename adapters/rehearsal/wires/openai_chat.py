"""OpenAI Chat Completions: requests, streams, documents and errors as the vendor writes them. Pure.

Reasoning is sent as `reasoning_content`, which compatible servers do and OpenAI does not.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from adapters.rehearsal.dialogue import (
    AnsweredCall,
    Json,
    ModelRequest,
    ScriptedAnswer,
    StreamEvent,
)
from adapters.rehearsal.wires import openai_errors
from adapters.rehearsal.wires.http import compact, decode, pretty, unnamed_event

refusal = openai_errors.refusal

_FINISH = {
    "stop": "stop",
    "tools": "tool_calls",
    "length": "length",
    "refusal": "stop",
    "filter": "content_filter",
    "pause": "stop",
}
_FINGERPRINT = "fp_rehearsal"
_OBFUSCATION = b"cmVoZWFyc2Fs"


class _Part(msgspec.Struct):
    type: str
    text: str = ""


class _Message(msgspec.Struct):
    role: str
    content: str | list[_Part] | None = None


class _Function(msgspec.Struct):
    name: str
    parameters: dict[str, Any] | None = None


class _Tool(msgspec.Struct):
    type: str = "function"
    function: _Function | None = None


class _Schema(msgspec.Struct):
    schema: dict[str, Any] | None = None


class _Format(msgspec.Struct):
    type: str = "text"
    json_schema: _Schema | None = None


class _Options(msgspec.Struct):
    include_usage: bool = False


class _Request(msgspec.Struct):
    model: str
    messages: list[_Message]
    stream: bool | None = False
    stream_options: _Options | None = None
    tools: list[_Tool] | None = None
    tool_choice: str | _Tool | None = None
    response_format: _Format | None = None


_DECODER = msgspec.json.Decoder(_Request)


def read(body: bytes, path: str) -> ModelRequest:
    request = decode(_DECODER, body)
    text, rounds = _last_said(request.messages)
    choice = request.tool_choice
    named = choice.function.name if isinstance(choice, _Tool) and choice.function else None
    functions = [tool.function for tool in request.tools or [] if tool.function]
    forced = next((function for function in functions if function.name == named), None)
    return ModelRequest(
        model=request.model,
        streamed=bool(request.stream),
        text=text,
        rounds=rounds,
        offers_tools=bool(request.tools) and choice != "none",
        forced=forced.name if forced else None,
        schema=forced.parameters if forced else _schema(request),
        wants_usage=request.stream_options is not None and request.stream_options.include_usage,
        body_bytes=len(body),
    )


def _schema(request: _Request) -> dict[str, Any] | None:
    wished = request.response_format
    return wished.json_schema.schema if wished and wished.json_schema else None


def _last_said(messages: list[_Message]) -> tuple[str, int]:
    rounds, above = 0, ""
    for message in reversed(messages):
        if message.role == "user":
            return _text(message.content), rounds
        rounds += (
            message.role == "tool" and above != "tool"
        )  # a round has one message for each result
        above = message.role
    return "", rounds


def _text(content: str | list[_Part] | None) -> str:
    if isinstance(content, list):
        return "\n".join(part.text for part in content if part.type == "text")
    return content or ""


def stream(answer: ScriptedAnswer) -> Iterator[StreamEvent]:
    before = _envelope(answer)
    empty = b"null" if answer.calls and not answer.text.deltas else b'""'
    yield _chunk(before, b'{"role":"assistant","content":%b,"refusal":null}' % empty)
    for member, speech in (
        (b"reasoning_content", answer.reasoning),
        (b"content", answer.text),
        (b"refusal", answer.refusal),
    ):
        for piece in speech.deltas:
            yield _chunk(before, b'{"%b":%b}' % (member, piece), timed=True)
    for index, call in enumerate(answer.calls):
        yield _chunk(before, compact({"tool_calls": [{"index": index, **_called(call, "")}]}))
        for piece in call.arguments.deltas:
            delta = b'{"tool_calls":[{"index":%d,"function":{"arguments":%b}}]}' % (index, piece)
            yield _chunk(before, delta, timed=True)
    yield _chunk(before, b"{}", finish=b'"%b"' % _FINISH[answer.finish].encode())
    if answer.request.wants_usage:
        usage = b'"choices":[],"usage":%b,"obfuscation":"%b"}' % (_usage(answer), _OBFUSCATION)
        yield StreamEvent(unnamed_event(before + usage))
    yield StreamEvent(unnamed_event(b"[DONE]"))


def _envelope(answer: ScriptedAnswer) -> bytes:
    members = {
        "id": f"chatcmpl-{answer.id}",
        "object": "chat.completion.chunk",
        "created": answer.created,
        "model": answer.request.model,
        "service_tier": "default",
        "system_fingerprint": _FINGERPRINT,
    }
    return compact(members)[:-1] + b","


def _chunk(
    before: bytes, delta: bytes, *, finish: bytes = b"null", timed: bool = False
) -> StreamEvent:
    data = b'data: %b"choices":[{"index":0,"delta":%b,"finish_reason":%b}],"usage":null,' % (
        before,
        delta,
        finish,
    )
    return StreamEvent(b'%b"obfuscation":"%b"}\n\n' % (data, _OBFUSCATION), timed)


def whole(answer: ScriptedAnswer) -> bytes:
    message: dict[str, Any] = {"role": "assistant", "content": answer.text.whole or None}
    if answer.reasoning.deltas:
        message["reasoning_content"] = answer.reasoning.whole
    if answer.calls:
        message["tool_calls"] = [_called(call, call.arguments.whole) for call in answer.calls]
    message["refusal"] = answer.refusal.whole or None
    message["annotations"] = []
    choice = {"index": 0, "message": message, "finish_reason": _FINISH[answer.finish]}
    document = {
        "id": f"chatcmpl-{answer.id}",
        "object": "chat.completion",
        "created": answer.created,
        "model": answer.request.model,
        "choices": [choice],
        "usage": msgspec.Raw(_usage(answer)),
        "service_tier": "default",
        "system_fingerprint": _FINGERPRINT,
    }
    return pretty(document)


def error_event(answer: ScriptedAnswer, sequence: int) -> bytes:
    return unnamed_event(compact(openai_errors.refusal(500).document))


def models(names: tuple[str, ...]) -> Json:
    return {
        "object": "list",
        "data": [
            {"id": name, "object": "model", "created": 1_700_000_000, "owned_by": "rehearsal"}
            for name in names
        ],
    }


def _called(call: AnsweredCall, arguments: str) -> dict[str, Any]:
    function = {"name": call.name, "arguments": arguments}
    return {"id": f"call_{call.id}", "type": "function", "function": function}


def _usage(answer: ScriptedAnswer) -> bytes:
    usage = answer.usage
    prompt = {"cached_tokens": usage.cached, "audio_tokens": 0}
    completion = {
        "reasoning_tokens": usage.reasoning,
        "audio_tokens": 0,
        "accepted_prediction_tokens": 0,
        "rejected_prediction_tokens": 0,
    }
    counts = {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": prompt,
        "completion_tokens_details": completion,
    }
    return compact(counts)
