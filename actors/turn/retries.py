"""Which failed attempts are made again, when, and how often. Pure.

The budget is counted where it survives a crash: in the chat's `generation_attempt`, which begins
anew with every history. So it is shared by all processes that try.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from actors.machine.chat import ChatError, RetryState
from actors.parts.failure import ProviderFailure
from runtime.backoff import delay_seconds

ATTEMPTS_MAX = 25  # at one history; after the last one the chat stops with the error
# Likewise, once a model was paid for a summary that came to nothing: each attempt reads all of the
# conversation. A message, or another request for a summary, begins to count anew.
SUMMARY_ATTEMPTS_MAX = 3
FIRST_SECONDS = 1.0
CAP_SECONDS = 60.0  # a provider may ask for a longer pause, and gets it
PAUSE_SECONDS_MAX = 86_400.0  # but no longer one than this, whatever it asks for


@dataclass(frozen=True, slots=True)
class Retry:
    after_seconds: float
    state: RetryState  # the same, as it is stored and shown


def after(
    failure: ProviderFailure, *, attempt: int, now: datetime, attempts_max: int = ATTEMPTS_MAX
) -> Retry | ChatError:
    """What follows attempt number `attempt`, which failed: another one, or the end."""
    if not failure.retryable or not 0 < attempt < attempts_max:
        return ChatError(
            failure.message,
            failure.kind.value,
            failure.provider,
            failure.retryable,
            failure.status_code,
            failure.detail,
        )
    backoff = delay_seconds(attempt, first_seconds=FIRST_SECONDS, cap_seconds=CAP_SECONDS)
    seconds = min(max(backoff, failure.retry_after_seconds), PAUSE_SECONDS_MAX)
    state = RetryState(
        attempt,
        round(seconds * 1000),
        failure.retry_message,
        now + timedelta(seconds=seconds),
        failure.kind.value,
        failure.provider,
        failure.status_code,
    )
    return Retry(seconds, state)
