"""OpenAI Responses: requests, streams, documents and errors as the vendor writes them. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec

from adapters.rehearsal.dialogue import (
    AnsweredCall,
    ModelRequest,
    ScriptedAnswer,
    Speech,
    StreamEvent,
)
from adapters.rehearsal.wires import openai_errors
from adapters.rehearsal.wires.http import compact, decode, named_event, pretty

refusal = openai_errors.refusal

_STATUS = {"length": "incomplete", "filter": "incomplete"}  # any other is completed
_INCOMPLETE = {"length": "max_output_tokens", "filter": "content_filter"}
_RESULTS = ("function_call_output", "computer_call_output")
_COMPUTER = "computer"  # the type of a tool, and the name by which a script calls it
_OBFUSCATION = "cmVoZWFyc2Fs"
_FAILED = {"code": "server_error", "message": "The server had an error while processing it."}


class _Part(msgspec.Struct):
    type: str
    text: str = ""


class _Item(msgspec.Struct):
    type: str = "message"
    role: str = ""
    content: str | list[_Part] | None = None


class _Tool(msgspec.Struct):
    type: str = "function"
    description: str | None = None
    name: str = ""
    parameters: dict[str, Any] | None = None
    strict: bool | None = None


class _Format(msgspec.Struct):
    type: str = "text"
    schema: dict[str, Any] | None = None


class _Text(msgspec.Struct):
    format: _Format | None = None


class _Request(msgspec.Struct):
    model: str
    input: str | list[_Item]
    stream: bool | None = False
    tools: list[_Tool] | None = None
    tool_choice: str | _Tool | None = None
    text: _Text | None = None
    max_output_tokens: int | None = None
    instructions: str | None = None
    store: bool | None = True


_DECODER = msgspec.json.Decoder(_Request)


def read(body: bytes, path: str) -> ModelRequest:
    request = decode(_DECODER, body)
    text, rounds = _last_said(request.input)
    tools, choice = request.tools or [], request.tool_choice
    forced = next((t for t in tools if isinstance(choice, _Tool) and t.name == choice.name), None)
    return ModelRequest(
        model=request.model,
        streamed=bool(request.stream),
        text=text,
        rounds=rounds,
        offers_tools=bool(tools) and choice != "none",
        forced=forced.name if forced else None,
        schema=forced.parameters if forced else _schema(request),
        echo={
            "max_output_tokens": request.max_output_tokens,
            "instructions": request.instructions,
            "store": request.store,
            "tools": tools,
            "tool_choice": choice or "auto",
        },
        body_bytes=len(body),
    )


def _schema(request: _Request) -> dict[str, Any] | None:
    return request.text.format.schema if request.text and request.text.format else None


def _last_said(items: str | list[_Item]) -> tuple[str, int]:
    if isinstance(items, str):
        return items, 0
    rounds, above = 0, ""
    for item in reversed(items):
        if item.role == "user":
            return _text(item.content), rounds
        kind = item.type
        rounds += kind in _RESULTS and above not in _RESULTS  # a round has an item for each result
        above = kind
    return "", rounds


def _text(content: str | list[_Part] | None) -> str:
    if isinstance(content, list):
        return "\n".join(part.text for part in content if part.type == "input_text")
    return content or ""


@dataclass(slots=True)
class _Numbers:
    """The numbers of a stream's events."""

    next: int = 0
    items: list[dict[str, Any]] = field(default_factory=list)  # those that are done

    def event(self, name: str, **members: Any) -> StreamEvent:
        document = {"type": name, **members, "sequence_number": self.next}
        self.next += 1
        return StreamEvent(named_event(name, compact(document)))

    def deltas(self, name: str, speech: Speech, members: bytes) -> Iterator[StreamEvent]:
        head = f'event: {name}\ndata: {{"type":"{name}","delta":'.encode()
        for piece in speech.deltas:
            data = b'%b%b,%b,"sequence_number":%d}\n\n' % (head, piece, members, self.next)
            self.next += 1
            yield StreamEvent(data, timed=True)


