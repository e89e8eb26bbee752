"""A prompt as a request of the Responses API. Pure.

The whole history is sent every time. Encrypted reasoning goes back as it came, and only to a
model that reasons. Reasoning in plain text, which open models send, goes back only to servers that
are not OpenAI's own. A search goes back only behind the reasoning that led to it, because either is
refused without the other. Other items go without their ids, so that nothing has to be stored at the
other end.
"""

import base64
from collections.abc import Iterator, Mapping, Set
from typing import Any, TypeVar, assert_never

import msgspec
from msgspec import UNSET, Raw, UnsetType

from actors.law.parts.json_text import notes_of
from actors.law.parts.message import (
    FilePart,
    JsonText,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from actors.law.parts.prompt import (
    AnswerSchema,
    AssistantOutput,
    ComputerUse,
    OnlyTool,
    OpenAIOptions,
    Prompt,
    ToolAnswer,
    ToolResults,
    UserInput,
    WebSearch,
)
from adapters.models.providers.facts.openai import reasons, samples, strict_schema
from adapters.models.providers.openai_responses import wire

COMPUTER_CALL = "computer_call"  # the only item that goes back with a call that we run
METADATA = "openai_responses"  # our key in a part's notes: reasoning, item, led_by, phase
ENCRYPTED = "reasoning.encrypted_content"
LOG_PROBS = "message.output_text.logprobs"
# A picture of one black pixel.
NO_PICTURE = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mNgYGAAAAAEAAHI"
    "6uv5AAAAAElFTkSuQmCC"
)

_T = TypeVar("_T")


def request_body(prompt: Prompt, *, stream: bool, plain_thoughts: bool = False) -> bytes:
    """Return the body of a request. `plain_thoughts`: the server takes thoughts as plain text."""
    settings, options = prompt.settings, _options(prompt)
    request = wire.Request(prompt.model, list(_input(prompt, plain_thoughts=plain_thoughts)))
    request.stream = True if stream else UNSET
    limit = options.max_completion_tokens or settings.max_output_tokens
    request.max_output_tokens = _or_unset(limit)
    if samples(prompt.model, settings.effort):
        request.temperature = _or_unset(settings.temperature)
        request.top_p = _or_unset(settings.top_p)
        request.top_logprobs = _or_unset(options.top_log_probs)
    request.include = _include(prompt, options) or UNSET
    reasoning = wire.Reasoning(_or_unset(settings.effort), _or_unset(options.reasoning_summary))
    request.reasoning = UNSET if reasoning == wire.Reasoning() else reasoning
    text = wire.Text(_format(prompt.answer_schema, options), _or_unset(options.text_verbosity))
    request.text = UNSET if text == wire.Text() else text
    _set_tools(request, prompt, options)
    _set_options(request, options)
    return msgspec.json.encode(request)


def _options(prompt: Prompt) -> OpenAIOptions:
    options = prompt.settings.options
    return options if isinstance(options, OpenAIOptions) else OpenAIOptions()


def _include(prompt: Prompt, options: OpenAIOptions) -> list[str]:
    wanted = dict.fromkeys(options.include)
    if reasons(prompt.model):  # others refuse it
        wanted[ENCRYPTED] = None
    if options.log_probs and samples(prompt.model, prompt.settings.effort):
        wanted[LOG_PROBS] = None
    return list(wanted)


def _format(answer: AnswerSchema | None, options: OpenAIOptions) -> wire.Format | UnsetType:
    if answer is None:
        return UNSET
    schema, strict = strict_schema(answer.schema)
    if options.strict_json_schema is False or options.structured_outputs is False:
        schema, strict = answer.schema, False
    return wire.Format(answer.name, answer.description, _raw(schema), strict)


def _set_tools(request: wire.Request, prompt: Prompt, options: OpenAIOptions) -> None:
    tools: list[wire.FunctionTool | wire.WebSearchTool | wire.ComputerTool] = [
        wire.FunctionTool(tool.name, tool.description, _raw(tool.schema)) for tool in prompt.tools
    ]
    for tool in prompt.provider_tools:
        if isinstance(tool, WebSearch):
            domains = tool.allowed_domains
            filters = wire.Filters(domains) if domains else UNSET
            tools.append(wire.WebSearchTool(_or_unset(tool.context_size), filters))
        elif isinstance(tool, ComputerUse):
            tools.append(wire.ComputerTool())
    if not tools:
        return
    request.tools = tools
    request.parallel_tool_calls = _or_unset(options.parallel_tool_calls)
    request.max_tool_calls = _or_unset(options.max_tool_calls)
    match prompt.tool_choice:
        case "auto":
            pass
        case OnlyTool(name):
            request.tool_choice = wire.NamedTool(name)
        case "none" | "required":
            request.tool_choice = prompt.tool_choice
        case _:
            assert_never(prompt.tool_choice)


