"""Settings of a model that only one family of providers understands. Pure data.

None, an empty tuple and an empty text mean: not set, nothing is sent. JSON that is handed through
unseen is kept as text. An azure model uses the options of openai, a bedrock model those of
anthropic.
"""

from dataclasses import dataclass

from actors.law.parts.model import JsonText


@dataclass(frozen=True, slots=True)
class OpenAIOptions:
    include: tuple[str, ...] = ()
    instructions: str | None = None
    logit_bias: JsonText | None = None
    log_probs: bool | None = None
    top_log_probs: int | None = None
    max_tool_calls: int | None = None
    parallel_tool_calls: bool | None = None
    user: str | None = None
    reasoning_summary: str | None = None  # auto, concise, detailed
    max_completion_tokens: int | None = None
    text_verbosity: str | None = None  # low, medium, high
    prediction: JsonText | None = None
    store: bool | None = None
    metadata: JsonText | None = None
    prompt_cache_key: str | None = None
    safety_identifier: str | None = None
    service_tier: str | None = None  # auto, default, flex, scale, priority
    structured_outputs: bool | None = None
    strict_json_schema: bool | None = None
    web_search_enabled: bool = False
    search_context_size: str | None = None  # low, medium, high
    allowed_domains: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AnthropicOptions:
    send_reasoning: bool | None = None  # False: earlier thoughts are left out of the request
    thinking_budget_tokens: int | None = None
    thinking_display: str | None = None  # summarized, omitted
    disable_parallel_tool_use: bool | None = None
    web_search_enabled: bool = False
    allowed_domains: tuple[str, ...] = ()
    blocked_domains: tuple[str, ...] = ()
    context_1m_enabled: bool = False


@dataclass(frozen=True, slots=True)
class SafetySetting:
    category: str
    threshold: str


@dataclass(frozen=True, slots=True)
class GoogleOptions:
    thinking_budget: int | None = None
    thinking_level: str | None = None  # minimal, low, medium, high
    include_thoughts: bool | None = None
    cached_content: str | None = None
    safety_settings: tuple[SafetySetting, ...] = ()
    threshold: str | None = None
    web_search_enabled: bool = False


@dataclass(frozen=True, slots=True)
class OpenAICompatOptions:
    user: str | None = None


@dataclass(frozen=True, slots=True)
class RoutedReasoning:
    """How OpenRouter and Vercel are asked for reasoning."""

    enabled: bool | None = None
    exclude: bool | None = None
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class OpenRouterRouting:
    order: tuple[str, ...] = ()
    allow_fallbacks: bool | None = None
    require_parameters: bool | None = None
    data_collection: str | None = None
    only: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    quantizations: tuple[str, ...] = ()
    sort: str | None = None


@dataclass(frozen=True, slots=True)
class OpenRouterOptions:
    reasoning: RoutedReasoning | None = None
    extra_body: JsonText | None = None
    include_usage: bool | None = None
    logit_bias: JsonText | None = None
    log_probs: bool | None = None
    parallel_tool_calls: bool | None = None
    user: str | None = None
    provider: OpenRouterRouting | None = None


@dataclass(frozen=True, slots=True)
class VercelOptions:
    reasoning: RoutedReasoning | None = None
    order: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    user: str | None = None
    logit_bias: JsonText | None = None
    log_probs: bool | None = None
    top_log_probs: int | None = None
    parallel_tool_calls: bool | None = None
    extra_body: JsonText | None = None


ProviderOptions = (
    OpenAIOptions
    | AnthropicOptions
    | GoogleOptions
    | OpenAICompatOptions
    | OpenRouterOptions
    | VercelOptions
)
