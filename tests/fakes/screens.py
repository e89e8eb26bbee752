"""Tests that need a real desktop: the programs that they need, and what is said without them."""

import os
import shutil

import pytest

from adapters.workspaces.desktop.programs import INSTALL, missing_for_recordings, missing_programs
from tests.conftest import NO_DESKTOP

CLIENTS = {"xterm": "xterm", "xev": "x11-utils"}  # of the screen, and the packages that bring them


def why_none():
    """Return why there can be no desktop with programs on it here, or None."""
    absent = [package for name, package in CLIENTS.items() if shutil.which(name) is None]
    if missing_programs(os.environ) or absent:
        return f"{NO_DESKTOP}install one by {INSTALL} {' '.join(CLIENTS.values())}"
    return missing_for_recordings()


needs_desktop = pytest.mark.skipif(why_none() is not None, reason=why_none() or "")
