"""What does a turn cost in several processes, where watchers are relayed, and what does a further
process weigh, before it has done anything and after turns?

On paper: a process more adds its beat and its polls, which are no cost of a turn. A chat is held by
the process that took its message; a client's connections fall to any process, so of two about half
of the watchers are at the other one, and what they see crosses one socket between the two: a frame
is written and read once more. A further process is a copy of the parent, which has imported
everything (70 MB): it weighs what it makes itself (12 MB), and what it writes to of the rest, which
is each object that it uses, because Python counts who refers to it.

CPU time is counted of all processes of the daemon together, because clients, database and model
share the cores with them; and of clients that post and watch wherever their connection falls.
"""

import time

from adapters.cli.bench import gauges
from adapters.cli.bench.running import processes_of
from adapters.cli.bench.starting import StartedDaemon
from bench.loads import a_load, a_loaded_daemon, turn_cpu_ms
from bench.report import Target

QUESTION = "what does a turn cost in several processes, and what does a further one weigh?"
COUNTS = (1, 2, 4)
ROUNDS = 4
LOAD = a_load("saturated", 100)
TARGETS = (
    Target("turn_ratio", "CPU of a turn in two processes, to that in one", at_most=1.1),
    Target(
        "further_idle_mb", "memory of a further process (PSS) that has done nothing", at_most=45
    ),
    Target("further_mb", "the same after turns", at_most=70),
)


def _pss_mb(daemon: StartedDaemon) -> float:
    found = gauges.memory_megabytes(processes_of(daemon))["pss"]
    assert found is not None, "this system does not tell the memory of processes"
    return found


def _measured(processes: int) -> dict[str, float]:
    began = time.monotonic()
    with a_loaded_daemon(LOAD, PROMPTCORNER_PROCESSES=str(processes)) as loaded:
        ready_seconds = time.monotonic() - began
        idle_mb = _pss_mb(loaded.daemon)
        rows = [loaded.row(LOAD) for _ in range(ROUNDS)]
        return {
            "turn_cpu_ms": min(turn_cpu_ms(row.phases["follow_up"]) for row in rows),
            "ready_seconds": ready_seconds,
            "idle_mb": idle_mb,
            "processes_mb": _pss_mb(loaded.daemon),
        }


def measure() -> dict[str, float]:
    found = {count: _measured(count) for count in COUNTS}
    figures = {f"{name}_of_{n}": v for n, each in found.items() for name, v in each.items()}
    return figures | {
        "turn_ratio": found[2]["turn_cpu_ms"] / found[1]["turn_cpu_ms"],
        "further_idle_mb": (found[4]["idle_mb"] - found[2]["idle_mb"]) / 2,
        "further_mb": (found[4]["processes_mb"] - found[2]["processes_mb"]) / 2,
    }
