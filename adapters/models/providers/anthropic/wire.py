"""Events and messages of Anthropic's API, as they are sent. JSON that we only hand on is Raw."""

from msgspec import Raw, Struct, field


class Usage(Struct):
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None


class StopDetails(Struct):
    category: str | None = None
    explanation: str | None = None


class Text(Struct, tag="text"):
    text: str = ""
    citations: list[Raw] | None = None


class Thinking(Struct, tag="thinking"):
    thinking: str = ""
    signature: str = ""


class RedactedThinking(Struct, tag="redacted_thinking"):
    data: str


class ToolUse(Struct, tag="tool_use"):
    id: str
    name: str
    input: Raw = Raw(b"{}")


class ServerToolUse(Struct, tag="server_tool_use"):
    id: str
    name: str
    input: Raw = Raw(b"{}")


class WebSearchResult(Struct):
    url: str
    title: str = ""
    page_age: str | None = None


class WebSearchError(Struct):
    error_code: str


class WebSearchToolResult(Struct, tag="web_search_tool_result"):
    tool_use_id: str
    content: Raw  # a list of `WebSearchResult`, or a `WebSearchError`


class FetchedSource(Struct):
    type: str = ""
    data: str = ""  # a text, or base64


class FetchedDocument(Struct):
    source: FetchedSource = field(default_factory=FetchedSource)
    title: str | None = None


class WebFetched(Struct):
    """A page, or the reason why there is none."""

    url: str = ""
    content: FetchedDocument = field(default_factory=FetchedDocument)
    retrieved_at: str | None = None
    error_code: str | None = None


class WebFetchToolResult(Struct, tag="web_fetch_tool_result"):
    tool_use_id: str
    content: Raw  # a `WebFetched`


Block = (
    Text
    | Thinking
    | RedactedThinking
    | ToolUse
    | ServerToolUse
    | WebSearchToolResult
    | WebFetchToolResult
)


class TextDelta(Struct, tag="text_delta"):
    text: str


class ThinkingDelta(Struct, tag="thinking_delta"):
    thinking: str


class SignatureDelta(Struct, tag="signature_delta"):
    signature: str


class InputDelta(Struct, tag="input_json_delta"):
    partial_json: str


class CitationsDelta(Struct, tag="citations_delta"):
    citation: Raw


Change = TextDelta | ThinkingDelta | SignatureDelta | InputDelta | CitationsDelta


class Begun(Struct):
    id: str
    usage: Usage = field(default_factory=Usage)


class MessageStart(Struct, tag="message_start"):
    message: Begun


class BlockStart(Struct, tag="content_block_start"):
    index: int
    content_block: Block


class BlockDelta(Struct, tag="content_block_delta"):
    index: int
    delta: Change


class BlockStop(Struct, tag="content_block_stop"):
    index: int


class Ending(Struct):
    stop_reason: str | None = None
    stop_details: StopDetails | None = None


class MessageDelta(Struct, tag="message_delta"):
    delta: Ending
    usage: Usage = field(default_factory=Usage)


class MessageStop(Struct, tag="message_stop"):
    pass


class Ping(Struct, tag="ping"):
    pass


class ErrorBody(Struct):
    type: str = ""
    message: str = ""


class Error(Struct, tag="error"):
    error: ErrorBody


Milestone = BlockStart | BlockStop | MessageStart | MessageDelta | MessageStop | Ping | Error
Event = BlockDelta | Milestone


class Typed(Struct):
    """The part of any object that tells its kind."""

    type: str = ""


class Kinds(Struct):
    """The part of an event that tells whether we know its kind."""

    type: str = ""
    content_block: Typed | None = None
    delta: Typed | None = None


class Message(Struct):
    """An answer that was not streamed."""

    id: str
    content: list[Raw]
    stop_reason: str | None = None
    stop_details: StopDetails | None = None
    usage: Usage = field(default_factory=Usage)
