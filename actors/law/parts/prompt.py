"""The prompt that a provider is asked, in the words of no provider. Pure data.

A prompt is complete and well formed: every call of a local tool has its answer in the next
`ToolResults`, ids are `[A-Za-z0-9_-]+`, arguments are JSON objects, files are there in base64. An
adapter may therefore translate part by part and look at nothing else.

The options are settings that only one family of providers understands. None, an empty tuple and an
empty text mean that nothing is sent. JSON that is handed through unread is kept as text. An azure
model uses the options of openai, a bedrock model those of anthropic.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from actors.law.ids import ChatId, UserId
from actors.law.parts.message import (
    FilePart,
    JsonText,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)

OUTPUT_TOKENS_MAX = 32_000  # of one call, where the configuration of the model does not say


@dataclass(frozen=True, slots=True)
class UserInput:
    """Texts and files of users. `FilePart.data` is always there."""

    parts: tuple[TextPart | FilePart, ...]


@dataclass(frozen=True, slots=True)
class AssistantOutput:
    """The model's own output, and the results of tools that the provider itself ran, after their
    calls."""

    parts: tuple[TextPart | ReasoningPart | ToolCallPart | ToolResultPart, ...]


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """The result of a local tool. An adapter that cannot send `media` says so in the text."""

    id: str
    name: str
    text: str
    is_error: bool = False
    media: FilePart | None = None


@dataclass(frozen=True, slots=True)
class ToolResults:
    answers: tuple[ToolAnswer, ...]


PromptMessage = UserInput | AssistantOutput | ToolResults


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """A tool that the model may call. `schema` is a JSON object with `type` and `properties`."""

    name: str
    description: str
    schema: JsonText


@dataclass(frozen=True, slots=True)
class WebSearch:
    """The provider's own search. No domains: all of them."""

    allowed_domains: tuple[str, ...] = ()
    blocked_domains: tuple[str, ...] = ()
    context_size: str | None = None


@dataclass(frozen=True, slots=True)
class WebFetch:
    """The provider's own reading of pages that a conversation names. No domains: all of them."""

    allowed_domains: tuple[str, ...] = ()
    blocked_domains: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ComputerUse:
    """The provider's own screen-and-mouse tool. Its calls are local: we answer them."""

    width_pixels: int
    height_pixels: int


ProviderTool = WebSearch | WebFetch | ComputerUse


@dataclass(frozen=True, slots=True)
class OnlyTool:
    """The choice of one tool that the model has to call."""

    name: str


ToolChoice = Literal["auto", "none", "required"] | OnlyTool


@dataclass(frozen=True, slots=True)
class AnswerSchema:
    """The schema of an answer that is to be one JSON object. It comes as text from every
    provider."""

    name: str
    description: str
    schema: JsonText


Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
EFFORTS: tuple[Effort, ...] = ("none", "minimal", "low", "medium", "high", "xhigh", "max")


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
    web_fetch_enabled: bool = False
    allowed_domains: tuple[str, ...] = ()
    blocked_domains: tuple[str, ...] = ()
    context_1m_enabled: bool = False


@dataclass(frozen=True, slots=True)
class GoogleSafetySetting:
    category: str
    threshold: str


@dataclass(frozen=True, slots=True)
class GoogleOptions:
    thinking_budget: int | None = None
    thinking_level: str | None = None  # minimal, low, medium, high
    include_thoughts: bool | None = None
    cached_content: str | None = None
    safety_settings: tuple[GoogleSafetySetting, ...] = ()
    threshold: str | None = None
    web_search_enabled: bool = False
    web_fetch_enabled: bool = False


@dataclass(frozen=True, slots=True)
class OpenAICompatOptions:
    user: str | None = None


@dataclass(frozen=True, slots=True)
class RoutedReasoning:
    """The settings with which OpenRouter and Vercel are asked for reasoning."""

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


@dataclass(frozen=True, slots=True)
class CallSettings:
    """The settings of a model's call. None is not sent, and the provider's default holds."""

    max_output_tokens: int | None = OUTPUT_TOKENS_MAX  # None: no cap is sent, if that is allowed
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    effort: Effort | None = None  # already clamped to what the configuration allows
    options: ProviderOptions | None = None


@dataclass(frozen=True, slots=True)
class Asker:
    """The chat that asks, for a gateway that keeps accounts: the root chat, and the child if it is
    one."""

    owner: UserId
    chat: ChatId
    subchat: ChatId | None = None


class WrittenMessages:
    """The beginning of a conversation as a provider has written it, for its next request.

    It is JSON: elements of an array, with commas between them. What was written is used again only
    if the messages before it are the same; otherwise everything is written anew.
    """

    def __init__(self) -> None:
        self._way: object = None
        self._messages: tuple[PromptMessage, ...] = ()
        self._json = bytearray()

    def array(
        self,
        messages: tuple[PromptMessage, ...],
        settled: int,
        way: object,
        write: Callable[[Sequence[PromptMessage], bool], bytes],
    ) -> bytes:
        """Return the messages as an array.

        The first `settled` are kept: nothing behind them changes how they are written. `way` is all
        that it depends on beside them. `write` returns elements without the brackets, of these
        messages; with True, they are the last.
        """
        count = len(self._messages)
        # A message that is the same object is compared in 3 ns.
        if way != self._way or count > settled or messages[:count] != self._messages:
            self._way, self._messages, self._json, count = way, (), bytearray(), 0
        if more := write(messages[count:settled], False):
            if self._json:
                self._json += b","
            self._json += more
        self._messages = messages[:settled]
        return b"[%b]" % b",".join(filter(None, (self._json, write(messages[settled:], True))))


def text_bytes(messages: Iterable[PromptMessage]) -> int:
    """Return the bytes of text and data: of what is said, not of how it is wrapped."""
    size = 0
    for said in messages:
        match said:
            case UserInput(parts) | AssistantOutput(parts):
                size += sum(map(_part_bytes, parts))
            case ToolResults(answers):
                size += sum(bytes_of(answer.text) for answer in answers)
    return size


def bytes_of(text: str) -> int:
    # Python knows of a text whether it is ASCII, so most are not encoded for this.
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))


def _part_bytes(part: TextPart | ReasoningPart | FilePart | ToolCallPart | ToolResultPart) -> int:
    match part:
        case TextPart() | ReasoningPart():
            return bytes_of(part.text)
        case FilePart():
            return bytes_of(part.data or "")
        case ToolCallPart():
            return bytes_of(part.args or "")
        case ToolResultPart():
            return bytes_of(part.result)


@dataclass(frozen=True, slots=True)
class Prompt:
    model: str  # the name at the vendor
    messages: tuple[PromptMessage, ...]
    system: tuple[str, ...] = ()
    tools: tuple[ToolDefinition, ...] = ()
    provider_tools: tuple[ProviderTool, ...] = ()
    tool_choice: ToolChoice = "auto"
    answer_schema: AnswerSchema | None = None
    settings: CallSettings = CallSettings()
    cached: bool = True  # mark what a provider should keep, where it wants to be told
    asker: Asker | None = None
    # Of text and data of its messages, if they have been counted.
    bytes_count: int | None = field(default=None, compare=False)
    # What its provider wrote in an earlier step of its chat; None: nothing is kept.
    written: WrittenMessages | None = field(default=None, compare=False, repr=False)
