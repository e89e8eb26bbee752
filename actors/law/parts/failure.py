"""Why a provider did not answer, and what is said about it. Pure data.

`message` is written for the person who reads it and never names a status; `detail` is the
provider's own text, shortened and without secrets.
"""

from dataclasses import dataclass
from enum import Enum


class FailureKind(Enum):
    """Value: how the kind is written on the wire and in the store."""

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
    """One failed call. `retry_message` is what is said while it will be tried again."""

    kind: FailureKind
    message: str
    retryable: bool
    retry_message: str
    provider: str | None = None  # as configured: anthropic, bedrock, openai-compat, …
    status_code: int | None = None
    retry_after_seconds: float = 0.0  # 0: the provider did not say
    detail: str | None = None
    too_long: bool = False  # the prompt is longer than the model's window
