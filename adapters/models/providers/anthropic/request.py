"""A prompt as a request of Anthropic's Messages API. Pure.

Messages that follow each other under one role become one message, which is how the API wants
them. A thought goes back only with the signature that came with it; a search only with the
result that came with it.
"""

import base64
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import assert_never

import msgspec

from actors.law.parts.json_text import ANTHROPIC, notes_of
from actors.law.parts.message import FilePart, ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from actors.law.parts.prompt import (
    OUTPUT_TOKENS_MAX,
    AnthropicOptions,
    AssistantOutput,
    ComputerUse,
    Effort,
    OnlyTool,
    Prompt,
    PromptMessage,
    ProviderTool,
    ToolAnswer,
    ToolDefinition,
    ToolResults,
    UserInput,
    WebFetch,
    WebSearch,
)

Json = dict[str, object]

CACHE: Json = {"type": "ephemeral"}
CONTEXT_1M = "context-1m-2025-08-07"
CACHED_MESSAGES = 2  # how many messages at the end are marked to be kept

FETCHED_TOKENS_MAX = 50_000  # of one page, about; Anthropic cuts a longer one

_OWN_RESULTS = ("web_search", "web_fetch")  # the notes of results, which go back as they came
_NEW_COMPUTER = ("computer_20251124", "computer-use-2025-11-24")
_OLD_COMPUTER = ("computer_20250124", "computer-use-2025-01-24")
_NEW_COMPUTER_MODELS = ("opus-4-5", "opus-4-6", "opus-4-7", "sonnet-4-6", "opus-5", "sonnet-5")
_FREE = ("auto", "none")  # choices that leave it to the model whether it calls a tool
_EFFORTS: dict[Effort, str] = {"minimal": "low", "none": ""}  # the others go by their own names


def options_of(prompt: Prompt) -> AnthropicOptions:
    options = prompt.settings.options
    return options if isinstance(options, AnthropicOptions) else AnthropicOptions()


def betas(prompt: Prompt) -> tuple[str, ...]:
    """Return the betas that have to be named in the request before they may be used."""
    computer = any(isinstance(tool, ComputerUse) for tool in prompt.provider_tools)
    found = [_computer(prompt.model)[1]] if computer else []
    if options_of(prompt).context_1m_enabled:
        found.append(CONTEXT_1M)
    return tuple(found)


def body(prompt: Prompt, *, model: str | None, extra: Json) -> bytes:
    """Return the body of a request.

    `model` is the name of the model if it belongs into the body, `extra` what the transport adds.
    """
    settings, options = prompt.settings, options_of(prompt)
    # Thoughts count as output, and the answer needs room, too.
    thoughts = options.thinking_budget_tokens or 0
    request: Json = {
        "max_tokens": settings.max_output_tokens or OUTPUT_TOKENS_MAX + thoughts,
        "messages": _messages(prompt, options),
        **({"model": model} if model is not None else {}),
        **_thinking(prompt, options),
        **_tools(prompt, options),
        **extra,
    }
    if prompt.system:
        system: list[Json] = [{"type": "text", "text": text} for text in prompt.system]
        request["system"] = _marked(system) if prompt.cached else system
    if "thinking" not in request:  # they exclude each other
        sampling = {
            "temperature": settings.temperature,
            "top_p": settings.top_p,
            "top_k": settings.top_k,
        }
        request |= {name: value for name, value in sampling.items() if value is not None}
    return msgspec.json.encode(request)


def _thinking(prompt: Prompt, options: AnthropicOptions) -> Json:
    effort = prompt.settings.effort
    wanted = _EFFORTS.get(effort, effort) if effort else None
    found: Json = {}
    if wanted:
        found = {"output_config": {"effort": wanted}, "thinking": {"type": "adaptive"}}
    elif options.thinking_budget_tokens:
        budget = options.thinking_budget_tokens
        found = {"thinking": {"type": "enabled", "budget_tokens": budget}}
    if _forces_a_tool(prompt):  # a model that must call a tool may not think; its effort may stay
        found.pop("thinking", None)
    thinking = found.get("thinking")
    if options.thinking_display and isinstance(thinking, dict):
        thinking["display"] = options.thinking_display
    return found


