"""What clients saw, as figures. Pure."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

PERCENTILES = (50, 95, 99)
FAULTS_SHOWN = 5  # kinds of them; the rest is counted


@dataclass(slots=True)
class Seen:
    """Seconds, and counts; filled while the run goes on."""

    create: list[float] = field(default_factory=list)  # the answer to `POST chats`
    send: list[float] = field(default_factory=list)  # the answer to `POST messages`
    first_output: list[float] = field(default_factory=list)  # from asking to the first word
    turn: list[float] = field(default_factory=list)  # from asking to `waiting`
    parts: int = 0  # pieces of answers
    retries: int = 0  # of the daemon, at its provider
    faults: Counter[str] = field(default_factory=Counter)


def percentile(values: Sequence[float], percent: int) -> float:
    """The smallest value that so many are not above; nan: there are none."""
    if not values:
        return math.nan
    return sorted(values)[max(0, math.ceil(len(values) * percent / 100) - 1)]


def rows(seen: Seen) -> Sequence[Sequence[str]]:
    """For a table: what, how many, and how long in milliseconds."""
    measured = {
        "create a chat": seen.create,
        "send a message": seen.send,
        "first output": seen.first_output,
        "whole turn": seen.turn,
    }
    return [
        (name, str(len(values)), *(_milliseconds(percentile(values, p)) for p in PERCENTILES))
        for name, values in measured.items()
    ]


def _milliseconds(seconds: float) -> str:
    return "-" if math.isnan(seconds) else f"{1000 * seconds:.1f}"


def summary(seen: Seen, seconds: float) -> str:
    turns, faults = len(seen.turn), sum(seen.faults.values())
    lines = [
        f"{turns} turns in {seconds:.1f} s: {turns / seconds:.1f} turns/s,"
        f" {seen.parts / seconds:.0f} pieces/s, {seen.retries} retries, {faults} failures"
    ]
    lines += [f"  {count} x {fault}" for fault, count in seen.faults.most_common(FAULTS_SHOWN)]
    return "\n".join(lines) + "\n"


def document(seen: Seen, seconds: float) -> Mapping[str, object]:
    measured = {
        "create_seconds": seen.create,
        "send_seconds": seen.send,
        "first_output_seconds": seen.first_output,
        "turn_seconds": seen.turn,
    }
    return {
        "seconds": seconds,
        "turns": len(seen.turn),
        "turns_per_second": len(seen.turn) / seconds,
        "pieces_per_second": seen.parts / seconds,
        "retries": seen.retries,
        "failures": dict(seen.faults),
        **{
            name: {f"p{p}": percentile(values, p) for p in PERCENTILES} if values else None
            for name, values in measured.items()
        },
    }
