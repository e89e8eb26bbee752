"""The program that runs tests many times over: what it counts, keeps and ends."""

import re
import signal
import subprocess
import sys
import time

import psutil
import pytest

from tests.delays import sitecustomize as delays
from tests.patience import PATIENCE_SECONDS
from tests.stress import ROOT

RED_THE_SECOND_TIME = """
from pathlib import Path

def test_green():
    pass

def test_now_and_then():
    runs = Path(__file__).with_name("runs")
    runs.write_text(runs.read_text() + "x" if runs.exists() else "x")
    assert len(runs.read_text()) != 2, "the second time"
"""

DELAYED = """
import time
import pytest
import trio

async def twenty_exchanges():
    near, far = trio.socket.socketpair()
    with near, far:
        for _ in range(20):
            await near.send(b"x")
            await far.recv(1)
        await trio.to_thread.run_sync(int)

@pytest.mark.trio
async def test_of_real_time():
    began = time.monotonic()
    await twenty_exchanges()
    print("took", time.monotonic() - began)

@pytest.mark.trio
async def test_of_virtual_time(mock_clock):
    await twenty_exchanges()
    assert 0 == trio.current_time()
"""

ENDLESS = """
import subprocess
import time
from pathlib import Path

def test_endless():
    subprocess.Popen(["sleep", "1000"])
    Path(__file__).with_name("began").touch()
    time.sleep(1000)
"""


def started(what, folder, *options):
    words = [sys.executable, "-m", "tests.stress", str(what), "--folder", str(folder)]
    return subprocess.Popen(
        [*words, "--workers", "0", *options],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )


def until(condition):
    end = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.slow
def test_it_counts_how_often_each_test_was_red_and_keeps_what_a_red_run_printed(tmp_path):
    tests = tmp_path / "test_flaky.py"
    tests.write_text(RED_THE_SECOND_TIME)
    kept = tmp_path / "kept"

    program = started(tests, kept, "--times", "3", "--delays", "8", "--seed", "5")
    printed, _ = program.communicate(timeout=3 * PATIENCE_SECONDS)  # for each run of pytest

    assert 1 == program.returncode
    assert "3 runs, 1 of them red" in printed
    counted = [line for line in printed.splitlines() if "red 1 of 3 times (run 2): " in line]
    assert 1 == len(counted)
    assert counted[0].endswith("test_flaky.py::test_now_and_then")
    assert ["run-002.txt"] == [path.name for path in kept.iterdir()]
    assert "the second time" in (kept / "run-002.txt").read_text()
    assert ["5", "6", "7"] == re.findall(r"^run .* seed (\d+)", printed, re.MULTILINE)


@pytest.mark.slow
@pytest.mark.parametrize("percent", [0, 100])
def test_it_delays_waits_if_it_is_asked_to_and_never_those_of_virtual_time(tmp_path, percent):
    """In a process that a test could start as well: by its environment alone."""
    tests = tmp_path / "test_waits.py"
    tests.write_text(DELAYED)

    words = [sys.executable, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", tests]
    environment = delays.environment(percent, seed=1)
    done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True)

    assert 0 == done.returncode, done.stdout
    [took] = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("took")]
    if percent:
        assert float(took) > 1, "41 waits, and 75 ms for each on average"


@pytest.mark.slow
def test_tests_that_cannot_be_run_are_red(tmp_path):
    program = started(tmp_path / "test_nowhere.py", tmp_path / "kept", "--times", "1")
    printed, _ = program.communicate(timeout=PATIENCE_SECONDS)

    assert 1 == program.returncode
    assert "1 runs, 1 of them red" in printed


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_its_busy_loops_end_with_it(tmp_path, how):
    tests = tmp_path / "test_endless.py"
    tests.write_text(ENDLESS)

    program = started(tests, tmp_path / "kept", "--loops", "2")
    began = []
    try:
        until((tmp_path / "began").exists)
        began = psutil.Process(program.pid).children(recursive=True)
        loops = [process for process in began if "-c" in process.cmdline()]
        assert (4, 2) == (len(began), len(loops)), "two loops, pytest, and what its test has begun"
        program.send_signal(how)
        program.communicate(timeout=PATIENCE_SECONDS)

        # What has been killed is gone when the kernel comes to it.
        until(lambda: not any(map(runs, loops if how == signal.SIGKILL else began)))
    finally:
        for process in filter(runs, began):
            process.kill()
        program.kill()
        program.wait()


def runs(process):
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