def _set_options(request: wire.Request, options: OpenAIOptions) -> None:
    request.instructions = _or_unset(options.instructions)
    request.store = _or_unset(options.store)
    request.metadata = UNSET if options.metadata is None else _raw(options.metadata)
    request.user = _or_unset(options.user)
    request.prompt_cache_key = _or_unset(options.prompt_cache_key)
    request.safety_identifier = _or_unset(options.safety_identifier)
    request.service_tier = _or_unset(options.service_tier)


def _input(prompt: Prompt, *, plain_thoughts: bool) -> Iterator[wire.InputItem]:
    reasoning = reasons(prompt.model)
    checks: dict[str, list[dict[str, Any]]] = {}  # of calls of the computer, by their ids
    for text in prompt.system:
        yield wire.InputMessage("developer" if reasoning else "system", text)
    for message in prompt.messages:
        match message:
            case UserInput(parts):
                yield wire.InputMessage("user", [_content(part) for part in parts])
            case AssistantOutput():
                yield from _assistant(message, checks, encrypted=reasoning, plain=plain_thoughts)
            case ToolResults(answers):
                for answer in answers:
                    called = checks.pop(answer.id, None)
                    yield from [_answer(answer)] if called is None else _seen(answer, called)
            case _:
                assert_never(message)


def _content(part: TextPart | FilePart) -> wire.InputContent:
    if isinstance(part, TextPart):
        return wire.InputContent("input_text", text=part.text)
    assert part.data is not None, "files of a prompt are there"
    kind = part.media_type
    url = f"data:{kind};base64,{part.data}"
    if kind.startswith("image/"):
        return wire.InputContent("input_image", image_url=url)
    if kind == "application/pdf":
        name = part.name or "document.pdf"
        return wire.InputContent("input_file", filename=name, file_data=url)
    if kind.startswith("text/"):
        text = base64.b64decode(part.data).decode("utf-8", "replace")
        return wire.InputContent("input_text", text=text)
    return wire.InputContent("input_text", text=f"[file {part.name or kind}, not shown]")


def _assistant(
    message: AssistantOutput,
    checks: dict[str, list[dict[str, Any]]],
    *,
    encrypted: bool,
    plain: bool,
) -> Iterator[wire.InputItem]:
    """Yield the items of a message. Calls of the computer are noted in `checks`: their results go
    back in another form than those of functions."""
    sent: set[str] = set()  # ids of the reasoning that goes back
    for part in message.parts:
        noted = notes_of(part.provider_metadata, METADATA)
        match part:
            case TextPart(text):
                phase = noted.get("phase")
                said = [wire.SaidText(text)]
                yield wire.InputMessage("assistant", said, str(phase) if phase else UNSET)
            case ReasoningPart():
                if "reasoning" not in noted:
                    continue
                kept = msgspec.convert(noted["reasoning"], wire.KeptReasoning)
                goes_back = encrypted if kept.encrypted_content else plain
                if goes_back:
                    sent.add(kept.id)
                    yield kept
            case ToolCallPart(provider_executed=False) if _is_computers(noted, sent):
                item = msgspec.convert(noted["item"], wire.ComputerCallItem)
                checks[part.id] = item.pending_safety_checks
                yield Raw(msgspec.json.encode(noted["item"]))
            case ToolCallPart(provider_executed=False):
                yield wire.FunctionCallInput(part.id, part.name, part.args or "{}")
            case ToolCallPart():
                if _goes_back(noted, sent):
                    yield Raw(msgspec.json.encode(noted["item"]))
            case ToolResultPart():
                pass  # its call carries it
            case _:
                assert_never(part)


def _is_computers(noted: Mapping[str, Any], sent: Set[str]) -> bool:
    """Return whether a call of ours goes back as the call of the computer that it was. All others
    go back as calls of functions."""
    return _goes_back(noted, sent) and noted["item"].get("type") == COMPUTER_CALL


def _goes_back(noted: Mapping[str, Any], sent: Set[str]) -> bool:
    """Return whether an item goes back as it came: with the reasoning that led to it, if any."""
    led_by = noted.get("led_by")
    return isinstance(noted.get("item"), dict) and (led_by is None or led_by in sent)


def _seen(answer: ToolAnswer, checks: list[dict[str, Any]]) -> Iterator[wire.InputItem]:
    """Yield what came of a call of the computer. It has to be a picture: one that failed gets an
    empty one, and its words stand behind it."""
    picture = answer.media
    url = NO_PICTURE if picture is None else f"data:{picture.media_type};base64,{picture.data}"
    yield wire.ComputerCallOutput(answer.id, wire.Screenshot(url), checks)
    if picture is None:
        words = f"The call {answer.id} of the computer tool failed: {answer.text}"
        yield wire.InputMessage("developer", words)


def _answer(answer: ToolAnswer) -> wire.FunctionCallOutput:
    if answer.media is None:
        return wire.FunctionCallOutput(answer.id, answer.text)
    text = [wire.InputContent("input_text", text=answer.text)] if answer.text else []
    return wire.FunctionCallOutput(answer.id, [*text, _content(answer.media)])


def _or_unset(value: _T | None) -> _T | UnsetType:
    return UNSET if value is None else value


def _raw(text: JsonText) -> Raw:
    return Raw(text.encode())
