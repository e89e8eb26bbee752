"""A prompt as a request of generateContent. Pure.

A call goes back with the signature that came with it. Gemini 3 refuses calls of the turn under way
without one, so a call that was made elsewhere gets Google's documented word for that.
"""

from collections.abc import Iterator
from typing import TypeVar, assert_never

import msgspec
from msgspec import UNSET, Raw, UnsetType

from actors.law.parts.json_text import notes_of
from actors.law.parts.message import FilePart, ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from actors.law.parts.prompt import (
    AssistantOutput,
    GoogleOptions,
    OnlyTool,
    Prompt,
    PromptMessage,
    ToolAnswer,
    ToolResults,
    UserInput,
    WebFetch,
    WebSearch,
)
from adapters.models.providers.facts.gemini import (
    budget_of,
    level_of,
    mixes_tools,
    thinks_in_levels,
)
from adapters.models.providers.google import wire

METADATA = "google"  # our key in a part's notes: thought_signature, part

_CATEGORIES = (
    "HARM_CATEGORY_HARASSMENT",
    "HARM_CATEGORY_HATE_SPEECH",
    "HARM_CATEGORY_SEXUALLY_EXPLICIT",
    "HARM_CATEGORY_DANGEROUS_CONTENT",
)
# Gemini 3 takes files of these types in the response of a function.
_IN_RESPONSES = frozenset(
    {"image/png", "image/jpeg", "image/webp", "application/pdf", "text/plain"}
)
_SKIP_SIGNATURE = "skip_thought_signature_validator"

_T = TypeVar("_T")


def request_body(prompt: Prompt, *, at_vertex: bool = False) -> bytes:
    """Return the body of a request.

    Vertex wants calls and their results without ids and pairs them by order. It does not report the
    model's own searches, and refuses a request that asks for them.
    """
    options = _options(prompt)
    request = wire.Request(_contents(prompt, at_vertex=at_vertex))
    if prompt.system:
        system = [wire.Part(text=text) for text in prompt.system]
        request.system_instruction = wire.System(system)
    _set_tools(request, prompt, at_vertex=at_vertex)
    config = _config(prompt, options)
    request.generation_config = UNSET if config == wire.GenerationConfig() else config
    request.safety_settings = _safety(options) or UNSET
    request.cached_content = _or_unset(options.cached_content)
    return msgspec.json.encode(request)


def _options(prompt: Prompt) -> GoogleOptions:
    options = prompt.settings.options
    return options if isinstance(options, GoogleOptions) else GoogleOptions()


def _config(prompt: Prompt, options: GoogleOptions) -> wire.GenerationConfig:
    settings, answer = prompt.settings, prompt.answer_schema
    config = wire.GenerationConfig(
        max_output_tokens=_or_unset(settings.max_output_tokens),
        temperature=_or_unset(settings.temperature),
        top_p=_or_unset(settings.top_p),
        top_k=_or_unset(settings.top_k),
        presence_penalty=_or_unset(settings.presence_penalty),
        frequency_penalty=_or_unset(settings.frequency_penalty),
        thinking_config=_thinking(prompt, options),
    )
    if answer is not None:
        config.response_mime_type = "application/json"
        config.response_json_schema = Raw(answer.schema.encode())
    return config


def _thinking(prompt: Prompt, options: GoogleOptions) -> wire.ThinkingConfig | UnsetType:
    """Return how the model is to think: as it is configured, else by its effort.

    Thoughts are shown unless the configuration says otherwise.
    """
    level, budget = options.thinking_level, options.thinking_budget
    if level is None and budget is None and (effort := prompt.settings.effort) is not None:
        level = level_of(prompt.model, effort) if thinks_in_levels(prompt.model) else None
        budget = budget_of(prompt.model, effort)
    if level is None and budget is None and options.include_thoughts is None:
        return UNSET
    return wire.ThinkingConfig(
        options.include_thoughts is not False,
        _or_unset(budget),
        _or_unset(level.upper() if level else None),
    )


def _safety(options: GoogleOptions) -> list[wire.SafetySetting]:
    """Return the thresholds; one threshold stands for every category without its own."""
    thresholds = {each.category: each.threshold for each in options.safety_settings}
    if options.threshold is not None:
        thresholds = dict.fromkeys(_CATEGORIES, options.threshold) | thresholds
    return [wire.SafetySetting(*each) for each in thresholds.items()]


def _own_tools(prompt: Prompt) -> list[wire.Tool]:
    """Return the tools that the model runs by itself.

    An older model with functions has none, and its functions matter more.
    """
    if prompt.tools and not mixes_tools(prompt.model):
        return []
    tools: list[wire.Tool] = []
    for tool in prompt.provider_tools:
        if isinstance(tool, WebSearch):
            tools.append(wire.Tool(google_search={}))
        elif isinstance(tool, WebFetch):
            tools.append(wire.Tool(url_context={}))
    return tools


def _shows_own_calls(prompt: Prompt, *, at_vertex: bool) -> bool:
    """Return whether the model tells of the calls of its own tools, and wants to be told again.

    It has to where it has functions of ours, too.
    """
    return bool(_own_tools(prompt)) and bool(prompt.tools) and not at_vertex


