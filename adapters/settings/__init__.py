"""The settings of the daemon, and what every program of ours needs before its work begins.

The configuration is read once, before anything is started. What is wrong is refused here, in the
words of the person who set it. Secrets stay out of every message and every repr.

For other rooms:
caching    a cache with an age and a bound, which reads each entry once at a time
directories  directories for data, which are made where they are missing
forges     hosts of repositories with pull requests, as they are set up
kinds      the kinds of values, and their errors
logs       where log entries go, and in which form
names      host names, looked up in threads of their own, and the start of every program
reading    the configuration, read from flags, environment, credentials and file
refusals   the error of a daemon that cannot start
secrets    the master key, what is sealed with it and what is derived from it
setting    one row of the table, and its subject
table      every setting, as the fields of `Config`

Inside:
areas      settings of one area each, which the table is made of, too
page       docs/configuration.md, made of the table
"""

from adapters.settings.forges import Forge
from adapters.settings.kinds import HostAddress, LogFormat
from adapters.settings.reading import ShownSetting, list_settings, read_config
from adapters.settings.setting import Setting, Subject
from adapters.settings.table import ADVISOR_EXPERIMENT, DESKTOP_EXPERIMENT, SETTINGS, Config

__all__ = [
    "ADVISOR_EXPERIMENT",
    "DESKTOP_EXPERIMENT",
    "SETTINGS",
    "Config",
    "Forge",
    "HostAddress",
    "LogFormat",
    "Setting",
    "ShownSetting",
    "Subject",
    "list_settings",
    "read_config",
]
