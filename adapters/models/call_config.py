"""The configuration of a model's calls, as administrators write it, and what is made of it. Pure.

It is stored as it is written. Null means the same as a field that is left out. Fields that are not
known are ignored, those of prices too, which older clients still send.
"""

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

from actors.law.parts.message import JsonText
from actors.law.parts.prompt import (
    EFFORTS,
    OUTPUT_TOKENS_MAX,
    AnthropicOptions,
    CallSettings,
    Effort,
    GoogleOptions,
    GoogleSafetySetting,
    OpenAICompatOptions,
    OpenAIOptions,
    OpenRouterOptions,
    OpenRouterRouting,
    ProviderOptions,
    ProviderTool,
    RoutedReasoning,
    VercelOptions,
    WebFetch,
    WebSearch,
)
from actors.law.parts.vendors import vendor_of

_Bool = bool | UnsetType | None
_Int = int | UnsetType | None
_Float = float | UnsetType | None
_Str = str | UnsetType | None
_Strs = tuple[str, ...] | UnsetType | None
_Object = dict[str, Any] | UnsetType | None


class _Part(Struct, frozen=True, omit_defaults=True):
    """A part of a configuration; a field that was left out is left out again."""


class ReasoningEffort(_Part, frozen=True):
    default: _Str = UNSET
    max: _Str = UNSET


class OpenAIConfig(_Part, frozen=True):
    use_responses_api: _Bool = UNSET


class OpenAIProviderOptions(_Part, frozen=True):
    include: _Strs = UNSET
    instructions: _Str = UNSET
    logit_bias: _Object = UNSET
    log_probs: _Bool = UNSET
    top_log_probs: _Int = UNSET
    max_tool_calls: _Int = UNSET
    parallel_tool_calls: _Bool = UNSET
    user: _Str = UNSET
    reasoning_summary: _Str = UNSET
    max_completion_tokens: _Int = UNSET
    text_verbosity: _Str = UNSET
    prediction: _Object = UNSET
    store: _Bool = UNSET
    metadata: _Object = UNSET
    prompt_cache_key: _Str = UNSET
    safety_identifier: _Str = UNSET
    service_tier: _Str = UNSET
    structured_outputs: _Bool = UNSET
    strict_json_schema: _Bool = UNSET
    web_search_enabled: _Bool = UNSET
    search_context_size: _Str = UNSET
    allowed_domains: _Strs = UNSET


class ThinkingSettings(_Part, frozen=True):
    budget_tokens: _Int = UNSET


class AnthropicProviderOptions(_Part, frozen=True):
    send_reasoning: _Bool = UNSET
    thinking: ThinkingSettings | UnsetType | None = UNSET
    thinking_display: _Str = UNSET
    disable_parallel_tool_use: _Bool = UNSET
    web_search_enabled: _Bool = UNSET
    web_fetch_enabled: _Bool = UNSET
    allowed_domains: _Strs = UNSET
    blocked_domains: _Strs = UNSET
    context_1m_enabled: _Bool = UNSET


class GoogleThinkingSettings(_Part, frozen=True):
    thinking_budget: _Int = UNSET
    thinking_level: _Str = UNSET
    include_thoughts: _Bool = UNSET


class SafetyThreshold(Struct, frozen=True):
    category: str = ""
    threshold: str = ""


class GoogleProviderOptions(_Part, frozen=True):
    thinking_config: GoogleThinkingSettings | UnsetType | None = UNSET
    cached_content: _Str = UNSET
    safety_settings: tuple[SafetyThreshold, ...] | UnsetType | None = UNSET
    threshold: _Str = UNSET
    web_search_enabled: _Bool = UNSET
    web_fetch_enabled: _Bool = UNSET


class OpenAICompatProviderOptions(_Part, frozen=True):
    user: _Str = UNSET


class ReasoningSettings(_Part, frozen=True):
    enabled: _Bool = UNSET
    exclude: _Bool = UNSET
    max_tokens: _Int = UNSET


class RoutingSettings(_Part, frozen=True):
    order: _Strs = UNSET
    allow_fallbacks: _Bool = UNSET
    require_parameters: _Bool = UNSET
    data_collection: _Str = UNSET
    only: _Strs = UNSET
    ignore: _Strs = UNSET
    quantizations: _Strs = UNSET
    sort: _Str = UNSET


class OpenRouterProviderOptions(_Part, frozen=True):
    reasoning: ReasoningSettings | UnsetType | None = UNSET
    extra_body: _Object = UNSET
    include_usage: _Bool = UNSET
    logit_bias: _Object = UNSET
    log_probs: _Bool = UNSET
    parallel_tool_calls: _Bool = UNSET
    user: _Str = UNSET
    provider: RoutingSettings | UnsetType | None = UNSET


