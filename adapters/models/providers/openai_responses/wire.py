"""The Responses API as it is on the wire: what is sent, and what comes back."""

from typing import Any, Literal

from msgspec import UNSET, Raw, Struct, UnsetType

# What is sent. A field that is UNSET is not sent.


class InputContent(Struct):
    type: Literal["input_text", "input_image", "input_file"]
    text: str | UnsetType = UNSET
    image_url: str | UnsetType = UNSET
    filename: str | UnsetType = UNSET
    file_data: str | UnsetType = UNSET


class SaidText(Struct):
    text: str
    type: str = "output_text"


class InputMessage(Struct):
    role: Literal["system", "developer", "user", "assistant"]
    content: str | list[InputContent] | list[SaidText]
    phase: str | UnsetType = UNSET


class FunctionCallInput(Struct):
    call_id: str
    name: str
    arguments: str
    type: str = "function_call"


class FunctionCallOutput(Struct):
    call_id: str
    output: str | list[InputContent]
    type: str = "function_call_output"


class Screenshot(Struct):
    """A picture of a screen. `original`: the model sees all of its pixels, and can point at one."""

    image_url: str
    detail: str = "original"
    type: str = "computer_screenshot"


class ComputerCallOutput(Struct):
    call_id: str
    output: Screenshot
    acknowledged_safety_checks: list[dict[str, Any]]
    type: str = "computer_call_output"


class KeptReasoning(Struct):
    """A reasoning item as it is sent back. Its id says that it is not a new one.

    OpenAI's is encrypted; that of open models is plain text.
    """

    id: str
    summary: list[dict[str, Any]]
    encrypted_content: str | UnsetType = UNSET
    content: list[dict[str, Any]] | UnsetType = UNSET
    type: str = "reasoning"


InputItem = (
    InputMessage | FunctionCallInput | FunctionCallOutput | ComputerCallOutput | KeptReasoning | Raw
)


class FunctionTool(Struct):
    name: str
    description: str
    parameters: Raw
    strict: bool = False  # the default is true, and few schemas are fit for it
    type: str = "function"


class Filters(Struct):
    allowed_domains: tuple[str, ...]


class WebSearchTool(Struct):
    search_context_size: str | UnsetType = UNSET
    filters: Filters | UnsetType = UNSET
    type: str = "web_search"


class ComputerTool(Struct):
    """The screen, pointer and keys; the size of the screen is that of the pictures of it."""

    type: str = "computer"


class NamedTool(Struct):
    name: str
    type: str = "function"


class Reasoning(Struct):
    effort: str | UnsetType = UNSET
    summary: str | UnsetType = UNSET


class Format(Struct):
    name: str
    description: str
    schema: Raw
    strict: bool
    type: str = "json_schema"


class Text(Struct):
    format: Format | UnsetType = UNSET
    verbosity: str | UnsetType = UNSET


class Request(Struct):
    model: str
    input: list[Any]  # of `InputItem`
    stream: bool | UnsetType = UNSET
    store: bool | UnsetType = UNSET
    include: list[str] | UnsetType = UNSET
    instructions: str | UnsetType = UNSET
    max_output_tokens: int | UnsetType = UNSET
    temperature: float | UnsetType = UNSET
    top_p: float | UnsetType = UNSET
    top_logprobs: int | UnsetType = UNSET
    reasoning: Reasoning | UnsetType = UNSET
    text: Text | UnsetType = UNSET
    tools: list[FunctionTool | WebSearchTool | ComputerTool] | UnsetType = UNSET
    tool_choice: str | NamedTool | UnsetType = UNSET
    parallel_tool_calls: bool | UnsetType = UNSET
    max_tool_calls: int | UnsetType = UNSET
    metadata: Raw | UnsetType = UNSET
    user: str | UnsetType = UNSET
    prompt_cache_key: str | UnsetType = UNSET
    safety_identifier: str | UnsetType = UNSET
    service_tier: str | UnsetType = UNSET


# What comes back: items, and events about them.


class Annotation(Struct):
    type: str
    url: str = ""
    title: str = ""


class ContentPart(Struct):
    """Text or a refusal; other kinds have neither."""

    type: str
    text: str = ""
    refusal: str = ""
    annotations: list[Annotation] = []


class MessageItem(Struct):
    id: str
    content: list[ContentPart] = []
    phase: str | None = None


class ReasoningText(Struct):
    text: str = ""


class ReasoningItem(Struct):
    id: str
    summary: list[dict[str, Any]] = []
    content: list[ReasoningText] | None = None
    encrypted_content: str | None = None


class FunctionCallItem(Struct):
    id: str
    call_id: str
    name: str
    arguments: str = ""


class ComputerCallItem(Struct):
    """A call of the computer tool. Older models send one `action`, newer ones a list."""

    id: str
    call_id: str
    actions: list[dict[str, Any]] | None = None
    action: dict[str, Any] | None = None
    pending_safety_checks: list[dict[str, Any]] = []


class WebSearchItem(Struct):
    id: str
    status: str = ""
    action: Raw = Raw(b"{}")


class ImageItem(Struct):
    """An image that the model made; the result is missing if it could not."""

    id: str
    result: str | None = None
    output_format: str = "png"


class Typed(Struct):
    type: str = ""


class ItemEvent(Struct):
    item: Raw


class TextDelta(Struct):
    item_id: str
    delta: str
    content_index: int = 0


class SummaryDelta(Struct):
    item_id: str
    delta: str
    summary_index: int = 0


class ArgumentsDelta(Struct):
    item_id: str
    delta: str


class AnnotationAdded(Struct):
    annotation: Annotation


class InputDetails(Struct):
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None


class OutputDetails(Struct):
    reasoning_tokens: int | None = None


class Usage(Struct):
    input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None
    input_tokens_details: InputDetails | None = None
    output_tokens_details: OutputDetails | None = None


class IncompleteDetails(Struct):
    reason: str | None = None


class Response(Struct):
    id: str | None = None
    status: str | None = None
    output: list[Raw] | None = None
    usage: Usage | None = None
    incomplete_details: IncompleteDetails | None = None
    error: dict[str, Any] | None = None


class ResponseEvent(Struct):
    response: Response


class ErrorEvent(Struct):
    """An error. The documented form is flat; some servers nest it."""

    code: str | int | None = None
    message: str | None = None
    error: dict[str, Any] | None = None
