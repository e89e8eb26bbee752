"""generateContent as it is on the wire: what is sent, and what comes back."""

from typing import Any, Literal

from msgspec import UNSET, Raw, Struct, UnsetType


class Blob(Struct, rename="camel"):
    mime_type: str
    data: str


class FunctionCall(Struct):
    name: str
    args: Raw = Raw(b"{}")
    id: str | UnsetType = UNSET


class ResponsePart(Struct, rename="camel"):
    inline_data: Blob


class FunctionResponse(Struct):
    name: str
    response: dict[str, str]
    id: str | UnsetType = UNSET
    parts: list[ResponsePart] | UnsetType = UNSET


class Part(Struct, rename="camel"):
    """A part of a message, in either direction.

    `tool_call` and `tool_response` are of tools that Google runs itself.
    """

    text: str | UnsetType = UNSET
    thought: bool | UnsetType = UNSET
    thought_signature: str | UnsetType = UNSET
    inline_data: Blob | UnsetType = UNSET
    function_call: FunctionCall | UnsetType = UNSET
    function_response: FunctionResponse | UnsetType = UNSET
    tool_call: Raw | UnsetType = UNSET
    tool_response: Raw | UnsetType = UNSET


# What is sent. A field that is UNSET is not sent.


class Content(Struct):
    role: Literal["user", "model"]
    parts: list[Part | Raw]


class System(Struct):
    parts: list[Part]


class Function(Struct, rename="camel"):
    name: str
    description: str
    parameters_json_schema: Raw


class Tool(Struct, rename="camel"):
    function_declarations: list[Function] | UnsetType = UNSET
    google_search: dict[str, Any] | UnsetType = UNSET
    url_context: dict[str, Any] | UnsetType = UNSET


class FunctionCalling(Struct, rename="camel"):
    mode: Literal["AUTO", "ANY", "NONE"]
    allowed_function_names: list[str] | UnsetType = UNSET


class ToolConfig(Struct, rename="camel"):
    function_calling_config: FunctionCalling | UnsetType = UNSET
    include_server_side_tool_invocations: bool | UnsetType = UNSET


class ThinkingConfig(Struct, rename="camel"):
    include_thoughts: bool
    thinking_budget: int | UnsetType = UNSET
    thinking_level: str | UnsetType = UNSET


class GenerationConfig(Struct, rename="camel"):
    max_output_tokens: int | UnsetType = UNSET
    temperature: float | UnsetType = UNSET
    top_p: float | UnsetType = UNSET
    top_k: int | UnsetType = UNSET
    presence_penalty: float | UnsetType = UNSET
    frequency_penalty: float | UnsetType = UNSET
    response_mime_type: str | UnsetType = UNSET
    response_json_schema: Raw | UnsetType = UNSET
    thinking_config: ThinkingConfig | UnsetType = UNSET


class SafetySetting(Struct):
    category: str
    threshold: str


class Request(Struct, rename="camel"):
    contents: list[Content]
    system_instruction: System | UnsetType = UNSET
    tools: list[Tool] | UnsetType = UNSET
    tool_config: ToolConfig | UnsetType = UNSET
    generation_config: GenerationConfig | UnsetType = UNSET
    safety_settings: list[SafetySetting] | UnsetType = UNSET
    cached_content: str | UnsetType = UNSET


# What comes back. A chunk of a stream and a whole answer are the same.


class Typed(Struct, rename="camel"):
    """The part of a tool of Google's own that we look at."""

    id: str = ""
    tool_type: str = ""
    args: Raw = Raw(b"{}")
    response: Raw = Raw(b"{}")


class Answered(Struct):
    role: str | None = None
    parts: list[Raw] | None = None


class Web(Struct):
    uri: str
    title: str = ""


class GroundingChunk(Struct):
    web: Web | None = None


class Grounding(Struct, rename="camel"):
    grounding_chunks: list[GroundingChunk] | None = None


class ReadPage(Struct, rename="camel"):
    retrieved_url: str = ""
    url_retrieval_status: str = ""


class ReadPages(Struct, rename="camel"):
    url_metadata: list[ReadPage] | None = None


class Candidate(Struct, rename="camel"):
    content: Answered | None = None
    finish_reason: str | None = None
    finish_message: str | None = None
    grounding_metadata: Grounding | None = None
    url_context_metadata: ReadPages | None = None
    index: int = 0


class PromptFeedback(Struct, rename="camel"):
    block_reason: str | None = None
    block_reason_message: str | None = None


class Usage(Struct, rename="camel"):
    prompt_token_count: int | None = None
    candidates_token_count: int | None = None
    total_token_count: int | None = None
    thoughts_token_count: int | None = None
    cached_content_token_count: int | None = None
    tool_use_prompt_token_count: int | None = None


class Chunk(Struct, rename="camel"):
    candidates: list[Candidate] | None = None
    usage_metadata: Usage | None = None
    prompt_feedback: PromptFeedback | None = None
    response_id: str | None = None
    error: Any = None
