"""Does a daemon that works for hours keep its memory, and the database its size?

`python -m bench.soak --minutes 60`. On paper: a turn updates its chat's row three times. Once it
changes no key of an index, and what it leaves dead is taken away by the next look at the page;
twice it takes the chat, or gives it back, which indexes know, and that is for autovacuum. Messages
are only added. So memory is that of the histories and prompts that are kept, and the bytes of a row
stay what they are.

A first part warms caches and fills pages; it is not counted. Round after round new chats talk, and
are archived at the end, so that what grows is only what is said. Of histories and prompts so little
is kept that it is full by then: what memory grows after that would grow for ever.
"""

import argparse
import json
import sys

import psycopg
import trio

from adapters.cli.bench import gauges
from adapters.cli.bench.starting import StartedDaemon
from bench.fixtures import a_database
from bench.loads import a_load, a_loaded_daemon
from bench.report import RESULTS
from runtime.clock import machine

CHATS, TURNS, DELTAS = 100, 20, 20
MINUTES, MINUTES_MAX = 10.0, 24 * 60.0
WARM_SHARE, WARM_SECONDS = 0.25, 300.0  # of the whole, and at the most
LOOKS = 6  # after the first one, at even distances
ROUND_SECONDS = 600.0  # of 2,000 turns, also where other work has the processor
KEPT_MB = "16"  # which is full within the first part
TABLES = """
    SELECT relname, n_live_tup, n_dead_tup, n_tup_upd, n_tup_hot_upd, autovacuum_count,
           pg_table_size(relid), pg_indexes_size(relid)
      FROM pg_stat_user_tables
     WHERE n_live_tup + n_dead_tup + n_tup_upd > 0
     ORDER BY pg_total_relation_size(relid) DESC
     LIMIT 12
"""
KEPT = ("histories", "prompts", "episodes")  # each with a bound
COLUMNS = ("live", "dead", "updates", "in_place", "vacuums", "table_bytes", "index_bytes")


def looked_at(connection: psycopg.Connection, daemon: StartedDaemon) -> dict[str, object]:
    """Return the memory of the daemon, what it keeps there on purpose, and what tables have."""
    metrics = gauges.read_metrics(daemon.url, daemon.token)
    kept = {name: metrics.get(f"promptcorner_{name}_bytes") for name in KEPT}
    connection.execute("SELECT pg_stat_force_next_flush()")
    tables = {
        name: dict(zip(COLUMNS, counts, strict=True))
        for name, *counts in connection.execute(TABLES).fetchall()
    }
    memory = gauges.memory_megabytes([daemon.pid])
    return {"memory": memory, "kept_bytes": kept, "tables": tables}


async def soak(minutes: float) -> dict[str, object]:
    load = a_load("saturated", CHATS, turns=TURNS, deltas=DELTAS, think=0.05, seconds=ROUND_SECONDS)
    turns, failed, looks = 0, 0, list[dict[str, object]]()
    warm = min(minutes * 60 * WARM_SHARE, WARM_SECONDS)
    looks_at = [warm + (minutes * 60 - warm) * look / LOOKS for look in range(LOOKS + 1)]
    async with a_database() as cluster:
        with (
            psycopg.connect(cluster.conninfo, autocommit=True) as connection,
            a_loaded_daemon(
                load, DATABASE_URL=cluster.conninfo, PROMPTCORNER_KEPT_MB=KEPT_MB
            ) as loaded,
        ):
            began = machine()
            while len(looks) <= LOOKS:
                row = loaded.load(load)
                turns += sum(phase.turns for phase in row.phases.values())
                failed += sum(row.failures.values())
                passed = machine() - began
                print(f"{passed:.0f} s: {turns} turns, {failed} failed", flush=True)
                if passed >= looks_at[len(looks)]:
                    seen = looked_at(connection, loaded.daemon)
                    looks.append({"minute": round(passed / 60, 1), "turns": turns} | seen)
    return {"minutes": minutes, "failed": failed, "looks": looks}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=MINUTES)
    options = parser.parse_args()
    if not 0 < options.minutes <= MINUTES_MAX:
        parser.error(f"--minutes must be up to {MINUTES_MAX:g}")
    told = trio.run(soak, options.minutes)
    text = json.dumps(told, indent=1) + "\n"
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "soak.json").write_text(text)
    print(text)
    return 1 if told["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
