"""What most commands begin with: the configuration, and a log."""

import argparse
import os

from adapters import settings as config
from adapters.settings import logs
from adapters.settings.table import default_config_file


def opened(options: argparse.Namespace, *, process: int | None = None) -> config.Config:
    """The configuration that the flags of this command and everything else say; the log is set up
    as it says. `process`: our number among several."""
    settings = config.read_config(vars(options), os.environ, default_config_file())
    logs.set_up(settings.log, settings.log_level, process=process)
    return settings