def _forces_a_tool(prompt: Prompt) -> bool:
    offers = bool(prompt.tools or prompt.provider_tools)
    return prompt.answer_schema is not None or (offers and prompt.tool_choice not in _FREE)


def _tools(prompt: Prompt, options: AnthropicOptions) -> Json:
    tools = [_tool(tool) for tool in prompt.tools]
    tools += [_provider_tool(tool, prompt.model) for tool in prompt.provider_tools]
    choice = prompt.tool_choice
    if (schema := prompt.answer_schema) is not None:
        tools.append(_tool(ToolDefinition(schema.name, schema.description, schema.schema)))
        choice = OnlyTool(schema.name)
    if not tools:
        return {}
    chosen: Json
    match choice:
        case "auto" | "none":
            chosen = {"type": choice}
        case "required":
            chosen = {"type": "any"}
        case OnlyTool(name):
            chosen = {"type": "tool", "name": name}
        case _:
            assert_never(choice)
    if options.disable_parallel_tool_use and choice != "none":
        chosen["disable_parallel_tool_use"] = True
    return {"tools": tools, "tool_choice": chosen}


def _tool(tool: ToolDefinition) -> Json:
    schema = msgspec.Raw(tool.schema.encode())
    return {"name": tool.name, "description": tool.description, "input_schema": schema}


def _provider_tool(tool: ProviderTool, model: str) -> Json:
    match tool:
        case WebSearch():
            search: Json = {"type": "web_search_20250305", "name": "web_search"}
            return search | _domains(tool)
        case WebFetch():
            fetch: Json = {"type": "web_fetch_20250910", "name": "web_fetch"}
            return fetch | {"max_content_tokens": FETCHED_TOKENS_MAX} | _domains(tool)
        case ComputerUse(width, height):
            kind, _ = _computer(model)
            size = {"display_width_px": width, "display_height_px": height}
            return {"type": kind, "name": "computer", **size}
        case _:
            assert_never(tool)


def _domains(tool: WebSearch | WebFetch) -> Json:
    found: Json = {}
    if tool.allowed_domains:
        found["allowed_domains"] = tool.allowed_domains
    if tool.blocked_domains:
        found["blocked_domains"] = tool.blocked_domains
    return found


def _computer(model: str) -> tuple[str, str]:
    """Return the tool and the beta that the model understands."""
    return _NEW_COMPUTER if any(name in model for name in _NEW_COMPUTER_MODELS) else _OLD_COMPUTER


def _messages(prompt: Prompt, options: AnthropicOptions) -> list[Json] | msgspec.Raw:
    """Return the messages; what was written of them in an earlier step is not written again."""
    if prompt.written is None:
        return _written(prompt.messages, options, cached=prompt.cached)
    settled = _settled_count(prompt.messages, options)

    def write(messages: Sequence[PromptMessage], are_last: bool) -> bytes:
        cached = prompt.cached and are_last
        return msgspec.json.encode(_written(messages, options, cached=cached))[1:-1]

    way = (__name__, options.send_reasoning)
    return msgspec.Raw(prompt.written.array(prompt.messages, settled, way, write))


def _written(
    messages: Sequence[PromptMessage], options: AnthropicOptions, *, cached: bool
) -> list[Json]:
    said = [(_role(each), list(_blocks(each, options))) for each in messages]
    said = [(role, blocks) for role, blocks in said if blocks]
    if cached:
        for _, blocks in said[-CACHED_MESSAGES:]:
            _marked(blocks)
    return [
        {"role": role, "content": [block for _, blocks in run for block in blocks]}
        for role, run in groupby(said, key=lambda each: each[0])
    ]


