"""A process that was taken stands still at times, and is let go at the end."""

import subprocess
import sys
import time

import pytest

from tests.e2e.processes import eventually
from tests.freezes import Freezes, fault

HOURS = (3600.0,)


@pytest.fixture
def clock():
    """A process that prints what time it is, again and again."""
    words = "import time\nwhile True: print(time.monotonic(), flush=True); time.sleep(0.01)"
    with subprocess.Popen([sys.executable, "-c", words], stdout=subprocess.PIPE) as process:
        yield process
        process.kill()


def test_a_process_stands_still_until_the_block_is_left(clock):
    if why := fault():
        pytest.skip(why)

    with Freezes(seed=1, seconds=HOURS) as freezes:
        freezes.take(clock.pid)
        in_ice, events = freezes.ice / "cgroup.procs", freezes.ice / "cgroup.events"
        eventually(lambda: [str(clock.pid)] == in_ice.read_text().split(), "it is chosen")
        eventually(lambda: "frozen 1" in events.read_text(), "it stands still")

    assert not freezes.ice.parent.exists()
    left_at = time.monotonic()
    eventually(lambda: float(clock.stdout.readline()) > left_at, "it goes on")