def _set_tools(request: wire.Request, prompt: Prompt, *, at_vertex: bool) -> None:
    tools: list[wire.Tool] = []
    config = wire.ToolConfig()
    if prompt.tools:
        functions = [
            wire.Function(tool.name, tool.description, Raw(tool.schema.encode()))
            for tool in prompt.tools
        ]
        tools.append(wire.Tool(function_declarations=functions))
        config.function_calling_config = _choice(prompt)
    tools += _own_tools(prompt)
    if _shows_own_calls(prompt, at_vertex=at_vertex):
        config.include_server_side_tool_invocations = True
    request.tools = tools or UNSET
    request.tool_config = UNSET if config == wire.ToolConfig() else config


def _choice(prompt: Prompt) -> wire.FunctionCalling | UnsetType:
    match prompt.tool_choice:
        case "auto":
            return UNSET
        case "none":
            return wire.FunctionCalling("NONE")
        case "required":
            return wire.FunctionCalling("ANY")
        case OnlyTool(name):
            return wire.FunctionCalling("ANY", [name])
        case _:
            assert_never(prompt.tool_choice)


def _contents(prompt: Prompt, *, at_vertex: bool) -> list[wire.Content]:
    begins = max(
        (at for at, said in enumerate(prompt.messages) if isinstance(said, UserInput)), default=0
    )
    own_calls = _shows_own_calls(prompt, at_vertex=at_vertex)
    contents: list[wire.Content] = []
    for at, said in enumerate(prompt.messages):
        parts = list(_parts(said, prompt, own_calls=own_calls))
        if at > begins and thinks_in_levels(prompt.model):
            _sign(parts)
        if at_vertex:
            _drop_ids(parts)
        if parts:
            role = wire.Content("model" if isinstance(said, AssistantOutput) else "user", parts)
            contents.append(role)
    return contents


def _parts(said: PromptMessage, prompt: Prompt, *, own_calls: bool) -> Iterator[wire.Part | Raw]:
    match said:
        case UserInput(parts):
            for part in parts:
                yield (
                    wire.Part(text=part.text)
                    if isinstance(part, TextPart)
                    else wire.Part(inline_data=_blob(part))
                )
        case AssistantOutput(said_parts):
            for said_part in said_parts:
                yield from _assistant(said_part, own_calls=own_calls)
        case ToolResults(answers):
            for answer in answers:
                yield wire.Part(function_response=_answer(answer, prompt))
            for answer in answers:
                if answer.media is not None and not _is_in_response(answer.media, prompt):
                    yield wire.Part(inline_data=_blob(answer.media))
        case _:
            assert_never(said)


def _assistant(
    part: TextPart | ReasoningPart | ToolCallPart | ToolResultPart, *, own_calls: bool
) -> Iterator[wire.Part | Raw]:
    noted = notes_of(part.provider_metadata, METADATA)
    kept = noted.get("thought_signature")
    signature = str(kept) if kept else UNSET
    match part:
        case TextPart(text):
            yield wire.Part(text=text, thought_signature=signature)
        case ReasoningPart(text):
            if signature is not UNSET:
                yield wire.Part(text=text, thought=True, thought_signature=signature)
        case ToolCallPart(provider_executed=False):
            call = wire.FunctionCall(part.name, Raw((part.args or "{}").encode()), part.id)
            yield wire.Part(function_call=call, thought_signature=signature)
        case ToolCallPart() | ToolResultPart():
            if "part" in noted and own_calls:
                yield Raw(msgspec.json.encode(noted["part"]))
        case _:
            assert_never(part)


def _answer(answer: ToolAnswer, prompt: Prompt) -> wire.FunctionResponse:
    """Return the answer to a call. Its file is inside it, or follows all the answers."""
    media, text = answer.media, answer.text
    is_inside = media is not None and _is_in_response(media, prompt)
    if media is not None and not text:
        text = f"[{media.media_type}, {'in this result' if is_inside else 'behind the results'}]"
    said = {"error" if answer.is_error else "result": text}
    response = wire.FunctionResponse(answer.name, said, answer.id)
    if media is not None and is_inside:
        response.parts = [wire.ResponsePart(_blob(media))]
    return response


def _is_in_response(media: FilePart, prompt: Prompt) -> bool:
    """Return whether a file goes into the response of its function.

    Models before Gemini 3 do not look for files there.
    """
    return thinks_in_levels(prompt.model) and media.media_type in _IN_RESPONSES


def _blob(file: FilePart) -> wire.Blob:
    assert file.data is not None, "files of a prompt are there"
    return wire.Blob(file.media_type, file.data)


def _sign(parts: list[wire.Part | Raw]) -> None:
    """Sign the calls; of calls that were made together only the first is signed."""
    calls = [part for part in parts if isinstance(part, wire.Part) and part.function_call]
    if calls and calls[0].thought_signature is UNSET:
        calls[0].thought_signature = _SKIP_SIGNATURE


def _drop_ids(parts: list[wire.Part | Raw]) -> None:
    for part in parts:
        if isinstance(part, wire.Part):
            if part.function_call is not UNSET:
                part.function_call.id = UNSET
            if part.function_response is not UNSET:
                part.function_response.id = UNSET


def _or_unset(value: _T | None) -> _T | UnsetType:
    return UNSET if value is None else value
