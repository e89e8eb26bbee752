"""The ways in which a call to a provider fails: raised inside the adapters, told as failures.

None of the exceptions leaves `streaming`: there they become failures, which are data. Each text is
`subject: fact`, without headers, keys, queries, or a word of what was received, except for
`ReportedFailure`, whose text is the provider's own. Every text that a provider sent passes `_safe`,
so that a key that we sent never comes back out, even if the provider repeats it.
"""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from actors.law.failures.classify import classify
from actors.law.failures.signals import BODY_BYTES_MAX, Signals, TransportEnd
from actors.law.parts.deltas import ProviderFailure
from runtime.statistics import CounterMetric

KINDS_MAX = 100  # of events that are not known; further kinds are skipped without being counted

_REDACTED = "[redacted]"
# The names under which vendors write what kind of error it is: in a refusal, and inside a stream.
_REFUSAL_KINDS = ("type", "code", "status", "__type")
_STREAM_KINDS = ("status", "type", "code")


class CallFailed(Exception):
    """A call without a response, or without all of it."""


class ProviderUnreachable(CallFailed):
    """A connection that could not be made."""


class UntrustedPeer(CallFailed):
    """A peer that could not prove who it is; trying again will not help."""


class ConnectionLost(CallFailed):
    """A connection that ended before the response was complete."""


class BrokenStream(CallFailed):
    """A response that its protocol does not allow; it would come again."""


class UnsendableRequest(CallFailed):
    """A request that cannot be written down; it would not go the next time either."""


class ReportedFailure(CallFailed):
    """A failure that a stream reports after it had begun well."""


@dataclass(frozen=True, slots=True)
class CalledProvider:
    """The provider that a failure is about, as configured, and the secrets that we sent it."""

    provider: str
    secrets: tuple[str, ...] = ()


def call_failure(error: CallFailed, who: CalledProvider, now: datetime) -> ProviderFailure:
    """Return the failure for a response that is missing, cut short, or reports a failure."""
    cut = TransportEnd.RESET if isinstance(error, ConnectionLost | ProviderUnreachable) else None
    return classify(Signals(_safe(str(error), who), who.provider, cut=cut), now)


def refusal_failure(
    status: int, headers: Mapping[str, str], body: bytes, *, who: CalledProvider, now: datetime
) -> ProviderFailure:
    """Return the failure for a response whose status is not 2xx."""
    safe = _safe(body.decode("utf-8", "replace"), who)
    return classify(
        Signals(
            f"status {status} {_kinds(safe)}".strip(),
            who.provider,
            status,
            headers,
            safe.encode(),
        ),
        now,
    )


def error_text(error: object) -> str:
    """Return an error object inside a stream as one line: `status 503 overloaded_error: try later`.

    Vendors agree on `message`; the kind of the error stands under several names, as a word or as an
    HTTP status. Both are kept, because they decide whether the call is made again.
    """
    if isinstance(error, str):
        return error
    if not isinstance(error, dict):
        return "error"
    found = (error.get(name) for name in _STREAM_KINDS)
    kinds = [_kind(value) for value in found if isinstance(value, str | int)]
    message = error.get("message")
    said = " ".join(dict.fromkeys(kinds)) or "error"
    return f"{said}: {message}" if isinstance(message, str) and message else said


@dataclass(frozen=True, slots=True)
class SkippedStatistics:
    """Counts of what a provider sent and we do not know."""

    skipped: Annotated[
        dict[str, int],
        CounterMetric("Events and blocks of unknown kinds that were skipped.", label="kind"),
    ]


class SkippedKinds:
    """A counter of events that we do not know and read over; the calls of a provider share one."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def add(self, kind: str) -> None:
        if kind in self._counts or len(self._counts) < KINDS_MAX:
            self._counts[kind] += 1

    def statistics(self) -> SkippedStatistics:
        return SkippedStatistics(dict(self._counts))


def _kinds(body: str) -> str:
    """Return the kinds of error that a body names; its message is found by `classify`."""
    if len(body) > BODY_BYTES_MAX:
        return ""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    if not isinstance(value, dict):
        return ""
    error = value.get("error")
    source = error if isinstance(error, dict) else value
    found = (source.get(name) for name in _REFUSAL_KINDS)
    return " ".join(text for text in found if isinstance(text, str))


def _kind(value: str | int) -> str:
    """Return a kind in the words that failures are classified by.

    OpenAI writes `server_error` where others write status 500 or words.
    """
    is_status = str(value).isdecimal() and 400 <= int(value) <= 599
    return f"status {value}" if is_status else str(value).replace("server_error", "server error")


def _safe(text: str, who: CalledProvider) -> str:
    for secret in who.secrets:
        if secret:
            text = text.replace(secret, _REDACTED)
    return text
