"""A prompt as a request of Chat Completions. Pure."""

import json
from typing import Any, TypeVar, assert_never

import msgspec
from msgspec import UNSET, Raw, UnsetType

from actors.law.parts.message import JsonText
from actors.law.parts.prompt import (
    AnswerSchema,
    CallSettings,
    OnlyTool,
    OpenAICompatOptions,
    OpenAIOptions,
    OpenRouterOptions,
    Prompt,
    RoutedReasoning,
    VercelOptions,
    WebSearch,
)
from actors.law.parts.vendors import Dialect
from adapters.models.providers.facts.gemini import (
    adapted_schema,
    level_of,
    thinking,
    thinks_in_levels,
)
from adapters.models.providers.facts.openai import (
    reasons,
    samples,
    searches_over_chat,
    strict_schema,
)
from adapters.models.providers.openai_chat import wire
from adapters.models.providers.openai_chat.messages import written_messages

_T = TypeVar("_T")

_encode = msgspec.json.Encoder().encode
_fields = msgspec.json.Decoder(dict[str, Raw]).decode


def request_body(prompt: Prompt, dialect: Dialect, *, stream: bool) -> bytes:
    request = wire.Request(prompt.model, written_messages(prompt, dialect))
    if stream:
        request.stream = True
        request.stream_options = wire.StreamOptions(include_usage=True)
    _set_limits(request, prompt, dialect)
    _set_effort(request, prompt, dialect)
    _set_tools(request, prompt, dialect)
    _set_answer(request, prompt, dialect)
    if dialect.counts_cost:
        request.usage = wire.UsageOptions(include=True)
    extra = _set_options(request, prompt)
    body = _encode(request)
    return _encode(_fields(body) | extra) if extra else body


def answer_tool(prompt: Prompt, dialect: Dialect) -> str | None:
    """Return the tool whose arguments are the answer, if the answer is asked for in that way."""
    schema, options = prompt.answer_schema, prompt.settings.options
    if schema is None:
        return None
    unwanted = isinstance(options, OpenAIOptions) and options.structured_outputs is False
    return schema.name if dialect.answers_by_tool or unwanted else None


def _set_limits(request: wire.Request, prompt: Prompt, dialect: Dialect) -> None:
    settings = prompt.settings
    if settings.max_output_tokens is not None:
        if reasons(prompt.model):
            request.max_completion_tokens = settings.max_output_tokens
        else:
            request.max_tokens = settings.max_output_tokens
    if samples(prompt.model, settings.effort):
        request.temperature = _or_unset(settings.temperature)
        request.top_p = _or_unset(settings.top_p)
        request.presence_penalty = _or_unset(settings.presence_penalty)
        request.frequency_penalty = _or_unset(settings.frequency_penalty)
        if dialect.takes_top_k:
            request.top_k = _or_unset(settings.top_k)


def _set_effort(request: wire.Request, prompt: Prompt, dialect: Dialect) -> None:
    effort = prompt.settings.effort
    if dialect.effort == "reasoning":
        request.reasoning = _reasoning(prompt.settings)
    elif effort is None:
        pass
    elif dialect.gemini and (config := thinking(prompt.model, effort)):
        request.extra_body = {"google": {"thinking_config": config}}
    elif thinks_in_levels(prompt.model):
        request.reasoning_effort = _or_unset(level_of(prompt.model, effort))
    else:
        request.reasoning_effort = effort


def _reasoning(settings: CallSettings) -> wire.Reasoning | UnsetType:
    options = settings.options
    asked = options.reasoning if isinstance(options, OpenRouterOptions | VercelOptions) else None
    wanted = asked or RoutedReasoning()
    reasoning = wire.Reasoning(
        enabled=_or_unset(wanted.enabled),
        exclude=_or_unset(wanted.exclude),
        max_tokens=_or_unset(wanted.max_tokens),
    )
    if wanted.max_tokens is None:  # a budget and an effort exclude each other
        reasoning.effort = _or_unset(settings.effort)
    return UNSET if reasoning == wire.Reasoning() else reasoning


def _set_tools(request: wire.Request, prompt: Prompt, dialect: Dialect) -> None:
    tools = [
        wire.Tool(wire.FunctionTool(tool.name, tool.description, _schema(tool.schema, dialect)))
        for tool in prompt.tools
    ]
    if tools:
        request.tools = tools
        match prompt.tool_choice:
            case "auto":
                pass
            case OnlyTool(name):
                request.tool_choice = _only(name, dialect)
            case "none" | "required":
                request.tool_choice = prompt.tool_choice
            case _:
                assert_never(prompt.tool_choice)
    for search in prompt.provider_tools:
        if isinstance(search, WebSearch) and searches_over_chat(prompt.model):
            size = _or_unset(search.context_size)
            request.web_search_options = wire.WebSearchOptions(size)


