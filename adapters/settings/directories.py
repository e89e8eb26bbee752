"""Where data and configuration lie when nobody says where."""

import os
from pathlib import Path

import platformdirs

NAME = "promptcorner"
ROOTS = Path("/var/lib") / NAME  # not in /root: the server's user could not enter
ROOTS_CONFIG = Path("/etc") / NAME

DATA_DIR_SAYS = f"~/.local/share/{NAME}, for root {ROOTS}"
CONFIG_FILE_SAYS = f"~/.config/{NAME}/{NAME}.toml or {ROOTS_CONFIG}/{NAME}.toml"


def default_data_dir() -> Path:
    """The user's own data directory; for root, who is a system, the system's."""
    if os.geteuid() == 0:
        return ROOTS
    return Path(platformdirs.user_data_dir(NAME, appauthor=False))


def default_config_file() -> Path:
    """The user's own configuration; the system's, if he has none. It need not be there either."""
    own = Path(platformdirs.user_config_dir(NAME, appauthor=False)) / f"{NAME}.toml"
    return own if os.geteuid() != 0 and own.exists() else ROOTS_CONFIG / f"{NAME}.toml"
