"""Errors that the clients raise, and the rule for when a request is made again. Pure."""

from collections.abc import Sequence

import httpx2
import msgspec

from promptcorner_client.shared import delay_seconds
from promptcorner_client.wire import RefusalBody, Validation

TRIES_MAX = 6  # of one request that may be repeated, about 3 s; then its error is raised
CONNECTIONS_MAX = 30  # of a stream, one after the other, about 4 min without an event
FIRST_SECONDS = 0.1
CAP_SECONDS = 10.0
SPREAD = 0.5  # clients that were cut off together do not come back together
RETRY_AFTER_SECONDS_MAX = 60  # a daemon that asks for more is asked again all the same
IS_IT_RUNNING = "; is the daemon running there?"  # at the end of what a program is told
BUSY = frozenset({408, 429, 502, 503, 504})


class RequestRefused(Exception):
    """An answer of the daemon that is not a success; its text says why."""

    def __init__(self, status: int, refusal: RefusalBody, *, retry_after: str = "") -> None:
        text = refusal.message
        if refusal.detail:
            text = f"{text.removesuffix('.')}: {refusal.detail}"
        super().__init__(f"{status} {text}")
        self.status = status
        self.message = refusal.message
        self.detail = refusal.detail
        self.validations: Sequence[Validation] = refusal.validations
        self.kind = refusal.kind
        self.retry_after_seconds = int(retry_after) if retry_after.isdecimal() else 0


class ServerUnreachable(Exception):
    """No answer came, however often the request was made."""


class StreamEnded(Exception):
    """The end of a stream: the daemon stops, or has nothing more to send."""


class EventStreamMissing(Exception):
    """A server that has no server-sent events."""


ConnectionFault = httpx2.TransportError | RequestRefused | StreamEnded


def refusal_of(status: int, body: bytes, *, retry_after: str = "") -> RequestRefused:
    """Return the error for an answer. A proxy may have sent it, and not in JSON."""
    try:
        refusal = msgspec.json.decode(body, type=RefusalBody)
    except msgspec.DecodeError:
        text = body[:500].decode(errors="replace").strip()
        refusal = RefusalBody("not an answer of promptcorner", detail=text)
    return RequestRefused(status, refusal, retry_after=retry_after)


def final_error(fault: ConnectionFault, url: str) -> Exception:
    """Return what is raised when the last try has failed."""
    if isinstance(fault, RequestRefused):
        return fault
    reason = str(fault) or type(fault).__name__
    return ServerUnreachable(f"{url}: {reason}{IS_IT_RUNNING}")


def seconds_before_retry(
    fault: ConnectionFault, attempt: int, *, chance: float, tries_max: int = TRIES_MAX
) -> float | None:
    """Return how long to wait before the next try, or None if another try would not help."""
    if attempt >= tries_max or (isinstance(fault, RequestRefused) and fault.status not in BUSY):
        return None
    delay = delay_seconds(
        attempt,
        first_seconds=FIRST_SECONDS,
        cap_seconds=CAP_SECONDS,
        spread=SPREAD,
        chance=chance,
    )
    wanted = fault.retry_after_seconds if isinstance(fault, RequestRefused) else 0
    return max(delay, min(wanted, RETRY_AFTER_SECONDS_MAX))
