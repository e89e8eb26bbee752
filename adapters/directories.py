"""Where data lies when nobody says where."""

import os
from pathlib import Path

import platformdirs

NAME = "promptcorner"
ROOTS = Path("/var/lib") / NAME  # not in /root: the server's user could not enter


def default_data_dir() -> Path:
    """The user's own data directory; for root, who is a system, the system's."""
    if os.geteuid() == 0:
        return ROOTS
    return Path(platformdirs.user_data_dir(NAME, appauthor=False))
