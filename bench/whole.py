"""Ask what people feel of the whole daemon, and what it costs: `promptcorner bench`, both paces.

`python -m bench.whole` runs the loads of docs/performance.md and keeps what it finds in
`bench/results`, a folder for each load: JSON, a page, a picture. Then it judges what is kept by the
targets, and its exit code is 1 if one is missed. A number behind it says how often each row is run.
`--compare` also tells the ratios to what was kept before, and keeps nothing; `--base COMMIT` runs
that commit's daemon in turn, in the same run.

On paper, a turn of 100 deltas without any pause is a handful of reads of the provider's stream, a
POST with one commit at its beginning and one at its end, and some frames: 2 ms. A new chat has two
trips at its beginning, and its watcher's handshake: half as much again. A crowd is 500 chats that
are made at the same moment, whose answers take two seconds.
"""

import argparse
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from adapters.cli.bench.telling import documents
from adapters.cli.bench.telling.figures import measures, ratio
from bench.fixtures import COMMAND
from bench.report import RESULTS, Result, Target

ROOT = Path(__file__).parents[1]
WORKTREE = ROOT / "build" / "bench-base"
LOADS = {
    "saturated": ("--saturated", "--chats=500"),
    "crowd": ("--chats=500", "--spread=0", "--turns=1", "--interrupts=0"),
    "paced": ("--chats=10,100,350,500",),
}
CPU = "daemon_cpu_ms_per_turn"
TARGETS = {  # figures by the number of chats, as `measures` names them
    "saturated": (
        Target("500.follow_up.cpu_by_floor", "CPU of a turn, by a bare client's", at_most=2.0),
        Target("500.new_chat_ratio", "CPU of a new chat's turn, by a later one's", at_most=1.5),
    ),
    "crowd": (
        Target("500.initial.stream_open.p95_ms", "500 at once: a stream is open", at_most=500),
        Target("500.initial.live_share", "share that saw words before the end", at_least=0.95),
    ),
    "paced": (
        Target("100.follow_up.cpu_by_floor", "100 chats: CPU of a turn, by the floor", at_most=1.5),
        Target("350.follow_up.first_words.p50_ms", "350 chats: first words, p50", at_most=8),
        Target("350.follow_up.first_words.p99_ms", "the same, p99", at_most=40),
        Target("500.follow_up.first_words.p50_ms", "500 chats: first words, p50", at_most=40),
        Target("500.follow_up.first_words.p99_ms", "the same, p99", at_most=200),
        Target("500.follow_up.deltas.p99_ms", "a delta is late, p99", at_most=80),
        Target("500.interrupt.interrupt.p99_ms", "an interrupt is over, p99", at_most=100),
    ),
}
COMPARED = {  # fewer rows, because each is run several times
    "saturated": ("--saturated", "--chats=500"),
    "paced": ("--chats=100",),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repeat", nargs="?", type=int, default=1)
    parser.add_argument("--compare", action="store_true")
    parser.add_argument("--base", default="")
    options = parser.parse_args()
    repeat = f"--repeat={options.repeat}"
    if options.base:
        with a_worktree(options.base) as checkout:
            against = f"--against={checkout}"
            return max(_run(*words, repeat, against) for words in COMPARED.values())
    if options.compare:
        return max(_run(*words, repeat, *_earlier(name)) for name, words in COMPARED.items())
    code = max(_run(*words, repeat, f"--out={RESULTS / name}") for name, words in LOADS.items())
    judged = [judge(name, RESULTS / name / "load.json") for name in LOADS]
    print("\n".join(line for result in judged for line in result.lines()))
    return code or (0 if all(result.met for result in judged) else 1)


def judge(name: str, path: Path) -> Result:
    """Return the figures of a load that has been run, with the targets that it is judged by."""
    document = documents.decode(path.read_bytes())
    figures = {
        f"{row.chats}.{figure}": value
        for row in map(documents.middle, document.groups)
        for figure, value in with_new_chats(measures(row)).items()
    }
    targets = TARGETS[name]
    wanted = {target.figure: figures[target.figure] for target in targets}
    return Result(name, f"the load {' '.join(LOADS[name])}", wanted, targets)


def with_new_chats(figures: Mapping[str, float]) -> Mapping[str, float]:
    """Return figures with the cost of a new chat's turn, as a multiple of a later one's."""
    found = ratio(figures.get(f"initial.{CPU}"), figures.get(f"follow_up.{CPU}"))
    return figures if found is None else {**figures, "new_chat_ratio": found}


def _run(*words: str) -> int:
    return subprocess.run([*COMMAND, "bench", *words], cwd=ROOT, check=False).returncode


def _earlier(name: str) -> list[str]:
    path = RESULTS / name / "load.json"
    if path.is_file():
        return [f"--compare={path}"]
    print(f"{path} is not there: `make bench` writes it, and nothing is compared")
    return []


@contextmanager
def a_worktree(commit: str) -> Iterator[Path]:
    """Have another commit beside this one, and remove it afterwards."""
    shutil.rmtree(WORKTREE, ignore_errors=True)
    subprocess.run(["git", "worktree", "prune"], cwd=ROOT, check=True)
    add = ["git", "worktree", "add", "--quiet", "--detach", str(WORKTREE), commit]
    subprocess.run(add, cwd=ROOT, check=True)
    try:
        yield WORKTREE
    finally:
        remove = ["git", "worktree", "remove", "--force", str(WORKTREE)]
        subprocess.run(remove, cwd=ROOT, check=True)


if __name__ == "__main__":
    sys.exit(main())
