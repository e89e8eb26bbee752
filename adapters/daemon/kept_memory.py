"""The memory of this machine, and how much of it a process may use for what it keeps."""

import os
from pathlib import Path

KEPT_SHARE = 16  # a sixteenth of the memory is for what all processes of a daemon keep
KEPT_BYTES_MIN, KEPT_BYTES_MAX = 64 << 20, 1024 << 20  # of one process, if nothing else is said

_LIMIT_OF_GROUP = Path("/sys/fs/cgroup/memory.max")  # of a container; "max" if there is none


def memory_bytes(limit_of_group: Path = _LIMIT_OF_GROUP) -> int:
    """Return the memory of this machine, or of the container that this process is in."""
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    try:
        return min(machine, int(limit_of_group.read_text()))
    except (OSError, ValueError):
        return machine


def kept_bytes(megabytes: int | None, memory: int, *, processes: int) -> int:
    """Return how much one process of so many may keep, on a machine with this memory."""
    if megabytes is not None:
        return megabytes << 20
    return min(max(memory // KEPT_SHARE // processes, KEPT_BYTES_MIN), KEPT_BYTES_MAX)
