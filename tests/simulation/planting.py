"""Counts how many seeds see each planted fault: `python -m tests.simulation.planting [WORDS]`.

Every fault is planted in a copy of the packages, and a process of its own plays seeds on the copy.
WORDS choose the faults whose description holds them. Prints the table of README.md.
"""

import shutil
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from tests.simulation.planted import FAULTS

ROOT = Path(__file__).parents[2]
SEEDS_COUNT = 50
SEED_SECONDS_MAX = 4  # of CPU time; then the fault has made it go round in circles: red
# From then on it is told so again and again: what runs may take the first time for a crash of its
# own, and carry on.
SECONDS_BETWEEN_ENDINGS = 0.1
LONG_LIVES = {"deploys": 60, "outage": 60}  # likewise, of which one seed is played
AT_ONCE = 2
HEAD = f"| planted | in | red of {SEEDS_COUNT} |\n|---|---|---|\n"
PLAY = """
import sys
sys.path[:0] = [sys.argv[1], sys.argv[2]]
from tests.simulation.planting import reds
print(reds(int(sys.argv[3]), sys.argv[5], first=sys.argv[4] == "first"))
"""


def plant(fault, top):
    """A copy of the packages under `top`, with the fault in it; without any if it is None."""
    ignored = shutil.ignore_patterns("__pycache__")
    for package in ("runtime", "actors", "adapters"):
        shutil.copytree(ROOT / package, top / package, ignore=ignored)
    if fault is not None:
        path = top / fault.path
        text = path.read_text()
        assert text.count(fault.old) == 1, f"{fault.path} was rewritten: plant anew: {fault.what}"
        path.write_text(text.replace(fault.old, fault.new))


def seen(fault, *, seeds=SEEDS_COUNT, first=False):
    """How many seeds go red; with `first`, no more are played once one has."""
    seeds = 1 if fault.life in LONG_LIVES else seeds
    with tempfile.TemporaryDirectory(prefix="promptcorner-planted-") as top:
        plant(fault, Path(top))
        how = "first" if first else "all"
        ran = subprocess.run(
            [sys.executable, "-c", PLAY, top, str(ROOT), str(seeds), how, fault.life],
            capture_output=True,
            text=True,
            cwd=top,
            check=False,
        )
    assert ran.returncode == 0, ran.stderr
    return int(ran.stdout)


def reds(seeds, life, *, first):
    from tests.simulation.story import run  # of the copy that is played on

    signal.signal(signal.SIGPROF, _too_long)
    seconds, count = LONG_LIVES.get(life, SEED_SECONDS_MAX), 0
    for seed in range(seeds):
        signal.setitimer(signal.ITIMER_PROF, seconds, SECONDS_BETWEEN_ENDINGS)
        try:
            run(seed, life)
        except Exception:  # noqa: BLE001  # whatever went wrong: this seed sees it
            count += 1
            if first:
                break
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
    return count


def _too_long(*_):
    raise TimeoutError("a seed takes longer than it may")


def main(words):
    faults = [fault for fault in FAULTS if all(word in fault.what for word in words)]
    print(HEAD, end="")
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for fault, count in zip(faults, pool.map(partial(seen), faults), strict=True):
            print(f"| {fault.what} | {fault.where} | {count} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
