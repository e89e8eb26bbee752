"""Google Gemini: requests, streams, documents and errors as the vendor writes them. Pure.

The model and whether to stream stand in the path; a call of a tool comes in one piece.
"""

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
from adapters.rehearsal.wires.http import compact, decode, pretty

_FINISH = {
    "stop": "STOP",
    "tools": "STOP",
    "length": "MAX_TOKENS",
    "refusal": "SAFETY",
    "filter": "PROHIBITED_CONTENT",
    "pause": "STOP",
}
_STATUS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
    529: "UNAVAILABLE",
}
_MESSAGES = {
    401: "Request had invalid authentication credentials.",
    429: "Resource has been exhausted (e.g. check quota).",
    500: "An internal error has occurred.",
    503: "The model is overloaded. Please try again later.",
    529: "The model is overloaded. Please try again later.",
}
_OVERFLOW = (
    "The input token count (1234567) exceeds the maximum number of tokens allowed (1048576)."
)


class _Part(msgspec.Struct, rename="camel"):
    text: str = ""
    function_response: dict[str, Any] | None = None


class _Content(msgspec.Struct):
    parts: list[_Part] = []
    role: str = "user"


class _Declaration(msgspec.Struct):
    name: str
    parameters: dict[str, Any] | None = None


class _Tool(msgspec.Struct, rename="camel"):
    function_declarations: list[_Declaration] = []


class _Calling(msgspec.Struct, rename="camel"):
    mode: str = "AUTO"
    allowed_function_names: list[str] = []


class _ToolConfig(msgspec.Struct, rename="camel"):
    function_calling_config: _Calling | None = None


class _Generation(msgspec.Struct, rename="camel"):
    response_schema: dict[str, Any] | None = None
    response_json_schema: dict[str, Any] | None = None


class _Request(msgspec.Struct, rename="camel"):
    contents: list[_Content]
    tools: list[_Tool] | None = None
    tool_config: _ToolConfig | None = None
    generation_config: _Generation | None = None


_DECODER = msgspec.json.Decoder(_Request)


def read(body: bytes, path: str) -> ModelRequest:
    request = decode(_DECODER, body)
    model, _, method = path.rpartition("/")[2].partition(":")
    text, rounds = _last_said(request.contents)
    declared = [one for tool in request.tools or [] for one in tool.function_declarations]
    calling = (request.tool_config or _ToolConfig()).function_calling_config or _Calling()
    allowed = calling.allowed_function_names if calling.mode == "ANY" else []
    forced = next((one for one in declared if one.name in allowed), None)
    wished = request.generation_config or _Generation()
    schema = wished.response_schema or wished.response_json_schema
    return ModelRequest(
        model=model,
        streamed=method == "streamGenerateContent",
        text=text,
        rounds=rounds,
        offers_tools=bool(declared) and calling.mode != "NONE",
        forced=forced.name if forced else None,
        schema=forced.parameters if forced else schema,
        body_bytes=len(body),
    )


def _last_said(contents: list[_Content]) -> tuple[str, int]:
    rounds = 0
    for content in reversed(contents):
        if content.role == "model":
            continue
        text = "\n".join(part.text for part in content.parts if part.text)
        if text:  # results in the same message stand before it
            return text, rounds
        rounds += any(part.function_response is not None for part in content.parts)
    return "", rounds


def stream(answer: ScriptedAnswer) -> Iterator[StreamEvent]:
    counts = _Counts(answer)
    for thoughts, piece in enumerate(answer.reasoning.deltas, 1):
        thought = b'{"text": %b,"thought": true}' % piece
        yield _chunk(thought, counts.after(0, thoughts), timed=True)
    thoughts, spoken = answer.usage.reasoning, len(answer.text.deltas)
    for number, piece in enumerate(answer.text.deltas, 1):
        yield _chunk(b'{"text": %b}' % piece, counts.after(number, thoughts), timed=True)
    if answer.calls:
        called = b",".join(compact(part) for part in _calls(answer))
        yield _chunk(called, counts.whole(), timed=True)
    if answer.finish == "filter" and not spoken:
        feedback = b'"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}'
        yield StreamEvent(b"data: {%b,%b}\r\n\r\n" % (feedback, counts.whole()))
        return
    yield _chunk(b'{"text": ""}', counts.whole(), finish=_FINISH[answer.finish])