class VercelRoutingSettings(_Part, frozen=True):
    order: _Strs = UNSET
    models: _Strs = UNSET


class VercelProviderOptions(_Part, frozen=True):
    reasoning: ReasoningSettings | UnsetType | None = UNSET
    routing: VercelRoutingSettings | UnsetType | None = msgspec.field(
        name="providerOptions", default=UNSET
    )
    user: _Str = UNSET
    logit_bias: _Object = UNSET
    log_probs: _Bool = msgspec.field(name="logprobs", default=UNSET)
    top_log_probs: _Int = msgspec.field(name="top_logprobs", default=UNSET)
    parallel_tool_calls: _Bool = UNSET
    extra_body: _Object = UNSET


class AllProviderOptions(_Part, frozen=True):
    """The options for all vendors, by families; a model looks at those of its own."""

    openai: OpenAIProviderOptions | UnsetType | None = UNSET
    anthropic: AnthropicProviderOptions | UnsetType | None = UNSET
    google: GoogleProviderOptions | UnsetType | None = UNSET
    openaicompat: OpenAICompatProviderOptions | UnsetType | None = UNSET
    openrouter: OpenRouterProviderOptions | UnsetType | None = UNSET
    vercel: VercelProviderOptions | UnsetType | None = UNSET


class CallConfig(_Part, frozen=True):
    max_output_tokens: _Int = UNSET
    temperature: _Float = UNSET
    top_p: _Float = UNSET
    top_k: _Int = UNSET
    presence_penalty: _Float = UNSET
    frequency_penalty: _Float = UNSET
    reasoning_effort: ReasoningEffort | UnsetType | None = UNSET
    openai_config: OpenAIConfig | UnsetType | None = UNSET
    provider_options: AllProviderOptions | UnsetType | None = UNSET


EMPTY_CALL = CallConfig()

_RANKS: dict[str, int] = {effort: rank for rank, effort in enumerate(EFFORTS)}
_THINKING_DISPLAYS = ("summarized", "omitted")
_THINKING_LEVELS = ("minimal", "low", "medium", "high")


def read_call(stored: bytes) -> CallConfig:
    """Return a configuration as it was stored."""
    return msgspec.json.decode(stored, type=CallConfig)


def encode_call(call: CallConfig | UnsetType | None) -> bytes:
    """Return a configuration as it is to be stored."""
    return msgspec.json.encode(_without_nulls(msgspec.to_builtins(call or EMPTY_CALL)))


def _without_nulls(said: Any) -> Any:
    """Return a value without fields that are null, and without objects that are then empty."""
    if not isinstance(said, dict):
        return said
    kept = {name: _without_nulls(value) for name, value in said.items()}
    return {name: value for name, value in kept.items() if value is not None and value != {}}


