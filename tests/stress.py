"""Run tests many times over and count how often each one was red: `python -m tests.stress`.

    python -m tests.stress tests/e2e --times 20
    python -m tests.stress tests --times 4 --loops 2
    python -m tests.stress tests/e2e --times 4 --delays 8 --seed 3
    python -m tests.stress tests --times 4 --freezes

`--loops` adds that many busy loops, which take the processor away from the tests. The loops end
with this program, however it ends, and after `LOOP_SECONDS_MAX` at the latest. The output of a red
run is kept in the folder that is named at the end; that of a green one is removed.

`--delays` delays so many of 100 waits of trio, in the tests and in the daemons that they start
(`tests/delays`). `--freezes` freezes one process after the other, the tests' own and those that
they start, for up to 0.8 s (`tests/freezes.py`). Each run draws others, the first those of
`--seed`.
"""

import argparse
import contextlib
import os
import signal
import subprocess
import sys
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

import psutil

from tests.delays import sitecustomize as delays
from tests.freezes import Freezes, fault

ROOT = Path(__file__).parents[1]
RUN_SECONDS_MAX = 7200  # one run of everything that was named; then it is ended and counts as red
END_SECONDS_MAX = 60  # for pytest to end its tests and their processes when it is interrupted
LOOP_SECONDS_MAX = 24 * 3600
SLOWEST_SHOWN = 5

# A loop ends when its parent is not the one that started it: the program may have been killed.
BUSY_LOOP = f"""
import os, time
parent, end = os.getppid(), time.monotonic() + {LOOP_SECONDS_MAX}
while os.getppid() == parent and time.monotonic() < end:
    for _ in range(1_000_000):
        pass
"""


@dataclass(frozen=True)
class Run:
    """One run of everything that was named. `red`: the ids of its tests that were not green."""

    exit_code: int
    seconds: float
    red: tuple[str, ...]
    seconds_of: dict[str, float]

    @property
    def is_green(self):
        return self.exit_code == 0


@dataclass
class Tally:
    """What several runs have shown."""

    runs: int = 0
    red_runs: int = 0
    red_in: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    longest: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    def add(self, run):
        self.runs += 1
        self.red_runs += not run.is_green
        for test in run.red:
            self.red_in[test].append(self.runs)
        for test, seconds in run.seconds_of.items():
            self.longest[test] = max(self.longest[test], seconds)

    def lines(self):
        yield f"{self.runs} runs, {self.red_runs} of them red"
        for test, numbers in sorted(self.red_in.items(), key=lambda item: -len(item[1])):
            times = f"red {len(numbers)} of {self.runs} times"
            yield f"  {times} (run {', '.join(map(str, numbers))}): {test}"
        slowest = sorted(self.longest.items(), key=lambda item: -item[1])[:SLOWEST_SHOWN]
        for test, seconds in slowest:
            yield f"  took up to {seconds:.1f} s: {test}"


@contextlib.contextmanager
def busy_loops(count):
    """Keep `count` processors busy until the block is left."""
    with contextlib.ExitStack() as stack:
        for _ in range(count):
            loop = subprocess.Popen([sys.executable, "-c", BUSY_LOOP], stdin=subprocess.DEVNULL)
            stack.callback(loop.wait)
            stack.callback(loop.kill)
        yield


