"""How soon does a model have the request, after a user's POST, and what of that is the disk?

On paper, for a chat that the process knows: the door, one trip to the database with the wait of the
server for its disk, two tasks of the event loop, and the writing of the request. At 100 us for the
trip and 500 functions of ours, half of them out of the processor's caches, that is 1 ms, and the
disk's time.

The loads are those of `promptcorner bench`, which tells the same for any daemon: chats begin one
after the other in 2.5 s, an answer takes 2 s, and half a second later comes the next turn. The
daemon runs on one core; the provider and the driver on the other one; PostgreSQL where it likes.
The floor is the same request, sent to the provider directly. The wait of the database for its disk
is told by what is gone when it does not wait: the database of a second daemon has
`synchronous_commit` off. Its rows are the way without the disk.
"""

from collections.abc import Callable

import trio

from bench.fixtures import a_database
from bench.loads import a_load, a_loaded_daemon, turn_cpu_ms
from bench.report import Target

QUESTION = "how soon does a model have the request, after a user's POST?"
TARGETS = (
    Target("few_no_disk_p50_ms", "10 chats, without the disk: POST to model, p50", at_most=1.5),
    Target("few_no_disk_p99_ms", "the same, p99", at_most=4),
    Target("many_no_disk_p50_ms", "100 chats, without the disk, p50", at_most=1.5),
    Target("many_no_disk_p99_ms", "the same, p99", at_most=4),
)
LOADS = {
    "few": a_load("paced", 10, turns=13, interrupts=0),
    "many": a_load("paced", 100, turns=5, interrupts=0),
}


def _with(database: str = "") -> dict[str, float]:
    settings = {"DATABASE_URL": database} if database else {}
    figures: dict[str, float] = {}
    with a_loaded_daemon(LOADS["few"], **settings) as loaded:
        for name, load in LOADS.items():
            row = loaded.row(load)
            later = row.phases["follow_up"]
            asked = later.times["request"]
            figures[f"{name}_turn_cpu_ms"] = turn_cpu_ms(later)
            figures |= {f"{name}_p50_ms": asked.p50, f"{name}_p99_ms": asked.p99}
            figures |= {f"{name}_{stage}_mean_ms": ms for stage, ms in later.stages.items()}
            if row.floor is not None:
                figures[f"{name}_floor_p50_ms"] = row.floor.times["request"].p50
    return figures


async def _with_no_disk(measured: Callable[[str], dict[str, float]]) -> dict[str, float]:
    """Measure with a database whose commits do not wait for its disk."""
    async with a_database(synchronous_commit="off") as cluster:
        return await trio.to_thread.run_sync(measured, cluster.conninfo)


def measure() -> dict[str, float]:
    figures = _with()
    for key, value in trio.run(_with_no_disk, _with).items():
        load, _, figure = key.partition("_")
        figures[f"{load}_no_disk_{figure}"] = value
    return figures
