"""The wait before the next try: doubled each time, up to a cap, shortened by chance."""

EXPONENT_MAX = 1000  # beyond it the cap has long been reached; the power stays a float


def delay_seconds(
    attempt: int,
    *,
    first_seconds: float,
    cap_seconds: float,
    spread: float = 0.0,
    chance: float = 0.0,
) -> float:
    """Return the seconds to wait before try number `attempt` (1, 2, …).

    The wait doubles from `first_seconds` up to `cap_seconds`. `chance`, a random number in 0..1
    that the caller draws, takes off up to the share `spread` of it, so that many who wait do not
    all come back at once.
    """
    assert attempt >= 1, f"attempts are counted from 1, not {attempt}"
    assert first_seconds >= 0, "a wait is never negative"
    assert 0 <= spread <= 1, "spread is a share of the delay"
    assert 0 <= chance <= 1, "chance comes from random()"
    doubled = first_seconds * 2.0 ** min(attempt - 1, EXPONENT_MAX)
    return min(cap_seconds, doubled) * (1.0 - spread * chance)
