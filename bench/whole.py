"""Ask what people feel of the whole daemon, and what it costs: `promptcorner bench`, both paces.

`python -m bench.whole` runs the loads of docs/performance.md and keeps what it finds in
`bench/results/saturated` and `bench/results/paced`: JSON, a page, a picture. A number behind it
says how often each row is run. `--compare` also tells the ratios to what was kept before, and keeps
nothing; `--base COMMIT` runs that commit's daemon in turn, in the same run.
"""

import argparse
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.fixtures import COMMAND
from bench.report import RESULTS

ROOT = Path(__file__).parents[1]
WORKTREE = ROOT / "build" / "bench-base"
LOADS = {
    "saturated": ("--saturated", "--chats=500"),
    "paced": ("--chats=10,100,350,500",),
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
    return max(_run(*words, repeat, f"--out={RESULTS / name}") for name, words in LOADS.items())


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
