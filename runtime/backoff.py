"""How long to wait before the n-th try: doubling, capped, spread by chance from outside."""

EXPONENT_MAX = 1000  # beyond it the cap has long been reached; the power stays a float


def delay_seconds(
    attempt: int,
    *,
    first_seconds: float,
    cap_seconds: float,
    spread: float = 0.0,
    chance: float = 0.0,
) -> float:
    """Seconds before `attempt` (1, 2, …). `chance` in 0..1 takes off up to `spread` of them."""
    assert attempt >= 1, f"attempts are counted from 1, not {attempt}"
    assert first_seconds >= 0, "a wait is never negative"
    assert 0 <= spread <= 1, "spread is a share of the delay"
    assert 0 <= chance <= 1, "chance comes from random()"
    doubled = first_seconds * 2.0 ** min(attempt - 1, EXPONENT_MAX)
    return min(cap_seconds, doubled) * (1.0 - spread * chance)
