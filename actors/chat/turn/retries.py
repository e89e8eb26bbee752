"""The rules for failed attempts: which are made again, when, and how often. Pure.

Two budgets are counted in the chat's row, where they survive a crash and are shared by all
processes that try; both begin anew with every history. `provider_failures_count` counts attempts
that the provider failed, `process_deaths_count` those whose process died. An attempt that is handed
over in good order, because its process was told to stop, counts as neither.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from actors.law.chat import ChatError, RetryState
from actors.law.parts.deltas import ProviderFailure
from runtime.backoff import delay_seconds

FAILURES_MAX = 25  # of the provider, at one history; the last one stops the chat with its error
# Likewise, once a model was paid for a summary that came to nothing: each attempt reads all of the
# conversation. A message, or another request for a summary, begins to count anew.
SUMMARY_FAILURES_MAX = 3
DEATHS_MAX = 5  # of processes, at one history; then the chat is stopped with `TOO_MANY_DEATHS`
FIRST_SECONDS = 1.0
CAP_SECONDS = 60.0  # a provider may ask for a longer pause, and gets it
PAUSE_SECONDS_MAX = 86_400.0  # but no longer one than this, whatever it asks for
# The share of a pause, and at most of our longest one, that chance may add to it. So chats that
# failed together do not ask again together.
SPREAD = 0.5

TOO_MANY_DEATHS = ChatError(
    f"The chat has been stopped: {DEATHS_MAX} times in a row the process that ran it ended in the"
    " middle of the same step. Send a message to try again. If that happens again, ask the"
    " administrator to look into the daemon's log for what ends its processes; memory that is used"
    " up is a common cause."
)


@dataclass(frozen=True, slots=True)
class Retry:
    after_seconds: float
    state: RetryState  # the same, as it is stored and shown


def retry_after(
    failure: ProviderFailure,
    *,
    failures_count: int,
    now: datetime,
    chance: float,
    failures_max: int = FAILURES_MAX,
) -> Retry | ChatError:
    """Return what follows the failure: another attempt, or the end.

    `failures_count`: of the provider, this failure included. `chance` in 0..1 spreads the pauses.
    """
    if not failure.retryable or not 0 < failures_count < failures_max:
        return ChatError(
            failure.message,
            failure.kind.value,
            failure.provider,
            failure.retryable,
            failure.status_code,
            failure.detail,
        )
    delay_ms = round(1000 * pause_seconds(failure, failures_count, chance))
    state = RetryState(
        failures_count,
        delay_ms,
        failure.retry_message,
        now + timedelta(milliseconds=delay_ms),
        failure.kind.value,
        failure.provider,
        failure.status_code,
    )
    return Retry(delay_ms / 1000, state)


def pause_seconds(failure: ProviderFailure, failures_count: int, chance: float) -> float:
    """Return the pause before the next attempt: never shorter than the provider asks for."""
    backoff = delay_seconds(failures_count, first_seconds=FIRST_SECONDS, cap_seconds=CAP_SECONDS)
    shortest = max(backoff, failure.retry_after_seconds)
    spread = SPREAD * chance * min(shortest, CAP_SECONDS)
    return min(shortest + spread, PAUSE_SECONDS_MAX)
