"""The figures of a run: percentiles, medians of repeats, ratios. Pure.

A figure is known, or it is None: what a daemon does not tell is never shown as 0.
"""

import math
import statistics
from collections.abc import Mapping, Sequence

import msgspec

PERCENTILES = (50, 95, 99)
NOISE = 1.05  # of a ratio that no repeat confirms: nearer to 1 than this is not told apart
SHARE_MAX = 0.8  # of a core that driver and provider may use together; then a row is unfit


class Percentiles(msgspec.Struct, frozen=True):
    """The times that something took: how many, and milliseconds."""

    count: int
    p50: float
    p95: float
    p99: float
    max: float


class Phase(msgspec.Struct, frozen=True):
    """A part of a run, and all that was seen in it."""

    seconds: float
    turns: int
    deltas: int
    live: int  # turns whose first words came while they went on
    times: dict[str, Percentiles]
    cpu: dict[str, float | None] = {}  # seconds of processor time, by process
    database: dict[str, float | None] = {}  # statements, commits and bytes, of the whole phase
    stages: dict[str, float] = {}  # of a message on its way to its model: means, milliseconds


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One load of a daemon."""

    name: str  # which daemon
    chats: int
    floor: Phase | None
    phases: dict[str, Phase]
    memory: dict[str, float | None]  # megabytes of the daemon
    failures: dict[str, int]  # by stage
    reasons: dict[str, int]  # the same in words
    retries: int
    seconds: float


def percentile(values: Sequence[float], percent: float) -> float:
    """Return the smallest value that so many percent do not exceed; nan if there are none."""
    if not values:
        return math.nan
    return sorted(values)[max(0, math.ceil(len(values) * percent / 100) - 1)]


def percentiles(seconds: Sequence[float]) -> Percentiles | None:
    """Return the percentiles of so many seconds as milliseconds; None if nothing was seen."""
    if not seconds:
        return None
    ordered = sorted(seconds)
    p50, p95, p99 = (percentile(ordered, percent) * 1e3 for percent in PERCENTILES)
    return Percentiles(len(ordered), p50, p95, p99, ordered[-1] * 1e3)


def ratio(value: float | None, base: float | None) -> float | None:
    """Return a value as a multiple of another; None where one is not known, or the other 0."""
    return None if value is None or not base else value / base


def cpu_per_turn(phase: Phase | None, process: str) -> float | None:
    """Return the milliseconds of processor time that a process took for a turn."""
    if phase is None or not phase.turns:
        return None
    seconds = phase.cpu.get(process)
    return None if seconds is None else seconds / phase.turns * 1e3


def floor_ratio(row: Row, phase: str) -> float | None:
    """Return the processor time of the daemon for a turn, as a multiple of the floor's."""
    own = cpu_per_turn(row.phases.get(phase), "daemon")
    return ratio(own, cpu_per_turn(row.floor, "driver"))


def stage_means(grown: Mapping[str, float | None]) -> dict[str, float]:
    """Return the mean of each stage in milliseconds, of its seconds and its messages."""
    found = {}
    for name, count in grown.items():
        stage, _, what = name.partition(" ")
        seconds = grown.get(f"{stage} sum")
        if what == "count" and count and seconds is not None:
            found[stage] = seconds / count * 1e3
    return found


def per_turn(phase: Phase, name: str) -> float | None:
    """Return how much of a count of the database a turn took."""
    whole = phase.database.get(name)
    return None if whole is None or not phase.turns else whole / phase.turns


def client_share(phase: Phase) -> float | None:
    """Return which share of one core driver and provider took together."""
    driver, provider = phase.cpu.get("driver"), phase.cpu.get("provider")
    if driver is None or not phase.seconds:
        return None
    return (driver + (provider or 0.0)) / phase.seconds


def unfit(row: Row) -> str | None:
    """Return why a row tells nothing of the daemon, or None."""
    shares = {name: client_share(phase) for name, phase in row.phases.items()}
    worst = max(shares, key=lambda name: shares[name] or 0.0, default=None)
    if worst is not None and (share := shares[worst]) is not None and share > SHARE_MAX:
        return f"driver and provider used {share:.0%} of a core in the phase {worst}"
    if row.failures:
        return f"{sum(row.failures.values())} failures"
    return None


# what a row is judged by: one number each, by a name that stays


def measures(row: Row) -> dict[str, float]:
    """Return all figures of a row that are known, by the name of phase and figure."""
    found: dict[str, float | None] = {}
    for name, phase in row.phases.items():
        for what, times in phase.times.items():
            found |= {
                f"{name}.{what}.{percent}_ms": getattr(times, percent)
                for percent in ("p50", "p95", "p99")
            }
        if phase.turns and name != "interrupt":
            found[f"{name}.turns_per_second"] = phase.turns / phase.seconds
            found[f"{name}.live_share"] = phase.live / phase.turns
            for process in ("daemon", "postgresql"):
                found[f"{name}.{process}_cpu_ms_per_turn"] = cpu_per_turn(phase, process)
            found |= {f"{name}.{each}_per_turn": per_turn(phase, each) for each in phase.database}
            found[f"{name}.cpu_by_floor"] = floor_ratio(row, name)
            found |= {f"{name}.{stage}_mean_ms": ms for stage, ms in phase.stages.items()}
    found |= {f"memory.{name}_mb": size for name, size in row.memory.items()}
    return {name: value for name, value in found.items() if value is not None}


class Spread(msgspec.Struct, frozen=True):
    """A figure of several repeats: the median, the least and the most."""

    median: float
    low: float
    high: float


def spreads(rows: Sequence[Row]) -> Mapping[str, Spread]:
    """Return each figure that all of these repeats of one load have."""
    all_of_them = [measures(row) for row in rows]
    names = [name for name in all_of_them[0] if all(name in each for each in all_of_them)]
    return {name: spread([each[name] for each in all_of_them]) for name in names}


def spread(values: Sequence[float]) -> Spread:
    """Return the median, the least and the most of some values."""
    return Spread(statistics.median(values), min(values), max(values))


def verdict(now: Spread, before: Spread, *, repeats: int) -> str:
    """Return what two figures say of each other, whether more is better or not.

    One run each says little: a difference is told only where it is larger than NOISE. With
    repeats it is told where the two ranges do not meet.
    """
    if repeats < 2:
        change = ratio(now.median, before.median)
        near = change is None or 1 / NOISE < change < NOISE
        return "like" if near else "once"
    if now.low > before.high:
        return "more"
    return "less" if now.high < before.low else "like"
