"""What may be set, and who says so: a flag before the environment before a file before the default.

table.py has every setting in one table; flags, variables, keys of the file, `--help`, the page
docs/configuration.md and `promptcorner config show` are made of it. Everything is read once, before
anything is started; what is wrong is refused here, in the words of whoever set it. Secrets stay out
of every message and every repr.
"""

from adapters.settings.kinds import Address, LogFormat
from adapters.settings.reading import Config, Shown, read, shown
from adapters.settings.table import (
    ADVISOR_EXPERIMENT,
    DESKTOP_EXPERIMENT,
    SETTINGS,
    Setting,
    Subject,
)

__all__ = [
    "ADVISOR_EXPERIMENT",
    "DESKTOP_EXPERIMENT",
    "SETTINGS",
    "Address",
    "Config",
    "LogFormat",
    "Setting",
    "Shown",
    "Subject",
    "read",
    "shown",
]
