"""Gauges of a run: processor time and memory of processes, and what a daemon tells of itself.

Linux tells all of it in /proc. Where a system, or a daemon elsewhere, does not tell, a figure is
None and is printed as "not told".
"""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import httpx2
from prometheus_client.parser import text_string_to_metric_families

PROC = Path("/proc")
UTIME, STIME, CUTIME, CSTIME = 11, 12, 13, 14  # behind the name of the program, proc_pid_stat(5)
PARENT = 1
KILOBYTES_PER_MEGABYTE = 1024
METRICS_SECONDS = 10.0
# What a daemon tells of its two pools of connections, by the name that a result has.
POOLS = ("promptcorner_pool_", "promptcorner_own_pool_")
DATABASE_METRICS = {
    "statements": "statements_total",
    "trips": "trips_total",
    "sent_bytes": "sent_bytes_total",
}
# The stages of a message on its way to its model: seconds and how many messages, by name.
STAGES = ("admit", "commit", "start", "prepare", "all")
STAGE_METRICS = {
    f"{stage} {what}": f"promptcorner_chatd_message_stage_seconds_{what} {stage}"
    for stage in STAGES
    for what in ("sum", "count")
}
DAEMON_METRICS = {"daemon": "process_cpu_seconds_total", "rss": "process_resident_memory_bytes"}


def _stat(pid: int) -> list[str] | None:
    try:
        return (PROC / str(pid) / "stat").read_text().rpartition(") ")[2].split()
    except (OSError, UnicodeDecodeError):
        return None


def family(pid: int) -> list[int]:
    """Return a process and all processes below it."""
    children: dict[int, list[int]] = {}
    for entry in PROC.iterdir() if PROC.is_dir() else ():
        if entry.name.isdecimal() and (stat := _stat(int(entry.name))) is not None:
            children.setdefault(int(stat[PARENT]), []).append(int(entry.name))
    found, left = [], [pid]
    while left:
        found.append(left.pop())
        left += children.get(found[-1], [])
    return found


def cpu_seconds(pids: Iterable[int], *, with_ended: bool = False) -> float | None:
    """Return the processor time of processes, if the system tells; of their ended children too."""
    ticks = 0
    is_told = False
    columns = (UTIME, STIME, CUTIME, CSTIME) if with_ended else (UTIME, STIME)
    for pid in pids:
        if (stat := _stat(pid)) is not None:
            is_told = True
            ticks += sum(int(stat[column]) for column in columns)
    return ticks / os.sysconf("SC_CLK_TCK") if is_told else None


def memory_megabytes(pids: Iterable[int]) -> dict[str, float | None]:
    """Return what processes have in memory: all of it, and their share of what others have too."""
    sums = {"rss": 0.0, "pss": 0.0}
    for pid in pids:
        with suppress(OSError):
            for line in (PROC / str(pid) / "smaps_rollup").read_text().splitlines():
                name, _, rest = line.partition(":")
                if name.lower() in sums:
                    sums[name.lower()] += int(rest.split()[0]) / KILOBYTES_PER_MEGABYTE
    return {name: size or None for name, size in sums.items()}


def pin(pid: int, core: int) -> None:
    """Let a process run on one core only, with all its threads."""
    for thread in (PROC / str(pid) / "task").iterdir():
        with suppress(OSError):
            os.sched_setaffinity(int(thread.name), {core})


def cores() -> list[int]:
    """Return the cores that we may use, none where a system does not tell."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


def database_of(data_dir: Path) -> int | None:
    """Return the process of an embedded server."""
    try:
        return int((data_dir / "postgres" / "postmaster.pid").read_text().split()[0])
    except (OSError, ValueError, IndexError):
        return None


def of_pools(metrics: dict[str, float], name: str) -> float | None:
    """Return a count of all pools together, if the daemon tells it."""
    told = [metrics[pool + name] for pool in POOLS if pool + name in metrics]
    return sum(told) if told else None


def read_metrics(url: str, token: str) -> dict[str, float]:
    """Return what a daemon tells at /metrics, summed by name; nothing if it tells nothing.

    What has a stage is also summed by its name and the stage.
    """
    try:
        page = httpx2.get(
            f"{url}/metrics",
            headers={"Coder-Session-Token": token},
            timeout=METRICS_SECONDS,
            trust_env=False,
        )
        found: dict[str, float] = {}
        for each in text_string_to_metric_families(page.text if page.is_success else ""):
            for sample in each.samples:
                names = [sample.name]
                if stage := sample.labels.get("stage"):
                    names.append(f"{sample.name} {stage}")
                for name in names:
                    found[name] = found.get(name, 0.0) + sample.value
    except (httpx2.HTTPError, ValueError):
        return {}
    return found
