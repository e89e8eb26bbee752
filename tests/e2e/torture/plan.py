"""The faults of one storm, drawn from a seed: what happens to each daemon, and to the database."""

import random
from dataclasses import dataclass

DATABASE = 0  # daemons are numbered from 1
LEASE_SECONDS = 4
FIRST_SECONDS = 1.0  # before the first fault: every chat is there and watched by then
KINDS = {"kill": 4, "restart": 3, "freeze": 4}  # of a daemon, and how often
SHORT_FREEZES = (0.3, 1.0, 2.0)  # a lease lives through these,
LONG_FREEZES = (1.5 * LEASE_SECONDS, 2.5 * LEASE_SECONDS)  # and not through those
PAUSES = (0.0, 0.5, 2.0)  # from the end of a process to the start of the next one
CALM_SECONDS = 6.0  # between two faults of one daemon, on average
DATABASE_CALM_SECONDS = 12.0


@dataclass(frozen=True, slots=True)
class Strike:
    """One fault. `seconds`: how long a daemon is frozen, or away."""

    at: float
    target: int
    kind: str
    seconds: float = 0.0

    def __str__(self):
        target = "database" if self.target == DATABASE else f"daemon {self.target}"
        lasts = f" for {self.seconds:g} s" if self.seconds else ""
        return f"{self.at:6.1f} s: {target}: {self.kind}{lasts}"


def plan_storm(seed, *, seconds, daemons_count):
    """Return the strikes of a storm in the order of their time. None begins after `seconds`."""
    strikes = [
        strike
        for target in range(daemons_count + 1)
        for strike in _strikes_of(random.Random(f"{seed}/{target}"), target, seconds)
    ]
    return sorted(strikes, key=lambda strike: strike.at)


def _strikes_of(rng, target, seconds):
    at = FIRST_SECONDS
    while True:
        calm = DATABASE_CALM_SECONDS if target == DATABASE else CALM_SECONDS
        at += rng.uniform(0.3, 1.7) * calm
        if at > seconds:
            return
        strike = _strike(rng, target, round(at, 1))
        yield strike
        at += strike.seconds


def _strike(rng, target, at):
    if target == DATABASE:
        return Strike(at, target, rng.choice(["fast stop", "immediate stop"]))
    [kind] = rng.choices(list(KINDS), list(KINDS.values()))
    lengths = SHORT_FREEZES + LONG_FREEZES if kind == "freeze" else PAUSES
    return Strike(at, target, kind, rng.choice(lengths))
