"""The rule for a child that has ended: start it again, leave it, or give up. Pure.

Only `Crashed` restarts. A child with a `Restart` is *kept*: its supervisor cannot do without it. A
child without one is *loose*: its end is news for its starter, and nothing more.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from runtime.backoff import delay_seconds
from runtime.ends import Broken, Crashed, End


@dataclass(frozen=True, slots=True)
class Restart:
    """A budget: at most `times` restarts within any `within_seconds`, each after a longer rest."""

    times: int = 5
    within_seconds: float = 60.0
    first_seconds: float = 0.1
    cap_seconds: float = 10.0


@dataclass(frozen=True, slots=True)
class StartAgain:
    """The child is started again, after a rest."""

    after_seconds: float


@dataclass(frozen=True, slots=True)
class Leave:
    """The child has ended, and nothing follows."""


@dataclass(frozen=True, slots=True)
class GiveUp:
    """The child stays down, and its supervisor cannot go on without it."""


def what_next(
    policy: Restart | None, end: End, restarted_at: Sequence[float], now: float
) -> StartAgain | Leave | GiveUp:
    """Return what follows `end` at `now`, given the times of this child's earlier restarts."""
    if policy is None or not isinstance(end, Crashed | Broken):
        return Leave()
    if isinstance(end, Broken):
        return GiveUp()
    recent = sum(now - at < policy.within_seconds for at in restarted_at)
    if recent >= policy.times:
        return GiveUp()
    return StartAgain(
        delay_seconds(
            recent + 1, first_seconds=policy.first_seconds, cap_seconds=policy.cap_seconds
        )
    )
