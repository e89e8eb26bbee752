"""Chat Completions as it is on the wire: what is sent, and what comes back."""

from typing import Any, Literal

from msgspec import UNSET, Raw, Struct, UnsetType

# What is sent. A field that is UNSET is not sent.


class Function(Struct):
    name: str
    arguments: str


class ExtraGoogle(Struct, omit_defaults=True):
    """The fields that Gemini adds to this interface."""

    thought_signature: str | None = None
    thought: bool | None = None


class Extra(Struct, omit_defaults=True):
    google: ExtraGoogle | None = None


class ToolCall(Struct):
    id: str
    function: Function
    type: str = "function"
    extra_content: Extra | UnsetType = UNSET


class CacheControl(Struct):
    type: str


class ImageUrl(Struct):
    url: str


class Audio(Struct):
    data: str
    format: str


class File(Struct):
    filename: str
    file_data: str


class ContentPart(Struct):
    type: Literal["text", "image_url", "input_audio", "file"]
    text: str | UnsetType = UNSET
    image_url: ImageUrl | UnsetType = UNSET
    input_audio: Audio | UnsetType = UNSET
    file: File | UnsetType = UNSET
    cache_control: CacheControl | UnsetType = UNSET


class Message(Struct):
    role: Literal["system", "user", "assistant", "tool"]
    content: str | list[ContentPart] | UnsetType = UNSET
    tool_calls: list[ToolCall] | UnsetType = UNSET
    tool_call_id: str | UnsetType = UNSET
    reasoning_content: str | UnsetType = UNSET
    reasoning: str | UnsetType = UNSET
    reasoning_details: list[dict[str, Any]] | UnsetType = UNSET
    cache_control: CacheControl | UnsetType = UNSET


class FunctionTool(Struct):
    name: str
    description: str
    parameters: Raw
    strict: bool | UnsetType = UNSET


class Tool(Struct):
    function: FunctionTool
    type: str = "function"


class NamedFunction(Struct):
    name: str


class NamedTool(Struct):
    function: NamedFunction
    type: str = "function"


class StreamOptions(Struct):
    include_usage: bool


class UsageOptions(Struct):
    include: bool


class JsonSchema(Struct):
    name: str
    description: str
    schema: Raw
    strict: bool


class ResponseFormat(Struct):
    json_schema: JsonSchema
    type: str = "json_schema"


class Reasoning(Struct):
    effort: str | UnsetType = UNSET
    enabled: bool | UnsetType = UNSET
    exclude: bool | UnsetType = UNSET
    max_tokens: int | UnsetType = UNSET


class WebSearchOptions(Struct):
    search_context_size: str | UnsetType = UNSET


class Request(Struct):
    model: str
    messages: list[Message] | Raw
    stream: bool | UnsetType = UNSET
    stream_options: StreamOptions | UnsetType = UNSET
    max_tokens: int | UnsetType = UNSET
    max_completion_tokens: int | UnsetType = UNSET
    temperature: float | UnsetType = UNSET
    top_p: float | UnsetType = UNSET
    top_k: int | UnsetType = UNSET
    presence_penalty: float | UnsetType = UNSET
    frequency_penalty: float | UnsetType = UNSET
    reasoning_effort: str | UnsetType = UNSET
    reasoning: Reasoning | UnsetType = UNSET
    tools: list[Tool] | UnsetType = UNSET
    tool_choice: str | NamedTool | UnsetType = UNSET
    parallel_tool_calls: bool | UnsetType = UNSET
    response_format: ResponseFormat | UnsetType = UNSET
    web_search_options: WebSearchOptions | UnsetType = UNSET
    logit_bias: Raw | UnsetType = UNSET
    logprobs: bool | UnsetType = UNSET
    top_logprobs: int | UnsetType = UNSET
    user: str | UnsetType = UNSET
    verbosity: str | UnsetType = UNSET
    prediction: Raw | UnsetType = UNSET
    store: bool | UnsetType = UNSET
    metadata: Raw | UnsetType = UNSET
    prompt_cache_key: str | UnsetType = UNSET
    safety_identifier: str | UnsetType = UNSET
    service_tier: str | UnsetType = UNSET
    usage: UsageOptions | UnsetType = UNSET
    provider: dict[str, Any] | UnsetType = UNSET
    providerOptions: dict[str, Any] | UnsetType = UNSET
    extra_body: dict[str, Any] | UnsetType = UNSET


# What comes back. A chunk of a stream and a whole answer differ only in where the news stands.


class FunctionDelta(Struct):
    name: str | None = None
    arguments: str | None = None


class ToolCallDelta(Struct):
    function: FunctionDelta
    index: int | None = None
    id: str | None = None
    extra_content: Extra | None = None


class UrlCitation(Struct):
    url: str
    title: str = ""


class Annotation(Struct):
    type: str
    url_citation: UrlCitation | None = None


class ContentChunk(Struct):
    """A chunk of content, where the content is a list.

    Mistral sends thoughts as a list in `thinking`, Databricks in `summary`. Chunks of kinds that we
    do not know have none of these fields.
    """

    type: str = ""
    text: str | None = None
    refusal: str | None = None
    thinking: "str | list[ContentChunk] | None" = None
    summary: "str | list[ContentChunk] | None" = None


class MadeImage(Struct):
    image_url: ImageUrl


class Delta(Struct):
    content: str | list[ContentChunk] | None = None
    refusal: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    reasoning_details: list[dict[str, Any]] | None = None
    tool_calls: list[ToolCallDelta] | None = None
    annotations: list[Annotation] | None = None
    images: list[MadeImage] | None = None
    extra_content: Extra | None = None


class Choice(Struct):
    index: int = 0
    delta: Delta | None = None
    message: Delta | None = None
    finish_reason: str | None = None
    content_filter_results: dict[str, Any] | None = None


class PromptDetails(Struct):
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None


class CompletionDetails(Struct):
    reasoning_tokens: int | None = None


class Usage(Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    total_tokens: int | None = None
    prompt_tokens_details: PromptDetails | None = None
    completion_tokens_details: CompletionDetails | None = None
    cache_creation_input_tokens: int | None = None  # Vercel


class Chunk(Struct):
    id: str | None = None
    object: str | None = None
    choices: list[Choice] | None = None
    usage: Usage | None = None
    error: Any = None
