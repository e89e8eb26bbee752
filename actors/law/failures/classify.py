"""The rules that classify a failed call: its kind, whether it is tried again, its message. Pure.

The rules are tried from top to bottom and the first that matches wins, so their order matters: a
budget that is used up is not a rate limit, a wrong model is not an overload, and a status that was
sent outranks every word. `text` is what the failure says of itself; `combined` is that and the
provider's own message.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from actors.law.failures.signals import (
    Signals,
    TransportEnd,
    raw_detail,
    retry_after_seconds,
    status_of,
    structured_detail,
)
from actors.law.failures.wording import (
    failure,
    refused_request,
    subject,
    unknown_model,
    unreadable_call,
)
from actors.law.parts.deltas import FailureKind, ProviderFailure
from actors.law.parts.vendors import type_in_error, type_named

TRUNCATED = (
    "anthropic stream closed before message_stop",
    "openai responses stream closed before terminal event",
    "stream closed before its end",  # the adapters of every other provider
)

_INTERRUPTED = ("chat interrupted", "request interrupted", "operation interrupted")
_MISMATCHED = (
    "no tool output found for function call",
    "no tool output found for tool call",  # DeepSeek's
    "was provided without its required 'reasoning' item",
    "was provided without its required following item",
    "items are not persisted when",  # OpenAI's, of an item that it was to remember
    "were found without `tool_result` blocks",  # Anthropic's, as the next two
    "unexpected `tool_use_id` found in `tool_result` blocks",
    "was found without a corresponding `web_search_tool_result` block",
    "must be followed by tool messages responding to each",  # Chat Completions
    "must be a response to a preceeding message with 'tool_calls'",
    "not the same number of function calls and responses",  # Mistral's
    "number of function response parts is equal to the number of function call parts",  # Google's
)
# A server that could not read the call of a tool that its own model had made, Groq's mostly.
_UNREADABLE_CALL = ("tool_use_failed", "output_parse_failed")
_TOO_LONG = (
    "context length exceeded",
    "context_length_exceeded",
    "context_exceeded",
    "maximum context length",
    "exceeds the context window",
    "exceed context limit",
    "context window exceeds limit",
    "maximum prompt length",  # xAI's
    "reduce the length of the messages",  # Groq's
    "available context size",  # llama.cpp's words for it
    "prompt is too long",  # Anthropic's
    "input is too long",  # Bedrock's
    "exceeds the maximum number of tokens",  # Google's
    "request_too_large",
)
_UNKNOWN_MODEL = (
    "invalid model",
    "model not found",
    "model_not_found",
    "model not exist",  # DeepSeek's
    "is not a valid model",  # OpenRouter's
    "model identifier is invalid",  # Bedrock's, as the next one
    "resolve the foundation model",
    "deploymentnotfound",  # Azure's
)
_CONFIG = (
    *_TOO_LONG,
    *_UNKNOWN_MODEL,
    "unsupported model",
    "malformed config",
    "resolve aws credentials",
)
_TOO_LONG_MESSAGE = (
    "The conversation is too long for the model. Have it summarised, choose a model with a larger"
    " context window, or start a new chat."
)
_AUTH = (
    "authentication",
    "unauthorized",
    "invalid api key",
    "invalid_api_key",
    "api key not valid",  # Google's, with status 400, as the next one
    "api key expired",
    "incorrect api key",  # xAI's, with status 400
)
_TIMEOUT = (
    "timeout",
    "timed out",
    "service unavailable",
    "unavailable",
    "connection reset",
    "connection refused",
    "eof",
    "broken pipe",
    "bad gateway",
    "gateway timeout",
    "client conn",
    "goaway",
    "http2: stream closed",
    "use of closed network connection",
)
# Statuses by which a request is refused for what stands in it, as the provider's own words tell.
_REFUSED = (400, 409, 413, 415, 422)
_RESET_CODES = ("internal_error", "refused_stream", "cancel", "enhance_your_calm", "no_error")
_MISMATCH_MESSAGE = (
    "The conversation no longer matches what the provider expects. Start a new chat to go on."
)
_MISMATCH_DETAIL = (
    "a tool call and its result, or a result and its reasoning, were separated in the history"
)


@dataclass(frozen=True, slots=True)
class _Seen:
    """The signals of a failed call, read once."""

    text: str
    combined: str
    status: int | None
    signals: Signals

    def says(self, *words: str) -> bool:
        return any(word in self.combined for word in words)

    @property
    def config(self) -> bool:
        return self.says(*_CONFIG)


def _overloaded(seen: _Seen) -> bool:
    return seen.status == 529 or seen.says("overloaded")


def _usage_limit(seen: _Seen) -> bool:
    if seen.says("insufficient_quota", "ai budget of"):
        return True
    return seen.status != 429 and seen.says("quota", "billing", "payment required")


def _auth(seen: _Seen) -> bool:
    if seen.status == 401:
        return True
    return seen.says(*_AUTH)


def _forbidden(seen: _Seen) -> bool:
    return (seen.status == 403 or seen.says("forbidden")) and not seen.config


def _rate_limit(seen: _Seen) -> bool:
    words = ("rate limit", "rate_limit", "rate-limited", "too many requests")
    return (seen.status == 429 or any(word in seen.text for word in words)) and not seen.config


def _disabled(seen: _Seen) -> bool:
    return seen.says("provider_disabled")


def _timeout(seen: _Seen) -> bool:
    if seen.config:
        return False
    cut, reset = seen.signals.cut, seen.signals.reset
    if cut is TransportEnd.DEADLINE or seen.status in (408, 502, 503, 504):
        return True
    if seen.status is None and cut is TransportEnd.RESET:
        return True
    if reset is not None:
        return seen.status is None and reset.by_peer and reset.code.lower() in _RESET_CODES
    from_peer = any(f"{code}; received from peer" in seen.combined for code in _RESET_CODES)
    return from_peer or seen.says(*_TIMEOUT)


def _unknown_model(seen: _Seen) -> bool:
    return seen.status == 404 or seen.says(*_UNKNOWN_MODEL)


def _server_error(seen: _Seen) -> bool:
    return seen.status == 500 or "server error" in seen.text


@dataclass(frozen=True, slots=True)
class _Rule:
    fits: Callable[[_Seen], bool]
    kind: FailureKind
    retryable: bool


_RULES = (
    _Rule(lambda seen: seen.says(*_UNREADABLE_CALL), FailureKind.GENERIC, True),
    _Rule(_overloaded, FailureKind.OVERLOADED, True),
    _Rule(_usage_limit, FailureKind.USAGE_LIMIT, False),
    _Rule(_auth, FailureKind.AUTH, False),
    _Rule(_forbidden, FailureKind.AUTH, False),
    _Rule(_rate_limit, FailureKind.RATE_LIMIT, True),
    _Rule(_disabled, FailureKind.PROVIDER_DISABLED, False),
    _Rule(_timeout, FailureKind.TIMEOUT, True),
    _Rule(lambda seen: seen.config or _unknown_model(seen), FailureKind.CONFIG, False),
    _Rule(_server_error, FailureKind.GENERIC, True),
)
_UNKNOWN = _Rule(lambda seen: True, FailureKind.GENERIC, False)


def classify(signals: Signals, now: datetime) -> ProviderFailure:
    """Return the failure that these signals mean."""
    detail = structured_detail(signals)
    text = signals.text.lower()
    seen = _Seen(text, f"{text}\n{(detail or '').lower()}", status_of(signals), signals)
    provider = type_named(signals.provider) or type_in_error(seen.combined)
    if said := _outspoken(seen, provider, detail):
        return said
    rule = next((rule for rule in _RULES if rule.fits(seen)), _UNKNOWN)
    too_long = rule.kind is FailureKind.CONFIG and seen.says(*_TOO_LONG)
    if rule is _UNKNOWN and signals.cut is TransportEnd.CANCELLED:
        return failure(FailureKind.GENERIC, provider, message="The request was cancelled.")
    is_explained = detail is not None
    if detail is None and rule.kind is not FailureKind.AUTH:
        detail = raw_detail(signals)
    return failure(
        rule.kind,
        provider,
        retryable=rule.retryable and signals.cut is not TransportEnd.DEADLINE,
        status=seen.status,
        message=_message(seen, rule.kind, provider, is_explained=is_explained),
        detail=detail,
        retry_after_seconds=retry_after_seconds(signals.headers, now),
        too_long=too_long,
    )


def _message(
    seen: _Seen, kind: FailureKind, provider: str | None, *, is_explained: bool
) -> str | None:
    """Return the words for a failure that has some of its own; None: those of its kind."""
    if kind is FailureKind.CONFIG and seen.says(*_TOO_LONG):
        return _TOO_LONG_MESSAGE
    if kind is FailureKind.CONFIG and _unknown_model(seen):
        return unknown_model(provider)
    if kind is not FailureKind.GENERIC:
        return None
    if seen.says(*_UNREADABLE_CALL):
        return unreadable_call(provider)
    return refused_request(provider) if is_explained and seen.status in _REFUSED else None


def _outspoken(seen: _Seen, provider: str | None, detail: str | None) -> ProviderFailure | None:
    """Return the failure that one sentence tells, whatever else was sent, or None."""
    if any(words in seen.text for words in _INTERRUPTED):
        message = "The request was cancelled before completion."
        return failure(FailureKind.GENERIC, provider, status=seen.status, message=message)
    if seen.says(*_MISMATCHED):
        return history_mismatch(provider, seen.status)
    if any(words in seen.text for words in TRUNCATED):
        who = subject(provider)
        message = f"{who[:1].upper()}{who[1:]} stream closed before the response completed."
        return failure(
            FailureKind.TIMEOUT, provider, retryable=True, message=message, detail=detail
        )
    return None


def history_mismatch(provider: str | None, status: int | None = None) -> ProviderFailure:
    """Return the failure of a history that cannot be sent as it is.

    Only ids would say more, and ids are not shown.
    """
    return failure(
        FailureKind.GENERIC,
        provider,
        status=status,
        message=_MISMATCH_MESSAGE,
        detail=_MISMATCH_DETAIL,
    )