def _settled_count(messages: Sequence[PromptMessage], options: AnthropicOptions) -> int:
    """Return how many messages are written in the same way whatever follows them: what is marked
    is not among them, and neither is what the next one is joined to."""
    marked, next_role = 0, ""
    for count in range(len(messages), 0, -1):
        said = messages[count - 1]
        role, is_empty = _role(said), not any(True for _ in _blocks(said, options))
        if marked >= CACHED_MESSAGES and not is_empty and role != next_role:
            return count
        if not is_empty:  # what is not written keeps no neighbours apart
            marked, next_role = marked + 1, role
    return 0


def _role(said: PromptMessage) -> str:
    return "assistant" if isinstance(said, AssistantOutput) else "user"


def _marked(blocks: list[Json]) -> list[Json]:
    """Mark the last block that may be marked; thoughts may not."""
    for block in reversed(blocks):
        if block["type"] not in ("thinking", "redacted_thinking"):
            block["cache_control"] = CACHE
            break
    return blocks


def _blocks(said: PromptMessage, options: AnthropicOptions) -> Iterator[Json]:
    match said:
        case UserInput(parts):
            for part in parts:
                yield from _text(part) if isinstance(part, TextPart) else _file(part)
        case AssistantOutput(said_parts):
            for said_part in said_parts:
                yield from _assistant(said_part, options)
        case ToolResults(answers):
            yield from map(_answer, answers)
        case _:
            assert_never(said)


def _assistant(
    part: TextPart | ReasoningPart | ToolCallPart | ToolResultPart, options: AnthropicOptions
) -> Iterator[Json]:
    match part:
        case TextPart():
            yield from _text(part)
        case ReasoningPart():
            if options.send_reasoning is not False:
                yield from _thought(part)
        case ToolCallPart():
            kind = "server_tool_use" if part.provider_executed else "tool_use"
            args = msgspec.Raw((part.args or "{}").encode())
            yield {"type": kind, "id": part.id, "name": part.name, "input": args}
        case ToolResultPart():
            notes = notes_of(part.provider_metadata, ANTHROPIC)
            for name in _OWN_RESULTS:
                if (content := notes.get(name)) is not None:
                    kind = f"{name}_tool_result"
                    yield {"type": kind, "tool_use_id": part.id, "content": content}
        case _:
            assert_never(part)


def _text(part: TextPart) -> Iterator[Json]:
    if part.text.strip():
        yield {"type": "text", "text": part.text}


def _thought(part: ReasoningPart) -> Iterator[Json]:
    ours = notes_of(part.provider_metadata, ANTHROPIC)
    if signature := ours.get("signature"):
        yield {"type": "thinking", "thinking": part.text, "signature": signature}
    elif data := ours.get("redacted_data"):
        yield {"type": "redacted_thinking", "data": data}


def _answer(answer: ToolAnswer) -> Json:
    content: list[Json] = [{"type": "text", "text": answer.text}] if answer.text else []
    if answer.media is not None:
        content += _file(answer.media)
    block: Json = {"type": "tool_result", "tool_use_id": answer.id, "content": content}
    return block | {"is_error": True} if answer.is_error else block


def _file(part: FilePart) -> Iterator[Json]:
    """Return a file as a block. A file of another type is only named to the model.

    Such a file should have been kept out of the prompt before.
    """
    source: Json = {"type": "base64", "media_type": part.media_type, "data": part.data or ""}
    if part.media_type.startswith("image/"):
        yield {"type": "image", "source": source}
        return
    titled = {"title": part.name} if part.name else {}
    if part.media_type == "application/pdf":
        yield {"type": "document", "source": source, **titled}
    elif part.media_type.startswith("text/"):
        text = base64.b64decode(part.data or "").decode("utf-8", "replace")
        plain = {"type": "text", "media_type": "text/plain", "data": text}
        yield {"type": "document", "source": plain, **titled}
    else:
        yield {"type": "text", "text": f"[file {part.name or part.media_type}, not shown]"}