def _only(name: str, dialect: Dialect) -> str | wire.NamedTool:
    return "required" if dialect.gemini else wire.NamedTool(wire.NamedFunction(name))


def _set_answer(request: wire.Request, prompt: Prompt, dialect: Dialect) -> None:
    schema = prompt.answer_schema
    if schema is None:
        return
    if answer_tool(prompt, dialect):
        parameters = _schema(schema.schema, dialect)
        tool = wire.Tool(wire.FunctionTool(schema.name, schema.description, parameters))
        request.tools = [tool]
        request.tool_choice = _only(schema.name, dialect)
    else:
        request.response_format = wire.ResponseFormat(_json_schema(schema, prompt.settings))


def _json_schema(answer: AnswerSchema, settings: CallSettings) -> wire.JsonSchema:
    options = settings.options
    schema, strict = strict_schema(answer.schema)
    if isinstance(options, OpenAIOptions) and options.strict_json_schema is False:
        schema, strict = answer.schema, False
    return wire.JsonSchema(answer.name, answer.description, _raw(schema), strict)


def _schema(schema: JsonText, dialect: Dialect) -> Raw:
    return _raw(adapted_schema(schema) if dialect.gemini else schema)


def _set_options(request: wire.Request, prompt: Prompt) -> dict[str, Any]:
    """Set the options of the model's family of providers.

    Returns the fields that go into the request under names that we do not know.
    """
    match prompt.settings.options:
        case OpenAIOptions() as options:
            _set_openai(request, prompt, options)
        case OpenRouterOptions() as options:
            if options.include_usage is False:
                request.usage = UNSET
            _set_shared(request, options)
            request.provider = _routing(options)
            return _object(options.extra_body)
        case VercelOptions() as options:
            _set_shared(request, options)
            request.top_logprobs = _or_unset(options.top_log_probs)
            gateway = {"order": options.order, "models": options.models}
            if any(gateway.values()):
                kept = {name: value for name, value in gateway.items() if value}
                request.providerOptions = {"gateway": kept}
            return _object(options.extra_body)
        case OpenAICompatOptions(user):
            request.user = _or_unset(user)
        case _:
            pass  # options of a family that speaks another protocol
    return {}


def _set_openai(request: wire.Request, prompt: Prompt, options: OpenAIOptions) -> None:
    if options.max_completion_tokens is not None:
        request.max_tokens = UNSET
        request.max_completion_tokens = options.max_completion_tokens
    if samples(prompt.model, prompt.settings.effort):
        request.logit_bias = _raw_or_unset(options.logit_bias)
        request.logprobs = _or_unset(options.log_probs)
        request.top_logprobs = _or_unset(options.top_log_probs)
    if request.tools:  # refused without tools
        request.parallel_tool_calls = _or_unset(options.parallel_tool_calls)
    request.user = _or_unset(options.user)
    request.verbosity = _or_unset(options.text_verbosity)
    request.prediction = _raw_or_unset(options.prediction)
    request.store = _or_unset(options.store)
    request.metadata = _raw_or_unset(options.metadata)
    request.prompt_cache_key = _or_unset(options.prompt_cache_key)
    request.safety_identifier = _or_unset(options.safety_identifier)
    request.service_tier = _or_unset(options.service_tier)


def _set_shared(request: wire.Request, options: OpenRouterOptions | VercelOptions) -> None:
    request.logit_bias = _raw_or_unset(options.logit_bias)
    request.logprobs = _or_unset(options.log_probs)
    request.user = _or_unset(options.user)
    if request.tools:
        request.parallel_tool_calls = _or_unset(options.parallel_tool_calls)


def _routing(options: OpenRouterOptions) -> dict[str, Any] | UnsetType:
    if options.provider is None:
        return UNSET
    routing = msgspec.to_builtins(options.provider)
    return {name: value for name, value in routing.items() if value not in (None, ())}


def _or_unset(value: _T | None) -> _T | UnsetType:
    return UNSET if value is None else value


def _raw(text: JsonText) -> Raw:
    return Raw(text.encode())


def _raw_or_unset(text: JsonText | None) -> Raw | UnsetType:
    return UNSET if text is None else _raw(text)


def _object(text: JsonText | None) -> dict[str, Any]:
    return json.loads(text) if text else {}
