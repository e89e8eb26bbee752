"""The memory of this machine, and how much of it a process may use for what it keeps."""

import os
from pathlib import Path

KEPT_SHARE = 16  # a sixteenth of the memory is for what all processes of a daemon keep
KEPT_BYTES_MIN, KEPT_BYTES_MAX = 64 << 20, 1024 << 20  # of one process, if nothing else is said

_GROUPS = Path("/sys/fs/cgroup")  # of a container, or the root of those of a machine
_OUR_GROUP = Path("/proc/self/cgroup")  # has a line "0::/system.slice/promptcorner.service"


def memory_bytes(groups: Path = _GROUPS, our_group: Path = _OUR_GROUP) -> int:
    """Return the memory that this process may use: that of the machine, or the least that its
    control group and those around it allow."""
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    ours = groups / _name_of(our_group)
    limits = [_limit_of(group) for group in (ours, *ours.parents)]
    return min([machine, *(limit for limit in limits if limit is not None)])


def _name_of(our_group: Path) -> str:
    """Return the group that this process is in, below that of its container."""
    try:
        lines = our_group.read_text().splitlines()
    except (OSError, ValueError):  # no control groups, or a name that is no text
        return ""
    names = [line.removeprefix("0::/") for line in lines if line.startswith("0::/")]
    return names[0] if names else ""


def _limit_of(group: Path) -> int | None:
    """Return what a group may use, or None if that is not limited."""
    try:
        return int((group / "memory.max").read_text())
    except (OSError, ValueError):  # there is no such file at the root, and it may say "max"
        return None


def kept_bytes(megabytes: int | None, memory: int, *, processes: int) -> int:
    """Return how much one process of so many may keep, on a machine with this memory."""
    if megabytes is not None:
        return megabytes << 20
    return min(max(memory // KEPT_SHARE // processes, KEPT_BYTES_MIN), KEPT_BYTES_MAX)
