"""What does a turn cost in two processes, where half of the watchers are relayed, and what does a
further process weigh?

On paper: a process more adds its beat and its polls, which are no cost of a turn. A chat is held by
the process that took its message; a client's connections fall to either process, so about half of
the watchers are at the other one, and what they see crosses one socket between the two: a frame is
written and read once more. A further process is forked by none: it imports all that the first one
does, which is most of its weight.

CPU time is counted of all processes of the daemon together, because clients, database and model
share the cores with them; and of clients that post and watch wherever their connection falls.
"""

from adapters.cli.bench import gauges
from adapters.cli.bench.running import processes_of
from bench.loads import a_load, a_loaded_daemon, turn_cpu_ms
from bench.report import Target

QUESTION = "what does a turn cost in two processes, and what does a further one weigh?"
ROUNDS = 4
LOAD = a_load("saturated", 100)
TARGETS = (
    Target("turn_ratio", "CPU of a turn in two processes, to that in one", at_most=1.1),
    Target("further_mb", "memory of a further process (PSS)", at_most=70),
)


def _measured(processes: int) -> dict[str, float]:
    with a_loaded_daemon(LOAD, PROMPTCORNER_PROCESSES=str(processes)) as loaded:
        rows = [loaded.row(LOAD) for _ in range(ROUNDS)]
        weights = [gauges.memory_megabytes([pid])["pss"] for pid in processes_of(loaded.daemon)]
    known = [weight for weight in weights if weight is not None]
    costs = [turn_cpu_ms(row.phases["follow_up"]) for row in rows]
    return {"turn_cpu_ms": min(costs), "processes_mb": sum(known), "lightest_mb": min(known)}


def measure() -> dict[str, float]:
    found = {str(count): _measured(count) for count in (1, 2, 3)}
    figures = {f"{name}_of_{n}": v for n, each in found.items() for name, v in each.items()}
    return figures | {
        "turn_ratio": found["2"]["turn_cpu_ms"] / found["1"]["turn_cpu_ms"],
        "further_mb": found["3"]["processes_mb"] - found["2"]["processes_mb"],
    }