def stream(answer: ScriptedAnswer) -> Iterator[StreamEvent]:
    numbers = _Numbers()
    opening = _response(answer, "in_progress", [])
    yield numbers.event("response.created", response=opening)
    yield numbers.event("response.in_progress", response=opening)
    if answer.reasoning.deltas:
        yield from _reasoning(answer, numbers)
    if answer.text.deltas:
        yield from _message(answer, numbers, answer.text, refusal=False)
    if answer.refusal.deltas:
        yield from _message(answer, numbers, answer.refusal, refusal=True)
    for call in answer.calls:
        yield from (
            _computer_call(call, numbers) if _is_computers(call, answer) else _call(call, numbers)
        )
    status = _STATUS.get(answer.finish, "completed")
    yield numbers.event(f"response.{status}", response=_response(answer, status, numbers.items))


def _reasoning(answer: ScriptedAnswer, numbers: _Numbers) -> Iterator[StreamEvent]:
    at = {"item_id": f"rs_{answer.id}", "output_index": 0}
    part = {"type": "summary_text", "text": answer.reasoning.whole}
    opening = {**_reasoning_item(answer), "summary": []}
    yield numbers.event("response.output_item.added", item=opening, output_index=0)
    name = "response.reasoning_summary_part"
    yield numbers.event(f"{name}.added", **at, part={**part, "text": ""}, summary_index=0)
    members = compact({**at, "obfuscation": _OBFUSCATION, "summary_index": 0})[1:-1]
    text = "response.reasoning_summary_text"
    yield from numbers.deltas(f"{text}.delta", answer.reasoning, members)
    yield numbers.event(f"{text}.done", **at, summary_index=0, text=answer.reasoning.whole)
    yield numbers.event(f"{name}.done", **at, part=part, summary_index=0)
    yield _done(numbers, _reasoning_item(answer))


def _message(
    answer: ScriptedAnswer, numbers: _Numbers, speech: Speech, *, refusal: bool
) -> Iterator[StreamEvent]:
    item = _message_item(answer, speech, refusal=refusal)
    opening = {**item, "status": "in_progress", "content": []}
    index = len(numbers.items)
    yield numbers.event("response.output_item.added", item=opening, output_index=index)
    at = {"content_index": 0, "item_id": item["id"], "output_index": index}
    part = item["content"][0]
    spoken, kind = ("refusal", "refusal") if refusal else ("text", "output_text")
    name = "response.content_part"
    yield numbers.event(f"{name}.added", **at, part={**part, spoken: ""})
    extra: dict[str, Any] = {} if refusal else {"logprobs": []}
    members = compact({**at, **extra, "obfuscation": _OBFUSCATION})[1:-1]
    yield from numbers.deltas(f"response.{kind}.delta", speech, members)
    yield numbers.event(f"response.{kind}.done", **at, **extra, **{spoken: speech.whole})
    yield numbers.event(f"{name}.done", **at, part=part)
    yield _done(numbers, item)


def _call(call: AnsweredCall, numbers: _Numbers) -> Iterator[StreamEvent]:
    item = _call_item(call)
    at = {"item_id": item["id"], "output_index": len(numbers.items)}
    opening = {**item, "status": "in_progress", "arguments": ""}
    yield numbers.event("response.output_item.added", item=opening, output_index=at["output_index"])
    members = compact({**at, "obfuscation": _OBFUSCATION})[1:-1]
    name = "response.function_call_arguments"
    yield from numbers.deltas(f"{name}.delta", call.arguments, members)
    yield numbers.event(f"{name}.done", arguments=call.arguments.whole, **at)
    yield _done(numbers, item)


def _computer_call(call: AnsweredCall, numbers: _Numbers) -> Iterator[StreamEvent]:
    """Yield a call of the computer tool, whose actions come whole."""
    item = _computer_item(call)
    opening = {**item, "status": "in_progress", "actions": []}
    index = len(numbers.items)
    yield numbers.event("response.output_item.added", item=opening, output_index=index)
    yield _done(numbers, item)


def _is_computers(call: AnsweredCall, answer: ScriptedAnswer) -> bool:
    tools = answer.request.echo.get("tools") or []
    return call.name == _COMPUTER and any(tool.type == _COMPUTER for tool in tools)


