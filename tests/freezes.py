"""Processes that stand still for a moment, as on a machine that gives its processors to others.

One process of a run after the other is frozen, at random: a test, a daemon, a server process of
PostgreSQL. All others go on meanwhile, so what mostly comes first sometimes comes last, and what
mostly takes a millisecond sometimes takes half a second. Busy loops make everything slow alike.

Linux freezes a control group (version 2); making one needs root.
"""

import contextlib
import os
import random
import threading
from pathlib import Path

BETWEEN_SECONDS = (0.02, 0.3)
SECONDS = (0.02, 0.05, 0.1, 0.2, 0.4, 0.8)
AT_ONCE = (1, 1, 1, 2, 3)  # as often as they stand here


def fault():
    """Return why nothing can be frozen here, or None."""
    if _our_group() is None:
        return "no freezer: this system has no control groups of version 2"
    if not os.access(_our_group(), os.W_OK):
        return "no freezer: only root may make control groups; run it as root"
    return None


class Freezes:
    """A block in which the processes that were taken, and all that they start, are frozen at
    times. `seed` chooses when, for how long and which. If this program is killed while a
    process is frozen, write 0 to `cgroup.freeze` of its group."""

    def __init__(self, seed, seconds=SECONDS):
        self._random, self._seconds = random.Random(seed), seconds
        self._group = _our_group() / f"promptcorner-tests-{os.getpid()}"
        self.ice = self._group / "ice"
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._freeze)

    def __enter__(self):
        self.ice.mkdir(parents=True)
        self._thread.start()
        return self

    def take(self, pid):
        """Freeze this process as well from now on, and what it starts from now on."""
        (self._group / "cgroup.procs").write_text(str(pid))

    def __exit__(self, *_):
        self._over.set()
        self._thread.join()
        for group in (self.ice, self._group):
            while left := _members(group):  # what outlives its run
                _move(left, _our_group())
            group.rmdir()

    def _freeze(self):
        while not self._over.wait(self._random.uniform(*BETWEEN_SECONDS)):
            members = _members(self._group)
            if not members:  # before the first one is taken, and after the last one has ended
                continue
            count = min(len(members), self._random.choice(AT_ONCE))
            _move(self._random.sample(members, count), self.ice)
            (self.ice / "cgroup.freeze").write_text("1")
            self._over.wait(self._random.choice(self._seconds))
            (self.ice / "cgroup.freeze").write_text("0")
            _move(_members(self.ice), self._group)


def _our_group():
    """Return the folder of the control group that this process is in; None if there is none."""
    mounts = [line.split() for line in Path("/proc/mounts").read_text().splitlines()]
    tops = [mount[1] for mount in mounts if mount[2] == "cgroup2"]
    groups = Path("/proc/self/cgroup").read_text().splitlines()
    ours = [line.removeprefix("0::/") for line in groups if line.startswith("0::/")]
    return Path(tops[0], ours[0]) if tops and ours else None


def _members(group):
    return (group / "cgroup.procs").read_text().split()


def _move(pids, group):
    for pid in pids:
        with contextlib.suppress(OSError):  # it has ended
            (group / "cgroup.procs").write_text(pid)