def faults_of(call: CallConfig) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with a configuration: the field, and the reason."""
    if effort := call.reasoning_effort:
        yield from _effort_faults(effort)
    options = call.provider_options or AllProviderOptions()
    anthropic = options.anthropic or AnthropicProviderOptions()
    if (display := anthropic.thinking_display) and display not in _THINKING_DISPLAYS:
        yield _one_of("provider_options.anthropic.thinking_display", _THINKING_DISPLAYS)
    if anthropic.allowed_domains and anthropic.blocked_domains:
        where = "provider_options.anthropic.allowed_domains"
        yield where, "cannot be set together with blocked_domains"
    thinking = (
        options.google or GoogleProviderOptions()
    ).thinking_config or GoogleThinkingSettings()
    if (level := thinking.thinking_level) and level not in _THINKING_LEVELS:
        yield _one_of("provider_options.google.thinking_config.thinking_level", _THINKING_LEVELS)
    if thinking.thinking_level and isinstance(thinking.thinking_budget, int):
        where = "provider_options.google.thinking_config.thinking_budget"
        yield where, "cannot be set together with thinking_level"


def _effort_faults(effort: ReasoningEffort) -> Iterator[tuple[str, str]]:
    if not (effort.default and effort.max):
        yield "reasoning_effort", "needs both default and max"
        return
    usual, highest = _RANKS.get(effort.default), _RANKS.get(effort.max)
    if usual is None:
        yield _one_of("reasoning_effort.default", EFFORTS)
    if highest is None:
        yield _one_of("reasoning_effort.max", EFFORTS)
    if usual is not None and highest is not None and usual > highest:
        yield "reasoning_effort.default", "is higher than reasoning_effort.max"


def _one_of(where: str, words: tuple[str, ...]) -> tuple[str, str]:
    return where, f"must be one of {', '.join(words)}"


def efforts_of(call: CallConfig) -> tuple[Effort, Effort] | None:
    """Return the default effort and the highest that a chat may ask for; None: it has none."""
    effort = call.reasoning_effort or ReasoningEffort()
    usual, highest = _RANKS.get(effort.default or ""), _RANKS.get(effort.max or "")
    return None if usual is None or highest is None else (EFFORTS[usual], EFFORTS[highest])


def efforts_offered(call: CallConfig) -> tuple[Effort, ...]:
    """Return the efforts that a chat may ask for; none, if the model has no efforts."""
    efforts = efforts_of(call)
    return () if efforts is None else EFFORTS[: EFFORTS.index(efforts[1]) + 1]


def settings_of(call: CallConfig, type: str) -> CallSettings:
    """Return the settings of a call to a provider of this type."""
    efforts = efforts_of(call)
    return CallSettings(
        max_output_tokens=call.max_output_tokens or OUTPUT_TOKENS_MAX,
        temperature=_set(call.temperature),
        top_p=_set(call.top_p),
        top_k=_set(call.top_k),
        presence_penalty=_set(call.presence_penalty),
        frequency_penalty=_set(call.frequency_penalty),
        effort=None if efforts is None else efforts[0],
        options=_options(_family(call, type)),
    )


def search_of(call: CallConfig, type: str) -> WebSearch | None:
    """Return the search that the provider of this type does itself, if it is switched on."""
    match _family(call, type):
        case OpenAIProviderOptions(web_search_enabled=True) as openai:
            size = openai.search_context_size or None
            return WebSearch(openai.allowed_domains or (), context_size=size)
        case AnthropicProviderOptions(web_search_enabled=True) as anthropic:
            return WebSearch(anthropic.allowed_domains or (), anthropic.blocked_domains or ())
        case GoogleProviderOptions(web_search_enabled=True):
            return WebSearch()
        case _:
            return None


def fetch_of(call: CallConfig, type: str) -> WebFetch | None:
    """Return the reading of pages that the provider does itself, if it is switched on.

    The domains are those of the search.
    """
    match _family(call, type):
        case AnthropicProviderOptions(web_fetch_enabled=True) as anthropic:
            return WebFetch(anthropic.allowed_domains or (), anthropic.blocked_domains or ())
        case GoogleProviderOptions(web_fetch_enabled=True):
            return WebFetch()
        case _:
            return None


def provider_tools_of(call: CallConfig, type: str) -> tuple[ProviderTool, ...]:
    """Return the tools that are switched on and that the provider of this type runs itself."""
    tools = (search_of(call, type), fetch_of(call, type))
    return tuple(tool for tool in tools if tool is not None)


def _family(call: CallConfig, type: str) -> Any:
    options = call.provider_options or AllProviderOptions()
    return getattr(options, vendor_of(type).options or type, None) or None


def _options(said: Any) -> ProviderOptions | None:
    match said:
        case OpenAIProviderOptions():
            return OpenAIOptions(**_values(said))
        case AnthropicProviderOptions():
            values = _values(said)
            thinking = values.pop("thinking", None) or ThinkingSettings()
            return AnthropicOptions(**values, thinking_budget_tokens=_set(thinking.budget_tokens))
        case GoogleProviderOptions():
            values = _values(said)
            thinking = _values(values.pop("thinking_config", None) or GoogleThinkingSettings())
            safety = values.pop("safety_settings", ())
            settings = tuple(GoogleSafetySetting(each.category, each.threshold) for each in safety)
            return GoogleOptions(**values, **thinking, safety_settings=settings)
        case OpenAICompatProviderOptions():
            return OpenAICompatOptions(**_values(said))
        case OpenRouterProviderOptions():
            values = _values(said)
            routing = values.pop("provider", None)
            provider = None if routing is None else OpenRouterRouting(**_values(routing))
            return OpenRouterOptions(**_with_reasoning(values), provider=provider)
        case VercelProviderOptions():
            values = _values(said)
            routing = values.pop("routing", None)
            return VercelOptions(**_with_reasoning(values), **(_values(routing) if routing else {}))
        case _:
            return None


def _with_reasoning(values: dict[str, Any]) -> dict[str, Any]:
    reasoning = values.pop("reasoning", None)
    made = None if reasoning is None else RoutedReasoning(**_values(reasoning))
    return values | {"reasoning": made}


def _values(said: Struct) -> dict[str, Any]:
    """Return the fields that are set, as our options take them.

    JSON that is handed through is a text there.
    """
    found = {name: getattr(said, name) for name in said.__struct_fields__}
    return {
        name: JsonText(msgspec.json.encode(value).decode()) if isinstance(value, dict) else value
        for name, value in found.items()
        if value is not UNSET and value is not None
    }


def _set(value: Any) -> Any:
    return None if value is UNSET else value