def _done(numbers: _Numbers, item: dict[str, Any]) -> StreamEvent:
    numbers.items.append(item)
    index = len(numbers.items) - 1
    return numbers.event("response.output_item.done", item=item, output_index=index)


def whole(answer: ScriptedAnswer) -> bytes:
    items = [_reasoning_item(answer)] if answer.reasoning.deltas else []
    if answer.text.deltas:
        items.append(_message_item(answer, answer.text, refusal=False))
    if answer.refusal.deltas:
        items.append(_message_item(answer, answer.refusal, refusal=True))
    items += [
        _computer_item(call) if _is_computers(call, answer) else _call_item(call)
        for call in answer.calls
    ]
    document = _response(answer, _STATUS.get(answer.finish, "completed"), items)
    return pretty({**document, "billing": {"payer": "developer"}})


def error_event(answer: ScriptedAnswer, sequence: int) -> bytes:
    error = {"type": "error", **_FAILED, "param": None, "sequence_number": sequence}
    failed = {**_response(answer, "failed", []), "error": _FAILED, "usage": None}
    document = {"type": "response.failed", "response": failed, "sequence_number": sequence + 1}
    return named_event("error", compact(error)) + named_event("response.failed", compact(document))


def _reasoning_item(answer: ScriptedAnswer) -> dict[str, Any]:
    return {
        "id": f"rs_{answer.id}",
        "type": "reasoning",
        "content": [],
        "encrypted_content": f"gAAAAA{answer.id}",
        "summary": [{"type": "summary_text", "text": answer.reasoning.whole}],
    }


def _message_item(answer: ScriptedAnswer, speech: Speech, *, refusal: bool) -> dict[str, Any]:
    spoken = {"type": "output_text", "annotations": [], "logprobs": [], "text": speech.whole}
    withheld = {"type": "refusal", "refusal": speech.whole}
    return {
        "id": f"msg_{'r' if refusal else ''}{answer.id}",
        "type": "message",
        "status": "completed",
        "content": [withheld if refusal else spoken],
        "role": "assistant",
    }


def _call_item(call: AnsweredCall) -> dict[str, Any]:
    return {
        "id": f"fc_{call.id}",
        "type": "function_call",
        "status": "completed",
        "arguments": call.arguments.whole,
        "call_id": f"call_{call.id}",
        "name": call.name,
    }


def _computer_item(call: AnsweredCall) -> dict[str, Any]:
    """Return a call of the computer tool; its arguments are `actions`, and checks if there are."""
    arguments = msgspec.json.decode(call.arguments.whole)
    return {
        "id": f"cu_{call.id}",
        "type": "computer_call",
        "status": "completed",
        "call_id": f"call_{call.id}",
        "pending_safety_checks": [],
        **(arguments if isinstance(arguments, dict) else {}),
    }


def _response(answer: ScriptedAnswer, status: str, items: list[dict[str, Any]]) -> dict[str, Any]:
    over = status != "in_progress"
    why = _INCOMPLETE.get(answer.finish) if status == "incomplete" else None
    return {
        "id": f"resp_{answer.id}",
        "object": "response",
        "created_at": answer.created,
        "status": status,
        "background": False,
        "completed_at": answer.created + 1 if status == "completed" else None,
        "error": None,
        "frequency_penalty": 0.0,
        "incomplete_details": {"reason": why} if why else None,
        "max_tool_calls": None,
        "model": answer.request.model,
        "moderation": None,
        "output": items,
        "parallel_tool_calls": True,
        "presence_penalty": 0.0,
        "previous_response_id": None,
        "prompt_cache_key": None,
        "prompt_cache_retention": "in_memory",
        "reasoning": {"context": "current_turn", "effort": "medium", "summary": None},
        "safety_identifier": None,
        "service_tier": "default" if over else "auto",
        "temperature": 1.0,
        "text": {"format": {"type": "text"}, "verbosity": "medium"},
        "top_logprobs": 0,
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": _usage(answer) if over else None,
        "user": None,
        "metadata": {},
        **answer.request.echo,
    }


def _usage(answer: ScriptedAnswer) -> dict[str, Any]:
    usage = answer.usage
    return {
        "input_tokens": usage.input,
        "input_tokens_details": {"cached_tokens": usage.cached},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.input + usage.output,
    }