def run_once(what, *, workers, keep, percent, freezes, seed):
    """Run the named tests once; `keep` is the path, without a suffix, of what the run writes.
    `percent` of the waits are delayed; with `freezes`, processes are frozen."""
    report, output = keep.with_suffix(".xml"), keep.with_suffix(".txt")
    words = [
        *(sys.executable, "-m", "pytest", "-q", "-n", str(workers)),
        *("--dist", "loadfile", "--no-loadscope-reorder"),
        *(f"--junit-xml={report}", "-o", "junit_family=xunit1", "-o", "junit_logging=no"),
        *what,
    ]
    began = time.monotonic()
    with output.open("wb") as file, contextlib.ExitStack() as stack:
        # In a session of its own: ctrl-C reaches this program only, which then ends it in order.
        pytest = subprocess.Popen(
            words,
            cwd=ROOT,
            env=delays.environment(percent, seed),
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            if freezes:
                stack.enter_context(Freezes(seed)).take(pytest.pid)
            exit_code = pytest.wait(RUN_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            exit_code = -1
        finally:
            _end(pytest)
    red, seconds_of = _read(report)
    run = Run(exit_code, time.monotonic() - began, red, seconds_of)
    report.unlink(missing_ok=True)
    if run.is_green:
        output.unlink()
    return run


def _end(pytest):
    """End a run that still runs, politely, then by force; and what its tests have left behind."""
    if pytest.poll() is None:
        pytest.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            pytest.wait(END_SECONDS_MAX)
    for process in psutil.process_iter():
        with contextlib.suppress(ProcessLookupError, psutil.NoSuchProcess):
            if os.getsid(process.pid) == pytest.pid:
                process.kill()
    pytest.wait()


def _read(report):
    """Return the red tests of a report, and how long each test took; none if there is no report."""
    red, seconds_of = [], defaultdict(float)
    if not report.exists():
        return (), {}
    for case in ElementTree.parse(report).iter("testcase"):
        # An error while collecting has no file: its name is that of the module.
        test = "::".join(filter(None, (case.get("file"), case.get("name"))))
        seconds_of[test] += float(case.get("time", 0))
        if case.find("failure") is not None or case.find("error") is not None:
            red.append(test)
    return tuple(dict.fromkeys(red)), dict(seconds_of)


def stress(what, *, times, loops, folder, workers, percent, freezes, seed):
    """Run the named tests `times` times and print what each run showed; return the tally."""
    folder.mkdir(parents=True)
    tally = Tally()
    try:
        with busy_loops(loops):
            for number in range(1, times + 1):
                keep = folder / f"run-{number:03}"
                drawn = seed + number - 1
                run = run_once(
                    what, workers=workers, keep=keep, percent=percent, freezes=freezes, seed=drawn
                )
                tally.add(run)
                shown = "green" if run.is_green else f"RED, exit code {run.exit_code}"
                shown += f", seed {drawn}" if percent or freezes else ""
                print(f"run {number} of {times}: {shown}, {run.seconds:.0f} s", flush=True)
                for test in run.red:
                    print(f"  {test}", flush=True)
    finally:
        print("\n".join(tally.lines()), flush=True)
        if any(folder.iterdir()):
            print(f"the output of red runs is in {folder}", flush=True)
        else:
            folder.rmdir()
    return tally


def main():
    parser = argparse.ArgumentParser(
        prog="python -m tests.stress",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("what", nargs="+", help="files, folders and ids of tests; also pytest's -k")
    parser.add_argument("--times", type=int, default=20, help="how often to run them (20)")
    parser.add_argument("--loops", type=int, default=0, help="how many busy loops run beside (0)")
    parser.add_argument("--workers", type=int, default=3, help="how many tests at once (3)")
    of_waits = "how many of 100 waits are delayed (0)"
    parser.add_argument("--delays", type=float, default=0, help=of_waits, metavar="PERCENT")
    parser.add_argument("--freezes", action="store_true", help="freeze processes (needs root)")
    of_seed = "which waits are delayed, and which processes frozen (1)"
    parser.add_argument("--seed", type=int, default=1, help=of_seed)
    folder = ROOT / "build" / time.strftime(f"stress-%Y%m%d-%H%M%S-{os.getpid()}")
    parser.add_argument("--folder", type=Path, default=folder, help="where red runs are kept")
    arguments, options = parser.parse_known_args()
    if arguments.freezes and (why := fault()):
        parser.error(why)
    for number in (signal.SIGINT, signal.SIGTERM):  # a background shell had us ignore the first
        signal.signal(number, signal.default_int_handler)
    try:
        tally = stress(
            [*arguments.what, *options],
            times=arguments.times,
            loops=arguments.loops,
            folder=arguments.folder,
            seed=arguments.seed,
            workers=arguments.workers,
            percent=arguments.delays,
            freezes=arguments.freezes,
        )
    except KeyboardInterrupt:
        sys.exit("interrupted")
    sys.exit(1 if tally.red_runs else 0)


if __name__ == "__main__":
    main()
