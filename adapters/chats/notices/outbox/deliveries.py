"""Deliveries: an event for one webhook or device, what came of an attempt, and what follows. Pure.

A webhook that does not answer well is tried again for three days. A device is tried for an hour:
a question of yesterday is no reason to call a person. The waits of webhooks are those that the
Standard Webhooks proposes.
"""

from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from uuid import UUID


class Receiver(Enum):
    """The kind of receiver of a delivery."""

    WEBHOOK = "webhook"
    PUSH = "push"


class DeliveryState(Enum):
    """The state of a delivery."""

    WAITING = "waiting"  # to be sent, or to be tried again
    DELIVERED = "delivered"
    FAILED = "failed"  # given up
    LEFT_OUT = "left_out"  # the device showed the chat anyway, or its user is not let in


MINUTE, HOUR = 60.0, 3600.0
# Seconds after each attempt that failed; behind the last of them the delivery is given up.
WAITS = {
    Receiver.WEBHOOK: (
        5.0,
        5 * MINUTE,
        30 * MINUTE,
        2 * HOUR,
        5 * HOUR,
        10 * HOUR,
        14 * HOUR,
        20 * HOUR,
        20 * HOUR,
    ),  # 71 hours and 35 minutes in all
    Receiver.PUSH: (5.0, 30.0, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE),
}
SPREAD = 0.1  # each wait is shortened by up to this share, so that they do not come back together
# A receiver may ask for a longer wait than ours (Retry-After), but not for longer than this.
RETRY_AFTER_SECONDS_MAX = 6 * HOUR
# A webhook of which no attempt was answered well for so long is switched off.
DISABLED_AFTER_SECONDS = 5 * 24 * HOUR
ERROR_CHARACTERS_MAX = 300  # of what is kept of a failure; the rest is left out


@dataclass(frozen=True, slots=True)
class Delivery:
    """A delivery that this process has claimed, with its receiver as it is set up now."""

    id: UUID
    target: Receiver
    target_id: UUID
    event_id: UUID  # the same for all receivers of the event, in every attempt
    kind: str
    user_id: UUID
    chat_id: UUID | None
    root_id: UUID | None
    title: str
    detail: bytes  # JSON, as it was filed
    created_at: datetime
    attempts_count: int  # this one included
    claims_count: int  # the fence of this claim
    url: str | None  # None: there is no such receiver any more
    secret: bytes | None = field(repr=False)  # sealed: a webhook's secret, or a device's keys
    former_secret: bytes | None = field(default=None, repr=False)
    is_watched: bool = False  # the device shows the chat at this moment
    is_shut: bool = False  # the receiver's user is suspended or deleted, or may not see the chat


@dataclass(frozen=True, slots=True)
class Delivered:
    """An attempt that was answered well."""

    status: int


@dataclass(frozen=True, slots=True)
class Refused:
    """An attempt that was not answered well, or not at all (no status)."""

    why: str
    status: int | None = None
    retry_after_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class TargetGone:
    """An answer by which the receiver says that it wants no more: nothing is tried again."""

    why: str
    status: int | None = None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A delivery that need not be sent."""

    why: str


Outcome = Delivered | Refused | TargetGone | LeftOut


@dataclass(frozen=True, slots=True)
class Settlement:
    """The end of a claim: the delivery's state, and when it is due again if it still waits."""

    id: UUID
    claims_count: int
    state: DeliveryState
    due_seconds: float = 0.0
    status: int | None = None
    error: str = ""
    is_gone: bool = False  # the receiver
    has_failed: bool = False  # the receiver, in this attempt


def settlement_of(delivery: Delivery, outcome: Outcome, *, chance: float) -> Settlement:
    """Return what becomes of a delivery. `chance` is a random number in 0..1."""
    id, fence = delivery.id, delivery.claims_count
    match outcome:
        case Delivered(status):
            return Settlement(id, fence, DeliveryState.DELIVERED, status=status)
        case LeftOut(why):
            return Settlement(id, fence, DeliveryState.LEFT_OUT, error=why)
        case TargetGone(why, status):
            return Settlement(
                id,
                fence,
                DeliveryState.FAILED,
                status=status,
                error=why[:ERROR_CHARACTERS_MAX],
                is_gone=True,
                has_failed=True,
            )
        case Refused(why, status, asked_seconds):
            seconds = wait_seconds(delivery.target, delivery.attempts_count, chance=chance)
            state = DeliveryState.FAILED if seconds is None else DeliveryState.WAITING
            asked_seconds = min(max(0.0, asked_seconds), RETRY_AFTER_SECONDS_MAX)
            return Settlement(
                id,
                fence,
                state,
                due_seconds=max(seconds or 0.0, asked_seconds),
                status=status,
                error=why[:ERROR_CHARACTERS_MAX],
                has_failed=True,
            )


def wait_seconds(target: Receiver, attempts: int, *, chance: float) -> float | None:
    """Return how long to wait after so many attempts that failed, or None: it is given up."""
    waits = WAITS[target]
    if attempts > len(waits):
        return None
    return waits[attempts - 1] * (1.0 - SPREAD * chance)
