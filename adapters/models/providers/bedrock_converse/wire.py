"""Converse as it comes back on the wire: the events of a stream, and whole answers."""

from msgspec import Raw, Struct


class ToolUse(Struct, rename="camel"):
    """A call: whole with its input, or the beginning of one in a stream."""

    tool_use_id: str
    name: str
    input: Raw = Raw(b"{}")


class Start(Struct, rename="camel"):
    tool_use: ToolUse | None = None


class BlockStart(Struct, rename="camel"):
    content_block_index: int
    start: Start


class InputDelta(Struct):
    input: str = ""


class ReasoningDelta(Struct, rename="camel"):
    text: str | None = None
    signature: str | None = None
    redacted_content: str | None = None


class Change(Struct, rename="camel"):
    text: str | None = None
    tool_use: InputDelta | None = None
    reasoning_content: ReasoningDelta | None = None


class BlockDelta(Struct, rename="camel"):
    content_block_index: int
    delta: Change


class BlockStop(Struct, rename="camel"):
    content_block_index: int


class MessageStop(Struct, rename="camel"):
    stop_reason: str


class Usage(Struct, rename="camel"):
    input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_write_input_tokens: int | None = None


class Metadata(Struct):
    usage: Usage | None = None


# A whole answer.


class ReasoningText(Struct):
    text: str = ""
    signature: str | None = None


class Reasoning(Struct, rename="camel"):
    reasoning_text: ReasoningText | None = None
    redacted_content: str | None = None


class CitedText(Struct):
    text: str = ""


class Citations(Struct):
    content: list[CitedText] | None = None


class Block(Struct, rename="camel"):
    """One block of an answer, of one of these kinds; other kinds have none of them."""

    text: str | None = None
    tool_use: ToolUse | None = None
    reasoning_content: Reasoning | None = None
    citations_content: Citations | None = None


class Message(Struct):
    content: list[Raw]


class Output(Struct):
    message: Message


class Answer(Struct, rename="camel"):
    output: Output
    stop_reason: str
    usage: Usage | None = None