def _chunk(parts: bytes, rest: bytes, *, finish: str = "", timed: bool = False) -> StreamEvent:
    ended = b'"finishReason": "%b",' % finish.encode() if finish else b""
    content = b'{"content": {"parts": [%b],"role": "model"},%b"index": 0}' % (parts, ended)
    return StreamEvent(b'data: {"candidates": [%b],%b}\r\n\r\n' % (content, rest), timed)


class _Counts:
    """The part behind the candidates of every chunk: usage so far, the model, the response's id."""

    def __init__(self, answer: ScriptedAnswer) -> None:
        usage = self._usage = answer.usage
        cached = f'"cachedContentTokenCount": {usage.cached},' if usage.cached else ""
        self._before = f'"usageMetadata": {{"promptTokenCount": {usage.input},{cached}'
        details = f'"promptTokensDetails": [{{"modality": "TEXT","tokenCount": {usage.input}}}]'
        model = compact(answer.request.model).decode()
        self._details = details
        self._names = f'"modelVersion": {model},"responseId": "{answer.id}"'

    def whole(self) -> bytes:
        thoughts = self._usage.reasoning
        return self.after(max(self._usage.output - thoughts, 0), thoughts)

    def after(self, spoken: int, thoughts: int) -> bytes:
        total = self._usage.input + spoken + thoughts
        answer = f'"candidatesTokenCount": {spoken},' if spoken else ""
        thought = f',"thoughtsTokenCount": {thoughts}' if thoughts else ""
        counted = f'{answer}"totalTokenCount": {total},{self._details}{thought}'
        return f"{self._before}{counted}}},{self._names}".encode()


def whole(answer: ScriptedAnswer) -> bytes:
    parts: list[dict[str, Any]] = []
    if answer.reasoning.deltas:
        parts.append({"text": answer.reasoning.whole, "thought": True})
    if answer.text.deltas:
        parts.append({"text": answer.text.whole})
    parts += _calls(answer)
    candidate: dict[str, Any] = {
        "content": {"parts": parts, "role": "model"},
        "finishReason": _FINISH[answer.finish],
        "index": 0,
    }
    rest = msgspec.json.decode(b"{%b}" % _Counts(answer).whole())
    if answer.finish == "filter" and not parts:
        return pretty({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, **rest})
    if answer.calls:
        candidate["finishMessage"] = "Model generated function call(s)."
    return pretty({"candidates": [candidate], **rest})


def _calls(answer: ScriptedAnswer) -> list[dict[str, Any]]:
    return [_call(answer, index, call) for index, call in enumerate(answer.calls)]


def _call(answer: ScriptedAnswer, index: int, call: AnsweredCall) -> dict[str, Any]:
    arguments = msgspec.Raw(call.arguments.whole.encode())
    part: dict[str, Any] = {
        "functionCall": {"name": call.name, "args": arguments, "id": call.id[-8:]}
    }
    if index == 0:  # the vendor signs the first call of an answer only
        part["thoughtSignature"] = f"RXhhbXBsZQ{answer.id}=="
    return part


def refusal(status: int, message: str = "", overflow: bool = False) -> HttpRefusal:
    usual = _OVERFLOW if overflow else _MESSAGES.get(status, f"Refused with {status}.")
    error: dict[str, Any] = {
        "code": status,
        "message": message or usual,
        "status": _STATUS.get(status, "UNKNOWN"),
    }
    return HttpRefusal(status, {"error": error})


def error_event(answer: ScriptedAnswer, sequence: int) -> bytes:
    return b"data: %b\r\n\r\n" % compact(refusal(503).document)


def models(names: tuple[str, ...]) -> Json:
    methods = ["generateContent", "streamGenerateContent"]
    return {
        "models": [
            {
                "name": f"models/{name}",
                "displayName": name,
                "inputTokenLimit": 1_048_576,
                "outputTokenLimit": 65_536,
                "supportedGenerationMethods": methods,
            }
            for name in names
        ]
    }
