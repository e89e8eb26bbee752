"""Directories for data, which are made where they are missing."""

import os
from pathlib import Path

_PASS_THROUGH = 0o011  # others reach what they may read, and see no names


def make_directory(path: Path) -> None:
    """Make a directory of which only its owner reads the names, and those around it.

    As root, others may pass through what is made here, whatever the umask: the database server has
    a user of its own. OSError: it cannot be made.
    """
    is_root = os.geteuid() == 0
    for each in (*reversed(path.parents), path):
        if each.is_dir():
            continue
        each.mkdir(mode=0o700 if each == path else 0o777, exist_ok=True)
        if is_root:
            each.chmod(each.stat().st_mode | _PASS_THROUGH)
