"""What goes wrong between us and a provider, as failures of ours. Pure.

Every text that a provider sent passes `_safe`: a key that we sent never comes back out, whoever
repeats it.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from actors.law.failures.classify import classify
from actors.law.failures.signals import BODY_BYTES_MAX, Cut, Signals
from actors.law.parts.deltas import ProviderFailure
from adapters.models.providers.broken import CallFailed, Lost, Unreachable

_REDACTED = "[redacted]"
_NAMES = ("type", "code", "status", "__type")  # under which vendors write what kind of error it is


@dataclass(frozen=True, slots=True)
class Accused:
    """Who a failure is about: the provider as configured, and the secrets that we sent it."""

    provider: str
    secrets: tuple[str, ...] = ()


def call_failed(error: CallFailed, who: Accused, now: datetime) -> ProviderFailure:
    """No response, half of one, or one that reports a failure."""
    cut = Cut.RESET if isinstance(error, Lost | Unreachable) else None
    return classify(Signals(_safe(str(error), who), who.provider, cut=cut), now)


def refused(
    status: int, headers: Mapping[str, str], body: bytes, *, who: Accused, now: datetime
) -> ProviderFailure:
    """A response that is not 2xx."""
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


def _kinds(body: str) -> str:
    """What kind of error a body says it is; the message is found by whoever classifies."""
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
    found = (source.get(name) for name in _NAMES)
    return " ".join(text for text in found if isinstance(text, str))


def _safe(text: str, who: Accused) -> str:
    for secret in who.secrets:
        if secret:
            text = text.replace(secret, _REDACTED)
    return text
