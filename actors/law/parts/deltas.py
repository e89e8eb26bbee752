"""The deltas that a provider's answer arrives in: changes to parts on their way. Pure, never
stored.

Rules that hold in every stream, whatever provider sends it:

- A block is one part in the making. Its name is unique in the stream; blocks may interleave.
- Text and reasoning begin with their first delta and end with an end of their own.
- Arguments of a call may stream (`ToolInputStarted`, `ToolInputDelta`); the whole `ToolCall` always
  follows them, under the same id. A call that streams nothing is a `ToolCall` alone.
- The last delta is `AnswerFinished` or `AnswerFailed`, exactly one of the two. A connection that
  ends without the provider's own end is an `AnswerFailed`.

Of a failure, `message` is written for the person who reads it and never names a status; `detail` is
the provider's own text, shortened and without secrets.
"""

from dataclasses import dataclass
from enum import Enum

from actors.law.parts.message import NO_USAGE, JsonText, TokenUsage


class FailureKind(Enum):
    """The kind of a failure. The value is how it is written on the wire and in the store."""

    GENERIC = "generic"
    OVERLOADED = "overloaded"
    RATE_LIMIT = "rate_limit"
    TIMEOUT = "timeout"
    STREAM_SILENCE_TIMEOUT = "stream_silence_timeout"
    AUTH = "auth"
    CONFIG = "config"
    USAGE_LIMIT = "usage_limit"
    MISSING_KEY = "missing_key"
    PROVIDER_DISABLED = "provider_disabled"
    CONTENT_FILTER = "content_filter"


@dataclass(frozen=True, slots=True)
class ProviderFailure:
    """One failed call of a provider. `retry_message` is shown while it will be tried again."""

    kind: FailureKind
    message: str
    retryable: bool
    retry_message: str
    provider: str | None = None  # as configured: anthropic, bedrock, openai-compat, …
    status_code: int | None = None
    retry_after_seconds: float = 0.0  # 0: the provider did not say
    detail: str | None = None
    too_long: bool = False  # the prompt is longer than the model's window


@dataclass(frozen=True, slots=True)
class TextDelta:
    block: str
    text: str


@dataclass(frozen=True, slots=True)
class TextEnded:
    block: str
    metadata: JsonText | None = None


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """`text` may be empty: a signature, or thoughts that the provider keeps to itself."""

    block: str
    text: str
    metadata: JsonText | None = None  # the newest wins; None leaves what was there


@dataclass(frozen=True, slots=True)
class ReasoningEnded:
    block: str
    metadata: JsonText | None = None


@dataclass(frozen=True, slots=True)
class ToolInputStarted:
    id: str
    name: str
    provider_executed: bool = False


@dataclass(frozen=True, slots=True)
class ToolInputDelta:
    id: str
    name: str
    args_delta: str
    provider_executed: bool = False


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call with all its arguments: the JSON as the provider wrote it, which may be broken."""

    id: str
    name: str
    args: JsonText
    provider_executed: bool = False
    metadata: JsonText | None = None


@dataclass(frozen=True, slots=True)
class ProviderToolResult:
    """The result of a tool that the provider runs itself."""

    id: str
    name: str
    result: JsonText
    is_error: bool = False
    metadata: JsonText | None = None


@dataclass(frozen=True, slots=True)
class SourceFound:
    id: str
    url: str
    title: str = ""
    metadata: JsonText | None = None


@dataclass(frozen=True, slots=True)
class FileMade:
    """A file that the model made, base64."""

    media_type: str
    data: str
    name: str = ""
    metadata: JsonText | None = None


@dataclass(frozen=True, slots=True)
class UsageReported:
    """Counts so far, each the sum for the whole answer. A count that is None is not known yet."""

    usage: TokenUsage


class FinishReason(Enum):
    STOP = "stop"
    LENGTH = "length"
    TOOL_CALLS = "tool_calls"
    CONTENT_FILTER = "content_filter"
    PAUSED = "paused"  # the provider goes on with this answer when it is sent back what it said
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class ProviderRefusal:
    """The reason why a provider withheld its answer, or ended it oddly, as far as it says."""

    category: str | None = None
    explanation: str | None = None


@dataclass(frozen=True, slots=True)
class AnswerFinished:
    reason: FinishReason
    usage: TokenUsage = NO_USAGE
    response_id: str | None = None
    context_limit: int | None = None
    refusal: ProviderRefusal | None = None


@dataclass(frozen=True, slots=True)
class AnswerFailed:
    failure: ProviderFailure


Delta = (
    TextDelta
    | TextEnded
    | ReasoningDelta
    | ReasoningEnded
    | ToolInputStarted
    | ToolInputDelta
    | ToolCall
    | ProviderToolResult
    | SourceFound
    | FileMade
    | UsageReported
    | AnswerFinished
    | AnswerFailed
)
