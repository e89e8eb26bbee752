"""Folders of tests outside pytest's own: short, open to other users, and not left for ever.

A run that is killed leaves its folders behind, a whole database server in one of them: nothing of
it is alive to remove them. So each folder is locked as long as its test runs, and each run first
removes those of dead ones (`remove_leftovers`). However a process ends, the kernel lets go of its
locks.
"""

import contextlib
import fcntl
import functools
import os
import shutil
import tempfile
from pathlib import Path

PREFIX = "promptcorner-test-"
MODE = 0o711  # as root a server or a daemon runs as somebody else, who has to get in
MEMORY = "/dev/shm"
MEMORY_BYTES_MIN = 6_000_000_000  # for the servers of several workers; a container may have 64 MB


@functools.cache
def in_memory():
    """Return where folders lie in memory, or None: where there is no such place, or little room.

    A database is some three hundred files, and tests make hundreds of databases: on a disk the
    kernel takes several times as long for their files as the server takes for what is in them.
    Whoever names a place in TMPDIR has all folders there.
    """
    if "TMPDIR" in os.environ or not os.access(MEMORY, os.W_OK):
        return None
    room = os.statvfs(MEMORY)
    may_run = not room.f_flag & getattr(os, "ST_NOEXEC", 0)
    return MEMORY if may_run and room.f_bavail * room.f_frsize >= MEMORY_BYTES_MIN else None


@contextlib.contextmanager
def a_folder(where=None):
    """A new folder, which is removed at the end with all that is in it."""
    with tempfile.TemporaryDirectory(prefix=PREFIX, dir=where) as top:
        held = os.open(top, os.O_RDONLY)
        try:
            fcntl.flock(held, fcntl.LOCK_EX)
            os.chmod(top, MODE)  # which says as well that it is locked
            yield Path(top)
        finally:
            os.close(held)


def remove_leftovers(where=None):
    """Remove the folders of dead runs, in which no process works any more."""
    places = [where] if where else filter(None, (tempfile.gettempdir(), in_memory()))
    for top in (top for place in places for top in Path(place).glob(f"{PREFIX}*")):
        with contextlib.suppress(OSError):  # another run removes it at this moment, or holds it
            held = os.open(top, os.O_RDONLY)
            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.fstat(held).st_mode & 0o777 == MODE and not _is_worked_in(top):
                    shutil.rmtree(top, ignore_errors=True)
            finally:
                os.close(held)


def _is_worked_in(top):
    """Whether a process still names the folder: a server takes a moment to end."""
    from tests.e2e.processes import belonging_to

    return bool(belonging_to(top))
