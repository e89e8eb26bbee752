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

from pathlib import Path

import psutil
import trio

from bench import saturated
from bench.first_token import a_daemon, a_model, chats
from bench.report import Target

QUESTION = "what does a turn cost in two processes, and what does a further one weigh?"
CHATS, TURNS, ROUNDS = 100, 5, 4
PATIENCE_SECONDS = 120.0
TARGETS = (
    Target("turn_ratio", "CPU of a turn in two processes, to that in one", at_most=1.1),
    Target("further_mb", "memory of a further process (PSS)", at_most=70),
)


def processes_of(daemon: psutil.Process) -> list[psutil.Process]:
    """Return the processes that run Python, without those of its database."""
    family = [daemon, *daemon.children(recursive=True)]
    return [each for each in family if "python" in each.name()]


def pss_mb(process: psutil.Process) -> float:
    rollup = Path(f"/proc/{process.pid}/smaps_rollup").read_text()
    [line] = [line for line in rollup.splitlines() if line.startswith("Pss:")]
    return int(line.split()[1]) / 1024


async def _measured(port: int, daemon: psutil.Process) -> dict[str, float]:
    costs = []
    with trio.fail_after(PATIENCE_SECONDS):
        async with chats(port, CHATS) as made:
            ours = processes_of(daemon)
            weights = sorted(map(pss_mb, ours))
            for _ in range(ROUNDS):
                before = saturated.cpu_seconds(ours)
                async with trio.open_nursery() as nursery:
                    for chat in made:
                        nursery.start_soon(_live, chat)
                costs.append((saturated.cpu_seconds(ours) - before) / (CHATS * TURNS) * 1e3)
            weights = sorted(map(pss_mb, ours))
    return {"turn_cpu_ms": min(costs), "processes_mb": sum(weights), "lightest_mb": weights[0]}


async def _live(chat: saturated.Chat) -> None:
    for _ in range(TURNS):
        await chat.turn("fast")


def measure() -> dict[str, float]:
    found: dict[str, dict[str, float]] = {}
    for count in (1, 2, 3):
        with a_model() as model, a_daemon(model, PROMPTCORNER_PROCESSES=str(count)) as started:
            found[str(count)] = trio.run(_measured, *started)
    figures = {f"{name}_of_{n}": v for n, each in found.items() for name, v in each.items()}
    return figures | {
        "turn_ratio": found["2"]["turn_cpu_ms"] / found["1"]["turn_cpu_ms"],
        "further_mb": found["3"]["processes_mb"] - found["2"]["processes_mb"],
    }
