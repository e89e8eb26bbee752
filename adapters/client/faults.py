"""What may come instead of an answer, and when asking again may help. Pure."""

from collections.abc import Sequence

import httpx2
import msgspec

from adapters.http.refused import Refusal, Validation
from runtime.backoff import delay_seconds

TRIES_MAX = 6  # of one request that may be repeated, about 3 s; then its fault is raised
CONNECTIONS_MAX = 30  # of a stream, one after the other, about 4 min without an event
FIRST_SECONDS = 0.1
CAP_SECONDS = 10.0
SPREAD = 0.5  # clients that were cut off together do not come back together
RETRY_AFTER_SECONDS_MAX = 60  # a daemon that wants more is asked again all the same
BUSY = frozenset({408, 429, 502, 503, 504})


class Refused(Exception):
    """The daemon said no, in words."""

    def __init__(self, status: int, refusal: Refusal, *, retry_after: str = "") -> None:
        said = refusal.message
        if refusal.detail:
            said = f"{said.removesuffix('.')}: {refusal.detail}"
        super().__init__(f"{status} {said}")
        self.status = status
        self.message = refusal.message
        self.detail = refusal.detail
        self.validations: Sequence[Validation] = refusal.validations
        self.kind = refusal.kind
        self.retry_after_seconds = int(retry_after) if retry_after.isdecimal() else 0


class Unreachable(Exception):
    """There was no answer, however often we asked."""


class Ended(Exception):
    """The stream came to its end: the daemon stops, or is through with us."""


class NoStream(Exception):
    """The server knows nothing of server-sent events."""


Fault = httpx2.TransportError | Refused | Ended


def refused(status: int, body: bytes, *, retry_after: str = "") -> Refused:
    """Whatever stands between us and the daemon may answer too, and not in JSON."""
    try:
        refusal = msgspec.json.decode(body, type=Refusal)
    except msgspec.DecodeError:
        text = body[:500].decode(errors="replace").strip()
        refusal = Refusal("not an answer of promptcorner", detail=text)
    return Refused(status, refusal, retry_after=retry_after)


def told(fault: Fault, url: str) -> Exception:
    """What is raised in the end."""
    if isinstance(fault, Refused):
        return fault
    return Unreachable(f"{url}: {fault or type(fault).__name__}; is the daemon running there?")


def wait_seconds(
    fault: Fault, attempt: int, *, chance: float, tries_max: int = TRIES_MAX
) -> float | None:
    """How long before asking again; None: it would not help."""
    if attempt >= tries_max or (isinstance(fault, Refused) and fault.status not in BUSY):
        return None
    delay = delay_seconds(
        attempt,
        first_seconds=FIRST_SECONDS,
        cap_seconds=CAP_SECONDS,
        spread=SPREAD,
        chance=chance,
    )
    wanted = fault.retry_after_seconds if isinstance(fault, Refused) else 0
    return max(delay, min(wanted, RETRY_AFTER_SECONDS_MAX))
